//! The hinge: the ordinary SVM, which ignores the spread.
//!
//! ```text
//! L(y, m, v) = max(0, d),   d = 1 - y m
//! ```
//!
//! The hinges of this family differ in one number per row: they are max(0, d + r s) with r = 0 here,
//! r > 0 in the worst case and r < 0 in the best one. Smoothed `width` wide they are the expected hinge
//! of u = d + r s with that much spread: above the hinge, and with slopes p in [0, 1], q = r p that are
//! slopes of the hinge itself at some other point, so they keep the certificate valid.

use super::{Certificate, Conjugate, Dual, Loss, LossEval, Scores, Smoothness, TargetKind};
use crate::simd::normal::{self, BLOCK, HingeParts};

/// max(0, 1 - y m).
#[derive(Debug, Clone, Copy)]
pub struct Hinge;

impl Loss for Hinge {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        eval(at, |_| 0.0, out);
    }

    fn conjugate(&self, _row: usize, y: f64) -> Option<Conjugate> {
        Some(Conjugate::hinge(y))
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Signs, Certificate::Homogeneous, Smoothness::Kinked)
    }

    fn dual(&self, _row: usize) -> Option<Dual> {
        Some(Dual::Radius(0.0))
    }
}

/// max(0, d + r s), smoothed or not; `radius(row)` is r.
pub(super) fn eval(at: &Scores<'_>, radius: impl Fn(usize) -> f64, out: &mut [LossEval]) {
    let mut u = [0.0; BLOCK];
    let width = [at.width; BLOCK];
    let mut parts = HingeParts::default();
    for start in (0..out.len()).step_by(BLOCK) {
        let n = BLOCK.min(out.len() - start);
        for k in 0..n {
            let row = start + k;
            u[k] = 1.0 - at.y[row] * at.m[row] + radius(at.first + row) * at.v[row].sqrt();
        }
        normal::expected_hinge(&u[..n], &width[..n], &mut parts);
        for k in 0..n {
            let (y, r, p) = (at.y[start + k], radius(at.first + start + k), parts.cdf[k]);
            let a = if at.width > 0.0 { parts.pdf[k] / at.width } else { 0.0 };
            out[start + k] =
                LossEval { value: parts.value[k], dm: -y * p, ds: r * p, dmm: a, dms: -y * r * a, dss: r * r * a };
        }
    }
}
