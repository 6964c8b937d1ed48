//! From sums over the rows to J, its gradient and the lower bound on its minimum.

use super::sums::{ClassSums, ValueSums};
use super::{Evaluation, LinearObjective};
use crate::error::{Error, Result};
use crate::loss::Certificate;
use crate::sums::RowSums;

impl<R: RowSums> LinearObjective<'_, R> {
    pub(super) fn finish(&self, x: &[f64], epsilon: f64, sums: &ValueSums) -> Result<Evaluation> {
        let d = x.len() - 1;
        let penalty = self.penalty(x);
        let [minus, plus] = &sums.classes;
        let gradient = self.gradient(x, minus, plus);
        let evaluation = Evaluation {
            smoothed: penalty + sums.smoothed,
            objective: penalty + sums.objective,
            bound: self.bound(minus, plus),
            hessian: (!sums.hessian.is_empty()).then(|| self.penalised(&sums.hessian, d)),
            narrowest: sums.narrowest,
            epsilon,
            // sum c [L(d, s) - p d - q s^2 / s_eps]
            smoothing_gap: if epsilon > 0.0 { (sums.objective - sums.tangent).max(0.0) } else { 0.0 },
            gradient,
        };
        let finite = evaluation.smoothed.is_finite() && evaluation.gradient.iter().all(|g| g.is_finite());
        if finite { Ok(evaluation) } else { Err(Error::Data(OVERFLOW.into())) }
    }

    /// alpha/2 |w|^2
    pub(crate) fn penalty(&self, x: &[f64]) -> f64 {
        0.5 * self.facts().alpha * x[..x.len() - 1].iter().map(|w| w * w).sum::<f64>()
    }

    pub(crate) fn gradient(&self, x: &[f64], minus: &ClassSums, plus: &ClassSums) -> Vec<f64> {
        let (d, alpha) = (x.len() - 1, self.facts().alpha);
        let mut gradient: Vec<f64> = (0..d).map(|j| alpha * x[j] + (minus.gradient[j] + plus.gradient[j])).collect();
        gradient.push(if self.facts().fit_intercept { minus.bias + plus.bias } else { 0.0 });
        gradient
    }

    /// theta M - theta^2 |A|^2 / (2 alpha) with the heavier class scaled down: see the module's notes.
    pub(crate) fn bound(&self, minus: &ClassSums, plus: &ClassSums) -> f64 {
        if self.facts().loss.certificate() == Certificate::None {
            return f64::NEG_INFINITY;
        }
        // The slopes in m are >= 0 in the one class and <= 0 in the other.
        let (p_minus, p_plus) = (minus.bias, -plus.bias);
        let balance = |own: f64, other: f64| if own > other { other / own } else { 1.0 };
        let (k_minus, k_plus) =
            if self.facts().fit_intercept { (balance(p_minus, p_plus), balance(p_plus, p_minus)) } else { (1.0, 1.0) };
        let mass = k_minus * minus.constant + k_plus * plus.constant;
        let a2: f64 = minus.gradient.iter().zip(&plus.gradient).map(|(a, b)| (k_minus * a + k_plus * b).powi(2)).sum();
        let alpha = self.facts().alpha;
        let theta = if alpha * mass < a2 { (alpha * mass / a2).max(0.0) } else { 1.0 };
        theta * mass - theta * theta * a2 / (2.0 * alpha)
    }

    /// The lower triangle (row-major) of a packed sum over the rows, with the penalty's part.
    pub(crate) fn penalised(&self, packed: &[f64], d: usize) -> Vec<f64> {
        let n = d + 1;
        let mut hessian = vec![0.0; n * n];
        let mut rest = packed;
        for (i, row) in hessian.chunks_exact_mut(n).enumerate() {
            let (own, after) = rest.split_at(i + 1);
            row[..=i].copy_from_slice(own);
            rest = after;
        }
        for j in 0..d {
            hessian[j * n + j] += self.facts().alpha;
        }
        if !self.facts().fit_intercept {
            // b stays where it is: its equation becomes b = 0 and nothing couples to it.
            hessian[d * n..].fill(0.0);
            hessian[d * n + d] = 1.0;
        }
        hessian
    }
}

const OVERFLOW: &str =
    "the objective overflows double precision: the data are too large; scale them, for example with GaussianScaler";
