//! Error bars on the targets: the loss of y_i + e_i, e_i ~ N(0, t_i^2), instead of that of y_i.
//!
//! ```text
//! E L(y + e, m, v) = L(y, m, v + t^2)
//! ```
//!
//! for every loss that is an expectation over f - y: the spreads of score and target add. In S = sqrt(s^2 + t^2) of
//! the inner loss, dL/ds = (dL/dS) s / S and so on: convex, increasing and smooth at s = 0 where t > 0.

use super::{Certificate, Conjugate, Loss, LossEval, Scores, Smoothness, TargetKind};

/// A regression loss whose targets have a variance.
#[derive(Debug)]
pub struct NoisyTargets<L> {
    inner: L,
    variances: Vec<f64>,
}

/// Spreads (in units of the targets' scale) from which on no other smoothing is needed.
const WIDE: f64 = 0.02;

impl<L: Loss + Clone> NoisyTargets<L> {
    /// `inner` with one variance >= 0 per row.
    pub fn new(inner: L, variances: Vec<f64>) -> Self {
        Self { inner, variances }
    }
}

impl<L: Loss + Clone + 'static> Loss for NoisyTargets<L> {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        let own = &self.variances[at.first..at.first + out.len()];
        let total: Vec<f64> = at.v.iter().zip(own).map(|(v, t)| v + t).collect();
        self.inner.eval(&Scores { v: &total, ..*at }, out);
        for (k, e) in out.iter_mut().enumerate() {
            let (total, own) = (total[k], own[k]);
            if own > 0.0 {
                // ratio = s / S
                let (ratio, over) = ((at.v[k] / total).sqrt(), e.ds / total.sqrt());
                e.ds *= ratio;
                e.dms *= ratio;
                e.dss = e.dss * ratio * ratio + over * (own / total);
            }
        }
    }

    fn conjugate(&self, row: usize, y: f64) -> Option<Conjugate> {
        if self.variances[row] > 0.0 { None } else { self.inner.conjugate(row, y) }
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        let wide = self.variances.iter().all(|t| *t >= WIDE * WIDE);
        let smoothness = if wide { Smoothness::Always } else { self.inner.smoothness() };
        (TargetKind::Real, Certificate::Tangents, smoothness)
    }

    fn take_rows(&self, rows: &[usize]) -> Option<Box<dyn Loss>> {
        let variances = rows.iter().map(|&row| self.variances[row]).collect();
        Some(Box::new(Self { inner: self.inner.clone(), variances }))
    }
}
