//! One pass over the data: every row is read from memory once, and value, bound, gradient and (when
//! wanted) Hessian come out.
//!
//! For a block of rows: score means and variances, the loss of all its rows at once, then the weighted sums of rows.

use std::ops::Range;

use super::hessian::DenseHessian;
use super::local::{LocalRows, RowBlock};
use super::row::{RowCurvature, over_s};
use super::sums::ValueSums;
use crate::control::Control;
use crate::data::covariance::{BlockVerbs, Direction};
use crate::error::Result;
use crate::loss::{Certificate, LossEval, Scores, Smoothness};
use crate::simd;
use crate::with_kind;

/// Where and how J is evaluated.
pub(super) struct ValuePass<'a> {
    rows: &'a LocalRows<'a>,
    along: Direction,
    b: f64,
    epsilon: f64,
    hessian: bool,
}

struct ValueParts {
    sums: ValueSums,
    dense: Option<DenseHessian>,
}

/// Buffers of one block.
struct ValueBuffers {
    y: Vec<f64>,
    m: Vec<f64>,
    v: Vec<f64>,
    memo: Vec<f64>,
    eval: Vec<LossEval>,
    dm: Vec<f64>,
    e: Vec<f64>,
    /// The rows of either class that contribute.
    picks: [Vec<u32>; 2],
}

impl<'a> ValuePass<'a> {
    pub(super) fn new(rows: &'a LocalRows<'a>, x: &[f64], epsilon: f64, hessian: bool) -> Self {
        let (w, b) = (&x[..x.len() - 1], x[x.len() - 1]);
        Self { rows, along: rows.covariances().along(w), b, epsilon, hessian }
    }

    /// The sums over a part of the rows.
    pub(super) fn part(&self, range: Range<usize>, control: &Control) -> Result<Vec<f64>> {
        let (rows, d) = (self.rows, self.along.w.len());
        let block = rows.block_rows();
        let dense = self.hessian.then(|| DenseHessian::new(d, rows.is_exact(), rows.problem.loss.is_convex()));
        let mut part = ValueParts { sums: ValueSums::zero(d), dense };
        with_kind!(rows.covariances(), kind => {
            let mut scratch = ValueBuffers {
                y: vec![],
                m: vec![0.0; block],
                v: vec![0.0; block],
                memo: vec![0.0; block * kind.memo_width(d)],
                eval: vec![LossEval::default(); block],
                dm: vec![0.0; block],
                e: vec![0.0; block],
                picks: [Vec::with_capacity(block), Vec::with_capacity(block)],
            };
            rows.blocks(range, control, |block| self.add_block(kind, &block, &mut scratch, &mut part))?;
        });
        let hessian = part.dense.map_or_else(Vec::new, DenseHessian::finish);
        Ok(ValueSums { hessian, ..part.sums }.flat())
    }

    fn add_block<K: BlockVerbs>(&self, kind: &K, block: &RowBlock<'_>, s: &mut ValueBuffers, part: &mut ValueParts) {
        let &RowBlock { first, n, means, at } = block;
        let (rows, loss) = (self.rows, self.rows.problem.loss);
        let y = rows.problem.targets.block(first, n, &mut s.y);
        let memo = &mut s.memo[..n * kind.memo_width(self.along.w.len())];
        let (m, v, eval) = (&mut s.m[..n], &mut s.v[..n], &mut s.eval[..n]);
        simd::dots(means, at, &self.along.w, simd::Power::One, m);
        m.iter_mut().for_each(|m| *m += self.b);
        kind.quads(first, &self.along, memo, v);

        let sums = &mut part.sums;
        let value = |eval: &[LossEval]| (0..n).map(|k| rows.weight(first + k) * eval[k].value).sum::<f64>();
        match loss.smoothness() {
            Smoothness::WithSpread => {
                for k in 0..n {
                    if v[k] < sums.narrowest * sums.narrowest && rows.weight(first + k) > 0.0 {
                        sums.narrowest = v[k].sqrt();
                    }
                }
            }
            // No spread is wide enough to do without smoothing, and none too narrow.
            Smoothness::Kinked => sums.narrowest = 0.0,
            Smoothness::Always => {}
        }
        let epsilon2 = self.epsilon * self.epsilon;
        if self.epsilon > 0.0 {
            loss.eval(&Scores { first, y, m, v, width: 0.0 }, eval);
            sums.objective += value(eval);
            v.iter_mut().for_each(|v| *v += epsilon2);
        }
        loss.eval(&Scores { first, y, m, v, width: self.epsilon }, eval);
        let smoothed = value(eval);
        sums.smoothed += smoothed;
        if self.epsilon == 0.0 {
            sums.objective += smoothed;
        }

        s.picks.iter_mut().for_each(Vec::clear);
        let tangents = loss.certificate() == Certificate::Tangents;
        for k in 0..n {
            let c = rows.weight(first + k);
            s.dm[k] = c * eval[k].dm;
            s.e[k] = c * over_s(&eval[k], v[k]);
            // p = -y dL/dm where L is homogeneous; else the tangent's value where m and s are zero.
            let constant = if tangents { c * eval[k].value - s.dm[k] * m[k] - s.e[k] * v[k] } else { -y[k] * s.dm[k] };
            sums.tangent += constant + s.dm[k] * m[k] + s.e[k] * (v[k] - epsilon2);
            let class = usize::from(if tangents { s.dm[k] < 0.0 } else { y[k] > 0.0 });
            sums.classes[class].constant += constant;
            // A row far on the right side has underflowed to nothing: leave it out of the sums.
            if s.dm[k] != 0.0 || s.e[k] != 0.0 {
                sums.classes[class].bias += s.dm[k];
                s.picks[class].push(k as u32);
            }
        }
        for (class, picks) in sums.classes.iter_mut().zip(&s.picks) {
            simd::add_rows(means, at, picks, &s.dm, simd::Power::One, &mut class.gradient);
            kind.add_images(first, picks, &s.e, &self.along, memo, &mut class.gradient);
        }
        if let Some(dense) = &mut part.dense {
            let curvature = (0..n).map(|k| RowCurvature::new(rows.weight(first + k), &eval[k], v[k]));
            dense.add_block(block, kind, &self.along, memo, &curvature.collect::<Vec<_>>());
        }
    }
}
