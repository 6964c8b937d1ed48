//! log p = sum_{j < y} log(1 + alpha j) - log y! + y eta - (y + 1 / alpha) log(1 + alpha exp(eta)), alpha = exp(a) the
//! dispersion; alpha -> 0 is Poisson's law. With s = alpha mu / (1 + alpha mu) = d log(1 + alpha mu) / d eta = d / d a.
//!
//! The sum over j is taken one by one up to 32, and by Euler and Maclaurin's formula beyond, where the next term of it
//! is below 1e-13 of the whole: differences of log Gamma would lose their digits for small alpha.

use super::{Constant, Family, Local, Observation, Weighted, check_count, log_mean, mean};
use crate::special::{HALF_LOG_TAU, stirling_rest};

#[derive(Debug)]
pub(super) struct NegativeBinomial;

/// Terms one by one.
const FIRST: f64 = 32.0;

/// sum_{j < y} of log(1 + alpha j), and its first two derivatives in log alpha.
fn rising(y: f64, alpha: f64) -> [f64; 3] {
    let mut sums = [0.0; 3];
    let ends = y.min(FIRST);
    for j in 1..ends as u32 {
        let x = alpha * f64::from(j);
        let q = x / (1.0 + x);
        sums[0] += x.ln_1p();
        sums[1] += q;
        sums[2] += q * (1.0 - q);
    }
    if y <= FIRST {
        return sums;
    }
    // Integral, value, first, third and fifth derivative in j of each of the three.
    let r = 1.0 / alpha;
    let of = |j: f64| {
        let (x, u) = (alpha * j, r + j);
        let (log, q) = (x.ln_1p(), x / (1.0 + x));
        let (u2, u4) = (u * u, u * u * u * u);
        [
            [(1.0 + x) * log * r - j, log, 1.0 / u, 2.0 / (u * u2), 24.0 / (u * u4)],
            [j - log * r, q, r / u2, 6.0 * r / u4, 120.0 * r / (u2 * u4)],
            [
                (log - q) * r,
                q * (1.0 - q),
                (2.0 * r / u - 1.0) * r / u2,
                (24.0 * r / u - 6.0) * r / u4,
                (720.0 * r / u - 120.0) * r / (u2 * u4),
            ],
        ]
    };
    let (low, high) = (of(FIRST), of(y));
    for (sum, (low, high)) in sums.iter_mut().zip(low.iter().zip(&high)) {
        let by = |k: usize| high[k] - low[k];
        *sum += by(0) - 0.5 * by(1) + by(2) / 12.0 - by(3) / 720.0 + by(4) / 30_240.0;
    }
    sums
}

impl Family for NegativeBinomial {
    fn refusal(&self, y: f64) -> Option<&'static str> {
        check_count(y)
    }

    fn has_scale(&self) -> bool {
        true
    }

    fn constant(&self, Observation { y, .. }: Observation, extra: &[f64]) -> Constant {
        let [value, d, dd] = rising(y, extra[0].exp());
        let factorial = if y > 0.0 { (y + 0.5) * y.ln() - y + HALF_LOG_TAU + stirling_rest(y)[0] } else { 0.0 };
        Constant { value: value - factorial, extra: [d, 0.0], second: [dd, 0.0, 0.0] }
    }

    fn local(&self, Observation { y, .. }: Observation, eta: f64, extra: &[f64]) -> Local {
        let r = (-extra[0]).exp();
        let log_x = extra[0] + eta;
        // log(1 + x) and x / (1 + x) without overflow.
        let e = (-log_x.abs()).exp();
        let (log, s, rest) = if log_x > 0.0 {
            (log_x + e.ln_1p(), 1.0 / (1.0 + e), e / (1.0 + e))
        } else {
            (e.ln_1p(), e / (1.0 + e), 1.0 / (1.0 + e))
        };
        let bend = s * rest;
        Local {
            value: y * eta - (y + r) * log,
            d1: y * rest - r * s,
            d2: -(y + r) * bend,
            extra: [(log - s) * r - y * s, 0.0],
            cross: [r * s * s - y * bend, 0.0],
            second: [-y * bend + r * (s * s + s - log), 0.0, 0.0],
        }
    }

    fn peak(&self, seen: Observation, _: &[f64]) -> f64 {
        seen.y.ln()
    }

    fn start(&self, rows: &[Weighted], _: usize) -> (f64, Vec<f64>) {
        let b = log_mean(rows);
        let mu = |row: &Weighted| (b + row.offset).exp();
        let over = mean(rows, |row| (row.seen.y - mu(row)).powi(2) - mu(row));
        let alpha = over / mean(rows, |row| mu(row).powi(2));
        (b, vec![if alpha > 0.01 { alpha.min(1e3).ln() } else { 0.01f64.ln() }])
    }

    fn moments(&self, m: f64, v: f64, extra: &[f64]) -> Option<(f64, f64)> {
        let (mu, square) = ((m + 0.5 * v).exp(), (2.0 * (m + v)).exp());
        Some((mu, mu + mu * mu * v.exp_m1() + extra[0].exp() * square))
    }
}
