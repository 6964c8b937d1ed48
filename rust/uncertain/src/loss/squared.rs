//! Half the squared error, averaged over a row's Gaussian.
//!
//! ```text
//! L(y, m, v) = E (y - f)^2 / 2,  f ~ N(m, v)  =  ((y - m)^2 + v) / 2
//! ```
//!
//! With v = w'S_i w this is ridge regression with the penalty alpha I + sum c_i S_i: every feature is shrunk by its
//! own noise.

use super::{Certificate, Loss, LossEval, Scores, Smoothness, TargetKind};

/// E (y - f)^2 / 2 for a Gaussian score f.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedSquared;

impl Loss for ExpectedSquared {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        for (k, out) in out.iter_mut().enumerate() {
            let (r, v) = (at.y[k] - at.m[k], at.v[k]);
            *out = LossEval { value: 0.5 * (r * r + v), dm: -r, ds: v.sqrt(), dmm: 1.0, dms: 0.0, dss: 1.0 };
        }
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Real, Certificate::Tangents, Smoothness::Always)
    }
}
