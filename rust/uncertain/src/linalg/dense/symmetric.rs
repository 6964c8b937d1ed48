//! [`Symmetric`]: a matrix and a factor of a part of it in one square.

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{MatMut, MatRef, Par};

use super::factor::factor;
use super::product::cross_product;
use super::{Matrix, col_tiles};
use crate::control::Control;
use crate::error::Result;
use crate::parallel;

/// A symmetric matrix G and, in the other half of the same square, a Cholesky factor of a matrix made of
/// some of its rows: half the memory of two squares.
pub(crate) struct Symmetric {
    n: usize,
    /// G: column j from row j on (diagonal in `diagonal`). The factor's row j: the first elements of column j.
    values: Vec<f64>,
    diagonal: Vec<f64>,
    /// Size of the factor.
    size: usize,
}

impl Symmetric {
    /// From a matrix whose lower triangle holds G.
    pub(crate) fn new(lower: Matrix) -> Self {
        let n = lower.n_rows;
        let diagonal = (0..n).map(|i| lower.values[i * n + i]).collect();
        Self { n, values: lower.values, diagonal, size: 0 }
    }

    /// The diagonal of G.
    pub(crate) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// `G x`. The time is that of reading G.
    pub(crate) fn times(&self, x: &[f64]) -> Result<Vec<f64>> {
        let n = self.n;
        let parts = parallel::map_parts_at_most(n, 16, |columns| {
            let mut out = vec![0.0; n];
            for j in columns {
                let below = &self.values[j * n + j + 1..(j + 1) * n];
                let (at, after) = out.split_at_mut(j + 1);
                at[j] += self.diagonal[j] * x[j] + crate::simd::dot_and_add(below, &x[j + 1..], x[j], after);
            }
            out
        })?;
        let mut parts = parts.into_iter();
        let mut sum = parts.next().unwrap_or_default();
        for part in parts {
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
        }
        Ok(sum)
    }

    /// `out += factor G e_i`
    pub(crate) fn add_column(&self, i: usize, factor: f64, out: &mut [f64]) {
        let n = self.n;
        (0..i).for_each(|j| out[j] += factor * self.values[j * n + i]);
        out[i] += factor * self.diagonal[i];
        crate::simd::add_scaled(factor, &self.values[i * n + i + 1..(i + 1) * n], &mut out[i + 1..]);
    }

    /// Factor the matrix of the rows and columns `set` (ascending) of G + diag(shift). False when it is not
    /// positive definite.
    pub(crate) fn factor(&mut self, set: &[usize], shift: &[f64], control: &Control) -> Result<bool> {
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

    /// Append rows of G + diag(shift) to the factor, which is that of the rows `set` in this order. False when the
    /// larger matrix is not positive definite; the factor stays as it was then.
    pub(crate) fn append(&mut self, set: &[usize], come: &[usize], shift: &[f64], control: &Control) -> Result<bool> {
        let (n, size, q) = (self.n, self.size, come.len());
        let at = |i: usize, j: usize| match i == j {
            true => self.diagonal[i] + shift[i],
            false => self.values[i.min(j) * n + i.max(j)],
        };
        let mut columns = Matrix::zeros(size, q)?;
        let mut corner = Matrix::zeros(q, q)?;
        for (k, &j) in come.iter().enumerate() {
            columns.col_mut(k).iter_mut().zip(set).for_each(|(c, &i)| *c = at(i, j));
            corner.col_mut(k).iter_mut().zip(come).for_each(|(c, &i)| *c = at(i, j));
        }
        self.forward_columns(&mut columns, control)?;
        let taken = cross_product(&columns, &columns, -1.0, control)?;
        corner.values.iter_mut().zip(taken.values).for_each(|(c, x)| *c += x);
        if !factor(corner.view_mut(), control)? {
            return Ok(false);
        }
        for k in 0..q {
            let row = &mut self.values[(size + k) * n..(size + k) * n + size + k + 1];
            row[..size].copy_from_slice(columns.col(k));
            (0..=k).for_each(|j| row[size + j] = corner.values[j * q + k]);
        }
        self.size = size + q;
        Ok(true)
    }

    fn factor_row(&self, j: usize) -> &[f64] {
        &self.values[j * self.n..=j * self.n + j]
    }

    /// `x` with `L x = b` in place of b, L the factor.
    pub(crate) fn forward(&self, b: &mut [f64]) {
        self.forward_from(0, b);
    }

    /// [`forward`](Self::forward) where the first `known` elements are done.
    pub(crate) fn forward_from(&self, known: usize, b: &mut [f64]) {
        for j in known..self.size {
            let row = self.factor_row(j);
            b[j] = (b[j] - crate::simd::dot(&row[..j], b)) / row[j];
        }
    }

    /// `x` with `L'x = b` in place of b.
    pub(crate) fn backward(&self, b: &mut [f64]) {
        for j in (0..self.size).rev() {
            let row = self.factor_row(j);
            b[j] /= row[j];
            let x = b[j];
            crate::simd::add_scaled(-x, &row[..j], &mut b[..j]);
        }
    }

    /// [`forward`](Self::forward) of every column.
    pub(crate) fn forward_columns(&self, b: &mut Matrix, control: &Control) -> Result<()> {
        let all = MatRef::from_column_major_slice(&self.values, self.n, self.n).transpose();
        let l = all.submatrix(0, 0, self.size, self.size);
        parallel::for_each(col_tiles(b.view_mut(), 32), |tile| {
            control.check()?;
            solve_lower_triangular_in_place(l, tile, Par::Seq);
            Ok(())
        })
    }
}
