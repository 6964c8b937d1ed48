//! Common parts of Arrow's three list types: their child, and which of its elements make a list.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_schema::DataType;

/// Is a row a single value?
pub(crate) fn is_scalar(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..))
}

/// Contents of a column, plain or in lists of any depth.
pub(crate) fn number_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(f) | DataType::LargeList(f) | DataType::FixedSizeList(f, _) => number_type(f.data_type()),
        other => other,
    }
}

/// Numbers that are float64 numbers, or close to one?
pub(crate) fn is_numeric(data_type: &DataType) -> bool {
    let number = number_type(data_type);
    matches!(number, DataType::Float64 | DataType::Float32) || number.is_integer()
}

/// Elements per row, where the type alone says it.
pub(crate) fn fixed_width(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::FixedSizeList(field, size) => Some(usize::try_from(*size).ok()? * fixed_width(field.data_type())?),
        DataType::List(_) | DataType::LargeList(_) => None,
        _ => Some(1),
    }
}

/// The elements of all lists.
pub(crate) fn child(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::FixedSizeList(..) => array.as_fixed_size_list().values().clone(),
        DataType::LargeList(_) => array.as_list::<i64>().values().clone(),
        _ => array.as_list::<i32>().values().clone(),
    }
}

/// The elements of `child(array)` that make list `i`.
pub(crate) fn child_range(array: &ArrayRef, i: usize) -> Range<usize> {
    fn between<O: OffsetSizeTrait>(offsets: &[O], i: usize) -> Range<usize> {
        offsets[i].as_usize()..offsets[i + 1].as_usize()
    }
    match array.data_type() {
        DataType::FixedSizeList(..) => {
            let size = usize::try_from(array.as_fixed_size_list().value_length()).unwrap_or(0);
            i * size..(i + 1) * size
        }
        DataType::LargeList(_) => between(array.as_list::<i64>().value_offsets(), i),
        _ => between(array.as_list::<i32>().value_offsets(), i),
    }
}

/// Numbers in row `i`; `None` if a list in it is null.
pub(crate) fn row_width(array: &ArrayRef, i: usize) -> Option<usize> {
    if is_scalar(array.data_type()) {
        return Some(1);
    }
    let (child, range) = (child(array), child_range(array, i));
    if array.is_null(i) { None } else { range.map(|k| row_width(&child, k)).sum() }
}

/// Is anything missing, at any depth?
pub(crate) fn has_nulls(array: &ArrayRef) -> bool {
    array.null_count() > 0 || (!is_scalar(array.data_type()) && has_nulls(&child(array)))
}
