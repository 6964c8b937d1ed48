//! A row-major matrix that may lie in several pieces of somebody else's memory, each float32 or float64.
//!
//! Arrow columns come in chunks and NumPy arrays are owned by Python; copying either would double
//! the memory of a table. So a [`Rows`] is a list of chunks, each a slice of a shared buffer, and
//! everything that reads rows asks for [`Rows::segments`]: contiguous runs, usually one.
//! Arrays of ndarray, of any layout, become one. Rejected: to hold their views (one piece only, and a lifetime would reach
//! into Python).
//!
//! This file is where the core knows the type. To all others the numbers are float64: lent where they are stored so,
//! else widened, row by row or in short runs. The passes that need the speed take them as they are stored
//! ([`Rows::stored_segments`]) to kernels that widen in the load. Either way nothing is rounded, and no sum changes
//! its order. Results are written as float64, but scaled float32 rows, which are scaled as they are read
//! (`change.rs`); what is only moved keeps its type.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, ArrayBase, Data, RemoveAxis};

use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::parallel;
use crate::readable::readable;
use uncertain_simd::{Element, LANES, Stored, of_type};

mod buffer;
mod change;

pub use buffer::{ElementType, SharedBuffer, SharedCodes};
use change::Change;
pub use change::Run;

/// Numbers of a run that is widened at a time.
const RUN: usize = 8192;

#[derive(Clone)]
struct Chunk {
    buffer: SharedBuffer,
    /// First element of the chunk inside the buffer.
    offset: usize,
    /// First row of the chunk inside the matrix.
    start: usize,
    n_rows: usize,
    /// Change of the numbers as they are read.
    change: Option<Arc<Change>>,
}

impl Chunk {
    /// Where in the buffer a row of the matrix, of this width, begins.
    #[inline]
    fn place(&self, row: usize, width: usize) -> usize {
        self.offset + (row - self.start) * width
    }

    /// Rows `rows` of the matrix, of this width.
    #[inline]
    fn run(&self, rows: Range<usize>, width: usize) -> Run<'_> {
        let stored = self.buffer.stored().part(self.place(rows.start, width)..self.place(rows.end, width));
        match &self.change {
            None => Run::Lent(stored),
            Some(change) => Run::Written(of_type!(stored, values => change.written(values, width))),
        }
    }

    /// The type of the numbers as they are read in place.
    fn element_type(&self) -> ElementType {
        if self.change.is_some() { ElementType::F64 } else { self.buffer.element_type() }
    }
}

readable! {
    /// A row-major `n_rows x width` matrix in one or several shared pieces; cheap to clone and slice.
    #[derive(Clone)]
    pub struct Rows {
        chunks: Vec<Chunk>,
        /// Number of rows.
        n_rows: usize => usize,
        /// Elements in a row.
        width: usize => usize,
    }
}

/// Contiguous runs of some of the rows, from the first of these chunks on.
struct Runs<'a> {
    chunks: &'a [Chunk],
    width: usize,
    left: Range<usize>,
    widened: bool,
}

impl<'a> Iterator for Runs<'a> {
    type Item = (usize, Run<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left.is_empty() {
            return None;
        }
        let (chunk, later) = self.chunks.split_first()?;
        let end = chunk.start + chunk.n_rows;
        let long = chunk.change.is_none() && (!self.widened || chunk.element_type() == ElementType::F64);
        let mut to = self.left.end.min(end);
        if !long {
            // Packs of rows (eight matrices are factored together) are cut alike in either type.
            to = to.min(self.left.start + (RUN / self.width).max(1).next_multiple_of(LANES));
        }
        if to == end {
            self.chunks = later;
        }
        let first = self.left.start;
        self.left.start = to;
        Some((first, chunk.run(first..to, self.width)))
    }
}

impl PartialEq for Rows {
    /// Equal elements, in however many pieces.
    fn eq(&self, other: &Self) -> bool {
        let same_shape = (self.n_rows, self.width) == (other.n_rows, other.width);
        same_shape && (0..self.n_rows).all(|i| self.row(i) == other.row(i))
    }
}

impl Rows {
    /// A matrix from its elements, row by row.
    pub fn from_vec(values: Vec<f64>, width: usize) -> Result<Self> {
        if width == 0 || !values.len().is_multiple_of(width) {
            return Err(Error::shape("rows", format!("a multiple of {width} elements"), values.len()));
        }
        let n_rows = values.len() / width;
        Self::from_shared(values.into(), 0, n_rows, width)
    }

    /// A matrix inside a shared buffer, from element `offset` on.
    pub fn from_shared(buffer: SharedBuffer, offset: usize, n_rows: usize, width: usize) -> Result<Self> {
        let len = buffer.stored().len();
        let needed = n_rows.checked_mul(width).and_then(|n| n.checked_add(offset));
        if width == 0 || needed.is_none_or(|needed| needed > len) {
            return Err(Error::shape("rows", format!("{n_rows} x {width} elements from {offset} on"), len));
        }
        let chunk = Chunk { buffer, offset, start: 0, n_rows, change: None };
        Ok(Self { chunks: if n_rows == 0 { vec![] } else { vec![chunk] }, n_rows, width })
    }

    /// The matrices below each other, without copying. They must have one width.
    pub fn concat(pieces: impl IntoIterator<Item = Rows>, width: usize) -> Result<Self> {
        let mut out = Self { chunks: vec![], n_rows: 0, width };
        for piece in pieces {
            if piece.width != width {
                return Err(Error::shape("rows to concatenate", format!("width {width}"), piece.width));
            }
            out.chunks.extend(piece.chunks.into_iter().map(|c| Chunk { start: c.start + out.n_rows, ..c }));
            out.n_rows += piece.n_rows;
        }
        Ok(out)
    }

    /// One row. Panics when out of range, as slices do.
    #[must_use]
    #[inline]
    pub fn row(&self, i: usize) -> Cow<'_, [f64]> {
        let chunk = &self.chunks[self.find_chunk(i)];
        if let (Stored::F64(values), None) = (chunk.buffer.stored(), &chunk.change) {
            return Cow::Borrowed(&values[chunk.place(i, self.width)..][..self.width]);
        }
        self.stored_row(i).wide()
    }

    /// One row as it is stored.
    #[inline]
    pub(crate) fn stored_row(&self, i: usize) -> Run<'_> {
        self.chunks[self.find_chunk(i)].run(i..i + 1, self.width)
    }

    /// Element j of row i.
    #[must_use]
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        let chunk = &self.chunks[self.find_chunk(i)];
        let at = chunk.place(i, self.width) + j;
        of_type!(chunk.buffer.stored(), values => chunk.change.as_ref().map_or(values[at].wide(), |change| {
            let mut out = [0.0];
            change.write(j, &values[at..=at], &mut out);
            out[0]
        }))
    }

    fn find_chunk(&self, row: usize) -> usize {
        if self.chunks.len() == 1 { 0 } else { self.chunks.partition_point(|c| c.start + c.n_rows <= row) }
    }

    /// The rows of `range` as contiguous runs in order: (number of the first row, its elements on).
    pub fn segments(&self, range: Range<usize>) -> impl Iterator<Item = (usize, Cow<'_, [f64]>)> {
        self.runs(range, true).map(|(first, run)| (first, run.wide()))
    }

    /// [`Self::segments`] as they are stored, each as long as it is.
    pub fn stored_segments(&self, range: Range<usize>) -> impl Iterator<Item = (usize, Run<'_>)> {
        self.runs(range, false)
    }

    /// Runs that are as long as they are, or short if they are written for the read, or `widened` by the caller.
    #[inline]
    fn runs(&self, range: Range<usize>, widened: bool) -> Runs<'_> {
        let chunk = if range.is_empty() { self.chunks.len() } else { self.find_chunk(range.start) };
        Runs { chunks: &self.chunks[chunk..], width: self.width, left: range, widened }
    }

    /// All elements as they are stored, when they lie in one piece.
    #[must_use]
    pub fn as_stored(&self) -> Option<Stored<'_>> {
        match self.chunks.as_slice() {
            [] => Some(Stored::F64(&[])),
            [c] if c.change.is_none() => Some(c.buffer.stored().part(c.offset..c.offset + c.n_rows * self.width)),
            _ => None,
        }
    }

    /// All elements in one piece, copied only if they are not.
    #[must_use]
    pub fn contiguous(&self) -> Cow<'_, [f64]> {
        self.as_stored().map_or_else(|| self.to_vec().into(), Stored::wide)
    }

    /// The type that they are stored in: float32 if all pieces are. Rows that change as they are read are float64.
    #[must_use]
    pub fn element_type(&self) -> ElementType {
        let narrow = |c: &Chunk| c.element_type() == ElementType::F32;
        if !self.chunks.is_empty() && self.chunks.iter().all(narrow) { ElementType::F32 } else { ElementType::F64 }
    }

    /// Bytes of a row.
    #[must_use]
    pub fn row_bytes(&self) -> usize {
        self.width * self.element_type().bytes()
    }

    /// Rows `range`, sharing the memory.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let (from, to) = (range.start.min(self.n_rows), range.end.min(self.n_rows));
        let chunks = self.chunks.iter().filter_map(|c| {
            let (a, b) = (from.max(c.start), to.min(c.start + c.n_rows));
            let offset = c.offset + a.saturating_sub(c.start) * self.width;
            (a < b).then(|| Chunk { offset, start: a - from, n_rows: b - a, ..c.clone() })
        });
        Self { chunks: chunks.collect(), n_rows: to.saturating_sub(from), width: self.width }
    }

    /// The rows with these numbers, copied; what changes as it is read still does. Panics when one is out of range.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let gathered = |from: &Self| from.gathered(rows.iter().copied(), std::slice::from_ref(&(0..self.width)));
        match self.change() {
            Some(change) => gathered(&self.with_change(None)).with_change(Some(change)),
            None => gathered(self),
        }
    }

    /// Change of all of them as they are read, if it is one for all.
    fn change(&self) -> Option<Arc<Change>> {
        let first = self.chunks.first()?.change.as_ref()?;
        self.chunks.iter().all(|c| c.change.as_ref() == Some(first)).then(|| Arc::clone(first))
    }

    /// The rows as they are stored, and changed like this as they are read.
    fn with_change(&self, change: Option<Arc<Change>>) -> Self {
        let chunks = self.chunks.iter().map(|c| Chunk { change: change.clone(), ..c.clone() }).collect();
        Self { chunks, ..*self }
    }

    /// Some groups of `size` neighbouring elements of every row, copied.
    pub(crate) fn columns(&self, columns: &[usize], size: usize) -> Self {
        let parts: Vec<_> = columns.iter().map(|&c| c * size..(c + 1) * size).collect();
        self.gathered(0..self.n_rows, &parts)
    }

    /// Parts of rows one after the other in new memory, of the same type.
    fn gathered(&self, rows: impl ExactSizeIterator<Item = usize>, parts: &[Range<usize>]) -> Self {
        let (n_rows, width) = (rows.len(), parts.iter().map(ExactSizeIterator::len).sum());
        let runs = rows.map(|i| self.stored_row(i));
        let buffer = if self.element_type() == ElementType::F32 {
            let mut values = Vec::with_capacity(n_rows * width);
            for run in runs {
                let row = if let Run::Lent(Stored::F32(row)) = run { row } else { &[] };
                parts.iter().for_each(|part| values.extend_from_slice(&row[part.clone()]));
            }
            SharedBuffer::from(values)
        } else {
            let mut values = Vec::with_capacity(n_rows * width);
            for run in runs {
                let row = run.wide();
                parts.iter().for_each(|part| values.extend_from_slice(&row[part.clone()]));
            }
            SharedBuffer::from(values)
        };
        Self::from_buffer(buffer, n_rows, width)
    }

    /// These numbers all stored in one type: themselves if they are, else copied, as float32 rounded.
    #[must_use]
    pub fn stored_as(&self, to: ElementType) -> Self {
        if self.chunks.iter().all(|c| c.change.is_none() && c.element_type() == to) {
            return self.clone();
        }
        if to == ElementType::F64 {
            return Self::from_owned(self.to_vec(), self.n_rows, self.width);
        }
        let mut narrow = Vec::<f32>::with_capacity(self.n_rows * self.width);
        self.segments(0..self.n_rows).for_each(|(_, values)| narrow.extend(values.iter().map(|x| *x as f32)));
        Self::from_buffer(narrow.into(), self.n_rows, self.width)
    }

    /// A new matrix of as many rows: what `change` makes of each.
    pub(crate) fn mapped(&self, width: usize, change: impl Fn(&[f64], &mut [f64]) + Sync) -> Result<Self> {
        let mut out = zeros(self.n_rows, width)?;
        parallel::fill_rows(&mut out, width, |part, out| {
            let begin = part.start;
            for (first, segment) in self.segments(part) {
                let out = &mut out[(first - begin) * width..];
                segment.chunks_exact(self.width).zip(out.chunks_exact_mut(width)).for_each(|(x, o)| change(x, o));
            }
            Ok(())
        })?;
        Ok(Self::from_owned(out, self.n_rows, width))
    }

    /// A matrix of [`new_rows`](parallel::new_rows).
    pub(crate) fn written(
        n_rows: usize,
        width: usize,
        write: impl Fn(usize, &mut [f64]) -> Result<()> + Sync,
    ) -> Result<Self> {
        Ok(Self::from_owned(parallel::new_rows(n_rows, width, write)?, n_rows, width))
    }

    /// A matrix of [`new_rows_with`](parallel::new_rows_with).
    pub(crate) fn written_with<W>(
        n_rows: usize,
        width: usize,
        workspace: impl Fn() -> W + Sync,
        write: impl Fn(&mut W, usize, &mut [f64]) -> Result<()> + Sync,
    ) -> Result<Self> {
        Ok(Self::from_owned(parallel::new_rows_with(n_rows, width, workspace, write)?, n_rows, width))
    }

    /// Every row times `c`, element by element.
    pub(crate) fn times(&self, c: &[f64]) -> Result<Self> {
        self.changed(Change::Times(c.into()))
    }

    /// (x - mean) / scale of every row, element by element.
    pub(crate) fn standardised(&self, mean: &[f64], scale: &[f64]) -> Result<Self> {
        self.changed(Change::Standardised(mean.into(), scale.into()))
    }

    /// New float64 rows; float32 rows stay where they are, and change as they are read.
    fn changed(&self, change: Change) -> Result<Self> {
        if self.element_type() == ElementType::F64 {
            return self.mapped(self.width, |x, out| change.write(0, x, out));
        }
        Ok(self.with_change(Some(Arc::new(change))))
    }

    /// A matrix of the same shape class from freshly computed elements (`values.len() = n_rows * width`).
    pub(crate) fn from_owned(values: Vec<f64>, n_rows: usize, width: usize) -> Self {
        debug_assert_eq!(values.len(), n_rows * width);
        Self::from_buffer(values.into(), n_rows, width)
    }

    fn from_buffer(buffer: SharedBuffer, n_rows: usize, width: usize) -> Self {
        let chunk = Chunk { buffer, offset: 0, start: 0, n_rows, change: None };
        Self { chunks: if n_rows == 0 { vec![] } else { vec![chunk] }, n_rows, width }
    }

    /// The matrix with some rows exchanged (ascending row numbers); the others stay where they are.
    pub(crate) fn with_rows(&self, changed: &[(usize, Vec<f64>)]) -> Result<Self> {
        // A chunk per changed row is cheap in memory but slows every search for a row.
        if changed.len() > 64 {
            let mut values = self.to_vec();
            for (i, row) in changed {
                values[i * self.width..(i + 1) * self.width].copy_from_slice(row);
            }
            return Ok(Self::from_owned(values, self.n_rows, self.width));
        }
        let mut pieces = vec![];
        let mut next = 0;
        for (i, row) in changed {
            pieces.push(self.slice(next..*i));
            pieces.push(Self::from_owned(row.clone(), 1, self.width));
            next = i + 1;
        }
        pieces.push(self.slice(next..self.n_rows));
        Self::concat(pieces, self.width)
    }

    /// All elements in one new vector.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.n_rows * self.width);
        for (_, piece) in self.segments(0..self.n_rows) {
            values.extend_from_slice(&piece);
        }
        values
    }

    /// All elements in a new array.
    #[must_use]
    pub fn to_array(&self) -> Array2<f64> {
        Array2::from_shape_vec((self.n_rows, self.width), self.to_vec()).unwrap_or_default()
    }
}

impl<A, S, D> From<ArrayBase<S, D>> for Rows
where
    A: Copy,
    S: Data<Elem = A>,
    D: RemoveAxis,
    SharedBuffer: From<Vec<A>>,
{
    /// The first axis of an array of any layout counts rows. The elements of an owned array stay where they are, those of a
    /// view are copied once.
    fn from(array: ArrayBase<S, D>) -> Self {
        let (n_rows, width) = (array.shape()[0], array.shape()[1..].iter().product());
        let (values, offset) = if array.is_standard_layout() {
            array.into_owned().into_raw_vec_and_offset()
        } else {
            (array.iter().copied().collect(), None)
        };
        let chunk = Chunk { buffer: values.into(), offset: offset.unwrap_or(0), start: 0, n_rows, change: None };
        Self { chunks: if n_rows == 0 { vec![] } else { vec![chunk] }, n_rows, width }
    }
}

impl<'a, A, S, D> From<&'a ArrayBase<S, D>> for Rows
where
    A: Copy,
    S: Data<Elem = A>,
    D: RemoveAxis,
    SharedBuffer: From<Vec<A>>,
{
    fn from(array: &'a ArrayBase<S, D>) -> Self {
        array.view().into()
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (dtype, pieces) = (self.element_type().name(), self.chunks.len());
        write!(f, "Rows({} x {} {dtype} in {pieces} pieces)", self.n_rows, self.width)
    }
}

#[cfg(test)]
mod tests;
