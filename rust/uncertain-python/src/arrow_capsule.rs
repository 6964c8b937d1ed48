//! Arrow data in and out of Python, by the three capsules of the
//! [Arrow PyCapsule interface](https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html).
//!
//! `arrow-array` has the C structures and their release callbacks; its stream reader knows record batches alone,
//! and a column is a stream of arrays of any type. Reading it takes three calls.
//! Rejected: `pyo3-arrow`, which does the same and brings `arrow-cast` with its two companions, none of it used here: a
//! third of all that a fresh build compiles.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, Field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::numpy_in::column_from_numpy;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// The chunks of a column and what it is called and holds, taken over without a copy.
///
/// # Errors
/// The error of the exporter; an object of another kind.
pub(crate) fn import(column: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, Field)> {
    if let Some(array) = column_from_numpy(column)? {
        let field = Field::new("", array.data_type().clone(), false);
        return Ok((vec![array], field));
    }
    if column.hasattr("__arrow_c_stream__")? {
        let capsule = column.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
        return of_stream(&capsule);
    }
    if !column.hasattr("__arrow_c_array__")? {
        let found = column.get_type().name()?;
        let told = format!("{found} is no array, and has neither __arrow_c_stream__ nor __arrow_c_array__");
        return Err(PyTypeError::new_err(told));
    }
    type Pair<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);
    let (schema, array): Pair<'_> = column.call_method0("__arrow_c_array__")?.extract()?;
    of_array(&schema, &array)
}

/// One array.
fn of_array(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<(Vec<ArrayRef>, Field)> {
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: capsules of these names hold initialised structures of these types, alive as long as the capsules, which
    // the caller borrows; the array is moved out, so that the capsule no longer releases it.
    let (schema, array) = unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(array.as_ptr())) };
    let field = Field::try_from(schema).map_err(refused)?;
    // SAFETY: the exporter promises that the array is of its schema's type and its buffers as large as the type demands.
    let data = unsafe { from_ffi(array, schema) }.map_err(refused)?;
    Ok((vec![make_array(data)], field))
}

/// All arrays of a stream.
fn of_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<(Vec<ArrayRef>, Field)> {
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds an initialised stream; it is moved out, so that the capsule no longer
    // releases it.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_ptr()) };
    let mut schema = FFI_ArrowSchema::empty();
    let get_schema = stream.get_schema.ok_or_else(was_read)?;
    // SAFETY: the stream is alive (it has its callbacks), `schema` is empty and ours.
    let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
    check(code, &mut stream)?;
    let field = Field::try_from(&schema).map_err(refused)?;
    let mut chunks = vec![];
    while let Some(array) = next(&mut stream)? {
        // SAFETY: as in `of_array`.
        let data = unsafe { from_ffi_and_data_type(array, field.data_type().clone()) }.map_err(refused)?;
        chunks.push(make_array(data));
    }
    Ok((chunks, field))
}

/// The next array, none at the end.
fn next(stream: &mut FFI_ArrowArrayStream) -> PyResult<Option<FFI_ArrowArray>> {
    let mut array = FFI_ArrowArray::empty();
    let get_next = stream.get_next.ok_or_else(was_read)?;
    // SAFETY: the stream is alive, `array` is empty and ours.
    let code = unsafe { get_next(&raw mut *stream, &raw mut array) };
    check(code, stream)?;
    Ok((!array.is_released()).then_some(array))
}

/// The stream's message on its last call, which returned `code`.
fn check(code: i32, stream: &mut FFI_ArrowArrayStream) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    let told = stream.get_last_error.and_then(|last_error| {
        // SAFETY: the stream is alive; the text belongs to it and lives until the next call.
        unsafe {
            let text = last_error(&raw mut *stream);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    });
    let told = told.unwrap_or_else(|| std::io::Error::from_raw_os_error(code).to_string());
    Err(refused(ArrowError::CDataInterface(told)))
}

fn was_read() -> PyErr {
    refused(ArrowError::CDataInterface("the stream was read or released before".into()))
}

fn refused(error: ArrowError) -> PyErr {
    PyTypeError::new_err(error.to_string())
}

/// The stream capsule of batches that are ready.
pub(crate) fn export(
    py: Python<'_>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), STREAM)
}
