//! Cholesky factors, and what is solved with them.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{MatMut, Par, Spec};

use super::product::add_below;
use super::{Matrix, PANEL, Shape, col_tiles, row_tiles, tile_size};
use crate::control::Control;
use crate::error::Result;
use crate::parallel;

/// `A <- A L^{-T}` for a lower triangular L, of which only the lower triangle is read: of its last rows and columns,
/// as many as A has columns.
pub(crate) fn solve_right(a: &mut Matrix, l: &Matrix, shape: Shape, control: &Control) -> Result<()> {
    let (size, n) = (tile_size(a.n_rows), a.n_cols);
    let jobs = row_tiles(a.view_mut(), size).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let used = n - shape.first_column(n, k * size + tile.nrows());
        let (_, tile) = tile.split_at_col_mut(n - used);
        let at = l.n_rows - used;
        solve_lower_triangular_in_place(l.view().submatrix(at, at, used, used), tile.transpose_mut(), Par::Seq);
        Ok(())
    })
}

/// `x` with `L'x = b` in place of b, for a lower triangular L.
pub(crate) fn backward(l: &Matrix, b: &mut [f64]) {
    for j in (0..l.n_rows).rev() {
        let column = l.col(j);
        b[j] = (b[j] - crate::simd::dot(&column[j + 1..], &b[j + 1..])) / column[j];
    }
}

/// `x` with `L x = b` in place of b, for a lower triangular L.
pub(crate) fn forward(l: &Matrix, b: &mut [f64]) {
    for j in 0..l.n_rows {
        let column = l.col(j);
        b[j] /= column[j];
        let x = b[j];
        crate::simd::add_scaled(-x, &column[j + 1..], &mut b[j + 1..]);
    }
}

/// L of A = L L' in the lower triangle; the rest is not touched. False when A is not positive definite.
pub(crate) fn cholesky(a: &mut Matrix, control: &Control) -> Result<bool> {
    factor(a.view_mut(), control)
}

pub(super) fn factor(a: MatMut<'_, f64>, control: &Control) -> Result<bool> {
    let mut left = a;
    while left.nrows() > 0 {
        control.check()?;
        let width = left.nrows().min(PANEL);
        let (mut diagonal, _, mut panel, mut rest) = left.split_at_mut(width, width);
        // A copy, so that nothing above the diagonal is read or written.
        let mut block = Matrix::zeros(width, width)?;
        for j in 0..width {
            for i in j..width {
                block.values[j * width + i] = diagonal[(i, j)];
            }
        }
        if !small_cholesky(&mut block) {
            return Ok(false);
        }
        for j in 0..width {
            for i in j..width {
                diagonal[(i, j)] = block.values[j * width + i];
            }
        }
        if rest.nrows() > 0 {
            let size = tile_size(panel.nrows());
            parallel::for_each(row_tiles(panel.as_mut(), size), |tile| {
                control.check()?;
                solve_lower_triangular_in_place(block.view(), tile.transpose_mut(), Par::Seq);
                Ok(())
            })?;
            let panel = panel.as_ref();
            let size = tile_size(rest.nrows());
            let jobs = col_tiles(rest.as_mut(), size).into_iter().enumerate().collect();
            parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
                control.check()?;
                let right = panel.subrows(k * size, tile.ncols()).transpose();
                add_below(tile, k * size, panel, right, -1.0);
                Ok(())
            })?;
        }
        left = rest;
    }
    Ok(true)
}

fn small_cholesky(a: &mut Matrix) -> bool {
    let n = a.n_rows;
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default());
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    llt::factor::cholesky_in_place(a.view_mut(), Default::default(), Par::Seq, stack, Spec::default()).is_ok()
}
