//! The regressor.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use uncertain::file::{self, Saved, Step};
use uncertain::{Error, kernel_svr};

use super::{
    Floats, Input, Machine, Reduced, Reports, bandwidth, fit_numbers, fit_report, options, pickled, reports,
    values_only,
};
use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::{supervision, threads};

/// Checked parameters of a regressor.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct KernelSvrParams {
    pub inner: kernel_svr::ValidParams,
}

#[pymethods]
impl KernelSvrParams {
    #[new]
    #[pyo3(signature = (*, c, epsilon, sigma, coupling, tol, max_iter, shrinking, cache_size, n_jobs))]
    fn new(
        c: f64,
        epsilon: f64,
        sigma: Option<f64>,
        coupling: &str,
        tol: f64,
        max_iter: i64,
        shrinking: bool,
        cache_size: f64,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let params = kernel_svr::Params::new()
            .c(c)
            .epsilon(epsilon)
            .sigma(bandwidth(sigma))
            .coupling(coupling.parse().map_err(core_error)?)
            .options(options(tol, max_iter, shrinking, cache_size)?)
            .threads(threads::resolve(n_jobs)?);
        Ok(Self { inner: params.check().map_err(core_error)? })
    }

    /// A new machine; `report(task, iteration, objective, gap)` hears of the progress.
    #[pyo3(signature = (x, targets, weights=None, report=None))]
    fn fit(
        &self,
        py: Python<'_>,
        x: Input<'_>,
        targets: PyReadonlyArray1<'_, f64>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<KernelSvr> {
        let targets = supervision::targets(&targets, None, weights.as_ref())?;
        let inner = Machine::fit(
            py,
            &x,
            report,
            |rows, control| self.inner.fit(rows, &targets, control),
            |gram, control| self.inner.fit_kernel(gram, &targets, control),
        )?;
        Ok(KernelSvr { inner })
    }
}

/// A fitted kernel regressor.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct KernelSvr {
    inner: Machine<kernel_svr::Model>,
}

impl From<kernel_svr::Model> for KernelSvr {
    fn from(model: kernel_svr::Model) -> Self {
        Self { inner: Machine::Rows(Arc::new(model)) }
    }
}

impl KernelSvr {
    /// The model of Gaussians, which a file can hold.
    pub fn model(&self) -> PyResult<&kernel_svr::Model> {
        self.inner.model()
    }
}

#[pymethods]
impl KernelSvr {
    /// From the bytes of [`Self::__reduce__`].
    #[new]
    fn new(bytes: &[u8]) -> BorderResult<Self> {
        match file::load_from_bytes(bytes)?.steps.pop() {
            Some(Step::KernelSvr { model, .. }) => Ok((*model).into()),
            _ => Err(Error::ModelFile("it holds another kind of model than a kernel regressor".into()).into()),
        }
    }

    /// A machine of kernel values from its numbers.
    #[staticmethod]
    fn from_values(
        support: Vec<u32>,
        dual_coef: Vec<f64>,
        intercept: f64,
        fit: (f64, f64, usize, String),
    ) -> BorderResult<Self> {
        let expansion = kernel_svr::Expansion::from_parts(support, dual_coef, intercept, fit_report(fit)?)?;
        Ok(Self { inner: Machine::Values(Arc::new(expansion)) })
    }

    /// Pickled as a model file; other kernels as their numbers.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> BorderResult<Reduced<'py>> {
        let py = slf.py();
        let Machine::Rows(model) = &slf.get().inner else {
            let e = slf.get().inner.expansion();
            let fit = fit_numbers(std::slice::from_ref(&e.fit)).pop();
            let state = (e.support.clone(), e.dual_coef.clone(), e.intercept, fit).into_pyobject(py)?;
            return Ok(values_only(&py.get_type::<Self>(), state)?);
        };
        let step = Step::kernel_svr(kernel_svr::Model::clone(model), kernel_svr::Params::new().check()?);
        pickled(&slf.get_type(), Saved::new(vec![step], vec![]))
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
    fn dual_coef<'py>(&self, py: Python<'py>) -> Floats<'py> {
        self.inner.expansion().dual_coef.clone().into_pyarray(py)
    }

    #[getter]
    fn intercept(&self) -> f64 {
        self.inner.expansion().intercept
    }

    #[getter]
    fn reports<'py>(&self, py: Python<'py>) -> Reports<'py> {
        reports(py, std::slice::from_ref(&self.inner.expansion().fit))
    }

    /// Predicted targets, (n,).
    #[pyo3(signature = (x, n_jobs=None))]
    fn predict<'py>(&self, py: Python<'py>, x: Input<'_>, n_jobs: Option<i64>) -> BorderResult<Floats<'py>> {
        let rows = |model: &kernel_svr::Model, rows: &_, control: &_| model.predict_within(rows, control);
        let values = self.inner.answer(py, &x, n_jobs, rows, kernel_svr::Expansion::predict)?;
        Ok(values.into_pyarray(py))
    }
}
