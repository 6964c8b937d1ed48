//! Products of the Hessian with a vector, for problems too large for the matrix ([`super::hessian`] has the formula).
//!
//! The rows' curvature is computed anew in every product: a second score and the loss, little beside a row's sums, and
//! nothing has to be kept where the rows are.

use std::ops::Range;

use super::hessian::active;
use super::local::{Block, LocalRows};
use super::row::RowCurvature;
use crate::control::Control;
use crate::data::covariance::{BlockVerbs, Direction};
use crate::error::Result;
use crate::loss::{LossEval, Scores};
use crate::simd;
use crate::with_kind;

/// sum_i (second derivatives of row i at x) v.
pub(super) struct Product<'a> {
    rows: &'a LocalRows<'a>,
    along_w: Direction,
    b: f64,
    epsilon: f64,
    along_v: Direction,
    v_b: f64,
}

/// Buffers of one block.
struct Scratch {
    m: Vec<f64>,
    v: Vec<f64>,
    memo_w: Vec<f64>,
    memo_v: Vec<f64>,
    eval: Vec<LossEval>,
    xv: Vec<f64>,
    images: Vec<f64>,
    cx: Vec<f64>,
    ct: Vec<f64>,
    cs: Vec<f64>,
}

impl<'a> Product<'a> {
    pub fn new(rows: &'a LocalRows<'a>, x: &[f64], epsilon: f64, v: &[f64]) -> Self {
        let d = x.len() - 1;
        let along = |x: &[f64]| rows.covariances().along(&x[..d]);
        Self { rows, along_w: along(x), b: x[d], epsilon, along_v: along(v), v_b: v[d] }
    }

    /// The sum over a part of the rows.
    pub fn part(&self, range: Range<usize>, control: &Control) -> Result<Vec<f64>> {
        let (d, block) = (self.along_w.w.len(), self.rows.block_rows());
        let mut sum = vec![0.0; d + 1];
        with_kind!(self.rows.covariances(), kind => {
            let (zeros, memo) = (|| vec![0.0; block], || vec![0.0; block * kind.memo_width(d)]);
            let mut scratch = Scratch {
                m: zeros(),
                v: zeros(),
                memo_w: memo(),
                memo_v: memo(),
                eval: vec![LossEval::default(); block],
                xv: zeros(),
                images: vec![0.0; block * d],
                cx: zeros(),
                ct: zeros(),
                cs: zeros(),
            };
            self.rows.blocks(range, control, |block| self.add_block(kind, &block, &mut scratch, &mut sum))?;
        });
        Ok(sum)
    }

    fn add_block<K: BlockVerbs>(&self, kind: &K, block: &Block<'_>, s: &mut Scratch, sum: &mut [f64]) {
        let &Block { first, n, means, at } = block;
        let (rows, d) = (self.rows, self.along_w.w.len());
        let memo = ..n * kind.memo_width(d);
        let (m, v, xv, eval) = (&mut s.m[..n], &mut s.v[..n], &mut s.xv[..n], &mut s.eval[..n]);
        simd::dots(means, at, &self.along_v.w, simd::Power::One, xv);
        kind.quads(first, &self.along_v, &mut s.memo_v[memo], v);
        simd::dots(means, at, &self.along_w.w, simd::Power::One, m);
        m.iter_mut().for_each(|m| *m += self.b);
        kind.quads(first, &self.along_w, &mut s.memo_w[memo], v);
        kind.images(first, n, &self.along_w, &s.memo_w, &mut s.images);
        v.iter_mut().for_each(|v| *v += self.epsilon * self.epsilon);
        let problem = &rows.problem;
        problem.loss.eval(&Scores { first, y: block.of(problem.targets), m, v, width: self.epsilon }, eval);
        let curvature: Vec<RowCurvature> =
            (0..n).map(|k| RowCurvature::new(rows.weight(first + k), &eval[k], v[k])).collect();
        let picks = active(&curvature);
        for k in picks.iter().map(|&k| k as usize) {
            let (c, xv) = (&curvature[k], xv[k] + self.v_b);
            let tv = simd::dot(&s.images[k * d..(k + 1) * d], &self.along_v.w) * c.inv_s;
            s.cx[k] = c.mm * xv + c.ms * tv;
            s.ct[k] = (c.ms * xv + c.ss * tv) * c.inv_s;
            s.cs[k] = c.e;
            sum[d] += s.cx[k];
        }
        simd::add_rows(means, at, &picks, &s.cx, simd::Power::One, &mut sum[..d]);
        kind.add_images(first, &picks, &s.ct, &self.along_w, &s.memo_w, &mut sum[..d]);
        kind.add_images(first, &picks, &s.cs, &self.along_v, &s.memo_v, &mut sum[..d]);
    }
}
