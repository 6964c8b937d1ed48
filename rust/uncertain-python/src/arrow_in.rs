//! Arrow columns as rows of the core: in place where the memory is already row-major float64 or float32.
//!
//! One column at a time through the PyCapsule interface, chunk by chunk: asking a Polars frame for
//! a stream of whole batches would rechunk it, a copy of everything and a change of the caller's frame. A row is a list
//! (any of the three list types, nested or not) or a single number. The order of checks matters:
//! types, then nulls (a null row of a fixed-size list still owns its slots, one of a list owns
//! none), then lengths, and only then is the child buffer looked at.
//!
//! Missing error bars may be asked to mean "exact" ([`Missing::ZeroElements`], [`Missing::ZeroRows`]);
//! then nulls are first turned into NaN row by row, the one slow path of this file.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use uncertain::Error;
use uncertain::data::Rows;
use uncertain::data::{Element, ElementType, SharedBuffer, of_type};
use uncertain::memory::{typed_zeros, zeros};

use crate::arrow_capsule;
use crate::arrow_lists::{child, child_range, fixed_width, has_nulls, is_numeric, is_scalar, number_type, row_width};
use crate::error::{BorderError, BorderResult};

/// Integers up to here are float64 numbers, 2^53.
const EXACT: u64 = 1 << 53;

/// Treatment of nulls and NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// Refuse nulls; NaN is left to the core's checks.
    Refuse,
    /// Refuse nulls and NaN as missing error bars.
    RefuseErrorBars,
    /// A missing element is zero: an exact value.
    ZeroElements,
    /// A row with a missing element is all zero: an exact point.
    ZeroRows,
    /// Nulls become NaN, which the caller looks for.
    Nan,
}

/// One imported column.
pub(crate) struct Column {
    name: String,
    chunks: Vec<ArrayRef>,
    data_type: DataType,
}

impl Column {
    /// Take the column's chunks over, without reading them.
    pub(crate) fn import(column: &Bound<'_, PyAny>, name: String) -> BorderResult<Self> {
        let imported = arrow_capsule::import(column);
        let (chunks, field) = imported.map_err(|error| BorderError::Export { what: name.clone(), error })?;
        check_extension(&field, &name)?;
        Ok(Self { name, chunks, data_type: field.data_type().clone() })
    }

    /// Number of rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.chunks.iter().map(|c| c.len()).sum()
    }

    /// The rows, in place where the layout allows.
    pub(crate) fn rows(&self, missing: Missing) -> BorderResult<Rows> {
        if !is_numeric(&self.data_type) {
            return Err(BorderError::Type { what: self.name.clone(), found: called(&self.data_type) });
        }
        let mut reader = Reader { name: &self.name, width: fixed_width(&self.data_type), missing };
        if missing != Missing::Refuse && reader.width.is_none() {
            // Null rows at the front must know how many elements they stand for.
            reader.width = self.chunks.iter().find_map(|c| (0..c.len()).find_map(|i| row_width(c, i)));
        }
        let (mut pieces, mut start) = (vec![], 0);
        for chunk in self.chunks.iter().filter(|c| !c.is_empty()) {
            pieces.push(reader.chunk(chunk, start)?);
            start += chunk.len();
        }
        let Some(width) = reader.width.filter(|&w| w > 0) else {
            let got = if start == 0 { "no rows" } else { "empty lists" };
            return Err(Error::shape(&self.name, "at least one element in every row", got).into());
        };
        let mut rows = vec![];
        for (buffer, n_rows) in pieces {
            rows.push(Rows::from_shared(buffer, 0, n_rows, width)?);
        }
        Ok(Rows::concat(rows, width)?)
    }
}

/// Scalar columns side by side: one copy, in blocks of rows that stay in the cache.
pub(crate) fn interleave(columns: &[Column], missing: Missing) -> BorderResult<Rows> {
    let (d, n) = (columns.len(), columns.first().map_or(0, Column::n_rows));
    let mut read = Vec::with_capacity(d);
    for column in columns {
        let rows = column.rows(missing)?;
        if rows.width() != 1 {
            let got = format!("lists of {}", rows.width());
            return Err(Error::shape(&column.name, "one number per row, as there are several columns", got).into());
        }
        if rows.n_rows() != n {
            return Err(Error::shape(&column.name, format!("{n} rows as in {}", columns[0].name), rows.n_rows()).into());
        }
        read.push(rows);
    }
    let narrow = n > 0 && read.iter().all(|rows| rows.element_type() == ElementType::F32);
    let values: SharedBuffer = if narrow {
        side_by_side(&read, typed_zeros::<f32>(n, d)?, |wide| wide as f32).into()
    } else {
        side_by_side(&read, zeros(n, d)?, |wide| wide).into()
    };
    Ok(Rows::from_shared(values, 0, n, d)?)
}

/// `to` gives back the number that was stored.
fn side_by_side<T>(columns: &[Rows], mut values: Vec<T>, to: impl Fn(f64) -> T) -> Vec<T> {
    let (d, n) = (columns.len(), columns.first().map_or(0, Rows::n_rows));
    for block in (0..n).step_by(1024) {
        for (j, rows) in columns.iter().enumerate() {
            for (first, piece) in rows.stored_segments(block..n.min(block + 1024)) {
                let rows = values[first * d..].chunks_exact_mut(d);
                of_type!(piece.stored(), piece => rows.zip(piece).for_each(|(row, value)| row[j] = to(value.wide())));
            }
        }
    }
    values
}

struct Reader<'a> {
    name: &'a str,
    /// Elements per row: known from the type, or learned from the first row.
    width: Option<usize>,
    missing: Missing,
}

impl Reader<'_> {
    /// The elements of a chunk that is not empty; `start` is the number of its first row.
    fn chunk(&mut self, chunk: &ArrayRef, start: usize) -> BorderResult<(SharedBuffer, usize)> {
        if has_nulls(chunk) && matches!(self.missing, Missing::ZeroElements | Missing::ZeroRows | Missing::Nan) {
            return self.with_nulls(chunk, start);
        }
        let (values, width) = self.flatten(chunk, start, 1)?;
        self.expect_width(width, start, start)?;
        let values = self.without_nans(values, start)?;
        Ok((values, chunk.len()))
    }

    /// All rows have one width; `row` is the first one of this width.
    fn expect_width(&mut self, width: usize, row: usize, start: usize) -> BorderResult<()> {
        match self.width {
            Some(expected) if expected != width => {
                let what = self.name.to_string();
                Err(BorderError::Ragged { what, row: row.max(start), length: width, expected })
            }
            _ => {
                self.width = Some(width);
                Ok(())
            }
        }
    }

    /// The numbers below `array` and how many of them make an outer row; each outer row holds
    /// `per_row` elements of `array`.
    fn flatten(&self, array: &ArrayRef, start: usize, per_row: usize) -> BorderResult<(SharedBuffer, usize)> {
        self.refuse_nulls(array, start, per_row)?;
        let (child, length) = match array.data_type() {
            DataType::FixedSizeList(..) => {
                let list = array.as_fixed_size_list();
                (list.values().clone(), list.value_length().try_into().unwrap_or(0))
            }
            DataType::List(_) => self.list_child(array.as_list::<i32>(), start, per_row)?,
            DataType::LargeList(_) => self.list_child(array.as_list::<i64>(), start, per_row)?,
            _ => return Ok((self.numbers(array, start, per_row)?, per_row)),
        };
        self.flatten(&child, start, per_row * length)
    }

    fn list_child<O: OffsetSizeTrait>(
        &self,
        list: &arrow_array::GenericListArray<O>,
        start: usize,
        per_row: usize,
    ) -> BorderResult<(ArrayRef, usize)> {
        let offsets = list.value_offsets();
        let length = |i: usize| offsets[i + 1].as_usize().saturating_sub(offsets[i].as_usize());
        let expected = if per_row == 1 { self.width_of_lists(list.values()).unwrap_or(length(0)) } else { length(0) };
        if let Some(i) = (0..list.len()).find(|&i| length(i) != expected) {
            let what = self.name.to_string();
            return Err(BorderError::Ragged { what, row: start + i / per_row.max(1), length: length(i), expected });
        }
        let (first, len) = (offsets[0].as_usize(), list.len() * expected);
        if first + len > list.values().len() {
            return Err(
                Error::Data(format!("{}: the offsets of the list column reach outside its values", self.name)).into()
            );
        }
        Ok((list.values().slice(first, len), expected))
    }

    /// The length every outer list must have, if earlier chunks have fixed it (plain lists only).
    fn width_of_lists(&self, child: &ArrayRef) -> Option<usize> {
        self.width.filter(|_| is_scalar(child.data_type()))
    }

    fn refuse_nulls(&self, array: &ArrayRef, start: usize, per_row: usize) -> BorderResult<()> {
        let Some(nulls) = array.nulls().filter(|n| n.null_count() > 0) else { return Ok(()) };
        let at = (0..array.len()).find(|&i| nulls.is_null(i)).unwrap_or(0);
        let element = (per_row > 1).then_some(at % per_row.max(1));
        Err(self.absent(start + at / per_row.max(1), element, "null"))
    }

    fn absent(&self, row: usize, element: Option<usize>, value: &'static str) -> BorderError {
        let what = self.name.to_string();
        match self.missing {
            Missing::Refuse => BorderError::Null { what, row, element },
            _ => BorderError::MissingErrorBar { what, row, element, value },
        }
    }

    /// The numbers of a primitive array: floats in place, integers widened once. Its first element is in row `start`, with `per_row` to a row.
    fn numbers(&self, array: &ArrayRef, start: usize, per_row: usize) -> BorderResult<SharedBuffer> {
        fn widen<T: ArrowPrimitiveType>(array: &ArrayRef, to: impl Fn(T::Native) -> f64) -> SharedBuffer {
            array.as_primitive::<T>().values().iter().map(|&v| to(v)).collect::<Vec<f64>>().into()
        }
        Ok(match array.data_type() {
            DataType::Float64 => SharedBuffer::F64(Arc::new(array.as_primitive::<Float64Type>().values().clone())),
            DataType::Float32 => SharedBuffer::F32(Arc::new(array.as_primitive::<Float32Type>().values().clone())),
            DataType::Int8 => widen::<Int8Type>(array, f64::from),
            DataType::Int16 => widen::<Int16Type>(array, f64::from),
            DataType::Int32 => widen::<Int32Type>(array, f64::from),
            DataType::Int64 => {
                let values = array.as_primitive::<Int64Type>().values();
                self.refuse_rounding(array, |i| (values[i].unsigned_abs() > EXACT, values[i].into()), start, per_row)?;
                widen::<Int64Type>(array, |v| v as f64)
            }
            DataType::UInt8 => widen::<UInt8Type>(array, f64::from),
            DataType::UInt16 => widen::<UInt16Type>(array, f64::from),
            DataType::UInt32 => widen::<UInt32Type>(array, f64::from),
            DataType::UInt64 => {
                let values = array.as_primitive::<UInt64Type>().values();
                self.refuse_rounding(array, |i| (values[i] > EXACT, values[i].into()), start, per_row)?;
                widen::<UInt64Type>(array, |v| v as f64)
            }
            other => return Err(BorderError::Type { what: self.name.to_string(), found: called(other) }),
        })
    }

    /// An integer that a float64 may not hold: two of them could become one number.
    fn refuse_rounding(
        &self,
        array: &ArrayRef,
        at: impl Fn(usize) -> (bool, i128),
        start: usize,
        per_row: usize,
    ) -> BorderResult<()> {
        match (0..array.len()).find(|&i| at(i).0 && !array.is_null(i)) {
            None => Ok(()),
            Some(i) => Err(Error::Data(format!(
                "{}: row {} is {}, and numbers are read as float64, which holds integers up to 2^53 only; an identifier is \
                 no feature, and a quantity can be made a float column",
                self.name,
                start + i / per_row.max(1),
                at(i).1
            ))
            .into()),
        }
    }

    /// Error bars only: NaN refused or replaced, whole rows of it if asked.
    fn without_nans(&self, values: SharedBuffer, start: usize) -> BorderResult<SharedBuffer> {
        let width = self.width.unwrap_or(1).max(1);
        if matches!(self.missing, Missing::Refuse | Missing::Nan) {
            return Ok(values);
        }
        let gap = of_type!(values.stored(), slice => slice.iter().position(|v| v.is_nan()));
        let Some(at) = gap else { return Ok(values) };
        if self.missing == Missing::RefuseErrorBars {
            let element = (width > 1).then_some(at % width);
            return Err(self.absent(start + at / width, element, "NaN"));
        }
        Ok(of_type!(values.stored(), slice => {
            let mut filled = slice.to_vec();
            for row in filled.chunks_mut(width) {
                if self.missing == Missing::ZeroRows && row.iter().any(|v| v.is_nan()) {
                    row.fill(0.0);
                }
                row.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = 0.0);
            }
            filled.into()
        }))
    }

    /// Rows one by one, a null element as NaN and a null list as a row of NaN; then as above.
    fn with_nulls(&mut self, chunk: &ArrayRef, start: usize) -> BorderResult<(SharedBuffer, usize)> {
        let mut values = Vec::new();
        let mut present = Vec::new();
        for i in 0..chunk.len() {
            present.clear();
            if self.push_row(chunk, start + i, i..i + 1, &mut present)? {
                self.expect_width(present.len(), start + i, start)?;
                values.extend_from_slice(&present);
            } else {
                values.extend(std::iter::repeat_n(f64::NAN, self.width.unwrap_or(1)));
            }
        }
        let values = match number_type(chunk.data_type()) {
            DataType::Float32 => values.into_iter().map(|v| v as f32).collect::<Vec<_>>().into(),
            _ => values.into(),
        };
        Ok((self.without_nans(values, start)?, chunk.len()))
    }

    /// Append the numbers of elements `range`; false if a list among them is null.
    fn push_row(&self, array: &ArrayRef, row: usize, range: Range<usize>, out: &mut Vec<f64>) -> BorderResult<bool> {
        if is_scalar(array.data_type()) {
            let part = array.slice(range.start, range.len());
            let values = self.numbers(&part, row, part.len())?;
            let values = values.stored().wide();
            out.extend(values.iter().enumerate().map(|(i, v)| if part.is_null(i) { f64::NAN } else { *v }));
            return Ok(true);
        }
        for i in range {
            if array.is_null(i) || !self.push_row(&child(array), row, child_range(array, i), out)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The type of a column in words of users, where these differ from Arrow's.
fn called(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "strings".to_owned(),
        DataType::Boolean => "booleans".to_owned(),
        other => other.to_string(),
    }
}

/// A fixed-shape tensor stores what its shape says only if its dimensions are not permuted.
///
/// Read as plain JSON: arrow-schema's `FixedShapeTensor` (59) knows a key `permutations` and refuses `permutation`, which the
/// format prescribes and pyarrow writes.
fn check_extension(field: &Field, name: &str) -> BorderResult<()> {
    let metadata = field.extension_type_metadata().filter(|_| field.extension_type_name() == Some(TENSOR));
    let Some(metadata) = metadata else { return Ok(()) };
    let refused = |why: &str| Err(BorderError::Type { what: name.to_string(), found: format!("a {TENSOR} {why}") });
    let Ok(metadata) = serde_json::from_str::<serde_json::Value>(metadata) else {
        return refused("whose metadata are not JSON");
    };
    let permutation = metadata["permutation"].as_array();
    if permutation.is_some_and(|order| !order.iter().map(serde_json::Value::as_u64).is_sorted()) {
        return refused("with permuted dimensions");
    }
    Ok(())
}

/// The name of Arrow's extension type.
const TENSOR: &str = "arrow.fixed_shape_tensor";
