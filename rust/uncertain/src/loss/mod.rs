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
//! **Kinks.** A loss that is smooth wherever there is spread (the expected hinge) needs no more than a
//! little extra variance to be smooth everywhere. A hinge is kinked in m whatever the spread; it
//! offers a smoothed form of itself, [`Scores::width`] wide. What the interior-point method needs to know
//! about the loss instead is its [`Dual`].
//!
//! To add a loss: one file and its lines in `losses!` below, whose list the tests run through finite differences, the
//! zero-variance limit and the bound of its [`Certificate`]; for users to choose it, a variant of [`LossKind`].

mod conjugate;
mod ellipsoid_hinge;
mod expected_epsilon_insensitive;
mod expected_hinge;
mod expected_huber;
mod expected_squared_hinge;
mod hinge;
mod kind;
mod margin_error;
mod noisy_targets;
mod squared;
mod tube_ends;

use std::fmt::Debug;

pub use conjugate::Conjugate;
pub use expected_hinge::expected_hinge;
pub use kind::LossKind;

/// Exports the losses; the tests run through their examples. A loss without a line here is dead code.
macro_rules! losses {
    ($($module:ident::$name:ident: $($example:expr),+;)+) => {
        $(pub use $module::$name;)+

        /// All losses.
        #[cfg(test)]
        pub(crate) fn every_loss() -> Vec<Box<dyn Loss>> {
            vec![$($(Box::new($example)),+),+]
        }
    };
}

losses! {
    ellipsoid_hinge::EllipsoidHinge: EllipsoidHinge::worst(&[0.77]), EllipsoidHinge::best(&[0.77]);
    expected_epsilon_insensitive::ExpectedEpsilonInsensitive:
        ExpectedEpsilonInsensitive { epsilon: 0.3 }, ExpectedEpsilonInsensitive { epsilon: 0.0 };
    expected_hinge::ExpectedHinge: ExpectedHinge;
    expected_huber::ExpectedHuber: ExpectedHuber { delta: 0.6 }, ExpectedHuber { delta: 5.0 };
    expected_squared_hinge::ExpectedSquaredHinge: ExpectedSquaredHinge;
    hinge::Hinge: Hinge;
    margin_error::MarginError: MarginError;
    noisy_targets::NoisyTargets:
        NoisyTargets::new(ExpectedHuber { delta: 0.6 }, vec![0.5]),
        NoisyTargets::new(ExpectedEpsilonInsensitive { epsilon: 0.3 }, vec![0.0]);
    squared::ExpectedSquared: ExpectedSquared;
    tube_ends::TubeEnds: TubeEnds::new(vec![1.0]), TubeEnds::new(vec![-0.4]);
}

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

/// Rows as a loss sees them: targets y, score means m and score variances v >= 0, of one length.
#[derive(Debug, Clone, Copy)]
pub struct Scores<'a> {
    /// Number of the first of these rows, for losses with a number per row.
    pub first: usize,
    /// Targets: -1 or +1, or real numbers, as the loss wants them.
    pub y: &'a [f64],
    /// Means.
    pub m: &'a [f64],
    /// Variances; smoothing has already added width^2.
    pub v: &'a [f64],
    /// How wide to smooth a kink that spread does not smooth; 0 is the loss itself.
    pub width: f64,
}

/// Targets of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetKind {
    /// -1 and +1.
    Signs,
    /// Real numbers.
    Real,
}

/// Terms of the lower bound of [`crate::objective`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certificate {
    /// L is convex and positively homogeneous in (d, s), d = 1 - y m, increasing in s, and zero at (0, 0): then
    /// L(d, s) >= p d + q s for the slopes (p, q) of any other point.
    Homogeneous,
    /// L is convex in (m, s), increasing in s and nowhere negative: its tangents, constant term included.
    Tangents,
    /// There is none: the loss is not convex.
    None,
}

/// Where a loss has its kinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Smoothness {
    /// Smooth in m where v > 0.
    WithSpread,
    /// Kinked in m, whatever v.
    Kinked,
    /// Smooth enough as it is: never smoothed.
    Always,
}

/// Derivatives of a row's loss for the interior-point method: its slopes p = dL/dd in (0, 1) and q = dL/ds
/// are one curve (p, q(p)), and d + s dq/dp = 0 inside it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Dual {
    /// q = phi(z), z = Phi^-1(p): the expected hinge.
    Normal,
    /// q = r p: the hinge of d + r s.
    Radius(f64),
}

/// A scalar loss of (y, m, v).
pub trait Loss: Debug + Sync {
    /// Value and derivatives, one per row.
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]);

    /// Its targets, the lower bound of its sum, and where its kinks are.
    fn about(&self) -> (TargetKind, Certificate, Smoothness);

    /// Its targets.
    fn targets(&self) -> TargetKind {
        self.about().0
    }

    /// Lower bound of its sum.
    fn certificate(&self) -> Certificate {
        self.about().1
    }

    /// Is L convex in (m, s) and increasing in s, so that its sum is convex in (w, b)?
    fn is_convex(&self) -> bool {
        self.certificate() != Certificate::None
    }

    /// Where its kinks are.
    fn smoothness(&self) -> Smoothness {
        self.about().2
    }

    /// Derivatives for the interior-point method, of the losses that it can handle.
    fn dual(&self, _row: usize) -> Option<Dual> {
        None
    }

    /// The loss of an exact row with the target y by its slopes, for losses without curvature.
    fn conjugate(&self, _row: usize, _y: f64) -> Option<Conjugate> {
        None
    }

    /// a of the row's margin deficit d = a - y m, for losses with a [`Dual`].
    fn offset(&self, _row: usize) -> f64 {
        1.0
    }

    /// The loss of the rows with these numbers, taken out of the others. `None`: the same for all rows.
    fn take_rows(&self, _rows: &[usize]) -> Option<Box<dyn Loss>> {
        None
    }
}

#[cfg(test)]
mod tests;
