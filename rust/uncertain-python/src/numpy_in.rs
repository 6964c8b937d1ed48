//! NumPy memory as rows of the core, without copying, and back.
//!
//! Python hands over C-contiguous float64 or float32 (it converts everything else once, with NumPy itself);
//! the core reads the caller's memory in place and never writes. Rejected: a copy "to be safe"
//! (it doubles the memory of a table), and the numpy crate's borrow flags, which only other
//! Rust extensions respect. As everywhere in scikit-learn, writing into the arrays of a fit while
//! it runs is the caller's bug.

use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, FixedSizeListArray, PrimitiveArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::Field;
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use uncertain::Error;
use uncertain::data::Rows;
use uncertain::data::{SharedBuffer, SharedCodes};

use crate::error::BorderResult;

/// The elements of an array that Python owns.
struct NumpyBuffer<T> {
    /// Keeps the memory alive.
    _array: Py<PyArrayDyn<T>>,
    start: *const T,
    len: usize,
}

// SAFETY: the memory belongs to the array held beside the pointer, NumPy does not move or free it
// while a reference exists, and this type only reads.
unsafe impl<T> Send for NumpyBuffer<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for NumpyBuffer<T> {}

impl<T> AsRef<[T]> for NumpyBuffer<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: `held` took pointer and length from a C-contiguous, aligned array that is still held.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }
}

/// `array` as `n_rows` rows of `width` elements, sharing its memory.
pub(crate) fn rows_from_numpy(array: &Bound<'_, PyAny>, n_rows: usize, width: usize) -> BorderResult<Rows> {
    let wide = |array| held::<f64>(array).map(|held| SharedBuffer::F64(Arc::new(held)));
    let narrow = |array| held::<f32>(array).map(|held| SharedBuffer::F32(Arc::new(held)));
    let buffer = wide(array)
        .or_else(|| narrow(array))
        .ok_or_else(|| Error::Internal("expected a C-contiguous, aligned array of float64 or float32".into()))?;
    Ok(Rows::from_shared(buffer, 0, n_rows, width)?)
}

/// Codes of classes, in the array's memory where that is contiguous.
pub(crate) fn shared_codes(codes: &PyReadonlyArray1<'_, u32>) -> SharedCodes {
    match held::<u32>(codes.as_any()) {
        Some(held) => SharedCodes::new(held),
        None => SharedCodes::new(codes.as_array().to_vec()),
    }
}

/// The elements of a contiguous, aligned array of this type.
fn held<T: numpy::Element>(array: &Bound<'_, PyAny>) -> Option<NumpyBuffer<T>> {
    let array = array.cast::<PyArrayDyn<T>>().ok()?;
    let (start, len) = (array.data().cast_const(), array.len());
    // That of no elements may be anywhere.
    let start = if len == 0 { NonNull::<T>::dangling().as_ptr().cast_const() } else { start };
    let usable = array.is_c_contiguous() && start.is_aligned();
    usable.then(|| NumpyBuffer { _array: array.clone().unbind(), start, len })
}

/// A column in NumPy's memory as an Arrow array that shares it: numbers, or (nested) fixed-size lists of them for more
/// dimensions than one. `None` for what is no array.
///
/// # Errors
/// Anything but numbers of a type that Arrow has.
pub(crate) fn column_from_numpy(column: &Bound<'_, PyAny>) -> PyResult<Option<ArrayRef>> {
    if !column.is_instance_of::<PyUntypedArray>() {
        return Ok(None);
    }
    // Rows of a C-ordered matrix are strided as columns, those of a structured array are not even aligned.
    let require = column.py().import("numpy")?.getattr("require")?;
    let array = require.call1((column, column.py().None(), ["C", "A"]))?;
    let numbers = [
        shared::<Float64Type>,
        shared::<Float32Type>,
        shared::<Int64Type>,
        shared::<Int32Type>,
        shared::<Int16Type>,
        shared::<Int8Type>,
        shared::<UInt64Type>,
        shared::<UInt32Type>,
        shared::<UInt16Type>,
        shared::<UInt8Type>,
    ];
    let found = numbers.iter().find_map(|shared| shared(&array));
    let Some(mut values) = found else {
        let dtype = array.getattr("dtype")?;
        return Err(PyTypeError::new_err(format!("an array of {dtype} holds no numbers that Arrow has")));
    };
    let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
    for &size in shape.iter().skip(1).rev() {
        let field = Arc::new(Field::new("item", values.data_type().clone(), false));
        let size = i32::try_from(size).map_err(|_| PyTypeError::new_err("lists of more than 2^31 numbers"))?;
        let list = FixedSizeListArray::try_new(field, size, values, None);
        values = Arc::new(list.map_err(|error| PyTypeError::new_err(error.to_string()))?);
    }
    Ok(Some(values))
}

/// The memory of a contiguous, aligned array of this type.
fn shared<T: ArrowPrimitiveType<Native: numpy::Element>>(array: &Bound<'_, PyAny>) -> Option<ArrayRef> {
    let array = array.cast::<PyArrayDyn<T::Native>>().ok()?;
    let Some(start) = NonNull::new(array.data().cast::<u8>()).filter(|_| !array.is_empty()) else {
        return Some(Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(Vec::new()), None)));
    };
    let bytes = array.len() * size_of::<T::Native>();
    // SAFETY: `start` and `bytes` delimit the elements of a contiguous array, which the buffer keeps alive; as in all
    // of this file they are only read.
    let buffer =
        unsafe { Buffer::from_custom_allocation(start, bytes, Arc::new(AssertUnwindSafe(array.clone().unbind()))) };
    Some(Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(buffer), None)))
}
