//! Kernels between Gaussians for Python. `python/uncertain/kernels.py` is the user.

use numpy::PyArray2;
use pyo3::prelude::*;
use uncertain::kernel::probabilistic_rbf::{Coupling, RbfOptions, folded, median_distance};
use uncertain::{Error, MixtureArray, parallel};

use crate::error::{BorderResult, core_error};
use crate::interrupt;
use crate::mixtures::AnyRows;
use crate::threads::{self, Jobs};

/// The Gram matrix of x with z, or (None) with itself; `sigma` None is the median distance in x.
#[pyfunction]
#[pyo3(signature = (x, z, *, sigma, coupling, seed, max_bytes, n_jobs))]
pub(crate) fn probabilistic_rbf<'py>(
    py: Python<'py>,
    x: AnyRows<'_>,
    z: Option<AnyRows<'_>>,
    sigma: Option<f64>,
    coupling: &str,
    seed: u64,
    max_bytes: Option<u64>,
    n_jobs: Jobs<'_>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let coupling: Coupling = coupling.parse().map_err(core_error)?;
    let threads = threads::resolve(n_jobs)?;
    let (x, z) = (MixtureArray::from(x), z.map(MixtureArray::from));
    let values = interrupt::run(py, None, move |control| {
        let sigma = sigma.map_or_else(|| median_distance(&x.collapse()?, seed), Ok::<f64, Error>)?;
        let options = RbfOptions { sigma, coupling, max_bytes };
        parallel::install(threads, || folded(&x, z.as_ref(), &options, control))?
    })?;
    Ok(PyArray2::from_owned_array(py, values))
}

/// The median distance between rows, covariances included.
#[pyfunction]
pub(crate) fn median_pair_distance(py: Python<'_>, x: AnyRows<'_>, seed: u64) -> BorderResult<f64> {
    let x = MixtureArray::from(x);
    Ok(py.detach(|| median_distance(&x.collapse()?, seed))?)
}
