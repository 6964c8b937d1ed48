//! The largest probability of error that a row's mean and covariance allow.
//!
//! ```text
//! L(y, m, v) = 1 / (1 + (m / s)^2) where y m > 0, else 1;   s = sqrt(v)
//! ```
//!
//! No distribution with this mean and covariance has more of itself on the wrong side of the hyperplane
//! (one-sided Chebyshev, sharp). The sum over the rows is the measure MPE of uncertainty-SVC, its
//! equation 16. It depends on the direction of (w, b) only, has no kink, and is not convex.
//! Source: J. Yang, S. Gunn, Iterative Constraints in Support Vector Classification with Uncertain
//! Information, 2007; A. Marshall, I. Olkin, Annals of Mathematical Statistics 31, 1960.

use super::{Certificate, Loss, LossEval, Scores, Smoothness, TargetKind};

/// 1 / (1 + (m / s)^2) on the right side, 1 on the wrong one.
#[derive(Debug, Clone, Copy)]
pub struct MarginError;

impl Loss for MarginError {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        for (k, out) in out.iter_mut().enumerate() {
            let (y, m, v) = (at.y[k], at.m[k], at.v[k]);
            *out = if y * m > 0.0 { right(m, v) } else { LossEval { value: 1.0, ..LossEval::default() } };
        }
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Signs, Certificate::None, Smoothness::Always)
    }
}

/// v / (v + m^2), derivatives in m and s = sqrt(v).
fn right(m: f64, v: f64) -> LossEval {
    let (s, sum) = (v.sqrt(), v + m * m);
    let (p, q) = (v / sum, m * m / sum);
    LossEval {
        value: p,
        dm: -2.0 * p * m / sum,
        ds: 2.0 * q * s / sum,
        dmm: 2.0 * p * (3.0 * q - p) / sum,
        dms: 4.0 * m * s * (p - q) / (sum * sum),
        dss: 2.0 * q * (q - 3.0 * p) / sum,
    }
}
