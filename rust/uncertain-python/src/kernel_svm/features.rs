//! The classifier on features of the kernel: parameters in, a fitted machine out.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use uncertain::feature_svc::{Model, Params, ValidParams};
use uncertain::file::{self, Class, Saved, Step};
use uncertain::{Control, Error, parallel};

use super::{Floats, Matrix, Reduced, Reports, bandwidth, pickled, reports};
use crate::error::{BorderResult, core_error};
use crate::features::{count, described};
use crate::gaussians::Gaussians;
use crate::supervision::labels;
use crate::{interrupt, threads};

/// Checked parameters of a classifier on features.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct FeatureSvcParams {
    pub inner: ValidParams,
}

#[pymethods]
impl FeatureSvcParams {
    #[new]
    #[pyo3(signature = (*, c, approximation, n_components, sigma, coupling, tol, max_iter, probability, seed, n_jobs))]
    fn new(
        c: f64,
        approximation: &str,
        n_components: i64,
        sigma: Option<f64>,
        coupling: &str,
        tol: f64,
        max_iter: i64,
        probability: bool,
        seed: u64,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let params = Params::new()
            .c(c)
            .approximation(approximation.parse().map_err(core_error)?)
            .n_components(count(n_components))
            .sigma(bandwidth(sigma))
            .coupling(coupling.parse().map_err(core_error)?)
            .tol(tol)
            .max_iter((max_iter != -1).then(|| count(max_iter)))
            .probability(probability)
            .seed(seed)
            .threads(threads::resolve(n_jobs)?);
        Ok(Self { inner: params.check().map_err(core_error)? })
    }

    /// A new machine; `report(task, iteration, objective, gap)` hears of every iteration.
    #[pyo3(signature = (x, codes, n_classes, weights=None, groups=None, report=None))]
    fn fit(
        &self,
        py: Python<'_>,
        x: &Gaussians,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<FeatureSvc> {
        let labels = labels(&codes, n_classes, weights.as_ref(), groups.as_ref())?;
        Ok(interrupt::run(py, report, |control| self.inner.fit(&x.inner, &labels, control))?.into())
    }
}

/// A fitted classifier on features.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct FeatureSvc {
    pub inner: Arc<Model>,
}

impl From<Model> for FeatureSvc {
    fn from(inner: Model) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

#[pymethods]
impl FeatureSvc {
    /// From the bytes of [`Self::__reduce__`].
    #[new]
    fn new(bytes: &[u8]) -> BorderResult<Self> {
        match file::load_from_bytes(bytes)?.steps.pop() {
            Some(Step::FeatureSvc { model, .. }) => Ok((*model).into()),
            _ => Err(Error::ModelFile("it holds another kind of model than a classifier on features".into()).into()),
        }
    }

    /// Pickled as a model file without the labels, which the estimator keeps.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> BorderResult<Reduced<'py>> {
        let model = Model::clone(&slf.get().inner);
        let codes = (0..model.n_classes as i64).map(Class::Int).collect();
        pickled(&slf.get_type(), Saved::new(vec![Step::feature_svc(model, Params::new().check()?)], codes))
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.map.n_features()
    }

    /// (frequencies, noise), or (landmarks, sigma, coupling, basis).
    #[getter]
    fn map<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        described(py, self.inner.map.clone())
    }

    #[getter]
    fn sigma(&self) -> f64 {
        self.inner.sigma
    }

    /// Bytes that the fit took beside the rows, at most.
    #[getter]
    fn memory(&self) -> u64 {
        self.inner.memory
    }

    #[getter]
    fn coef<'py>(&self, py: Python<'py>) -> Matrix<'py> {
        PyArray2::from_array(py, &self.inner.coef)
    }

    #[getter]
    fn intercept<'py>(&self, py: Python<'py>) -> Floats<'py> {
        self.inner.intercept.clone().into_pyarray(py)
    }

    #[getter]
    fn reports<'py>(&self, py: Python<'py>) -> Reports<'py> {
        reports(py, &self.inner.fits)
    }

    #[getter]
    fn has_probabilities(&self) -> bool {
        self.inner.platt.is_some()
    }

    /// Scores, (n, 1) or (n, K).
    #[pyo3(signature = (x, n_jobs=None))]
    fn decision<'py>(&self, py: Python<'py>, x: &Gaussians, n_jobs: Option<i64>) -> PyResult<Matrix<'py>> {
        self.answer(py, x, n_jobs, Model::decision)
    }

    /// Class probabilities, (n, K).
    #[pyo3(signature = (x, n_jobs=None))]
    fn predict_proba<'py>(&self, py: Python<'py>, x: &Gaussians, n_jobs: Option<i64>) -> PyResult<Matrix<'py>> {
        self.answer(py, x, n_jobs, Model::predict_proba)
    }
}

impl FeatureSvc {
    fn answer<'py>(
        &self,
        py: Python<'py>,
        x: &Gaussians,
        n_jobs: Option<i64>,
        question: fn(&Model, &uncertain::GaussianArray, &Control) -> Result<ndarray::Array2<f64>, Error>,
    ) -> PyResult<Matrix<'py>> {
        let (threads, model, rows) = (threads::resolve(n_jobs)?, &*self.inner, &x.inner);
        let values = interrupt::run(py, None, |c| parallel::install(threads, || question(model, rows, c))?)?;
        Ok(PyArray2::from_owned_array(py, values))
    }
}
