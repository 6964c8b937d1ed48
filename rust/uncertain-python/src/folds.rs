//! Folds of cross-validation.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::BorderResult;

/// The fold of every row, with rows of one group in one fold and classes spread evenly.
#[pyfunction]
pub(crate) fn group_folds<'py>(
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
