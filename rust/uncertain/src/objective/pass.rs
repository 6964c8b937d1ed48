//! One pass over the data: every row is read from memory once, and value, bound, gradient and (when
//! wanted) Hessian come out.
//!
//! Rows go through in blocks small enough to stay in the second-level cache. For a block: score
//! means and variances, the loss of all its rows at once, then the weighted sums of rows, which
//! find the block still in cache. Blocks belong to parts that are fixed by the number of rows, and
//! parts are added in order: the result is the same for any number of threads.

use std::ops::Range;

use super::hessian::{DenseHessian, RowCurvature};
use super::{LinearObjective, Want};
use crate::control::Control;
use crate::data::covariance::{BlockVerbs, Direction};
use crate::data::{Kind, Rows};
use crate::error::Result;
use crate::loss::{Certificate, LossEval, Scores, Smoothness};
use crate::parallel;
use crate::simd;
use crate::with_kind;

/// Sums over the rows of one class: those that push b down (dm > 0: class -1), and those that push it up.
#[derive(Debug, Clone)]
pub(crate) struct ClassSums {
    /// sum c (dm x + ds t)
    pub gradient: Vec<f64>,
    /// sum c dm
    pub bias: f64,
    /// sum c a, where a + dm m + ds s is the row's lower bound: p for a margin loss
    pub constant: f64,
}

impl ClassSums {
    pub(super) fn zero(d: usize) -> Self {
        Self { gradient: vec![0.0; d], bias: 0.0, constant: 0.0 }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.bias += other.bias;
        self.constant += other.constant;
        self.gradient.iter_mut().zip(&other.gradient).for_each(|(a, b)| *a += b);
    }
}

/// What a pass sums up.
#[derive(Debug)]
pub(super) struct Sums {
    pub smoothed: f64,
    pub objective: f64,
    /// Classes -1 and +1.
    pub classes: [ClassSums; 2],
    pub narrowest: f64,
    /// sum c (a + dm m + ds s^2 / s_eps): what the slopes at the smoothed point promise for the point itself
    pub tangent: f64,
    pub hessian: Option<Vec<f64>>,
    pub curvature: Option<Vec<RowCurvature>>,
}

/// Bytes of rows per block: a fraction of a second-level cache.
const BLOCK_BYTES: usize = 64 * 1024;

/// Rows per block for rows of `d` means and as many doubles of covariance.
pub(super) fn block_rows(d: usize) -> usize {
    (BLOCK_BYTES / (16 * d)).clamp(16, 256)
}

/// Bytes that the parts' Hessians may take together.
const DENSE_BYTES: usize = 256 << 20;

/// Parts of a pass that sums matrices of d + 1 unknowns.
pub(crate) fn dense_parts(d: usize) -> usize {
    (DENSE_BYTES / (12 * (d + 1) * (d + 1))).clamp(2, 64)
}

/// Where and how J is evaluated.
struct Pass<'a> {
    objective: &'a LinearObjective<'a>,
    along: Direction,
    b: f64,
    epsilon: f64,
    want: Want,
}

/// The pass over all rows at x = (w, b).
pub(super) fn run(
    objective: &LinearObjective<'_>,
    x: &[f64],
    epsilon: f64,
    want: Want,
    control: &Control,
) -> Result<Sums> {
    let (w, b) = (&x[..x.len() - 1], x[x.len() - 1]);
    let n_rows = objective.problem().data.n_rows();
    let pass = Pass { objective, along: objective.covariances().along(w), b, epsilon, want };
    let exact = objective.covariances().kind() == Kind::Zero;
    let mut total = Part::new(w.len(), want, exact);
    let most = if want == Want::Hessian { dense_parts(w.len()) } else { usize::MAX };
    for part in parallel::map_parts_at_most(n_rows, most, |range| pass.part(range, control))? {
        total.add(part?);
    }
    Ok(total.finish())
}

struct Part {
    sums: Sums,
    dense: Option<DenseHessian>,
}

impl Part {
    fn new(d: usize, want: Want, exact: bool) -> Self {
        let class = ClassSums::zero(d);
        let sums = Sums {
            smoothed: 0.0,
            objective: 0.0,
            classes: [class.clone(), class],
            narrowest: f64::INFINITY,
            tangent: 0.0,
            hessian: None,
            curvature: (want == Want::Curvature).then(Vec::new),
        };
        Self { sums, dense: (want == Want::Hessian).then(|| DenseHessian::new(d, exact)) }
    }

    fn add(&mut self, other: Self) {
        let (a, b) = (&mut self.sums, other.sums);
        a.smoothed += b.smoothed;
        a.objective += b.objective;
        a.tangent += b.tangent;
        a.narrowest = a.narrowest.min(b.narrowest);
        for (a, b) in a.classes.iter_mut().zip(b.classes) {
            a.add(&b);
        }
        if let (Some(a), Some(b)) = (&mut a.curvature, b.curvature) {
            a.extend(b);
        }
        if let (Some(a), Some(mut b)) = (&mut self.dense, other.dense) {
            a.add(&mut b);
        }
    }

    fn finish(self) -> Sums {
        Sums { hessian: self.dense.map(DenseHessian::finish), ..self.sums }
    }
}

/// Buffers of one block.
struct Scratch {
    m: Vec<f64>,
    v: Vec<f64>,
    memo: Vec<f64>,
    eval: Vec<LossEval>,
    dm: Vec<f64>,
    e: Vec<f64>,
    /// The rows of either class that contribute.
    picks: [Vec<u32>; 2],
}

impl Pass<'_> {
    fn part(&self, range: Range<usize>, control: &Control) -> Result<Part> {
        let d = self.along.w.len();
        let block = self.objective.block_rows(d);
        let mut part = Part::new(d, self.want, self.objective.covariances().kind() == Kind::Zero);
        let mut reader = self.objective.reader();
        with_kind!(self.objective.covariances(), kind => {
            let mut scratch = Scratch {
                m: vec![0.0; block],
                v: vec![0.0; block],
                memo: vec![0.0; block * kind.memo_width(d)],
                eval: vec![LossEval::default(); block],
                dm: vec![0.0; block],
                e: vec![0.0; block],
                picks: [Vec::with_capacity(block), Vec::with_capacity(block)],
            };
            for first in range.clone().step_by(block) {
                control.check()?;
                let n = block.min(range.end - first);
                self.add_block(kind, first, reader.rows(first, n)?, n, &mut scratch, &mut part);
            }
        });
        Ok(part)
    }

    /// `at` is the number of row `first` within `means`.
    fn add_block<K: BlockVerbs>(
        &self,
        kind: &K,
        first: usize,
        (means, at): (&Rows, usize),
        n: usize,
        s: &mut Scratch,
        part: &mut Part,
    ) {
        let (objective, problem) = (self.objective, self.objective.problem());
        let y = &problem.targets[first..first + n];
        let memo = &mut s.memo[..n * kind.memo_width(self.along.w.len())];
        let (m, v, eval) = (&mut s.m[..n], &mut s.v[..n], &mut s.eval[..n]);
        simd::dots(means, at, &self.along.w, simd::Power::One, m);
        m.iter_mut().for_each(|m| *m += self.b);
        kind.quads(first, &self.along, memo, v);

        let sums = &mut part.sums;
        let loss = problem.loss;
        let value = |eval: &[LossEval]| (0..n).map(|k| objective.weight(first + k) * eval[k].value).sum::<f64>();
        match loss.smoothness() {
            Smoothness::WithSpread => {
                for k in 0..n {
                    if v[k] < sums.narrowest * sums.narrowest && objective.weight(first + k) > 0.0 {
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
            let c = objective.weight(first + k);
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
        if part.dense.is_none() && sums.curvature.is_none() {
            return;
        }
        let curvature = (0..n).map(|k| RowCurvature::new(objective.weight(first + k), &eval[k], v[k]));
        match &mut part.dense {
            Some(dense) => {
                dense.add_block((means, at), kind, &self.along, first, memo, &curvature.collect::<Vec<_>>());
            }
            None => sums.curvature.iter_mut().for_each(|all| all.extend(curvature.clone())),
        }
    }
}

/// (dL/ds) / s, zero for a row without spread (there S w = 0, so any finite value is right).
#[inline]
pub(super) fn over_s(eval: &LossEval, v: f64) -> f64 {
    if v > 0.0 { (eval.ds / v.sqrt()).min(1e100) } else { 0.0 }
}
