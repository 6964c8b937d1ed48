//! Kernels between Gaussians for Python. `python/uncertain/kernels.py` is the user.

use numpy::PyArray2;
use pyo3::prelude::*;
use uncertain::probabilistic_kernel::{Coupling, RbfOptions, gram, median_distance};
use uncertain::{Error, parallel};

use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::{interrupt, threads};

/// The Gram matrix of x with z, or (None) with itself; `sigma` None is the median distance in x.
#[pyfunction]
#[pyo3(signature = (x, z, *, sigma, coupling, seed, max_bytes, n_jobs))]
pub(crate) fn probabilistic_rbf<'py>(
    py: Python<'py>,
    x: &Gaussians,
    z: Option<&Gaussians>,
    sigma: Option<f64>,
    coupling: &str,
    seed: u64,
    max_bytes: Option<u64>,
    n_jobs: threads::Jobs<'_>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let coupling: Coupling = coupling.parse().map_err(core_error)?;
    let threads = threads::resolve(n_jobs)?;
    let (x, z) = (x.inner.clone(), z.map(|z| z.inner.clone()));
    let values = interrupt::run(py, None, move |control| {
        let sigma = sigma.map_or_else(|| median_distance(&x, seed), Ok::<f64, Error>)?;
        let options = RbfOptions { sigma, coupling, max_bytes };
        parallel::install(threads, || gram(&x, z.as_deref(), &options, control))?
    })?;
    Ok(PyArray2::from_owned_array(py, values))
}

/// The median distance between rows, covariances included.
#[pyfunction]
pub(crate) fn median_pair_distance(py: Python<'_>, x: &Gaussians, seed: u64) -> BorderResult<f64> {
    Ok(py.detach(|| median_distance(&x.inner, seed))?)
}
