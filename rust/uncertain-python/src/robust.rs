//! The uncertainty-SVC family and the minimax probability machine for Python; predictions are `GsuModel`'s.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use uncertain::robust::{Bound, Method, Params, ValidParams};
use uncertain::{minimax, parallel};

use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::gsu::{GsuModel, count, labels};
use crate::{interrupt, threads};

/// Checked parameters of a fit.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct RobustParams {
    inner: ValidParams,
}

/// Per hyperplane an array.
type Columns<'py> = Vec<pyo3::Bound<'py, PyArray1<f64>>>;

#[pymethods]
impl RobustParams {
    #[new]
    #[pyo3(signature = (*, c, method, radius, confidence, bound, polish, tol, max_iter, fit_intercept, probability,
                        seed, n_jobs))]
    fn new(
        c: f64,
        method: &str,
        radius: f64,
        confidence: Option<f64>,
        bound: &str,
        polish: bool,
        tol: f64,
        max_iter: Option<i64>,
        fit_intercept: bool,
        probability: bool,
        seed: u64,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let params = Params::new()
            .c(c)
            .method(method.parse::<Method>().map_err(core_error)?)
            .radius(radius)
            .confidence(confidence, bound.parse::<Bound>().map_err(core_error)?)
            .polish(polish)
            .tol(tol)
            .max_iter(max_iter.map(count))
            .fit_intercept(fit_intercept)
            .probability(probability)
            .seed(seed)
            .threads(threads::resolve(n_jobs)?);
        Ok(Self { inner: params.check().map_err(core_error)? })
    }

    /// The radius in use.
    #[getter]
    fn radius(&self) -> f64 {
        self.inner.radius()
    }

    /// (model, radii, history): the last two have an array per hyperplane.
    #[pyo3(signature = (data, codes, n_classes, weights=None, report=None))]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        data: &Gaussians,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<(GsuModel, Columns<'py>, Columns<'py>)> {
        let labels = labels(&codes, n_classes, weights.as_ref())?;
        let model = interrupt::run(py, report, |control| self.inner.fit(&data.inner, &labels, control))?;
        let columns =
            |columns: Vec<Vec<f64>>| columns.into_iter().map(|column| column.into_pyarray(py)).collect::<Vec<_>>();
        Ok((model.linear.into(), columns(model.radii), columns(model.history)))
    }
}

/// (model, worst-case accuracy per hyperplane) of the minimax probability machine.
#[pyfunction]
#[pyo3(signature = (data, codes, n_classes, weights, *, ridge, tol, max_iter, n_jobs, report=None))]
pub fn fit_minimax<'py>(
    py: Python<'py>,
    data: &Gaussians,
    codes: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    ridge: f64,
    tol: f64,
    max_iter: i64,
    n_jobs: Option<i64>,
    report: Option<Py<PyAny>>,
) -> BorderResult<(GsuModel, pyo3::Bound<'py, PyArray1<f64>>)> {
    let labels = labels(&codes, n_classes, weights.as_ref())?;
    let (params, threads) = (minimax::Params { ridge, tol, max_iter: count(max_iter) }, threads::resolve(n_jobs)?);
    let model = interrupt::run(py, report, |control| {
        parallel::install(threads, || params.fit(&data.inner, &labels, control))?
    })?;
    Ok((model.linear.into(), model.worst_case_accuracy.into_pyarray(py)))
}
