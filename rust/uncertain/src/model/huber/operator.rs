//! The regulariser M of a view: a symmetric positive semi-definite N x N matrix, sparse or dense.

use std::ops::Range;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::linalg::dense::{self, Matrix};
use crate::memory::zeros;
use crate::parallel;

/// Compressed sparse rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sparse {
    /// Where row i begins in `indices` and `values`; one more for the end.
    starts: Vec<usize>,
    /// Columns.
    indices: Vec<u32>,
    /// Their values.
    values: Vec<f64>,
}

impl Sparse {
    /// From compressed rows: n + 1 ascending starts, the last one the number of columns and values; columns
    /// below n.
    pub fn new(starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>) -> Result<Self> {
        let ascending = starts.first() == Some(&0) && starts.windows(2).all(|pair| pair[0] <= pair[1]);
        let lengths = starts.last() == Some(&indices.len()) && indices.len() == values.len();
        if !(ascending && lengths && indices.iter().all(|j| (*j as usize) < starts.len() - 1)) {
            return Err(Error::Data("graph: the sparse matrix is not square, or its rows are not in order".into()));
        }
        Ok(Self { starts, indices, values })
    }

    /// Number of rows.
    #[must_use]
    pub fn n(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// (column, value) of one row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[i]..self.starts[i + 1];
        self.indices[range.clone()].iter().map(|j| *j as usize).zip(self.values[range].iter().copied())
    }

    /// Entries that are stored.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// From the entries of each row.
    pub(super) fn from_rows(rows: impl Iterator<Item = Vec<(u32, f64)>>) -> Self {
        let mut out = Self { starts: vec![0], ..Self::default() };
        for row in rows {
            for (j, value) in row {
                out.indices.push(j);
                out.values.push(value);
            }
            out.starts.push(out.indices.len());
        }
        out
    }
}

impl Default for Operator {
    /// Of no rows.
    fn default() -> Self {
        Self::Sparse(Sparse { starts: vec![0], ..Sparse::default() })
    }
}

/// A symmetric matrix by which functions on the rows are multiplied.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operator {
    /// Few entries per row.
    Sparse(Sparse),
    /// All entries, n x n in any order: it is symmetric.
    Dense {
        /// Number of rows.
        n: usize,
        /// The entries.
        values: Vec<f64>,
    },
}

impl Operator {
    /// Number of rows.
    #[must_use]
    pub fn n(&self) -> usize {
        match self {
            Self::Sparse(sparse) => sparse.n(),
            Self::Dense { n, .. } => *n,
        }
    }

    fn entries(&self, i: usize) -> Box<dyn Iterator<Item = (usize, f64)> + '_> {
        match self {
            Self::Sparse(sparse) => Box::new(sparse.row(i)),
            Self::Dense { n, values } => Box::new(values[i * n..(i + 1) * n].iter().copied().enumerate()),
        }
    }

    /// Entries that are finite and symmetric, and (`weights`) not negative.
    pub(super) fn check(&self, weights: bool) -> Result<()> {
        let n = self.n();
        let at = |i: usize, j: usize| match self {
            Self::Sparse(sparse) => sparse.row(i).filter(|(k, _)| *k == j).map(|(_, v)| v).sum::<f64>(),
            Self::Dense { values, .. } => values[i * n + j],
        };
        let largest = (0..n).flat_map(|i| self.entries(i)).fold(0.0_f64, |m, (_, v)| m.max(v.abs()));
        for i in 0..n {
            for (j, value) in self.entries(i) {
                if !value.is_finite() || (weights && value < 0.0) {
                    let wanted = if weights { "weights of a graph are finite and >= 0" } else { "it must be finite" };
                    return Err(Error::Data(format!("graph: element [{i}, {j}] is {value}; {wanted}")));
                }
                let other = at(j, i);
                if (at(i, j) - other).abs() > 1e-10 * largest {
                    return Err(Error::NotSymmetric { what: "graph".into(), row: 0, i, j, upper: value, lower: other });
                }
            }
        }
        Ok(())
    }

    /// The rows and columns with these numbers, in this order.
    pub(super) fn permuted(&self, order: &[usize]) -> Result<Self> {
        match self {
            Self::Sparse(sparse) => {
                let mut place = vec![u32::MAX; sparse.n()];
                order.iter().enumerate().for_each(|(to, &from)| place[from] = to as u32);
                let rows = order.iter().map(|&i| {
                    let kept = sparse.row(i).map(|(j, v)| (place[j], v)).filter(|(j, _)| *j != u32::MAX);
                    kept.collect()
                });
                Ok(Self::Sparse(Sparse::from_rows(rows)))
            }
            Self::Dense { n, values } => {
                let mut out = zeros(order.len(), order.len())?;
                for (row, &i) in out.chunks_exact_mut(order.len().max(1)).zip(order) {
                    row.iter_mut().zip(order).for_each(|(o, &j)| *o = values[i * n + j]);
                }
                Ok(Self::Dense { n: order.len(), values: out })
            }
        }
    }

    /// The Laplacian of the graph with these weights: I - D^{-1/2} W D^{-1/2}, or D - W. Loops are left
    /// out; rows without an edge are zero.
    pub(super) fn laplacian(mut self, normalized: bool) -> Self {
        let n = self.n();
        let degrees: Vec<f64> =
            (0..n).map(|i| self.entries(i).filter(|(j, _)| *j != i).map(|(_, v)| v).sum()).collect();
        let entry = |i: usize, j: usize, weight: f64| match (i == j, normalized) {
            (true, true) => f64::from(u8::from(degrees[i] > 0.0)),
            (true, false) => degrees[i],
            (false, true) if weight == 0.0 => 0.0,
            (false, true) => -weight / (degrees[i] * degrees[j]).sqrt(),
            (false, false) => -weight,
        };
        match &mut self {
            Self::Dense { n, values } => {
                for (i, row) in values.chunks_exact_mut((*n).max(1)).enumerate() {
                    row.iter_mut().enumerate().for_each(|(j, v)| *v = entry(i, j, *v));
                }
                self
            }
            Self::Sparse(sparse) => {
                let rows = (0..n).map(|i| {
                    let off = sparse.row(i).filter(|(j, _)| *j != i).map(|(j, v)| (j as u32, entry(i, j, v)));
                    off.chain([(i as u32, entry(i, i, 0.0))]).collect()
                });
                Self::Sparse(Sparse::from_rows(rows))
            }
        }
    }

    /// M x.
    pub(super) fn times(&self, x: &[f64]) -> Result<Vec<f64>> {
        let parts = parallel::map_parts(self.n(), |rows| {
            rows.map(|i| match self {
                Self::Sparse(sparse) => sparse.row(i).map(|(j, v)| v * x[j]).sum(),
                Self::Dense { n, values } => crate::simd::dot(&values[i * n..(i + 1) * n], x),
            })
            .collect::<Vec<f64>>()
        })?;
        Ok(parts.concat())
    }

    /// M times some columns of a matrix; sequential, for a tile of a larger product.
    pub(super) fn times_columns(&self, a: &Matrix, columns: Range<usize>) -> Result<Matrix> {
        let n = self.n();
        match self {
            Self::Sparse(sparse) => {
                // A by rows, so that an element of M meets numbers that lie together.
                let b = columns.len();
                let mut by_rows = zeros(n, b)?;
                for (k, j) in columns.enumerate() {
                    a.col(j).iter().enumerate().for_each(|(i, x)| by_rows[i * b + k] = *x);
                }
                let mut out = Matrix::zeros(n, b)?;
                let mut line = vec![0.0; b];
                for i in 0..n {
                    line.fill(0.0);
                    for (j, v) in sparse.row(i) {
                        crate::simd::add_scaled(v, &by_rows[j * b..(j + 1) * b], &mut line);
                    }
                    line.iter().enumerate().for_each(|(k, x)| out.values[k * n + i] = *x);
                }
                Ok(out)
            }
            Self::Dense { values, .. } => dense::product_of_symmetric(values, n, a, columns),
        }
    }

    /// A cheap look at what a factorisation would refuse later: no diagonal element is negative.
    pub(super) fn check_positive(&self, control: &Control) -> Result<()> {
        control.check()?;
        let n = self.n();
        for i in 0..n {
            let diagonal: f64 = self.entries(i).filter(|(j, _)| *j == i).map(|(_, v)| v).sum();
            if diagonal < 0.0 {
                return Err(Error::Data(format!(
                    "graph: element [{i}, {i}] of the regulariser is {diagonal}; it must be positive semi-definite"
                )));
            }
        }
        Ok(())
    }
}
