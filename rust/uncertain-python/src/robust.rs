//! The uncertainty-SVC family and the minimax probability machine for Python; predictions are `GsuModel`'s.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use uncertain::linear::Classifier;
use uncertain::minimax;
use uncertain::robust::{Bound, Method, Params, Solver, ValidParams};

use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::gsu::{GsuModel, count};
use crate::supervision::labels;
use crate::{interrupt, threads};

/// Checked parameters of a fit.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct RobustParams {
    pub inner: ValidParams,
}

/// Per hyperplane an array.
type Columns<'py> = Vec<pyo3::Bound<'py, PyArray1<f64>>>;

#[pymethods]
impl RobustParams {
    #[new]
    #[pyo3(signature = (*, c, method, radius, confidence, bound, polish, solver, tol, max_iter, fit_intercept, probability,
                        seed, n_jobs))]
    fn new(
        c: f64,
        method: &str,
        radius: f64,
        confidence: Option<f64>,
        bound: &str,
        polish: bool,
        solver: &str,
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
            .solver(solver.parse::<Solver>().map_err(core_error)?)
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
    #[pyo3(signature = (data, codes, n_classes, weights=None, groups=None, report=None))]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        data: &Gaussians,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<(GsuModel, Columns<'py>, Columns<'py>)> {
        let labels = labels(&codes, n_classes, weights.as_ref(), groups.as_ref())?;
        let model = interrupt::run(py, report, |control| self.inner.fit(&data.inner, &labels, control))?;
        let columns =
            |columns: Vec<Vec<f64>>| columns.into_iter().map(|column| column.into_pyarray(py)).collect::<Vec<_>>();
        Ok((model.linear.into(), columns(model.radii), columns(model.history)))
    }
}

/// Checked parameters of a minimax probability machine.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct MinimaxParams {
    pub inner: minimax::ValidParams,
}

#[pymethods]
impl MinimaxParams {
    #[new]
    #[pyo3(signature = (*, ridge, tol, max_iter, probability, seed, n_jobs))]
    fn new(ridge: f64, tol: f64, max_iter: i64, probability: bool, seed: u64, n_jobs: Option<i64>) -> PyResult<Self> {
        let params = minimax::Params::new()
            .ridge(ridge)
            .tol(tol)
            .max_iter(count(max_iter))
            .probability(probability)
            .seed(seed)
            .threads(threads::resolve(n_jobs)?);
        Ok(Self { inner: params.check().map_err(core_error)? })
    }

    /// (model, worst-case accuracy per hyperplane)
    #[pyo3(signature = (data, codes, n_classes, weights=None, groups=None, report=None))]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        data: &Gaussians,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<(GsuModel, pyo3::Bound<'py, PyArray1<f64>>)> {
        let labels = labels(&codes, n_classes, weights.as_ref(), groups.as_ref())?;
        let model = interrupt::run(py, report, |control| self.inner.fit(&data.inner, &labels, control))?;
        Ok((model.linear.into(), model.worst_case_accuracy.into_pyarray(py)))
    }
}

/// ("robust", hyperplanes, arguments of `RobustSVC`) of such a step.
pub fn parts_of_robust<'py>(py: Python<'py>, model: Classifier, params: &Params) -> PyResult<pyo3::Bound<'py, PyAny>> {
    let arguments = PyDict::new(py);
    arguments.set_item("C", params.c)?;
    arguments.set_item("method", params.method.name())?;
    arguments.set_item("radius", params.radius)?;
    arguments.set_item("confidence", params.confidence)?;
    arguments.set_item("bound", params.bound.name())?;
    arguments.set_item("polish", params.polish)?;
    arguments.set_item("solver", params.solver.name())?;
    arguments.set_item("tol", params.options.tol)?;
    arguments.set_item("max_iter", params.options.max_iter)?;
    arguments.set_item("fit_intercept", params.fit_intercept)?;
    arguments.set_item("probability", params.calibration.probability)?;
    Ok(("robust", pyo3::Bound::new(py, GsuModel::from(model))?, arguments).into_pyobject(py)?.into_any())
}

/// ("minimax", hyperplanes, accuracies, arguments of `MinimaxProbabilityClassifier`) of such a step.
pub fn parts_of_minimax<'py>(
    py: Python<'py>,
    model: minimax::Model,
    params: &minimax::Params,
) -> PyResult<pyo3::Bound<'py, PyAny>> {
    let arguments = PyDict::new(py);
    arguments.set_item("ridge", params.ridge)?;
    arguments.set_item("tol", params.tol)?;
    arguments.set_item("max_iter", params.max_iter)?;
    arguments.set_item("probability", params.calibration.probability)?;
    let (linear, accuracy) = (pyo3::Bound::new(py, GsuModel::from(model.linear))?, model.worst_case_accuracy);
    Ok(("minimax", linear, accuracy.into_pyarray(py), arguments).into_pyobject(py)?.into_any())
}
