//! NumPy memory as rows of the core, without copying, and back.
//!
//! Python hands over C-contiguous float64 (it converts everything else once, with NumPy itself);
//! the core reads the caller's memory in place and never writes. Rejected: a copy "to be safe"
//! (it doubles the memory of a table), and the numpy crate's borrow flags, which only other
//! Rust extensions respect. As everywhere in scikit-learn, writing into the arrays of a fit while
//! it runs is the caller's bug.

use std::sync::Arc;

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use uncertain::data::SharedBuffer;
use uncertain::{Error, Rows};

use crate::error::BorderResult;

/// The elements of an array that Python owns.
struct NumpyBuffer {
    /// Keeps the memory alive.
    _array: Py<PyArrayDyn<f64>>,
    start: *const f64,
    len: usize,
}

// SAFETY: the memory belongs to the array held beside the pointer, NumPy does not move or free it
// while a reference exists, and this type only reads.
unsafe impl Send for NumpyBuffer {}
// SAFETY: as above.
unsafe impl Sync for NumpyBuffer {}

impl AsRef<[f64]> for NumpyBuffer {
    fn as_ref(&self) -> &[f64] {
        // SAFETY: `rows_from_numpy` took pointer and length from a C-contiguous, aligned array that is still held.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// `array` as `n_rows` rows of `width` elements, sharing its memory.
pub(crate) fn rows_from_numpy(array: &Bound<'_, PyArrayDyn<f64>>, n_rows: usize, width: usize) -> BorderResult<Rows> {
    let start = array.data().cast_const();
    if !array.is_c_contiguous() || !start.is_aligned() {
        return Err(Error::Internal("expected a C-contiguous, aligned array".into()).into());
    }
    let len = array.len();
    if len == 0 {
        return Ok(Rows::from_shared(Arc::new(Vec::new()), 0, n_rows, width)?);
    }
    let buffer: SharedBuffer = Arc::new(NumpyBuffer { _array: array.clone().unbind(), start, len });
    Ok(Rows::from_shared(buffer, 0, n_rows, width)?)
}
