//! SVM-GSU for Python: parameters in, a fitted model out. `python/uncertain/svm.py` is its user.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use uncertain::file::{self, Class, Saved, Step};
use uncertain::gsu::{Model, Params, ValidParams};
use uncertain::linear::Classifier;
use uncertain::model::FitReport;
use uncertain::solver::SolverKind;
use uncertain::{Error, GaussianArray, parallel};

use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::supervision::labels;
use crate::{interrupt, threads};

/// Checked parameters of a fit.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct GsuParams {
    pub inner: ValidParams,
}

#[pymethods]
impl GsuParams {
    #[new]
    #[pyo3(signature = (*, alpha, solver, tol, max_iter, batch_size, averaging, projection, fit_intercept,
                        probability, seed, n_jobs))]
    fn new(
        alpha: f64,
        solver: &str,
        tol: f64,
        max_iter: Option<i64>,
        batch_size: i64,
        averaging: bool,
        projection: bool,
        fit_intercept: bool,
        probability: bool,
        seed: u64,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let params = Params::new()
            .alpha(alpha)
            .solver(solver.parse::<SolverKind>().map_err(core_error)?)
            .tol(tol)
            .max_iter(max_iter.map(count))
            .batch_size(count(batch_size))
            .averaging(averaging)
            .projection(projection)
            .fit_intercept(fit_intercept)
            .probability(probability)
            .seed(seed)
            .threads(threads::resolve(n_jobs)?);
        Ok(Self { inner: params.check().map_err(core_error)? })
    }

    /// A new model; `report(task, iteration, objective, gap)` hears of every iteration.
    #[pyo3(signature = (data, codes, n_classes, weights=None, groups=None, report=None))]
    fn fit(
        &self,
        py: Python<'_>,
        data: &Gaussians,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<GsuModel> {
        let labels = labels(&codes, n_classes, weights.as_ref(), groups.as_ref())?;
        Ok(interrupt::run(py, report, |control| self.inner.fit(&data.inner, &labels, control))?.into())
    }

    /// `model` (None: a new one) after one pass of SGD over these rows.
    #[pyo3(signature = (model, data, codes, n_classes, weights=None, report=None))]
    fn partial_fit(
        &self,
        py: Python<'_>,
        model: Option<&GsuModel>,
        data: &Gaussians,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<GsuModel> {
        let labels = labels(&codes, n_classes, weights.as_ref(), None)?;
        let before = model.map(|model| &*model.inner);
        Ok(interrupt::run(py, report, |control| self.inner.partial_fit(before, &data.inner, &labels, control))?.into())
    }
}

/// A negative count is as wrong as zero, and the core says so.
pub fn count(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}

/// The fold of every row, with rows of one group in one fold and classes spread evenly.
#[pyfunction]
pub fn group_folds<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    groups: PyReadonlyArray1<'_, u32>,
    folds: usize,
    seed: u64,
) -> BorderResult<Bound<'py, PyArray1<u32>>> {
    let (codes, groups) = (codes.as_array().to_vec(), groups.as_array().to_vec());
    Ok(py.detach(|| uncertain::group_folds(&codes, n_classes, &groups, folds, seed))?.into_pyarray(py))
}

/// A fitted SVM-GSU: one hyperplane for two classes, else one per class.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct GsuModel {
    pub inner: Arc<Model>,
}

impl From<Classifier> for GsuModel {
    /// Hyperplanes with which online fitting does not go on.
    fn from(linear: Classifier) -> Self {
        Model { linear, steps: 0 }.into()
    }
}

impl From<Model> for GsuModel {
    fn from(inner: Model) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

type Scores<'py> = Bound<'py, PyArray2<f64>>;

#[pymethods]
impl GsuModel {
    /// From the bytes of [`Self::__reduce__`].
    #[new]
    fn new(bytes: &[u8]) -> BorderResult<Self> {
        Ok(file::load_from_bytes(bytes)?.model()?.clone().into())
    }

    /// Pickled as a model file without the labels, which the estimator keeps.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> BorderResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        let model = Model::clone(&slf.get().inner);
        let codes = (0..model.linear.n_classes() as i64).map(Class::Int).collect();
        let saved = Saved::new(vec![Step::gsu(model, Params::new().check()?)], codes);
        Ok((slf.get_type(), (PyBytes::new(slf.py(), &file::save_to_bytes(&saved)?),)))
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.linear.n_features()
    }

    /// (1, d) or (K, d) weights.
    #[getter]
    fn coef<'py>(&self, py: Python<'py>) -> Scores<'py> {
        PyArray2::from_owned_array(py, self.inner.linear.coef.clone())
    }

    #[getter]
    fn intercept<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.linear.intercept.clone().into_pyarray(py)
    }

    #[getter]
    fn objective<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_fits(|fit| fit.objective).into_pyarray(py)
    }

    /// Certified relative duality gaps.
    #[getter]
    fn gap<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_fits(|fit| fit.gap).into_pyarray(py)
    }

    #[getter]
    fn n_iter<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.of_fits(|fit| i64::try_from(fit.n_iter).unwrap_or(i64::MAX)).into_pyarray(py)
    }

    #[getter]
    fn status(&self) -> Vec<&'static str> {
        self.of_fits(|fit| fit.status.name())
    }

    /// Mean scores, (n, 1) or (n, K).
    #[pyo3(signature = (data, n_jobs=None))]
    fn decision<'py>(&self, py: Python<'py>, data: &Gaussians, n_jobs: Option<i64>) -> PyResult<Scores<'py>> {
        let scores = self.call(py, data, n_jobs, Classifier::decision)?;
        Ok(PyArray2::from_owned_array(py, scores))
    }

    /// Means and standard deviations of the scores, each (n, 1) or (n, K).
    #[pyo3(signature = (data, n_jobs=None))]
    fn decision_distribution<'py>(
        &self,
        py: Python<'py>,
        data: &Gaussians,
        n_jobs: Option<i64>,
    ) -> PyResult<(Scores<'py>, Scores<'py>)> {
        let (means, stds) = self.call(py, data, n_jobs, Classifier::decision_distribution)?;
        Ok((PyArray2::from_owned_array(py, means), PyArray2::from_owned_array(py, stds)))
    }

    /// Class codes, (n,).
    #[pyo3(signature = (data, n_jobs=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        data: &Gaussians,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        Ok(self.call(py, data, n_jobs, Classifier::predict)?.into_pyarray(py))
    }

    /// Class probabilities, (n, K).
    #[pyo3(signature = (data, n_jobs=None))]
    fn predict_proba<'py>(&self, py: Python<'py>, data: &Gaussians, n_jobs: Option<i64>) -> PyResult<Scores<'py>> {
        let probabilities = self.call(py, data, n_jobs, Classifier::predict_proba)?;
        Ok(PyArray2::from_owned_array(py, probabilities))
    }
}

impl GsuModel {
    fn of_fits<T>(&self, what: impl Fn(&FitReport) -> T) -> Vec<T> {
        self.inner.linear.fits.iter().map(what).collect()
    }

    /// `method` of the model on `data`, without the GIL.
    fn call<T: Send>(
        &self,
        py: Python<'_>,
        data: &Gaussians,
        n_jobs: Option<i64>,
        method: impl Fn(&Classifier, &GaussianArray) -> Result<T, Error> + Send + Sync,
    ) -> PyResult<T> {
        let threads = threads::resolve(n_jobs)?;
        interrupt::run(py, None, |_| parallel::install(threads, || method(&self.inner.linear, &data.inner))?)
    }
}
