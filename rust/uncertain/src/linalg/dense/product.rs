//! Products of large matrices.

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par};

use super::{Matrix, PANEL, Shape, col_tiles, row_tiles, tile_size};
use crate::control::Control;
use crate::error::Result;
use crate::parallel;

/// Rows that are multiplied at a time where their zeros differ.
const STEP: usize = 256;

/// `C -= A B'`: C is n x b, A n x D, B b x D.
pub(crate) fn subtract_product(c: &mut Matrix, a: &Matrix, b: &Matrix, control: &Control) -> Result<()> {
    if a.n_cols == 0 {
        return Ok(());
    }
    let size = tile_size(c.n_rows);
    let jobs = row_tiles(c.view_mut(), size).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let left = a.view().subrows(k * size, tile.nrows());
        matmul(tile, Accum::Add, left, b.view().transpose(), -1.0, Par::Seq);
        Ok(())
    })
}

/// The lower triangle of `H += A'Y`: `image(columns)` is the part of Y below these columns of A, which has
/// as many rows as A. The zeros of a [`Shape::Stair`] A (square) are left out.
pub(crate) fn add_congruence(
    h: &mut Matrix,
    a: &Matrix,
    shape: Shape,
    image: impl Fn(std::ops::Range<usize>) -> Result<Matrix> + Sync,
    control: &Control,
) -> Result<()> {
    let n = a.n_rows;
    let jobs = col_tiles(h.view_mut(), PANEL).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let first = k * PANEL;
        let y = image(first..first + tile.ncols())?;
        if shape == Shape::Full {
            add_below(tile, first, a.view().transpose(), y.view(), 1.0);
            return Ok(());
        }
        // Column j of A is zero above row n - 1 - j.
        let (_, mut below) = tile.split_at_row_mut(first);
        let mut from = first;
        while below.nrows() > 0 {
            let rows = below.nrows().min(if from == first { below.ncols() } else { STEP });
            let (part, rest) = below.split_at_row_mut(rows);
            let zeros = n - from - rows;
            let left = a.view().subcols(from, rows).subrows(zeros, n - zeros).transpose();
            let right = y.view().subrows(zeros, n - zeros);
            if from == first {
                lower_product(part, left, right, 1.0);
            } else {
                matmul(part, Accum::Add, left, right, 1.0, Par::Seq);
            }
            (below, from) = (rest, from + rows);
        }
        Ok(())
    })
}

/// `scale A'B`.
pub(crate) fn cross_product(a: &Matrix, b: &Matrix, scale: f64, control: &Control) -> Result<Matrix> {
    let mut out = Matrix::zeros(a.n_cols, b.n_cols)?;
    let jobs = col_tiles(out.view_mut(), PANEL).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let right = b.view().subcols(k * PANEL, tile.ncols());
        matmul(tile, Accum::Replace, a.view().transpose(), right, scale, Par::Seq);
        Ok(())
    })?;
    Ok(out)
}

/// The lower triangle of `G += scale V V'`, V the first rows of `v`, as many as G has.
pub(crate) fn add_gram(g: &mut Matrix, v: &Matrix, shape: Shape, scale: f64, control: &Control) -> Result<()> {
    let n = g.n_rows;
    let v = v.view().subrows(0, n);
    let jobs = col_tiles(g.view_mut(), PANEL).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let first = shape.first_column(v.ncols(), k * PANEL + tile.ncols());
        let v = v.subcols(first, v.ncols() - first);
        let right = v.subrows(k * PANEL, tile.ncols()).transpose();
        add_below(tile, k * PANEL, v, right, scale);
        Ok(())
    })
}

/// Of a tile of columns starting at `first`: `tile += scale left right` from the diagonal down.
pub(super) fn add_below(
    tile: MatMut<'_, f64>,
    first: usize,
    left: MatRef<'_, f64>,
    right: MatRef<'_, f64>,
    scale: f64,
) {
    let width = tile.ncols();
    let (_, below) = tile.split_at_row_mut(first);
    let (diagonal, rest) = below.split_at_row_mut(width);
    lower_product(diagonal, left.subrows(first, width), right, scale);
    let after = first + width;
    if rest.nrows() > 0 {
        let rows = rest.nrows();
        matmul(rest, Accum::Add, left.subrows(after, rows), right, scale, Par::Seq);
    }
}

fn lower_product(out: MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>, scale: f64) {
    let all = BlockStructure::Rectangular;
    triangular::matmul(out, BlockStructure::TriangularLower, Accum::Add, left, all, right, all, scale, Par::Seq);
}

/// `M A` for a symmetric n x n matrix M and some columns of A; sequential, for a tile of a larger product.
pub(crate) fn product_of_symmetric(m: &[f64], n: usize, a: &Matrix, columns: std::ops::Range<usize>) -> Result<Matrix> {
    let mut out = Matrix::zeros(n, columns.len())?;
    let m = MatRef::from_column_major_slice(m, n, n);
    let right = a.view().subcols(columns.start, columns.len());
    matmul(out.view_mut(), Accum::Replace, m, right, 1.0, Par::Seq);
    Ok(out)
}
