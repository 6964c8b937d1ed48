//! The expected hinge of SVM-GSU.
//!
//! ```text
//! L(y, m, v) = E max(0, 1 - y f),  f ~ N(m, v)
//!            = d Phi(u) + s phi(u),   d = 1 - y m,  s = sqrt(v),  u = d / s
//! ```
//!
//! with dL/dd = Phi(u), dL/ds = phi(u). s = 0 is the hinge and its subgradient.
//! Source: Tzelepis, Mezaris, Patras, IEEE TPAMI 40(12), 2018, doi 10.1109/TPAMI.2017.2772235
//! (equations 7 and 8 there lack y_i; these are the corrected derivatives).

use super::{Certificate, Conjugate, Dual, Loss, LossEval, Scores, Smoothness, TargetKind};
use crate::error::{Error, Result};
use crate::simd::normal::{self, BLOCK, HingeParts};

/// E max(0, 1 - y f) for a Gaussian score f.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedHinge;

/// Curvature beyond this is a row without spread on the margin: cut, so that no product overflows.
const STEEPEST: f64 = 1e100;

impl Loss for ExpectedHinge {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        eval(at, |_| 1.0, out);
    }

    fn conjugate(&self, _row: usize, y: f64) -> Option<Conjugate> {
        Some(Conjugate::hinge(y))
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Signs, Certificate::Homogeneous, Smoothness::WithSpread)
    }

    fn dual(&self, _row: usize) -> Option<Dual> {
        Some(Dual::Normal)
    }
}

/// E max(0, a - y f); `offset(row)` is a.
pub(super) fn eval(at: &Scores<'_>, offset: impl Fn(usize) -> f64, out: &mut [LossEval]) {
    let Scores { first, y, m, v, .. } = *at;
    let (mut d, mut s) = ([0.0; BLOCK], [0.0; BLOCK]);
    let mut parts = HingeParts::default();
    for start in (0..out.len()).step_by(BLOCK) {
        let n = BLOCK.min(out.len() - start);
        for k in 0..n {
            d[k] = offset(first + start + k) - y[start + k] * m[start + k];
            s[k] = v[start + k].sqrt();
        }
        normal::expected_hinge(&d[..n], &s[..n], &mut parts);
        for k in 0..n {
            let (y, u, pdf) = (y[start + k], parts.u[k], parts.pdf[k]);
            let a = if pdf > 0.0 { (pdf / s[k]).min(STEEPEST) } else { 0.0 };
            out[start + k] = LossEval {
                value: parts.value[k],
                dm: -y * parts.cdf[k],
                ds: pdf,
                dmm: a,
                dms: y * u * a,
                dss: u * u * a,
            };
        }
    }
}

/// d Phi(d/s) + s phi(d/s) for every pair: relative error below 1e-13 for d/s in [-35, 35].
///
/// # Errors
/// Different lengths; a NaN; a negative s.
pub fn expected_hinge(d: &[f64], s: &[f64]) -> Result<Vec<f64>> {
    if d.len() != s.len() {
        return Err(Error::shape("s", format!("{} elements, as many as d", d.len()), s.len()));
    }
    if let Some(row) = d.iter().position(|x| x.is_nan()) {
        return Err(Error::NotFinite { what: "d".into(), row, column: 0, value: d[row] });
    }
    if let Some(row) = s.iter().position(|x| !(*x >= 0.0)) {
        return Err(Error::Negative { what: "s".into(), row, column: 0, value: s[row] });
    }
    let mut parts = HingeParts::default();
    let mut out = Vec::with_capacity(d.len());
    for (d, s) in d.chunks(BLOCK).zip(s.chunks(BLOCK)) {
        normal::expected_hinge(d, s, &mut parts);
        out.extend_from_slice(&parts.value[..d.len()]);
    }
    Ok(out)
}
