//! The logistic-normal integral p(a, b) = E sigmoid(a + b z), z ~ N(0, 1), and its derivatives.
//!
//! It turns the score of an uncertain row, N(m, s^2), into a probability: with a Platt sigmoid the
//! argument is again Gaussian. Gauss-Hermite quadrature is the usual way and fails just where it
//! matters: for b >> 1 the sigmoid is a step between two nodes (20 nodes at b = 10 are wrong in the
//! second digit).
//!
//! Idea: the trapezoid rule converges exponentially for functions analytic in a strip around the
//! real line (Trefethen, Weideman, SIAM Review 56, 2014, doi 10.1137/130932132). Two such integrals
//! give p, and each is good where the other is bad:
//!
//! - b <= 3: integrate sigmoid(a + b z) phi(z) over z. The poles are at distance pi/b, and moving the
//!   contour up to them costs exp(pi^2 / 2 b^2) for phi, so step h errs by about
//!   exp(pi^2 / (2 b^2) - 2 pi^2 / (b h)); without reaching the poles, by exp(-2 pi^2 / h^2).
//!   `step` chooses h so that both stay below 1e-14: 27 nodes for small b, 87 at b = 3.
//! - b > 3: p is the probability that a logistic variable t exceeds -(a + b z), so
//!   p = E Phi((a + t) / b), t with density 1 / (4 cosh^2(t / 2)). The poles are at distance pi
//!   whatever b is, and Phi costs exp(pi^2 / 2 b^2) < 2: h = 0.55 errs by 1e-13 for every b > 3.
//!
//! Limits: b = 0 is the sigmoid itself; for b > 1e8 the logistic spread no longer shows and p = Phi(a / b).
//! Rejected: series in b (asymptotic only), the probit approximation sigmoid(a / sqrt(1 + pi b^2 / 8))
//! (errs by 1e-2).

use std::f64::consts::PI;

use crate::special::{cdf, pdf};

/// p = E sigmoid(a + b z) with its derivatives; q = 1 - p is computed without cancellation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Averaged {
    /// E sigmoid(a + b z)
    pub p: f64,
    /// E sigmoid(-a - b z) = 1 - p
    pub q: f64,
    /// dp/da
    pub d_a: f64,
    /// dp/db
    pub d_b: f64,
}

impl Averaged {
    /// p + q = 1 holds to 1e-13 after the sums; with it, no probability exceeds 1 by rounding.
    fn normalised(self) -> Self {
        let sum = self.p + self.q;
        Self { p: self.p / sum, q: self.q / sum, ..self }
    }
}

/// 1 / (1 + exp(-x)), without overflow.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

/// p(a, b) = E sigmoid(a + b z), z ~ N(0, 1), for any a and b >= 0; absolute error below 1e-12.
///
/// ```
/// use uncertain::model::probability::expected_sigmoid;
/// assert!((expected_sigmoid(0.0, 5.0) - 0.5).abs() < 1e-15);
/// assert!(expected_sigmoid(2.0, 5.0) < expected_sigmoid(2.0, 0.0));
/// ```
#[must_use]
pub fn expected_sigmoid(a: f64, b: f64) -> f64 {
    averaged_sigmoid(a, b).p
}

/// p(a, b) with its derivatives in a and b.
#[must_use]
pub fn averaged_sigmoid(a: f64, b: f64) -> Averaged {
    let b = b.abs();
    if b == 0.0 {
        let (p, q) = (sigmoid(a), sigmoid(-a));
        Averaged { p, q, d_a: p * q, d_b: 0.0 }
    } else if b <= SWITCH {
        over_normal(a, b).normalised()
    } else if b <= STEEP {
        over_logistic(a, b).normalised()
    } else {
        let u = a / b;
        let density = pdf(u) / b;
        Averaged { p: cdf(u), q: cdf(-u), d_a: density, d_b: -u * density }
    }
}

/// Where the two integrals cost the same.
const SWITCH: f64 = 3.0;
/// Beyond it the difference to Phi(a / b), which is below 1 / b^2, is rounding.
const STEEP: f64 = 1e8;
/// The normal density beyond is below 1e-18.
const REACH: f64 = 9.0;
/// Step and half the number of steps for the logistic density, which is below 1e-13 beyond their product.
const LOGISTIC_STEP: f64 = 0.55;
const LOGISTIC_STEPS: i32 = 58;

/// The step of the trapezoid rule in z (see the top of the file).
fn step(b: f64) -> f64 {
    const LARGEST: f64 = 0.7;
    if b < 0.35 { LARGEST } else { (2.0 * PI * PI / (34.0 * b + PI * PI / (2.0 * b))).min(LARGEST) }
}

fn over_normal(a: f64, b: f64) -> Averaged {
    let h = step(b);
    let steps = (REACH / h).ceil() as i32;
    let mut sum = Averaged { p: 0.0, q: 0.0, d_a: 0.0, d_b: 0.0 };
    for k in -steps..=steps {
        let z = h * f64::from(k);
        let weight = h * pdf(z);
        let x = a + b * z;
        let e = (-x.abs()).exp();
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        let (p, q) = if x >= 0.0 { (large, small) } else { (small, large) };
        sum.p += weight * p;
        sum.q += weight * q;
        sum.d_a += weight * large * small;
        sum.d_b += weight * large * small * z;
    }
    sum
}

fn over_logistic(a: f64, b: f64) -> Averaged {
    let mut sum = Averaged { p: 0.0, q: 0.0, d_a: 0.0, d_b: 0.0 };
    for k in -LOGISTIC_STEPS..=LOGISTIC_STEPS {
        let t = LOGISTIC_STEP * f64::from(k);
        let weight = LOGISTIC_STEP * sigmoid(t) * sigmoid(-t);
        let u = (a + t) / b;
        let density = pdf(u) / b;
        sum.p += weight * cdf(u);
        sum.q += weight * cdf(-u);
        sum.d_a += weight * density;
        sum.d_b -= weight * density * u;
    }
    sum
}
