//! Rows with so little spread that their kink matters, and the vectors that move their scores.

use crate::data::covariance::{BlockVerbs, Structure, packed_len};
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::loss::{LossEval, Scores};
use crate::objective::{ClassSums, LinearObjective};
use crate::simd;
use crate::with_kind;

use super::super::cone::{ConeRow, norm2};

/// Vectors of all held rows together.
const MOST_VECTORS: usize = 600;
/// Features up to which a row's own matrix is decomposed.
const DECOMPOSED: usize = 256;
/// Eigenvalues below this part of the largest are rounding.
const ROUNDING: f64 = 1e-15;

/// The rows, in theirs: theta = (d, F'w) of a row is affine in x = (w, b), and so are its margin deficit and spread.
pub(super) struct HeldRows<'a> {
    objective: &'a LinearObjective<'a>,
    /// Their numbers.
    pub numbers: Vec<usize>,
    /// Row k has the vectors `first[k]..first[k + 1]`: -y (x, 1), then the columns of its factor.
    pub first: Vec<usize>,
    /// Vectors of d + 1 elements.
    pub vectors: Vec<f64>,
}

impl<'a> HeldRows<'a> {
    /// `None` where they have too many vectors.
    pub(super) fn new(objective: &'a LinearObjective<'a>, numbers: Vec<usize>) -> Result<Option<Self>> {
        let mut held = Self { objective, numbers: vec![], first: vec![0], vectors: vec![] };
        for number in numbers {
            if !held.push(number)? {
                return Ok(None);
            }
        }
        Ok(Some(held))
    }

    /// One more row; false where there is no room for it.
    fn push(&mut self, number: usize) -> Result<bool> {
        let n = self.objective.dim();
        let Some(columns) = columns(self.objective, number, MOST_VECTORS - self.size().min(MOST_VECTORS))? else {
            return Ok(false);
        };
        let (y, scale) = (self.objective.problem().targets.at(number), self.row(number)?.scale());
        let mean = self.objective.problem().data.means().row(number);
        self.vectors.extend(mean.iter().map(|x| -y * x));
        self.vectors.push(if self.objective.facts().fit_intercept { -y } else { 0.0 });
        for column in columns.chunks_exact(n - 1) {
            self.vectors.extend(column.iter().map(|f| scale * f));
            self.vectors.push(0.0);
        }
        self.first.push(self.vectors.len() / n);
        self.numbers.push(number);
        Ok(self.size() <= MOST_VECTORS)
    }

    /// Vectors of all rows.
    pub(super) fn size(&self) -> usize {
        self.first[self.numbers.len()]
    }

    fn row(&self, number: usize) -> Result<ConeRow> {
        let problem = self.objective.problem();
        let dual = problem.loss.dual(number);
        let dual = dual.ok_or_else(|| Error::Internal("an interior-point method for a loss without a dual".into()))?;
        Ok(ConeRow::new(dual, problem.targets.at(number), self.objective.weight(number), 1.0))
    }

    /// The rows' duals at a start.
    pub(super) fn rows(&self) -> Result<Vec<ConeRow>> {
        self.numbers.iter().map(|&number| self.row(number)).collect()
    }

    /// The elements of theta and nu of every row, with its number.
    fn each(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        self.numbers.iter().zip(self.first.windows(2)).map(|(&number, ends)| (number, ends[0]..ends[1]))
    }

    /// theta at x.
    pub(super) fn theta(&self, x: &[f64]) -> Vec<f64> {
        let mut theta: Vec<f64> = self.vectors.chunks_exact(x.len()).map(|v| simd::dot(v, x)).collect();
        for (number, at) in self.each() {
            theta[at.start] += self.objective.problem().loss.offset(number);
        }
        theta
    }

    /// Every row's loss at theta, times its weight.
    pub(super) fn losses(&self, theta: &[f64]) -> Result<Vec<f64>> {
        let problem = self.objective.problem();
        let loss = |(number, at): (usize, std::ops::Range<usize>)| -> Result<f64> {
            let (y, scale) = (problem.targets.at(number), self.row(number)?.scale());
            let m = y * (problem.loss.offset(number) - theta[at.start]);
            let v = if scale > 0.0 { norm2(&theta[at.start + 1..at.end]) / (scale * scale) } else { 0.0 };
            let mut eval = [LossEval::default()];
            problem.loss.eval(&Scores { first: number, y: &[y], m: &[m], v: &[v], width: 0.0 }, &mut eval);
            Ok(self.objective.weight(number) * eval[0].value)
        };
        self.each().map(loss).collect()
    }

    /// What the losses at theta exceed nu'theta by: zero where nu is the slope there.
    pub(super) fn gap(&self, theta: &[f64], nu: &[f64]) -> f64 {
        let Ok(losses) = self.losses(theta) else { return f64::INFINITY };
        let below = |(number, at): (usize, std::ops::Range<usize>)| {
            self.objective.weight(number) * simd::dot(&theta[at.clone()], &nu[at])
        };
        self.each().map(below).zip(losses).map(|(below, loss)| (loss - below).max(0.0)).sum()
    }

    /// c nu
    pub(super) fn weighted(&self, nu: &[f64]) -> Vec<f64> {
        let mut out = nu.to_vec();
        for (number, at) in self.each() {
            out[at].iter_mut().for_each(|v| *v *= self.objective.weight(number));
        }
        out
    }

    /// Add what the rows with the duals nu put into the sums of either class.
    pub(super) fn add(&self, nu: &[f64], classes: &mut [ClassSums; 2]) {
        let problem = self.objective.problem();
        for (number, at) in self.each() {
            let (y, c) = (problem.targets.at(number), self.objective.weight(number));
            let class = &mut classes[usize::from(y > 0.0)];
            class.constant += c * nu[at.start] * problem.loss.offset(number);
            class.bias -= c * y * nu[at.start];
            let n = self.objective.dim();
            for k in at {
                let vector = &self.vectors[k * n..][..n - 1];
                class.gradient.iter_mut().zip(vector).for_each(|(g, v)| *g += c * nu[k] * v);
            }
        }
    }
}

/// F with S = F F' of one row, column after column; `None` where it has more columns than `most` or is not looked for.
fn columns(objective: &LinearObjective<'_>, row: usize, most: usize) -> Result<Option<Vec<f64>>> {
    let d = objective.dim() - 1;
    with_kind!(objective.covariances(), kind => {
        let mut out = vec![];
        let mut axes = |variances: &[f64]| {
            let used: Vec<usize> = (0..d).filter(|&j| variances[j] > 0.0).collect();
            if used.len() > most {
                return None;
            }
            for j in used {
                let from = out.len();
                out.resize(from + d, 0.0);
                out[from + j] = variances[j].sqrt();
            }
            Some(())
        };
        let mut variances = vec![0.0; d];
        match kind.structure() {
            Structure::Zero => {}
            Structure::Factor(factor) => {
                if factor.rank > most || factor.diagonal.is_some_and(|v| axes(&v.row(row)).is_none()) {
                    return Ok(None);
                }
                let f = factor.factor.row(row);
                (0..factor.rank).for_each(|k| out.extend(f.iter().skip(k).step_by(factor.rank)));
            }
            Structure::Isotropic | Structure::Diagonal => {
                kind.variances(row, &mut variances);
                if axes(&variances).is_none() {
                    return Ok(None);
                }
            }
            Structure::Dense => {
                if d > DECOMPOSED {
                    return Ok(None);
                }
                let mut packed = vec![0.0; packed_len(d)];
                kind.triangle(row, d, &mut packed);
                let mut eigh = Eigh::new(d);
                eigh.packed(&packed)?;
                let least = ROUNDING * eigh.values.last().copied().unwrap_or(0.0);
                for (value, vector) in eigh.values.iter().zip(eigh.vectors.chunks_exact(d)) {
                    if *value > least {
                        out.extend(vector.iter().map(|v| value.sqrt() * v));
                    }
                }
            }
        }
        let fits = out.len() <= most * d;
        Ok(fits.then_some(out))
    })
}
