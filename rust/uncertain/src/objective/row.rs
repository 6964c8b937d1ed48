//! Contribution of one row to a sum, and how its score moves.

use crate::loss::LossEval;

/// The rest of a difference counts as rounding below this part of what it was taken from.
const ROUNDING: f64 = 1e-14;

/// The second derivatives of one row, times its weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowCurvature {
    pub mm: f64,
    pub ms: f64,
    /// dss - e
    pub ss: f64,
    pub e: f64,
    pub inv_s: f64,
}

/// Terms of one row in the Newton system of an interior-point method; c is its weight, t = S w / s.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowTerms {
    /// Spread s of the score.
    pub s: f64,
    /// The row's dual c p, of which bound and gradient are made.
    pub p: f64,
    /// c q, its part by the spread.
    pub q: f64,
    /// c theta: curvature along r = -y x - z t.
    pub theta: f64,
    /// z
    pub z: f64,
    /// c theta rho: the row's residual, to be made up for by the step.
    pub residual: f64,
}

/// How a row's score changes along a direction: m + t dm, v + 2 t wsd + t^2 dsd.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowMotion {
    pub dm: f64,
    pub wsd: f64,
    pub dsd: f64,
}

/// (dL/ds) / s, zero for a row without spread (there S w = 0, so any finite value is right).
#[inline]
pub(super) fn over_s(eval: &LossEval, v: f64) -> f64 {
    if v > 0.0 { (eval.ds / v.sqrt()).min(1e100) } else { 0.0 }
}

impl RowCurvature {
    pub(super) fn new(weight: f64, eval: &LossEval, v: f64) -> Self {
        let e = over_s(eval, v);
        Self {
            mm: weight * eval.dmm,
            ms: weight * eval.dms,
            ss: weight * (eval.dss - e),
            e: weight * e,
            inv_s: if v > 0.0 { 1.0 / v.sqrt() } else { 0.0 },
        }
    }

    pub(super) fn from_terms(t: &RowTerms, y: f64) -> Self {
        let (inv_s, e) = if t.s > 0.0 { (1.0 / t.s, t.q / t.s) } else { (0.0, 0.0) };
        Self { mm: t.theta, ms: t.theta * y * t.z, ss: t.theta * t.z * t.z - e, e, inv_s }
    }

    pub(super) fn is_active(&self) -> bool {
        self.mm != 0.0 || self.e != 0.0
    }

    /// The Cholesky factor (1, 1), (2, 1), (2, 2) of the second derivatives along x and the first column of a turned
    /// factor ([`Reflection`](super::reflection::Reflection)), where |F'w / s|^2 is `length2`: [dmm, l dms; l dms, l^2 dss + (1 - l^2) e].
    pub(super) fn root(&self, length2: f64) -> [f64; 3] {
        let first = self.mm.sqrt();
        let second = if first > 0.0 { self.ms * length2.sqrt() / first } else { 0.0 };
        let whole = self.ss * length2 + self.e;
        let third = whole - second * second;
        // Of a homogeneous loss that is smoothed nowhere nothing is left but rounding.
        [first, second, if third > ROUNDING * (self.e + whole.abs()) { third.sqrt() } else { 0.0 }]
    }
}

impl RowTerms {
    /// a t = (a / s) S w: the factor of S w.
    pub(super) fn over_s(&self, a: f64) -> f64 {
        if self.s > 0.0 { a / self.s } else { 0.0 }
    }
}
