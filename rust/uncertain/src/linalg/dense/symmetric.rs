//! [`Symmetric`]: a matrix and a factor of a part of it in one square.

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{MatMut, MatRef, Par};

use super::factor::factor;
use super::{Matrix, col_tiles};
use crate::control::Control;
use crate::error::Result;
use crate::parallel;

/// A symmetric matrix G and, in the other half of the same square, a Cholesky factor of a matrix made of
/// some of its rows: half the memory of two squares.
pub struct Symmetric {
    n: usize,
    /// G: column j from row j on (diagonal in `diagonal`). The factor's row j: the first elements of column j.
    values: Vec<f64>,
    diagonal: Vec<f64>,
    /// Size of the factor.
    size: usize,
}

impl Symmetric {
    /// From a matrix whose lower triangle holds G.
    #[must_use]
    pub fn new(lower: Matrix) -> Self {
        let n = lower.n_rows;
        let diagonal = (0..n).map(|i| lower.values[i * n + i]).collect();
        Self { n, values: lower.values, diagonal, size: 0 }
    }

    /// `G x`.
    pub fn times(&self, x: &[f64]) -> Result<Vec<f64>> {
        let n = self.n;
        let parts = parallel::map_parts_at_most(n, 16, |columns| {
            let mut out = vec![0.0; n];
            for j in columns {
                let below = &self.values[j * n + j + 1..(j + 1) * n];
                let xj = x[j];
                out[j] += self.diagonal[j] * xj + crate::simd::dot(below, &x[j + 1..]);
                if xj != 0.0 {
                    out[j + 1..].iter_mut().zip(below).for_each(|(o, g)| *o += g * xj);
                }
            }
            out
        })?;
        Ok(sum_of(parts, n))
    }

    /// Factor the matrix of the rows and columns `set` (ascending) of G + diag(shift). False when it is not
    /// positive definite.
    pub fn factor(&mut self, set: &[usize], shift: &[f64], control: &Control) -> Result<bool> {
        let n = self.n;
        self.size = 0;
        const TILE: usize = 64;
        // Transposed in tiles: row i of the target is part of column set[j] of G, which lies far apart.
        for first in (0..set.len()).step_by(TILE) {
            control.check()?;
            let last = (first + TILE).min(set.len());
            for below in (first..set.len()).step_by(TILE) {
                for j in first..last {
                    for i in below.max(j + 1)..(below + TILE).min(set.len()) {
                        self.values[i * n + j] = self.values[set[j] * n + set[i]];
                    }
                }
            }
        }
        for (j, &from) in set.iter().enumerate() {
            self.values[j * n + j] = self.diagonal[from] + shift[from];
        }
        let upper = MatMut::from_column_major_slice_mut(&mut self.values, n, n);
        let size = set.len();
        let leading = upper.transpose_mut().submatrix_mut(0, 0, size, size);
        let done = factor(leading, control)?;
        if done {
            self.size = size;
        }
        Ok(done)
    }

    fn factor_row(&self, j: usize) -> &[f64] {
        &self.values[j * self.n..=j * self.n + j]
    }

    /// `x` with `L x = b` in place of b, L the factor.
    pub fn forward(&self, b: &mut [f64]) {
        for j in 0..self.size {
            let row = self.factor_row(j);
            b[j] = (b[j] - crate::simd::dot(&row[..j], b)) / row[j];
        }
    }

    /// `x` with `L'x = b` in place of b.
    pub fn backward(&self, b: &mut [f64]) {
        for j in (0..self.size).rev() {
            let row = self.factor_row(j);
            b[j] /= row[j];
            let x = b[j];
            b[..j].iter_mut().zip(row).for_each(|(b, l)| *b -= l * x);
        }
    }

    /// [`forward`](Self::forward) of every column.
    pub fn forward_columns(&self, b: &mut Matrix, control: &Control) -> Result<()> {
        let all = MatRef::from_column_major_slice(&self.values, self.n, self.n).transpose();
        let l = all.submatrix(0, 0, self.size, self.size);
        parallel::for_each(col_tiles(b.view_mut(), 32), |tile| {
            control.check()?;
            solve_lower_triangular_in_place(l, tile, Par::Seq);
            Ok(())
        })
    }
}

fn sum_of(parts: Vec<Vec<f64>>, n: usize) -> Vec<f64> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_else(|| vec![0.0; n]);
    for part in parts {
        sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
    }
    sum
}
