//! The squared hinge, averaged over a row's Gaussian.
//!
//! ```text
//! L(y, m, v) = E max(0, 1 - y f)^2,  f ~ N(m, v)
//!            = (d^2 + s^2) Phi(u) + d s phi(u),   d = 1 - y m,  s = sqrt(v),  u = d / s
//! ```
//!
//! With H = d Phi(u) + s phi(u), the expected hinge, it is d H + s^2 Phi(u), dL/dd = 2 H and dL/ds = 2 s Phi(u). s = 0 is
//! the squared hinge itself: smooth in its slopes, so that nothing has to be smoothed. Rows far on the wrong side count
//! more than with the hinge, and a row's variance counts in full as soon as it is there.

use super::{Certificate, Loss, LossEval, Scores, Smoothness, TargetKind};
use crate::simd::normal::{self, BLOCK, HingeParts};

/// E max(0, 1 - y f)^2 for a Gaussian score f.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedSquaredHinge;

impl Loss for ExpectedSquaredHinge {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        let (mut d, mut s) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut parts = HingeParts::default();
        for start in (0..out.len()).step_by(BLOCK) {
            let n = BLOCK.min(out.len() - start);
            for k in 0..n {
                d[k] = 1.0 - at.y[start + k] * at.m[start + k];
                s[k] = at.v[start + k].sqrt();
            }
            normal::expected_hinge(&d[..n], &s[..n], &mut parts);
            for k in 0..n {
                let (y, hinge, u, cdf, pdf) = (at.y[start + k], parts.value[k], parts.u[k], parts.cdf[k], parts.pdf[k]);
                out[start + k] = LossEval {
                    // Far on the right side the two terms cancel down to rounding.
                    value: (d[k] * hinge + s[k] * s[k] * cdf).max(0.0),
                    dm: -2.0 * y * hinge,
                    ds: 2.0 * s[k] * cdf,
                    dmm: 2.0 * cdf,
                    dms: -2.0 * y * pdf,
                    dss: 2.0 * (cdf - u * pdf),
                };
            }
        }
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Signs, Certificate::Tangents, Smoothness::Always)
    }
}
