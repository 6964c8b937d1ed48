//! The classifier.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use uncertain::file::{self, Class, Saved, Step};
use uncertain::{Error, kernel_svc, parallel};

use super::{
    Floats, Input, Machine, Matrix, Reduced, Reports, bandwidth, fit_numbers, fit_report, mismatch, options, pickled,
    reports, values_only,
};
use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::supervision::labels;
use crate::{interrupt, threads};

/// Checked parameters of a classifier.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct KernelSvcParams {
    pub inner: kernel_svc::ValidParams,
}

#[pymethods]
impl KernelSvcParams {
    #[new]
    #[pyo3(signature = (*, c, sigma, coupling, tol, max_iter, shrinking, cache_size, probability, seed, n_jobs))]
    fn new(
        c: f64,
        sigma: Option<f64>,
        coupling: &str,
        tol: f64,
        max_iter: i64,
        shrinking: bool,
        cache_size: f64,
        probability: bool,
        seed: u64,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let options = options(tol, max_iter, shrinking, cache_size)?;
        let params = kernel_svc::Params { options, ..kernel_svc::Params::new() }
            .c(c)
            .sigma(bandwidth(sigma))
            .coupling(coupling.parse().map_err(core_error)?)
            .probability(probability)
            .seed(seed)
            .threads(threads::resolve(n_jobs)?);
        Ok(Self { inner: params.check().map_err(core_error)? })
    }

    /// A new machine; `report(task, iteration, objective, gap)` hears of the progress.
    #[pyo3(signature = (x, codes, n_classes, weights=None, groups=None, report=None))]
    fn fit(
        &self,
        py: Python<'_>,
        x: Input<'_>,
        codes: PyReadonlyArray1<'_, u32>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<KernelSvc> {
        let labels = labels(&codes, n_classes, weights.as_ref(), groups.as_ref())?;
        let inner = Machine::fit(
            py,
            &x,
            report,
            |rows, control| self.inner.fit(rows, &labels, control),
            |gram, control| self.inner.fit_kernel(gram, &labels, control),
        )?;
        Ok(KernelSvc { inner })
    }
}

/// A fitted kernel classifier.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct KernelSvc {
    inner: Machine<kernel_svc::Model>,
}

impl From<kernel_svc::Model> for KernelSvc {
    fn from(model: kernel_svc::Model) -> Self {
        Self { inner: Machine::Rows(Arc::new(model)) }
    }
}

impl KernelSvc {
    /// The model of Gaussians, which a file can hold.
    pub fn model(&self) -> PyResult<&kernel_svc::Model> {
        self.inner.model()
    }

    fn answer<'py>(
        &self,
        py: Python<'py>,
        x: &Input<'_>,
        n_jobs: Option<i64>,
        question: fn(&kernel_svc::Expansion, ndarray::ArrayView2<'_, f64>) -> Result<ndarray::Array2<f64>, Error>,
    ) -> BorderResult<Matrix<'py>> {
        let rows = |model: &kernel_svc::Model, rows: &_, control: &_| model.answer(rows, question, control);
        Ok(PyArray2::from_owned_array(py, self.inner.answer(py, x, n_jobs, rows, question)?))
    }
}

#[pymethods]
impl KernelSvc {
    /// From the bytes of [`Self::__reduce__`].
    #[new]
    fn new(bytes: &[u8]) -> BorderResult<Self> {
        match file::load_from_bytes(bytes)?.steps.pop() {
            Some(Step::KernelSvc { model, .. }) => Ok((*model).into()),
            _ => Err(Error::ModelFile("it holds another kind of model than a kernel classifier".into()).into()),
        }
    }

    /// A machine of kernel values from its numbers.
    #[staticmethod]
    fn from_values(
        support: Vec<u32>,
        n_support: Vec<usize>,
        dual_coef: PyReadonlyArray2<'_, f64>,
        intercept: Vec<f64>,
        sigmoids: Option<PyReadonlyArray2<'_, f64>>,
        fits: Vec<(f64, f64, usize, String)>,
    ) -> BorderResult<Self> {
        let sigmoids = sigmoids.as_ref().map(|s| s.as_array());
        let mut expansion =
            kernel_svc::Expansion::from_parts(n_support, dual_coef.as_array().to_owned(), intercept, sigmoids)?;
        expansion.support = support;
        expansion.fits = fits.into_iter().map(fit_report).collect::<Result<_, _>>()?;
        Ok(Self { inner: Machine::Values(Arc::new(expansion)) })
    }

    /// Pickled as a model file without the labels, which the estimator keeps; other kernels as their numbers.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> BorderResult<Reduced<'py>> {
        let py = slf.py();
        let machine = &slf.get().inner;
        let Machine::Rows(model) = machine else {
            let e = slf.get().inner.expansion();
            let sigmoids = e.sigmoids().map(|sigmoids| PyArray2::from_owned_array(py, sigmoids));
            let dual_coef = PyArray2::from_array(py, &e.dual_coef);
            let (support, n_support, intercept) = (e.support.clone(), e.n_support.clone(), e.intercept.clone());
            let state = (support, n_support, dual_coef, intercept, sigmoids, fit_numbers(&e.fits)).into_pyobject(py)?;
            return Ok(values_only(&py.get_type::<Self>(), state)?);
        };
        let codes = (0..model.n_classes() as i64).map(Class::Int).collect();
        let step = Step::kernel_svc(kernel_svc::Model::clone(model), kernel_svc::Params::new().check()?);
        pickled(&slf.get_type(), Saved::new(vec![step], codes))
    }

    /// Features of the Gaussians; None of other kernels.
    #[getter]
    fn n_features(&self) -> Option<usize> {
        self.inner.n_features()
    }

    #[getter]
    fn support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.inner.support(py)
    }

    /// The support rows, and sigma; None of other kernels.
    #[getter]
    fn basis(&self) -> Option<(Gaussians, f64)> {
        self.inner.basis()
    }

    #[getter]
    fn n_support<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.inner.expansion().n_support.iter().map(|&n| n as i64).collect::<Vec<_>>().into_pyarray(py)
    }

    #[getter]
    fn dual_coef<'py>(&self, py: Python<'py>) -> Matrix<'py> {
        PyArray2::from_array(py, &self.inner.expansion().dual_coef)
    }

    #[getter]
    fn intercept<'py>(&self, py: Python<'py>) -> Floats<'py> {
        self.inner.expansion().intercept.clone().into_pyarray(py)
    }

    #[getter]
    fn reports<'py>(&self, py: Python<'py>) -> Reports<'py> {
        reports(py, &self.inner.expansion().fits)
    }

    #[getter]
    fn has_probabilities(&self) -> bool {
        self.inner.expansion().platt.is_some()
    }

    /// Scores, (n, 1) or (n, K).
    #[pyo3(signature = (x, n_jobs=None))]
    fn decision<'py>(&self, py: Python<'py>, x: Input<'_>, n_jobs: Option<i64>) -> BorderResult<Matrix<'py>> {
        self.answer(py, &x, n_jobs, kernel_svc::Expansion::decision)
    }

    /// Class probabilities, (n, K).
    #[pyo3(signature = (x, n_jobs=None))]
    fn predict_proba<'py>(&self, py: Python<'py>, x: Input<'_>, n_jobs: Option<i64>) -> BorderResult<Matrix<'py>> {
        self.answer(py, &x, n_jobs, kernel_svc::Expansion::predict_proba)
    }

    /// Means and standard deviations of the scores of all pairs, each (n, K (K - 1) / 2).
    #[pyo3(signature = (x, n_jobs=None))]
    fn decision_distribution<'py>(
        &self,
        py: Python<'py>,
        x: &Gaussians,
        n_jobs: Option<i64>,
    ) -> PyResult<(Matrix<'py>, Matrix<'py>)> {
        let Machine::Rows(model) = &self.inner else { return mismatch() };
        let threads = threads::resolve(n_jobs)?;
        let (means, stds) = interrupt::run(py, None, |control| {
            parallel::install(threads, || model.decision_distribution(&x.inner, control))?
        })?;
        Ok((PyArray2::from_owned_array(py, means), PyArray2::from_owned_array(py, stds)))
    }
}
