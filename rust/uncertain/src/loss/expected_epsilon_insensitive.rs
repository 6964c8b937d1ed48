//! The epsilon-insensitive loss of support vector regression, averaged over a row's Gaussian.
//!
//! ```text
//! L(y, m, v) = E max(0, |y - f| - epsilon),  f ~ N(m, v)
//!            = H(r - epsilon, s) + H(-r - epsilon, s),   r = y - m,  s = sqrt(v)
//! ```
//!
//! with the expected hinge H(d, s) = d Phi(d/s) + s phi(d/s): two hinges, one for either end of the tube. Both
//! are positive and accurate in their tails, so nothing cancels. epsilon = 0 is the absolute error.

use super::{Certificate, Conjugate, Loss, LossEval, Scores, Smoothness, TargetKind};
use crate::simd::normal::{self, BLOCK, HingeParts};

/// E max(0, |y - f| - epsilon) for a Gaussian score f.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedEpsilonInsensitive {
    /// Half the width of the tube, >= 0.
    pub epsilon: f64,
}

/// Curvature beyond this is a row without spread on an end of the tube: cut, so that no product overflows.
const STEEPEST: f64 = 1e100;

impl Loss for ExpectedEpsilonInsensitive {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        let (mut s, mut d) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut parts = HingeParts::default();
        for start in (0..out.len()).step_by(BLOCK) {
            let n = BLOCK.min(out.len() - start);
            let out = &mut out[start..start + n];
            out.fill(LossEval::default());
            for sign in [1.0, -1.0] {
                for k in 0..n {
                    d[k] = sign * (at.y[start + k] - at.m[start + k]) - self.epsilon;
                    s[k] = at.v[start + k].sqrt();
                }
                normal::expected_hinge(&d[..n], &s[..n], &mut parts);
                for (k, e) in out.iter_mut().enumerate() {
                    let (u, pdf) = (parts.u[k], parts.pdf[k]);
                    let a = if pdf > 0.0 { (pdf / s[k]).min(STEEPEST) } else { 0.0 };
                    e.value += parts.value[k];
                    e.dm -= sign * parts.cdf[k];
                    e.ds += pdf;
                    e.dmm += a;
                    e.dms += sign * u * a;
                    e.dss += u * u * a;
                }
            }
        }
    }

    fn conjugate(&self, _row: usize, y: f64) -> Option<Conjugate> {
        Some(Conjugate { target: y, low: -1.0, high: 1.0, kink: self.epsilon })
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Real, Certificate::Tangents, Smoothness::WithSpread)
    }
}
