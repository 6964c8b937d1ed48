//! Draws to mixtures for Python. `python/uncertain/uncertainty/_draws.py` is the user.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use uncertain::draws::{Criterion, Params};

use crate::error::core_error;
use crate::gaussians::whole;
use crate::interrupt;
use crate::mixtures::Mixtures;
use crate::rows::Rows;
use crate::threads::{self, Jobs};

/// Mixtures of the draws of every row, and the number of rows with fewer components than asked for.
#[pyfunction]
#[pyo3(signature = (draws, offsets, weights, n_components, criterion, n_jobs=None))]
pub(crate) fn mixtures_from_draws(
    py: Python<'_>,
    draws: &Rows,
    offsets: PyReadonlyArray1<'_, i64>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_components: Option<usize>,
    criterion: &str,
    n_jobs: Jobs<'_>,
) -> PyResult<(Mixtures, usize)> {
    let criterion: Criterion = criterion.parse().map_err(core_error)?;
    let (params, threads) = (Params::new().n_components(n_components).criterion(criterion), threads::resolve(n_jobs)?);
    let (offsets, weights) = (whole(offsets, "offset")?, weights.map(|weights| weights.as_array().to_vec()));
    let draws = draws.inner.clone();
    let found = interrupt::run(py, None, move |control| {
        params.control(control.clone().with_threads(threads)).fit(draws, &offsets, weights.as_deref())
    })?;
    Ok((found.mixtures.into(), found.n_fewer))
}
