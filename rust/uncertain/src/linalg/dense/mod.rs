//! Large dense matrices, column-major, in parallel on the pools of this crate.
//!
//! Every operation cuts its matrix into tiles by its size alone and runs the library's sequential
//! kernels on them, so results do not depend on the number of threads (the library's own parallel
//! mode splits by threads, and brings a second runtime). Tiles ask [`Control`](crate::Control) whether to go on: a
//! factorisation of many gigabytes ends within a moment.

mod factor;
mod product;
mod symmetric;
#[cfg(test)]
mod tests;

pub(crate) use factor::{backward, cholesky, forward, solve_right};
pub(crate) use product::{add_congruence, add_gram, cross_product, product_of_symmetric, subtract_product};
pub(crate) use symmetric::Symmetric;

use faer::{MatMut, MatRef};

use crate::error::Result;
use crate::memory::zeros;

/// Columns of a panel, and of a tile.
const PANEL: usize = 128;

/// Which elements of a matrix are zero, and not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// None.
    Full,
    /// Of n columns: those of row i but the last i + 1. Triangular, but with the corner where a forward
    /// substitution keeps it.
    Stair,
}

impl Shape {
    /// The first column, of `n_cols`, in which one of the first `rows` rows is not zero.
    fn first_column(self, n_cols: usize, rows: usize) -> usize {
        match self {
            Self::Full => 0,
            Self::Stair => n_cols.saturating_sub(rows),
        }
    }
}

/// A column-major matrix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    /// Number of rows, also the distance between columns.
    pub n_rows: usize,
    /// Number of columns.
    pub n_cols: usize,
    /// Column after column.
    pub values: Vec<f64>,
}

impl Matrix {
    /// Zeros, or an error when there is no memory for them.
    pub(crate) fn zeros(n_rows: usize, n_cols: usize) -> Result<Self> {
        Ok(Self { n_rows, n_cols, values: zeros(n_rows, n_cols)? })
    }

    /// One column.
    pub(crate) fn col(&self, j: usize) -> &[f64] {
        &self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// One column, to write.
    pub(crate) fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// The rows with these numbers.
    pub(crate) fn rows(&self, rows: &[usize]) -> Result<Self> {
        let mut out = Self::zeros(rows.len(), self.n_cols)?;
        for j in 0..self.n_cols {
            let column = self.col(j);
            out.col_mut(j).iter_mut().zip(rows).for_each(|(o, &i)| *o = column[i]);
        }
        Ok(out)
    }

    pub(super) fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.n_rows, self.n_cols)
    }

    pub(super) fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.values, self.n_rows, self.n_cols)
    }

    /// `A x` of the first `n` rows.
    pub(crate) fn times(&self, n: usize, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; n];
        for (j, &x) in x.iter().enumerate() {
            if x != 0.0 {
                crate::simd::add_scaled(x, &self.col(j)[..n], &mut out);
            }
        }
        out
    }

    /// `A'x`, where x ends before the last row: the missing rest is zero.
    pub(crate) fn transposed_times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.n_cols).map(|j| crate::simd::dot(x, self.col(j))).collect()
    }
}

fn row_tiles(mut a: MatMut<'_, f64>, size: usize) -> Vec<MatMut<'_, f64>> {
    let mut tiles = vec![];
    while a.nrows() > size {
        let (top, rest) = a.split_at_row_mut(size);
        tiles.push(top);
        a = rest;
    }
    tiles.push(a);
    tiles
}

fn col_tiles(a: MatMut<'_, f64>, size: usize) -> Vec<MatMut<'_, f64>> {
    row_tiles(a.transpose_mut(), size).into_iter().map(MatMut::transpose_mut).collect()
}

/// Rows or columns of a tile: a few tiles per thread of a large machine, none too small for a kernel.
fn tile_size(n: usize) -> usize {
    n.div_ceil(32).clamp(PANEL, 1024)
}
