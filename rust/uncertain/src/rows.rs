//! A row-major matrix of f64 that may lie in several pieces of somebody else's memory.
//!
//! Arrow columns come in chunks and NumPy arrays are owned by Python; copying either would double
//! the memory of a table. So a [`Rows`] is a list of chunks, each a slice of a shared buffer, and
//! everything that reads rows asks for [`Rows::segments`]: contiguous runs, usually one.
//! Rejected: an ndarray view (one piece only, and its lifetime would reach into Python).

use std::ops::Range;
use std::sync::Arc;

use ndarray::Array2;

use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::parallel;
use crate::readable::readable;

/// Memory that somebody keeps alive: a `Vec`, an Arrow buffer, a NumPy array.
pub type SharedBuffer = Arc<dyn AsRef<[f64]> + Send + Sync>;

#[derive(Clone)]
struct Chunk {
    buffer: SharedBuffer,
    /// First element of the chunk inside the buffer.
    offset: usize,
    /// First row of the chunk inside the matrix.
    start: usize,
    n_rows: usize,
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

impl PartialEq for Rows {
    /// The same elements, in however many pieces.
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
        Self::from_shared(Arc::new(values), 0, n_rows, width)
    }

    /// A matrix inside a shared buffer, from element `offset` on.
    pub fn from_shared(buffer: SharedBuffer, offset: usize, n_rows: usize, width: usize) -> Result<Self> {
        let len = (*buffer).as_ref().len();
        let needed = n_rows.checked_mul(width).and_then(|n| n.checked_add(offset));
        if width == 0 || needed.is_none_or(|needed| needed > len) {
            return Err(Error::shape("rows", format!("{n_rows} x {width} elements from {offset} on"), len));
        }
        let chunk = Chunk { buffer, offset, start: 0, n_rows };
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
    pub fn row(&self, i: usize) -> &[f64] {
        let chunk = &self.chunks[self.find_chunk(i)];
        let at = chunk.offset + (i - chunk.start) * self.width;
        &(*chunk.buffer).as_ref()[at..at + self.width]
    }

    fn find_chunk(&self, row: usize) -> usize {
        if self.chunks.len() == 1 { 0 } else { self.chunks.partition_point(|c| c.start + c.n_rows <= row) }
    }

    /// The rows of `range` as contiguous runs in order: (number of the first row, its elements on).
    pub fn segments(&self, range: Range<usize>) -> impl Iterator<Item = (usize, &[f64])> {
        let width = self.width;
        let first = if range.is_empty() { self.chunks.len() } else { self.find_chunk(range.start) };
        self.chunks[first..].iter().take_while(move |c| c.start < range.end).map(move |c| {
            let from = range.start.max(c.start);
            let to = range.end.min(c.start + c.n_rows);
            let at = c.offset + (from - c.start) * width;
            (from, &(*c.buffer).as_ref()[at..at + (to - from) * width])
        })
    }

    /// All elements, when they lie in one piece.
    #[must_use]
    pub fn as_slice(&self) -> Option<&[f64]> {
        match self.chunks.as_slice() {
            [] => Some(&[]),
            [c] => Some(&(*c.buffer).as_ref()[c.offset..c.offset + c.n_rows * self.width]),
            _ => None,
        }
    }

    /// Rows `range`, sharing the memory.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        let (from, to) = (range.start.min(self.n_rows), range.end.min(self.n_rows));
        let chunks = self.chunks.iter().filter_map(|c| {
            let (a, b) = (from.max(c.start), to.min(c.start + c.n_rows));
            let offset = c.offset + a.saturating_sub(c.start) * self.width;
            (a < b).then(|| Chunk { buffer: Arc::clone(&c.buffer), offset, start: a - from, n_rows: b - a })
        });
        Self { chunks: chunks.collect(), n_rows: to.saturating_sub(from), width: self.width }
    }

    /// The rows with these numbers, copied. Panics when one is out of range.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let mut values = Vec::with_capacity(rows.len() * self.width);
        for &i in rows {
            values.extend_from_slice(self.row(i));
        }
        Self::from_owned(values, rows.len(), self.width)
    }

    /// Some groups of `size` neighbouring elements of every row, copied.
    pub(crate) fn columns(&self, columns: &[usize], size: usize) -> Self {
        let mut values = Vec::with_capacity(self.n_rows * columns.len() * size);
        for (_, segment) in self.segments(0..self.n_rows) {
            for row in segment.chunks_exact(self.width) {
                columns.iter().for_each(|&c| values.extend_from_slice(&row[c * size..(c + 1) * size]));
            }
        }
        Self::from_owned(values, self.n_rows, columns.len() * size)
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
        self.mapped(self.width, |x, out| (0..out.len()).for_each(|j| out[j] = x[j] * c[j]))
    }

    /// A matrix of the same shape class from freshly computed elements (`values.len() = n_rows * width`).
    pub(crate) fn from_owned(values: Vec<f64>, n_rows: usize, width: usize) -> Self {
        debug_assert_eq!(values.len(), n_rows * width);
        let chunk = Chunk { buffer: Arc::new(values), offset: 0, start: 0, n_rows };
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
            values.extend_from_slice(piece);
        }
        values
    }

    /// All elements in a new array.
    #[must_use]
    pub fn to_array(&self) -> Array2<f64> {
        Array2::from_shape_vec((self.n_rows, self.width), self.to_vec()).unwrap_or_default()
    }
}

impl From<Array2<f64>> for Rows {
    fn from(array: Array2<f64>) -> Self {
        let (n_rows, width) = array.dim();
        let values = array.as_standard_layout().into_owned().into_raw_vec_and_offset().0;
        Self::from_owned(values, n_rows, width)
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rows({} x {} in {} pieces)", self.n_rows, self.width, self.chunks.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces() -> Rows {
        let a = Rows::from_vec((0..6).map(f64::from).collect(), 2).unwrap();
        let b = Rows::from_vec((6..10).map(f64::from).collect(), 2).unwrap();
        Rows::concat([a, b], 2).unwrap()
    }

    #[test]
    fn pieces_read_like_one_matrix() {
        let rows = pieces();
        assert_eq!((rows.n_rows(), rows.width()), (5, 2));
        assert_eq!(rows.row(3), &[6.0, 7.0]);
        assert_eq!(rows.to_vec(), (0..10).map(f64::from).collect::<Vec<_>>());
        let runs: Vec<_> = rows.segments(1..4).map(|(i, s)| (i, s.len())).collect();
        assert_eq!(runs, [(1, 4), (3, 2)]);
        assert!(rows.as_slice().is_none());
    }

    #[test]
    fn slices_share_and_takes_copy() {
        let rows = pieces().slice(2..5);
        assert_eq!(rows.to_vec(), [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        assert_eq!(rows.slice(1..2).to_vec(), [6.0, 7.0]);
        assert_eq!(rows.slice(3..3).n_rows(), 0);
        assert_eq!(rows.take(&[2, 0]).to_vec(), [8.0, 9.0, 4.0, 5.0]);
    }

    #[test]
    fn rows_can_be_exchanged() {
        let rows = pieces();
        let new = rows.with_rows(&[(0, vec![-1.0, -2.0]), (3, vec![-3.0, -4.0])]).unwrap();
        assert_eq!(new.to_vec(), [-1.0, -2.0, 2.0, 3.0, 4.0, 5.0, -3.0, -4.0, 8.0, 9.0]);
        assert_eq!(new.row(3), &[-3.0, -4.0]);
        let many = Rows::from_vec(vec![0.0; 100], 1).unwrap();
        let changed: Vec<_> = (10..90).map(|i| (i, vec![1.0])).collect();
        assert_eq!(many.with_rows(&changed).unwrap().to_vec().iter().sum::<f64>(), 80.0);
    }

    #[test]
    fn wrong_sizes_are_refused() {
        assert!(Rows::from_vec(vec![1.0; 5], 2).is_err());
        assert!(Rows::from_shared(Arc::new(vec![1.0; 5]), 2, 2, 2).is_err());
    }
}
