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
//! - 3 < b < 40: p is the probability that a logistic variable t exceeds -(a + b z), so
//!   p = E Phi((a + t) / b), t with density 1 / (4 cosh^2(t / 2)). The poles are at distance pi
//!   whatever b is, and Phi costs exp(pi^2 / 2 b^2) < 2: h = 0.55 errs by 1e-13 for every b > 3.
//! - b >= 40: the same expectation by Taylor's formula in t / b, whose even terms survive:
//!   p = Phi(u) + sum_k c_k Phi^(2k)(u) / b^2k, u = a / b, c_k = E t^2k / (2k)! = 2 (1 - 2^(1-2k)) zeta(2k).
//!   The series is asymptotic; its fifth term, the first one left out, is below 1e-13.
//!
//! b = 0 is the sigmoid itself.
//! Rejected: the probit approximation sigmoid(a / sqrt(1 + pi b^2 / 8)) (errs by 1e-2).

use std::f64::consts::PI;
use std::sync::LazyLock;

use crate::simd::logistic::logistic_normal;
use crate::simd::normal::{BLOCK, HingeParts, expected_hinge};
use crate::special::cdf;

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
    } else if b < STEEP {
        over_logistic(a, b).normalised()
    } else {
        series(a, b)
    }
}

/// Where the two integrals cost the same.
const SWITCH: f64 = 3.0;
/// Where the series has reached their accuracy.
const STEEP: f64 = 40.0;
/// The normal density beyond is below 1e-18.
const REACH: f64 = 9.0;
/// Step and half the number of steps for the logistic density, which is below 1e-13 beyond their product.
const LOGISTIC_STEP: f64 = 0.55;
const LOGISTIC_STEPS: usize = 58;
const NODES: usize = 2 * LOGISTIC_STEPS + 1;

/// phi(u), to a few units in the last place: enough for a weight.
fn density(u: f64) -> f64 {
    const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
    INV_SQRT_2PI * (-0.5 * u * u).exp()
}

/// The step of the trapezoid rule in z (see the top of the file).
fn step(b: f64) -> f64 {
    const LARGEST: f64 = 0.7;
    if b < 0.35 { LARGEST } else { (2.0 * PI * PI / (34.0 * b + PI * PI / (2.0 * b))).min(LARGEST) }
}

const NOTHING: Averaged = Averaged { p: 0.0, q: 0.0, d_a: 0.0, d_b: 0.0 };

fn over_normal(a: f64, b: f64) -> Averaged {
    let h = step(b);
    let [p, q, d_a, d_b] = logistic_normal(a, b, h, (REACH / h).ceil() as usize);
    Averaged { p, q, d_a, d_b }
}

fn over_logistic(a: f64, b: f64) -> Averaged {
    /// The nodes t, and their weights.
    static RULE: LazyLock<([f64; NODES], [f64; NODES])> = LazyLock::new(|| {
        let t = std::array::from_fn(|k| LOGISTIC_STEP * (k as f64 - LOGISTIC_STEPS as f64));
        (t, t.map(|t| LOGISTIC_STEP * sigmoid(t) * sigmoid(-t)))
    });
    const ONE: [f64; BLOCK] = [1.0; BLOCK];
    let (nodes, weights) = &*RULE;
    let (mut sum, mut parts, mut below) = (NOTHING, HingeParts::default(), [0.0; BLOCK]);
    for (nodes, weights) in nodes.chunks(BLOCK).zip(weights.chunks(BLOCK)) {
        let n = nodes.len();
        below.iter_mut().zip(nodes).for_each(|(u, t)| *u = -((a + t) / b).abs());
        // Phi(-|u|) and phi(u), many at a time: the tail keeps its digits on either side.
        expected_hinge(&below[..n], &ONE[..n], &mut parts);
        for (k, (t, weight)) in nodes.iter().zip(weights).enumerate() {
            let (u, small) = ((a + t) / b, parts.cdf[k]);
            let (p, q) = if u >= 0.0 { (1.0 - small, small) } else { (small, 1.0 - small) };
            let slope = weight * parts.pdf[k] / b;
            sum.p += weight * p;
            sum.q += weight * q;
            sum.d_a += slope;
            sum.d_b -= slope * u;
        }
    }
    sum
}

fn series(a: f64, b: f64) -> Averaged {
    const C: [f64; 4] = [
        PI * PI / 6.0,
        7.0 * PI * PI * PI * PI / 360.0,
        31.0 * PI * PI * PI * PI * PI * PI / 15_120.0,
        127.0 * PI * PI * PI * PI * PI * PI * PI * PI / 604_800.0,
    ];
    // Beyond 40 the density is zero, and powers of u would overflow.
    let u = (a / b).clamp(-40.0, 40.0);
    // Phi^(n + 1) = (-1)^n He_n phi; the terms with odd n are kept in `odd`, their u-derivatives in `even`.
    let (mut low, mut high) = (1.0, u);
    let (mut odd, mut even, mut of_b, mut power) = (0.0, 0.0, 0.0, 1.0);
    for (k, c) in C.iter().enumerate() {
        let n = 2.0 * k as f64 + 1.0;
        power /= b * b;
        odd += c * power * high;
        of_b += (n + 1.0) * c * power * high;
        (low, high) = (high, u * high - n * low);
        even += c * power * high;
        (low, high) = (high, u * high - (n + 1.0) * low);
    }
    let phi = density(u);
    let d_u = phi * (1.0 + even);
    // Far in a tail (p < 1e-80) the terms exceed what they correct.
    let (p, q) = ((cdf(u) - phi * odd).max(0.0), (cdf(-u) + phi * odd).max(0.0));
    Averaged { p, q, d_a: d_u / b, d_b: (phi * of_b - u * d_u) / b }
}
