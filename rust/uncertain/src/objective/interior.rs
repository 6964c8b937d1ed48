//! The two passes of the interior-point method: the Newton system, and how every row's score moves
//! along a direction. The method itself is [`crate::solver`]'s.

use std::ops::Range;

use super::LinearObjective;
use super::hessian::DenseHessian;
use super::local::{LocalRows, RowBlock, dense_parts};
use super::row::{RowCurvature, RowMotion, RowTerms};
use super::sketch::Sketch;
use super::sums::{ClassSums, add};
use crate::control::Control;
use crate::data::covariance::{BlockVerbs, Direction};
use crate::error::Result;
use crate::simd;
use crate::with_kind;

/// The Newton system of the interior-point method.
#[derive(Debug)]
pub(crate) struct NewtonSystem {
    /// Lower triangle, row-major, penalty included.
    pub matrix: Vec<f64>,
    /// The negative right-hand side.
    pub rhs: Vec<f64>,
    /// Lower bound on the minimum of J.
    pub bound: f64,
}

/// Buffers of one block.
struct SystemBuffers {
    memo: Vec<f64>,
    v: Vec<f64>,
    y: Vec<f64>,
}

/// Terms that the rows of a part add to a system.
struct SystemParts {
    dense: Option<DenseHessian>,
    classes: [ClassSums; 2],
    /// sum of the residuals' share of the right-hand side, b last
    residual: Vec<f64>,
}

/// Where the system is, and what its rows say.
struct SystemPass<'a> {
    rows: &'a LocalRows<'a>,
    along: Direction,
    terms: &'a [RowTerms],
    /// The matrix too?
    matrix: bool,
    sketch: Option<Sketch>,
}

impl SystemPass<'_> {
    fn part(&self, range: Range<usize>, control: &Control) -> Result<Vec<f64>> {
        let (rows, d) = (self.rows, self.along.w.len());
        let mut part = SystemParts {
            dense: self.matrix.then(|| DenseHessian::new(d, rows.is_exact(), true)),
            classes: [ClassSums::zero(d), ClassSums::zero(d)],
            residual: vec![0.0; d + 1],
        };
        with_kind!(rows.covariances(), kind => {
            let block = rows.block_rows();
            let mut scratch = SystemBuffers { memo: vec![0.0; block * kind.memo_width(d)], v: vec![0.0; block], y: vec![] };
            rows.blocks(range, control, |block| self.add_block(kind, &block, &mut scratch, &mut part))?;
        });
        let mut flat = vec![];
        part.classes.iter().for_each(|class| class.write(&mut flat));
        flat.extend(&part.residual);
        flat.extend(part.dense.map_or_else(Vec::new, DenseHessian::finish));
        Ok(flat)
    }

    fn add_block<K: BlockVerbs>(&self, kind: &K, block: &RowBlock<'_>, s: &mut SystemBuffers, part: &mut SystemParts) {
        let &RowBlock { first, n, means, at } = block;
        let (problem, d) = (&self.rows.problem, self.along.w.len());
        let (rows, y) = (block.slice(self.terms), problem.targets.block(first, n, &mut s.y));
        let memo = &mut s.memo[..n * kind.memo_width(d)];
        kind.quads(first, &self.along, memo, &mut s.v[..n]);
        let column = |f: &dyn Fn(usize, &RowTerms) -> f64| -> Vec<f64> {
            rows.iter().enumerate().map(|(k, row)| f(k, row)).collect()
        };
        let add = |picks: &[u32], to_means: &[f64], to_images: &[f64], sum: &mut [f64]| {
            simd::add_rows(means, at, picks, to_means, simd::Power::One, sum);
            kind.add_images(first, picks, to_images, &self.along, memo, sum);
        };
        let (dm, e) = (column(&|k, row| -y[k] * row.p), column(&|_, row| row.over_s(row.q)));
        for (class, sign) in part.classes.iter_mut().zip([-1.0, 1.0]) {
            let picks: Vec<u32> = (0..n as u32).filter(|&k| y[k as usize] == sign).collect();
            let of_class = || picks.iter().map(|&k| k as usize);
            class.bias += of_class().map(|k| dm[k]).sum::<f64>();
            class.constant += of_class().map(|k| rows[k].p * problem.loss.offset(first + k)).sum::<f64>();
            add(&picks, &dm, &e, &mut class.gradient);
        }
        let to_means = column(&|k, row| -y[k] * row.residual);
        let to_images = column(&|_, row| row.over_s(-row.z * row.residual));
        let all: Vec<u32> = (0..n as u32).collect();
        add(&all, &to_means, &to_images, &mut part.residual[..d]);
        part.residual[d] += to_means.iter().sum::<f64>();
        let Some(dense) = &mut part.dense else { return };
        let curvature = rows.iter().enumerate().map(|(k, row)| {
            let theta = self.sketch.map_or(row.theta, |sketch| sketch.theta(first + k, row.theta));
            RowCurvature::from_terms(&RowTerms { theta, ..*row }, y[k])
        });
        dense.add_block(block, kind, &self.along, memo, &curvature.collect::<Vec<_>>());
    }
}

impl LinearObjective<'_> {
    /// The Newton system at x for the rows' terms; its matrix from about `rows` of the rows, chosen by `round`.
    pub(crate) fn system(
        &self,
        x: &[f64],
        terms: &[RowTerms],
        (rows, round): (usize, usize),
        control: &Control,
    ) -> Result<NewtonSystem> {
        let (d, sketch) = (x.len() - 1, Sketch::new(terms, rows, round));
        let along = self.covariances().along(&x[..d]);
        let (classes, rest) =
            self.dual_sums(SystemPass { rows: &self.rows, along, terms, matrix: true, sketch }, control)?;
        let [minus, plus] = &classes;
        let (residual, matrix) = rest.split_at(d + 1);
        let mut rhs = self.gradient(x, minus, plus);
        add(&mut rhs, residual);
        if !self.facts().fit_intercept {
            rhs[d] = 0.0;
        }
        Ok(NewtonSystem { bound: self.bound(minus, plus), matrix: self.penalised(matrix, d), rhs })
    }

    /// The bound of [`system`](Self::system) alone: at d = 10 a quarter of its work.
    pub(crate) fn dual_bound(&self, x: &[f64], terms: &[RowTerms], control: &Control) -> Result<f64> {
        let along = self.covariances().along(&x[..x.len() - 1]);
        let pass = SystemPass { rows: &self.rows, along, terms, matrix: false, sketch: None };
        let ([minus, plus], _) = self.dual_sums(pass, control)?;
        Ok(self.bound(&minus, &plus))
    }

    /// The classes' sums of a pass, and what follows them.
    fn dual_sums(&self, pass: SystemPass<'_>, control: &Control) -> Result<([ClassSums; 2], Vec<f64>)> {
        let d = pass.along.w.len();
        let most = if pass.matrix { dense_parts(d) } else { usize::MAX };
        let flat = self.rows.add_parts(most, |range| pass.part(range, control), add)?;
        let mut rest = &flat[..];
        let classes = [(); 2].map(|()| ClassSums::read(&mut rest, d));
        Ok((classes, rest.to_vec()))
    }

    /// Terms that the residuals of `terms` add to the right-hand side of [`system`](Self::system) at x.
    pub(crate) fn pull_back(&self, x: &[f64], terms: &[RowTerms], control: &Control) -> Result<Vec<f64>> {
        let along = self.covariances().along(&x[..x.len() - 1]);
        Ok(self.dual_sums(SystemPass { rows: &self.rows, along, terms, matrix: false, sketch: None }, control)?.1)
    }

    /// sum a_i (x_i, 1) over all rows.
    pub(crate) fn combination(&self, a: &[f64], control: &Control) -> Result<Vec<f64>> {
        let d = self.dim() - 1;
        let part = |range| {
            let mut sum = vec![0.0; d + 1];
            self.rows.blocks(range, control, |block| {
                let (all, a): (Vec<u32>, _) = ((0..block.n as u32).collect(), block.slice(a));
                simd::add_rows(block.means, block.at, &all, a, simd::Power::One, &mut sum[..d]);
                sum[d] += a.iter().sum::<f64>();
            })?;
            Ok(sum)
        };
        self.rows.add_parts(usize::MAX, part, add)
    }

    /// Score means and variances of all rows at x: (m, v).
    pub(crate) fn scores(&self, x: &[f64], control: &Control) -> Result<Vec<(f64, f64)>> {
        let motion = self.motion(x, x, control)?;
        Ok(motion.into_iter().map(|r| (r.dm, r.dsd)).collect())
    }

    /// How every row's score moves from x along `direction`.
    pub(crate) fn motion(&self, x: &[f64], direction: &[f64], control: &Control) -> Result<Vec<RowMotion>> {
        let d = x.len() - 1;
        let rows = &self.rows;
        let (along_w, along_d) = (rows.covariances().along(&x[..d]), rows.covariances().along(&direction[..d]));
        rows.each(|range, out| {
            with_kind!(rows.covariances(), kind => {
                let (block_rows, memo_width) = (rows.block_rows(), kind.memo_width(d));
                let (mut m, mut v) = (vec![0.0; block_rows], vec![0.0; block_rows]);
                let mut memo = vec![0.0; block_rows * memo_width];
                let mut images = vec![0.0; if rows.is_exact() { 0 } else { block_rows * d }];
                rows.blocks(range, control, |RowBlock { first, n, means, at }| {
                    simd::dots(means, at, &along_d.w, simd::Power::One, &mut m[..n]);
                    if rows.is_exact() {
                        out.extend(m[..n].iter().map(|m| RowMotion { dm: m + direction[d], wsd: 0.0, dsd: 0.0 }));
                        return;
                    }
                    kind.quads(first, &along_d, &mut memo[..n * memo_width], &mut v[..n]);
                    kind.images(first, n, &along_d, &memo, &mut images);
                    out.extend((0..n).map(|k| RowMotion {
                        dm: m[k] + direction[d],
                        wsd: simd::dot(&images[k * d..(k + 1) * d], &along_w.w),
                        dsd: v[k],
                    }));
                })?;
            });
            Ok(())
        })
    }
}
