//! Losses on NumPy arrays.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use uncertain::Error;

use crate::error::BorderResult;

/// The expected hinge of (d, s) pairs; both C-contiguous and of one length.
#[pyfunction]
pub(crate) fn expected_hinge<'py>(
    py: Python<'py>,
    d: PyReadonlyArray1<'py, f64>,
    s: PyReadonlyArray1<'py, f64>,
) -> BorderResult<Bound<'py, PyArray1<f64>>> {
    let not_contiguous = |_| Error::Internal("expected C-contiguous arrays".into());
    let (d, s) = (d.as_slice().map_err(not_contiguous)?, s.as_slice().map_err(not_contiguous)?);
    let losses = py.detach(|| uncertain::loss::expected_hinge(d, s))?;
    Ok(losses.into_pyarray(py))
}
