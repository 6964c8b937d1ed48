//! Regression on Gaussians for Python: rows and targets in, arrays out. `python/uncertain/regression.py` is the user
//! and keeps the arrays; nothing fitted lives here.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use uncertain::file::Step;
use uncertain::gsu_regression::{Params, ValidParams};
use uncertain::linear::Regressor;
use uncertain::loss::LossKind;
use uncertain::model::FitReport;
use uncertain::solver::{SolverKind, Status};
use uncertain::{Error, parallel};

use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::{interrupt, supervision, threads};

type Vector<'py> = Bound<'py, PyArray1<f64>>;
/// Objective, certified gap, iterations, status.
type Report = (f64, f64, i64, String);
/// Alpha, loss, epsilon, delta, solver, tol, max_iter, fit_intercept, seed.
type Parameters = (f64, String, f64, f64, String, f64, Option<i64>, bool, u64);

/// Coefficients, intercept, report and parameters, as Python keeps them.
#[derive(FromPyObject)]
pub struct RegressionIn<'py>(PyReadonlyArray1<'py, f64>, f64, Report, Parameters);

fn checked(parameters: Parameters, n_jobs: Option<i64>) -> PyResult<ValidParams> {
    let (alpha, loss, epsilon, delta, solver, tol, max_iter, fit_intercept, seed) = parameters;
    Params::new()
        .alpha(alpha)
        .loss(LossKind::new(&loss, epsilon, delta).map_err(core_error)?)
        .solver(solver.parse::<SolverKind>().map_err(core_error)?)
        .tol(tol)
        .max_iter(max_iter.map(|n| usize::try_from(n).unwrap_or(0)))
        .fit_intercept(fit_intercept)
        .seed(seed)
        .threads(threads::resolve(n_jobs)?)
        .check()
        .map_err(core_error)
}

/// (coefficients, intercept, (objective, gap, iterations, status)).
#[pyfunction]
#[pyo3(signature = (data, targets, variances, weights, parameters, *, n_jobs, report))]
pub fn fit_gsu_regression<'py>(
    py: Python<'py>,
    data: &Gaussians,
    targets: PyReadonlyArray1<'_, f64>,
    variances: Option<PyReadonlyArray1<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    parameters: Parameters,
    n_jobs: Option<i64>,
    report: Option<Py<PyAny>>,
) -> PyResult<(Vector<'py>, f64, Report)> {
    let params = checked(parameters, n_jobs)?;
    let targets = supervision::targets(&targets, variances.as_ref(), weights.as_ref())?;
    let Regressor { coef, intercept, fit } =
        interrupt::run(py, report, |control| params.fit(&data.inner, &targets, control))?;
    let n_iter = i64::try_from(fit.n_iter).unwrap_or(i64::MAX);
    Ok((coef.into_pyarray(py), intercept, (fit.objective, fit.gap, n_iter, fit.status.name().to_owned())))
}

/// Means and standard deviations of w'x + b.
#[pyfunction]
#[pyo3(signature = (data, coef, intercept, n_jobs=None))]
pub fn linear_scores<'py>(
    py: Python<'py>,
    data: &Gaussians,
    coef: PyReadonlyArray1<'_, f64>,
    intercept: f64,
    n_jobs: Option<i64>,
) -> PyResult<(Vector<'py>, Vector<'py>)> {
    let threads = threads::resolve(n_jobs)?;
    let unknown = FitReport { objective: f64::NAN, gap: f64::NAN, n_iter: 0, status: Status::StepsDone };
    let model = Regressor { coef: coef.as_array().to_vec(), intercept, fit: unknown };
    let (means, stds) =
        interrupt::run(py, None, |_| parallel::install(threads, || model.predict_distribution(&data.inner))?)?;
    Ok((means.into_pyarray(py), stds.into_pyarray(py)))
}

/// The step of a model file.
pub fn step_of_parts(parts: RegressionIn<'_>) -> BorderResult<Step> {
    let RegressionIn(coef, intercept, (objective, gap, n_iter, status), parameters) = parts;
    let known = [Status::Converged, Status::MaxIterations, Status::NoProgress];
    let Some(status) = known.into_iter().find(|known| known.name() == status) else {
        return Err(Error::Data(format!("{status:?} is not a way a regression can end")).into());
    };
    let fit = FitReport { objective, gap, n_iter: usize::try_from(n_iter).unwrap_or(0), status };
    let params = checked(parameters, None)?;
    Ok(Step::regression(Regressor { coef: coef.as_array().to_vec(), intercept, fit }, params))
}

/// ("gsu regression", coefficients, intercept, report, parameters) of such a step.
pub fn parts_of_step<'py>(py: Python<'py>, model: Regressor, params: &Params) -> PyResult<Bound<'py, PyAny>> {
    let (epsilon, delta) = match params.loss {
        LossKind::EpsilonInsensitive { epsilon } => (Some(epsilon), None),
        LossKind::Huber { delta } => (None, Some(delta)),
        _ => (None, None),
    };
    let options = &params.options;
    let fit = &model.fit;
    let report = (fit.objective, fit.gap, fit.n_iter, fit.status.name());
    let parameters = (
        params.alpha,
        params.loss.name(),
        epsilon,
        delta,
        params.solver.name(),
        options.tol,
        options.max_iter,
        params.fit_intercept,
    );
    let tuple = ("gsu regression", model.coef.clone().into_pyarray(py), model.intercept, report, parameters);
    Ok(tuple.into_pyobject(py)?.into_any())
}
