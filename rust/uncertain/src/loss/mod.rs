//! Losses of a linear score that is itself Gaussian.
//!
//! The score w'x + b of a row N(x_i, S_i) has mean m and variance v = w'S_i w, so every expected,
//! worst-case or best-case loss is a scalar function of (y, m, v). A loss is one file here that
//! sees nothing else; covariances, penalties and the chain rule are in [`crate::objective`].
//!
//! Derivatives are taken in m and s = sqrt(v), not v: dL/dv grows like 1/s while S w / s stays
//! bounded, so this is the pair that never overflows. The chain rule with t = S w / s is
//! ```text
//! grad = dm x + ds t,
//! Hess = dmm x x' + dms (x t' + t x') + (dss - ds/s) t t' + (ds/s) S.
//! ```
//!
//! To add a loss: one file, one variant of [`LossKind`]; the tests below run every variant through
//! finite differences, the zero-variance limit and the bound of [`Loss::is_support_function`].

mod expected_hinge;

pub use expected_hinge::{ExpectedHinge, expected_hinge};

/// Value and derivatives of a loss at (y, m, v); s = sqrt(v).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LossEval {
    /// L
    pub value: f64,
    /// dL/dm
    pub dm: f64,
    /// dL/ds
    pub ds: f64,
    /// d2L/dm2
    pub dmm: f64,
    /// d2L/dm ds
    pub dms: f64,
    /// d2L/ds2
    pub dss: f64,
}

/// A scalar loss of (y, m, v).
pub trait Loss: Sync {
    /// Value and derivatives for rows with targets y, score means m and score variances v >= 0.
    fn eval(&self, y: &[f64], m: &[f64], v: &[f64], out: &mut [LossEval]);

    /// Is L convex and positively homogeneous in (d, s), d = 1 - y m, increasing in s, and zero at
    /// (0, 0)? Then L(d, s) >= p d + q s for the (p, q) of any other point, which is what the
    /// duality gap of [`crate::objective`] is made of.
    fn is_support_function(&self) -> bool;
}

/// The losses by name: what Python chooses from at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LossKind {
    /// SVM-GSU: the hinge averaged over the row's Gaussian.
    #[default]
    ExpectedHinge,
}

impl LossKind {
    /// All of them, for tests that must not forget one.
    pub const ALL: [Self; 1] = [Self::ExpectedHinge];

    /// The loss itself.
    #[must_use]
    pub fn loss(self) -> &'static dyn Loss {
        match self {
            Self::ExpectedHinge => &ExpectedHinge,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kind: LossKind, y: f64, m: f64, s: f64) -> LossEval {
        let mut out = [LossEval::default()];
        kind.loss().eval(&[y], &[m], &[s * s], &mut out);
        out[0]
    }

    #[test]
    fn derivatives_agree_with_central_differences() {
        let h = 1e-5;
        for kind in LossKind::ALL {
            for y in [-1.0, 1.0] {
                for m in [-3.0, -0.4, 0.0, 0.9, 1.7] {
                    for s in [0.2, 1.0, 4.0] {
                        let e = at(kind, y, m, s);
                        let dm = |f: fn(&LossEval) -> f64| {
                            (f(&at(kind, y, m + h, s)) - f(&at(kind, y, m - h, s))) / (2.0 * h)
                        };
                        let ds = |f: fn(&LossEval) -> f64| {
                            (f(&at(kind, y, m, s + h)) - f(&at(kind, y, m, s - h))) / (2.0 * h)
                        };
                        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-7, "{kind:?} {y} {m} {s}: {a} {b}");
                        close(e.dm, dm(|e| e.value));
                        close(e.ds, ds(|e| e.value));
                        close(e.dmm, dm(|e| e.dm));
                        close(e.dms, dm(|e| e.ds));
                        close(e.dms, ds(|e| e.dm));
                        close(e.dss, ds(|e| e.ds));
                    }
                }
            }
        }
    }

    #[test]
    fn support_functions_lie_above_their_tangents() {
        for kind in LossKind::ALL.into_iter().filter(|k| k.loss().is_support_function()) {
            for (m, s) in [(0.5, 1.0), (2.0, 0.3), (-1.0, 2.0)] {
                let tangent = at(kind, 1.0, m, s);
                for (m2, s2) in [(0.0, 0.5), (1.0, 0.0), (3.0, 1.0), (-2.0, 0.1)] {
                    let bound = -tangent.dm * (1.0 - m2) + tangent.ds * s2;
                    assert!(at(kind, 1.0, m2, s2).value >= bound - 1e-12);
                }
            }
        }
    }
}
