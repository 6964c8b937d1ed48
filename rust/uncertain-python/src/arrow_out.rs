//! `Gaussians` as an Arrow stream: a `mean` column and one for the covariances, fixed-size lists. Of `Mixtures` every row
//! has a list of them, one per component, beside its `weight`s. As one column, an Arrow extension type, a row is a struct
//! of these.
//!
//! The batches point into the memory that the array already has (cut where any of its columns is
//! cut); only packed and shared matrices are written out.

use std::collections::{BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeListArray, Float32Array, Float64Array, LargeListArray, RecordBatch, RecordBatchIterator,
    StructArray,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use uncertain::data::Rows;
use uncertain::data::{ElementType, Stored, of_type};
use uncertain::{Error, GaussianArray, MixtureArray, Result};

use crate::arrow_capsule;

/// A column to be: its name, its numbers, and the nested list sizes from the outside in.
struct Column {
    name: &'static str,
    rows: Rows,
    sizes: Vec<usize>,
}

/// The field of the one column that rows are to be, with its metadata.
pub(crate) struct OneColumn {
    pub(crate) name: String,
    pub(crate) metadata: HashMap<String, String>,
}

/// The stream capsule of the Arrow PyCapsule interface. A consumer that wants other types casts what it gets, as the
/// interface allows.
pub(crate) fn stream<'py>(
    py: Python<'py>,
    array: &GaussianArray,
    one: Option<OneColumn>,
) -> PyResult<Bound<'py, PyCapsule>> {
    export(py, py.detach(|| batches(array)).map_err(crate::error::core_error)?, one)
}

/// Mixtures, in one batch.
pub(crate) fn stream_mixtures<'py>(
    py: Python<'py>,
    array: &MixtureArray,
    one: Option<OneColumn>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = py.detach(|| lists(array)).map_err(crate::error::core_error)?;
    export(py, (batch.schema(), vec![batch]), one)
}

fn export<'py>(
    py: Python<'py>,
    (schema, batches): (SchemaRef, Vec<RecordBatch>),
    one: Option<OneColumn>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let Some(OneColumn { name, metadata }) = one else {
        return arrow_capsule::export(py, RecordBatchIterator::new(batches.into_iter().map(Ok), schema));
    };
    // Null in no row here, but in those that a join adds.
    let field = Field::new(name, DataType::Struct(schema.fields().clone()), true).with_metadata(metadata);
    let schema: SchemaRef = Arc::new(Schema::new(vec![field]));
    let wrapped = {
        let schema = schema.clone();
        move |batch| RecordBatch::try_new(schema.clone(), vec![Arc::new(StructArray::from(batch))])
    };
    arrow_capsule::export(py, RecordBatchIterator::new(batches.into_iter().map(wrapped), schema))
}

fn lists(array: &MixtureArray) -> Result<RecordBatch> {
    let components = array.components();
    let weights = Rows::from_vec(array.weights().to_vec(), 1)?;
    let mut named: Vec<(&str, ArrayRef)> = vec![("weight", numbers(weights)?)];
    for Column { name, rows, sizes } in columns(components)? {
        let rows = if rows.as_stored().is_some() { rows } else { rows.take(&(0..rows.n_rows()).collect::<Vec<_>>()) };
        named.push((name, list(rows, &sizes)?));
    }
    let offsets: Vec<i64> = array.offsets().iter().map(|&at| at as i64).collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let mut made: Vec<(&str, ArrayRef)> = vec![];
    for (name, values) in named {
        let field = Arc::new(Field::new("item", values.data_type().clone(), false));
        let lists = LargeListArray::try_new(field, offsets.clone(), values, None).map_err(internal)?;
        made.push((name, Arc::new(lists)));
    }
    let fields = made.iter().map(|(name, list)| Field::new(*name, list.data_type().clone(), false)).collect::<Fields>();
    let lists = made.into_iter().map(|(_, list)| list).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), lists).map_err(internal)
}

fn batches(array: &GaussianArray) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let columns = columns(array)?;
    let fields = columns
        .iter()
        .map(|c| Field::new(c.name, list_type(c.rows.element_type(), &c.sizes), false))
        .collect::<Fields>();
    let schema = Arc::new(Schema::new(fields));
    let n = array.n_rows();
    let mut cuts: BTreeSet<usize> =
        columns.iter().flat_map(|c| c.rows.stored_segments(0..n).map(|(start, _)| start)).collect();
    cuts.insert(n);
    let cuts: Vec<usize> = cuts.into_iter().collect();
    let mut out = vec![];
    for pair in cuts.windows(2) {
        let lists = columns.iter().map(|c| list(c.rows.slice(pair[0]..pair[1]), &c.sizes));
        let lists = lists.collect::<Result<Vec<_>>>()?;
        out.push(RecordBatch::try_new(schema.clone(), lists).map_err(internal)?);
    }
    Ok((schema, out))
}

fn columns(array: &GaussianArray) -> Result<Vec<Column>> {
    // A column of Arrow has one type.
    let of_one_type = |rows: &Rows| rows.stored_as(rows.element_type());
    let mut columns = vec![Column { name: "mean", rows: of_one_type(array.means()), sizes: vec![array.n_features()] }];
    for field in array.arguments()? {
        let rows = if field.shared { field.values.take(&vec![0; array.n_rows()]) } else { of_one_type(&field.values) };
        let sizes = field.shape.sizes(array.n_features());
        columns.push(Column { name: field.name, rows, sizes: if sizes.is_empty() { vec![1] } else { sizes } });
    }
    Ok(columns)
}

fn list_type(element: ElementType, sizes: &[usize]) -> DataType {
    let number = if element == ElementType::F32 { DataType::Float32 } else { DataType::Float64 };
    sizes.iter().rev().fold(number, |inner, &size| {
        DataType::FixedSizeList(Arc::new(Field::new("item", inner, false)), size.try_into().unwrap_or(i32::MAX))
    })
}

/// Rows in one piece as a (nested) fixed-size list that shares their memory.
fn list(rows: Rows, sizes: &[usize]) -> Result<ArrayRef> {
    let element = rows.element_type();
    let mut array = numbers(rows)?;
    for (depth, &size) in sizes.iter().enumerate().rev() {
        let DataType::FixedSizeList(field, length) = list_type(element, &sizes[depth..]) else {
            return Err(Error::Internal("a list type that is none".into()));
        };
        debug_assert_eq!(usize::try_from(length), Ok(size));
        array = Arc::new(FixedSizeListArray::try_new(field, length, array, None).map_err(internal)?);
    }
    Ok(array)
}

/// The numbers of rows in one piece, sharing their memory.
fn numbers(rows: Rows) -> Result<ArrayRef> {
    let owner = Arc::new(AssertUnwindSafe(rows));
    let values = owner.as_stored().ok_or_else(|| Error::Internal("rows in several pieces".into()))?;
    let (start, bytes) = of_type!(values, values => (NonNull::from(values).cast::<u8>(), size_of_val(values)));
    // SAFETY: `start` and `bytes` delimit a slice inside `owner`, which the buffer keeps alive and nobody writes.
    let buffer = unsafe { Buffer::from_custom_allocation(start, bytes, owner.clone()) };
    Ok(match values {
        Stored::F64(_) => Arc::new(Float64Array::new(buffer.into(), None)),
        Stored::F32(_) => Arc::new(Float32Array::new(buffer.into(), None)),
    })
}

fn internal(error: ArrowError) -> Error {
    Error::Internal(error.to_string())
}
