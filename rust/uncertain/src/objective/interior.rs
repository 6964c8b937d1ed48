//! The two passes of the interior-point method: the Newton system, and how every row's score moves
//! along a direction. The method itself is [`crate::solver`]'s.

use super::hessian::{DenseHessian, RowCurvature};
use super::pass::ClassSums;
use super::sketch::Sketch;
use super::{LinearObjective, Objective, pass};
use crate::control::Control;
use crate::data::Kind;
use crate::data::covariance::BlockVerbs;
use crate::error::Result;
use crate::parallel;
use crate::simd;
use crate::with_kind;

/// What one row puts into the Newton system; c is its weight, t = S w / s.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowTerms {
    /// Spread s of the score.
    pub s: f64,
    /// The row's dual: c p and c q, of which bound and gradient are made.
    pub p: f64,
    /// See `p`.
    pub q: f64,
    /// c theta: curvature along r = -y x - z t.
    pub theta: f64,
    /// z
    pub z: f64,
    /// c theta rho: the row's residual, to be made up for by the step.
    pub residual: f64,
}

/// The Newton system of the interior-point method.
#[derive(Debug)]
pub(crate) struct System {
    /// Lower triangle, row-major, penalty included.
    pub matrix: Vec<f64>,
    /// The negative right-hand side.
    pub rhs: Vec<f64>,
    /// Lower bound on the minimum of J.
    pub bound: f64,
}

/// How a row's score changes along a direction: m + t dm, v + 2 t wsd + t^2 dsd.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowMotion {
    pub dm: f64,
    pub wsd: f64,
    pub dsd: f64,
}

struct Part {
    dense: DenseHessian,
    classes: [ClassSums; 2],
    /// sum of the residuals' share of the right-hand side, b last
    residual: Vec<f64>,
}

impl LinearObjective<'_> {
    /// The Newton system at x for the rows' terms; its matrix from about `rows` of the rows, chosen by `round`.
    pub(crate) fn system(
        &self,
        x: &[f64],
        terms: &[RowTerms],
        (rows, round): (usize, usize),
        control: &Control,
    ) -> Result<System> {
        let d = x.len() - 1;
        let (n_rows, loss) = (self.problem().data.n_rows(), self.problem().loss);
        let along = self.covariances().along(&x[..d]);
        let exact = self.covariances().kind() == Kind::Zero;
        let new = || Part {
            dense: DenseHessian::new(d, exact),
            classes: [pass::ClassSums::zero(d), pass::ClassSums::zero(d)],
            residual: vec![0.0; d + 1],
        };
        let most = pass::dense_parts(d);
        let sketch = Sketch::new(terms, rows, round);
        let parts = parallel::map_parts_at_most(n_rows, most, |range| -> Result<Part> {
            let mut part = new();
            let mut reader = self.reader();
            with_kind!(self.covariances(), kind => {
                let (block, memo_width) = (self.block_rows(d), kind.memo_width(d));
                let (mut memo, mut v) = (vec![0.0; block * memo_width], vec![0.0; block]);
                for first in range.clone().step_by(block) {
                    control.check()?;
                    let n = block.min(range.end - first);
                    let (means, at) = reader.rows(first, n)?;
                    let memo = &mut memo[..n * memo_width];
                    kind.quads(first, &along, memo, &mut v[..n]);
                    let rows = &terms[first..first + n];
                    let y = &self.problem().targets[first..first + n];
                    let over_s = |t: &RowTerms, a: f64| if t.s > 0.0 { a / t.s } else { 0.0 };
                    let column = |f: &dyn Fn(usize) -> f64| (0..n).map(f).collect::<Vec<f64>>();
                    let dm = column(&|k| -y[k] * rows[k].p);
                    let e = column(&|k| over_s(&rows[k], rows[k].q));
                    let (rm, re) = (
                        column(&|k| -y[k] * rows[k].residual),
                        column(&|k| over_s(&rows[k], -rows[k].z * rows[k].residual)),
                    );
                    let all: Vec<u32> = (0..n as u32).collect();
                    let of_class = |plus: bool| all.iter().copied().filter(|&k| (y[k as usize] > 0.0) == plus).collect::<Vec<u32>>();
                    for (class, picks) in part.classes.iter_mut().zip([of_class(false), of_class(true)]) {
                        class.bias += picks.iter().map(|&k| dm[k as usize]).sum::<f64>();
                        class.constant += picks.iter().map(|&k| rows[k as usize].p * loss.offset(first + k as usize)).sum::<f64>();
                        simd::add_rows(means, at, &picks, &dm, simd::Power::One, &mut class.gradient);
                        kind.add_images(first, &picks, &e, &along, memo, &mut class.gradient);
                    }
                    simd::add_rows(means, at, &all, &rm, simd::Power::One, &mut part.residual[..d]);
                    kind.add_images(first, &all, &re, &along, memo, &mut part.residual[..d]);
                    part.residual[d] += rm.iter().sum::<f64>();
                    let curvature: Vec<RowCurvature> = (0..n).map(|k| {
                        let theta = sketch.map_or(rows[k].theta, |sketch| sketch.theta(first + k, rows[k].theta));
                        RowCurvature::of_terms(&RowTerms { theta, ..rows[k] }, y[k])
                    }).collect();
                    part.dense.add_block((means, at), kind, &along, first, memo, &curvature);
                }
            });
            Ok(part)
        })?;
        let mut total = new();
        for part in parts {
            let mut part = part?;
            total.dense.add(&mut part.dense);
            total.classes.iter_mut().zip(part.classes).for_each(|(a, b)| a.add(&b));
            total.residual.iter_mut().zip(part.residual).for_each(|(a, b)| *a += b);
        }
        let [minus, plus] = &total.classes;
        let gradient = self.gradient(x, minus, plus);
        let mut rhs: Vec<f64> = gradient.iter().zip(&total.residual).map(|(g, r)| g + r).collect();
        if !self.problem().fit_intercept {
            rhs[d] = 0.0;
        }
        Ok(System { bound: self.bound(minus, plus), matrix: self.penalised(total.dense.finish(), d), rhs })
    }

    /// sum a_i (x_i, 1) over all rows.
    pub(crate) fn combination(&self, a: &[f64], control: &Control) -> Result<Vec<f64>> {
        let d = self.dim() - 1;
        let parts = parallel::map_parts(a.len(), |range| -> Result<Vec<f64>> {
            let mut sum = vec![0.0; d + 1];
            let mut reader = self.reader();
            let block = self.block_rows(d);
            for first in range.clone().step_by(block) {
                control.check()?;
                let n = block.min(range.end - first);
                let (means, at) = reader.rows(first, n)?;
                let (all, a): (Vec<u32>, _) = ((0..n as u32).collect(), &a[first..first + n]);
                simd::add_rows(means, at, &all, a, simd::Power::One, &mut sum[..d]);
                sum[d] += a.iter().sum::<f64>();
            }
            Ok(sum)
        })?;
        let mut total = vec![0.0; d + 1];
        for part in parts {
            total.iter_mut().zip(part?).for_each(|(t, p)| *t += p);
        }
        Ok(total)
    }

    /// Score means and variances of all rows at x: (m, v).
    pub(crate) fn scores(&self, x: &[f64], control: &Control) -> Result<Vec<(f64, f64)>> {
        let motion = self.motion(x, x, control)?;
        Ok(motion.into_iter().map(|r| (r.dm, r.dsd)).collect())
    }

    /// How every row's score moves from x along `direction`.
    pub(crate) fn motion(&self, x: &[f64], direction: &[f64], control: &Control) -> Result<Vec<RowMotion>> {
        let d = x.len() - 1;
        let n_rows = self.problem().data.n_rows();
        let exact = self.covariances().kind() == Kind::Zero;
        let (along_w, along_d) = (self.covariances().along(&x[..d]), self.covariances().along(&direction[..d]));
        let parts = parallel::map_parts(n_rows, |range| -> Result<Vec<RowMotion>> {
            let mut out = Vec::with_capacity(range.len());
            let mut reader = self.reader();
            with_kind!(self.covariances(), kind => {
                let (block, memo_width) = (self.block_rows(d), kind.memo_width(d));
                let mut memo = vec![0.0; block * memo_width];
                let (mut m, mut v) = (vec![0.0; block], vec![0.0; block]);
                let mut images = vec![0.0; if exact { 0 } else { block * d }];
                for first in range.clone().step_by(block) {
                    control.check()?;
                    let n = block.min(range.end - first);
                    let (means, at) = reader.rows(first, n)?;
                    simd::dots(means, at, &along_d.w, simd::Power::One, &mut m[..n]);
                    kind.quads(first, &along_d, &mut memo[..n * memo_width], &mut v[..n]);
                    if exact {
                        out.extend(m[..n].iter().map(|m| RowMotion { dm: m + direction[d], wsd: 0.0, dsd: 0.0 }));
                        continue;
                    }
                    kind.images(first, n, &along_d, &memo, &mut images);
                    out.extend((0..n).map(|k| RowMotion {
                        dm: m[k] + direction[d],
                        wsd: simd::dot(&images[k * d..(k + 1) * d], &along_w.w),
                        dsd: v[k],
                    }));
                }
            });
            Ok(out)
        })?;
        let mut all = Vec::with_capacity(n_rows);
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }
}
