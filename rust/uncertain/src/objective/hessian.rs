//! Second derivatives as a matrix.
//!
//! ```text
//! Hess = alpha I + sum c [ dmm x x' + dms (x t' + t x') + (dss - e) t t' + e S ],   t = S w / s,  e = (dL/ds) / s
//! ```
//!
//! with x extended by a 1 for b, and t, S by zeros. The outer products of a block are one matrix
//! product P'Q of stacked rows, P = [x; t], Q = [dmm x + dms t; dms x + (dss - e) t]; the sum of S
//! uses the verb `add_to`. For full covariances the matrix costs hardly more than the gradient: both
//! are bound by reading S once.

use super::local::Block;
use super::row::RowCurvature;
use crate::data::covariance::{BlockVerbs, Direction, packed_len};
use crate::linalg;
use crate::simd;

fn active(rows: &[RowCurvature]) -> Vec<u32> {
    (0..rows.len() as u32).filter(|&k| rows[k as usize].is_active()).collect()
}

/// At least `len` elements; what is there already stays (the padding beyond d + 1 must stay zero).
fn grow(buffer: &mut Vec<f64>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
}

/// Exact rows that go into one product.
const WAITING: usize = 256;
/// Columns up to which the plain kernel beats a general matrix product.
const SMALL: usize = 128;

/// Hess without the penalty, while it is being summed.
pub(super) struct DenseHessian {
    d: usize,
    /// Elements per row of the matrices below: d + 1, rounded up to full lanes.
    width: usize,
    /// The outer products, width^2 row-major, lower triangle.
    outer: Vec<f64>,
    /// sum c e S, packed; empty for exact rows.
    spread: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    images: Vec<f64>,
    /// Exact rows in p that wait for others: products of a few rows cost as much as those of many.
    waiting: usize,
}

impl DenseHessian {
    pub(super) fn new(d: usize, exact: bool) -> Self {
        let width = (d + 1).next_multiple_of(8);
        let (outer, spread) = (vec![0.0; width * width], vec![0.0; if exact { 0 } else { packed_len(d) }]);
        Self { d, width, outer, spread, p: vec![], q: vec![], images: vec![], waiting: 0 }
    }

    /// The packed lower triangle.
    pub(super) fn finish(mut self) -> Vec<f64> {
        self.flush();
        let mut packed = Vec::with_capacity(packed_len(self.d + 1));
        for i in 0..=self.d {
            packed.extend(&self.outer[i * self.width..][..=i]);
        }
        // The triangle of S is that of the matrix without its last row.
        packed.iter_mut().zip(&self.spread).for_each(|(h, s)| *h += s);
        packed
    }

    /// Add the rows of one block.
    pub(super) fn add_block<K: BlockVerbs>(
        &mut self,
        block: &Block<'_>,
        kind: &K,
        along: &Direction,
        memo: &[f64],
        rows: &[RowCurvature],
    ) {
        let &Block { first, n, means, at: at_first } = block;
        let (d, width) = (self.d, self.width);
        let picks = active(rows);
        if picks.is_empty() {
            return;
        }
        if K::EXACT {
            return self.add_exact(block, rows, &picks);
        }
        grow(&mut self.images, n * d);
        kind.images(first, n, along, memo, &mut self.images);
        let half = picks.len() * width;
        grow(&mut self.p, 2 * half);
        grow(&mut self.q, 2 * half);
        let (p, q) = (&mut self.p[..2 * half], &mut self.q[..2 * half]);
        let (px, pt) = p.split_at_mut(half);
        let (qx, qt) = q.split_at_mut(half);
        for (at, k) in picks.iter().map(|&k| k as usize).enumerate() {
            let (c, x, z) = (&rows[k], means.row(at_first + k), &self.images[k * d..(k + 1) * d]);
            let row = at * width..(at + 1) * width;
            let (px, pt, qx, qt) = (&mut px[row.clone()], &mut pt[row.clone()], &mut qx[row.clone()], &mut qt[row]);
            for j in 0..d {
                let t = z[j] * c.inv_s;
                px[j] = x[j];
                pt[j] = t;
                qx[j] = c.mm * x[j] + c.ms * t;
                qt[j] = c.ms * x[j] + c.ss * t;
            }
            (px[d], pt[d], qx[d], qt[d]) = (1.0, 0.0, c.mm, c.ms);
        }
        rank_update(p, q, width, &mut self.outer);
        let e: Vec<f64> = rows.iter().map(|c| c.e).collect();
        kind.add_to(first, &picks, &e, d, &mut self.spread);
    }

    /// Rows without spread are half the work: P = Q = sqrt(c dmm) x, and dmm >= 0 because losses are convex.
    fn add_exact(&mut self, block: &Block<'_>, rows: &[RowCurvature], picks: &[u32]) {
        let (d, width) = (self.d, self.width);
        grow(&mut self.p, WAITING * width);
        for &k in picks {
            let root = rows[k as usize].mm.max(0.0).sqrt();
            let p = &mut self.p[self.waiting * width..][..width];
            p[..d].iter_mut().zip(block.means.row(block.at + k as usize)).for_each(|(p, x)| *p = root * x);
            p[d] = root;
            self.waiting += 1;
            if self.waiting == WAITING {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        let p = &self.p[..self.waiting * self.width];
        rank_update(p, p, self.width, &mut self.outer);
        self.waiting = 0;
    }
}

/// `outer += P'Q`, lower triangle.
fn rank_update(p: &[f64], q: &[f64], width: usize, outer: &mut [f64]) {
    if width <= SMALL {
        simd::rank_update_lower(p, q, width, outer);
    } else {
        linalg::gemm_tn_lower(p, q, p.len() / width, width, outer);
    }
}
