//! Second derivatives: as a matrix for few features, as products with a vector for many.
//!
//! ```text
//! Hess = alpha I + sum c [ dmm x x' + dms (x t' + t x') + (dss - e) t t' + e S ],   t = S w / s,  e = (dL/ds) / s
//! ```
//!
//! with x extended by a 1 for b, and t, S by zeros. The outer products of a block are one matrix
//! product P'Q of stacked rows, P = [x; t], Q = [dmm x + dms t; dms x + (dss - e) t]; the sum of S
//! uses the verb `add_to`. For full covariances the matrix costs hardly more than the gradient: both
//! are bound by reading S once.

use super::interior::RowTerms;
use super::pass::over_s;
use super::{Evaluation, LinearObjective};
use crate::control::Control;
use crate::data::Rows;
use crate::data::covariance::{BlockVerbs, Direction, packed_index, packed_len};
use crate::error::{Error, Result};
use crate::linalg;
use crate::loss::LossEval;
use crate::parallel;
use crate::simd;
use crate::with_kind;

/// The second derivatives of one row, times its weight.
#[derive(Debug, Clone, Copy)]
pub struct RowCurvature {
    mm: f64,
    ms: f64,
    /// dss - e
    ss: f64,
    e: f64,
    inv_s: f64,
}

impl RowCurvature {
    pub(super) fn new(weight: f64, eval: &LossEval, v: f64) -> Self {
        let e = over_s(eval, v);
        Self {
            mm: weight * eval.dmm,
            ms: weight * eval.dms,
            ss: weight * (eval.dss - e),
            e: weight * e,
            inv_s: if v > 0.0 { 1.0 / v.sqrt() } else { 0.0 },
        }
    }

    pub(super) fn of_terms(t: &RowTerms, y: f64) -> Self {
        let (inv_s, e) = if t.s > 0.0 { (1.0 / t.s, t.q / t.s) } else { (0.0, 0.0) };
        Self { mm: t.theta, ms: t.theta * y * t.z, ss: t.theta * t.z * t.z - e, e, inv_s }
    }

    fn is_active(&self) -> bool {
        self.mm != 0.0 || self.e != 0.0
    }
}

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

    pub(super) fn add(&mut self, other: &mut Self) {
        other.flush();
        self.outer.iter_mut().zip(&other.outer).for_each(|(a, b)| *a += b);
        self.spread.iter_mut().zip(&other.spread).for_each(|(a, b)| *a += b);
    }

    pub(super) fn finish(mut self) -> Vec<f64> {
        self.flush();
        let n = self.d + 1;
        let mut hessian = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let spread = if i < self.d { self.spread.get(packed_index(i, j)).copied() } else { None };
                hessian[i * n + j] = self.outer[i * self.width + j] + spread.unwrap_or(0.0);
            }
        }
        hessian
    }

    /// Add the rows of one block.
    pub(super) fn add_block<K: BlockVerbs>(
        &mut self,
        (means, at_first): (&Rows, usize),
        kind: &K,
        along: &Direction,
        first: usize,
        memo: &[f64],
        rows: &[RowCurvature],
    ) {
        let (d, n, width) = (self.d, rows.len(), self.width);
        let picks = active(rows);
        if picks.is_empty() {
            return;
        }
        if K::EXACT {
            return self.add_exact((means, at_first), rows, &picks);
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
    fn add_exact(&mut self, (means, at_first): (&Rows, usize), rows: &[RowCurvature], picks: &[u32]) {
        let (d, width) = (self.d, self.width);
        grow(&mut self.p, WAITING * width);
        for &k in picks {
            let root = rows[k as usize].mm.max(0.0).sqrt();
            let p = &mut self.p[self.waiting * width..][..width];
            p[..d].iter_mut().zip(means.row(at_first + k as usize)).for_each(|(p, x)| *p = root * x);
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

/// out = Hess v, one pass over the data.
pub(super) fn product(
    objective: &LinearObjective<'_>,
    at: &Evaluation,
    x: &[f64],
    v: &[f64],
    out: &mut [f64],
    control: &Control,
) -> Result<()> {
    let curvature = at.curvature.as_ref().ok_or_else(|| Error::Internal("Hessian product without curvature".into()))?;
    let problem = objective.problem();
    let d = x.len() - 1;
    let covariances = objective.covariances();
    let (along_w, along_v) = (covariances.along(&x[..d]), covariances.along(&v[..d]));
    let v_b = if problem.fit_intercept { v[d] } else { 0.0 };
    let parts = parallel::map_parts(problem.data.n_rows(), |range| -> Result<Vec<f64>> {
        let mut sum = vec![0.0; d + 1];
        let mut reader = objective.reader();
        with_kind!(covariances, kind => {
            let (block, memo_width) = (objective.block_rows(d), kind.memo_width(d));
            let (mut memo_w, mut memo_v) = (vec![0.0; block * memo_width], vec![0.0; block * memo_width]);
            let (mut xv, mut quads, mut images) = (vec![0.0; block], vec![0.0; block], vec![0.0; block * d]);
            let (mut cx, mut ct, mut cs) = (vec![0.0; block], vec![0.0; block], vec![0.0; block]);
            for first in range.clone().step_by(block) {
                control.check()?;
                let n = block.min(range.end - first);
                let rows = &curvature[first..first + n];
                let (means, begin) = reader.rows(first, n)?;
                kind.quads(first, &along_w, &mut memo_w[..n * memo_width], &mut quads[..n]);
                kind.images(first, n, &along_w, &memo_w, &mut images);
                kind.quads(first, &along_v, &mut memo_v[..n * memo_width], &mut quads[..n]);
                simd::dots(means, begin, &along_v.w, simd::Power::One, &mut xv[..n]);
                let picks = active(rows);
                for k in picks.iter().map(|&k| k as usize) {
                    let (c, xv) = (&rows[k], xv[k] + v_b);
                    let tv = simd::dot(&images[k * d..(k + 1) * d], &along_v.w) * c.inv_s;
                    cx[k] = c.mm * xv + c.ms * tv;
                    ct[k] = (c.ms * xv + c.ss * tv) * c.inv_s;
                    cs[k] = c.e;
                    sum[d] += cx[k];
                }
                simd::add_rows(means, begin, &picks, &cx, simd::Power::One, &mut sum[..d]);
                kind.add_images(first, &picks, &ct, &along_w, &memo_w, &mut sum[..d]);
                kind.add_images(first, &picks, &cs, &along_v, &memo_v, &mut sum[..d]);
            }
        });
        Ok(sum)
    })?;
    out.fill(0.0);
    for part in parts {
        out.iter_mut().zip(part?).for_each(|(o, p)| *o += p);
    }
    (0..d).for_each(|j| out[j] += problem.alpha * v[j]);
    if !problem.fit_intercept {
        out[d] = v[d];
    }
    Ok(())
}
