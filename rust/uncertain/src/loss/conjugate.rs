//! [`Conjugate`]: what a loss without curvature is on exact rows, by its slopes.
//!
//! ```text
//! L(r) = max over g in [low, high] of  g r - kink |g|,    r = target - m
//! ```
//!
//! A hinge of 1 - y m has the target y and slopes between 0 and y, a tube of half width epsilon those from -1 to 1 and
//! its kink at epsilon. Methods that work on the slopes (dual variables) need to know no more of a loss.

/// One exact row's loss, by its slopes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conjugate {
    /// Minuend of the score.
    pub target: f64,
    /// The least slope, <= 0.
    pub low: f64,
    /// The largest slope, >= 0.
    pub high: f64,
    /// Residuals up to this size cost nothing, >= 0.
    pub kink: f64,
}

impl Conjugate {
    /// max(0, 1 - y m) for y = -1 or +1.
    pub(super) fn hinge(y: f64) -> Self {
        Self { target: y, low: y.min(0.0), high: y.max(0.0), kink: 0.0 }
    }

    /// L
    pub(crate) fn value(&self, r: f64) -> f64 {
        let beyond = (r.abs() - self.kink).max(0.0);
        beyond * if r > 0.0 { self.high } else { -self.low }
    }
}
