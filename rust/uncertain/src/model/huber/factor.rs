//! A factor of a kernel matrix: K = R R' to rounding, R of N x D with D the numerical rank.
//!
//! Idea: a Cholesky factorisation with pivots, left-looking, that computes only the columns of K it
//! needs: smooth kernels have a rank far below N, and the matrix itself is never stored. Pivots are taken
//! in blocks (the rows of largest remaining variance), so that the work is matrix products; inside a
//! block the usual pivoting drops rows that the ones before them already explain.
//!
//! Pivots do not pay where the rank is high. How fast the remaining variance falls tells that after a block or
//! two; then the whole matrix is factored as it is, R triangular. Its columns are turned around ([`Shape::Stair`]):
//! so the zeros of R stay zeros in R L^{-T}, and everything that follows costs a third.
//!
//! Rejected: a square root by eigenvectors (ten times the work), K plus a small multiple of the identity
//! (its bias is not rounding), and elementwise pivoting (memory-bound).

use crate::control::Control;
use crate::error::{Error, Result};
use crate::linalg::dense::{self, Matrix, Shape};

use super::source::Source;

/// Largest number of pivots of a block.
const BLOCK: usize = 64;
/// Remaining variance, relative to the largest of K, that is rounding.
const ROUNDING: f64 = 1e-14;
/// Variance, relative to the largest remaining one, below which a row of a block waits.
const WORTHWHILE: f64 = 0.05;

/// R, and which of its elements are zero.
pub(super) struct Factor {
    pub r: Matrix,
    pub shape: Shape,
}

/// Use of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FactorUse {
    /// Only if its rank is low: none as soon as a rank far beyond the largest one is foreseen.
    Low,
    /// Of any rank, with pivots.
    Pivoted,
    /// Of any rank; a matrix of high rank is factored as it is.
    Cheapest,
}

/// R, or `None` when its rank would exceed `most`.
pub(super) fn factor(source: &Source<'_>, most: usize, want: FactorUse, control: &Control) -> Result<Option<Factor>> {
    let full = |r| Factor { r, shape: Shape::Full };
    if let Some(features) = source.features()? {
        return Ok(Some(full(features)));
    }
    let n = source.n();
    if want == FactorUse::Cheapest && most >= n && n > BLOCK {
        if let Some(r) = pivoted(source, n / 2, true, control)? {
            return Ok(Some(full(r)));
        }
        if let Some(r) = complete(source, control)? {
            return Ok(Some(Factor { r, shape: Shape::Stair }));
        }
        // Not positive definite in floating point: the rank is below N after all.
    }
    Ok(pivoted(source, most, want == FactorUse::Low, control)?.map(full))
}

/// The triangular factor of the whole matrix, its columns turned around; `None` if it is singular.
fn complete(source: &Source<'_>, control: &Control) -> Result<Option<Matrix>> {
    let n = source.n();
    let mut k = source.leading(n, control)?;
    if !dense::cholesky(&mut k, control)? {
        return Ok(None);
    }
    for j in 0..n {
        k.col_mut(j)[..j].fill(0.0);
    }
    let (left, right) = k.values.split_at_mut(n * (n / 2));
    for (a, b) in left.chunks_exact_mut(n).zip(right.chunks_exact_mut(n).rev()) {
        a.swap_with_slice(b);
    }
    Ok(Some(k))
}

/// R of at most `most` columns, pivot by pivot. `impatient`: `None` also when the remaining variance falls
/// so slowly that twice as many would not do.
fn pivoted(source: &Source<'_>, most: usize, impatient: bool, control: &Control) -> Result<Option<Matrix>> {
    let n = source.n();
    let mut rest = source.diagonal(control)?;
    if let Some((i, value)) = rest.iter().enumerate().find(|(_, v)| !(v.is_finite() && **v >= 0.0)) {
        return Err(Error::Data(format!(
            "the kernel matrix has {value} on its diagonal (row {i}); it must be finite and positive semi-definite"
        )));
    }
    let largest = rest.iter().copied().fold(0.0, f64::max);
    let zero = ROUNDING * largest;
    let mut r = Matrix { n_rows: n, n_cols: 0, values: vec![] };
    let mut width = BLOCK;
    loop {
        control.check()?;
        let remaining = rest.iter().copied().fold(0.0, f64::max);
        if remaining <= zero {
            return Ok(Some(r));
        }
        if r.n_cols >= most || (impatient && foreseen_rank(r.n_cols, remaining / largest) > 2.0 * most as f64) {
            return Ok(None);
        }
        let candidates = largest_elements(&rest, width.min(most - r.n_cols), zero.max(WORTHWHILE * remaining));
        let mut columns = source.columns(&candidates, control)?;
        dense::subtract_product(&mut columns, &r, &r.rows(&candidates)?, control)?;
        let (order, l) = pivots(&columns, &candidates, zero.max(WORTHWHILE * remaining));
        if order.is_empty() {
            rest[candidates[0]] = 0.0;
            continue;
        }
        // The new columns of R: those of the picked pivots times L^{-T}.
        let mut new = Matrix::zeros(n, order.len())?;
        order.iter().enumerate().for_each(|(to, &from)| new.col_mut(to).copy_from_slice(columns.col(from)));
        dense::solve_right(&mut new, &l, Shape::Full, control)?;
        for j in 0..order.len() {
            for (rest, x) in rest.iter_mut().zip(new.col(j)) {
                *rest -= x * x;
            }
        }
        order.iter().for_each(|&k| rest[candidates[k]] = 0.0);
        if let Some((i, value)) = rest.iter().enumerate().find(|(_, v)| **v < -1e-8 * largest) {
            return Err(Error::Data(format!(
                "the kernel matrix is not positive semi-definite: row {i} is left with the variance {value:e}"
            )));
        }
        if r.values.try_reserve(new.values.len()).is_err() {
            return Err(Error::OutOfMemory(format!("no memory for {} columns of {n} numbers", r.n_cols + order.len())));
        }
        r.values.extend_from_slice(&new.values);
        r.n_cols += order.len();
        width = if order.len() * 2 < width { (width / 2).max(8) } else { (width * 2).min(BLOCK) };
    }
}

/// The rank if the remaining variance goes on to fall as it did in the first columns. Variances of smooth kernels
/// fall faster and faster, so this is rather too large.
fn foreseen_rank(columns: usize, remaining: f64) -> f64 {
    if columns < BLOCK {
        return 0.0;
    }
    columns as f64 * ROUNDING.ln() / remaining.ln().min(-f64::MIN_POSITIVE)
}

/// Numbers of at most `count` largest elements above `least`, largest first.
fn largest_elements(values: &[f64], count: usize, least: f64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..values.len()).filter(|&i| values[i] >= least && values[i] > 0.0).collect();
    // By row number where values are equal, so that the choice is one and the same everywhere.
    let order = |a: &usize, b: &usize| values[*b].total_cmp(&values[*a]).then(a.cmp(b));
    if numbers.len() > count {
        numbers.select_nth_unstable_by(count - 1, order);
        numbers.truncate(count);
    }
    numbers.sort_unstable_by(order);
    numbers
}

/// The pivots of a block, as numbers of candidates, and the lower factor of their part of the matrix. Pivots
/// below `least` are left out, but never the first.
fn pivots(columns: &Matrix, candidates: &[usize], least: f64) -> (Vec<usize>, Matrix) {
    let b = candidates.len();
    let at = |i: usize, j: usize| columns.col(j)[candidates[i]];
    let mut variance: Vec<f64> = (0..b).map(|i| at(i, i)).collect();
    let mut order: Vec<usize> = vec![];
    let mut rows = vec![vec![]; b];
    while order.len() < b {
        let free = (0..b).filter(|i| !order.contains(i));
        let Some(next) = free.max_by(|a, b| variance[*a].total_cmp(&variance[*b]).then(b.cmp(a))) else { break };
        if variance[next] < least && !order.is_empty() || !(variance[next] > 0.0) {
            break;
        }
        let root = variance[next].sqrt();
        let pivot: Vec<f64> = rows[next].clone();
        for i in (0..b).filter(|i| !order.contains(i)) {
            let known: f64 = pivot.iter().zip(&rows[i]).map(|(a, b): (&f64, &f64)| a * b).sum();
            let x = if i == next { root } else { (at(i, next) - known) / root };
            rows[i].push(x);
            variance[i] -= x * x;
        }
        order.push(next);
    }
    let q = order.len();
    let mut l = Matrix { n_rows: q, n_cols: q, values: vec![0.0; q * q] };
    for (i, &k) in order.iter().enumerate() {
        for j in 0..=i {
            l.values[j * q + i] = rows[k][j];
        }
    }
    (order, l)
}
