//! Primal-dual interior point, for problems with rows that have (almost) no spread.
//!
//! Such rows make J kinked, and any smoothing of it must become so narrow that Newton on the
//! smoothed J no longer sees a row from outside its kink. So the kink is written as constraints. With
//! the dual p of a row (the probability-like slope of its loss, z = Phi^-1(p), q = phi(z)),
//!
//! ```text
//! d = s z + xi - eta,    p eta = mu,    (1 - p) xi = mu,    mu -> 0,
//! alpha w - sum c (p y x - q t) = 0,    sum c p y = 0,      t = S w / s
//! ```
//!
//! where s > 0 gives the expected hinge's own p = Phi(d / s) as mu -> 0, and s = 0 the hinge's
//! complementary slackness. Newton's method on all of it, with the rows' (p, xi, eta) eliminated, has
//! the matrix of an ordinary Newton step, and p in (0, 1), xi, eta > 0 are kept by the step length. The
//! duals bound the minimum at every iteration, so the method stops on the same certificate.
//! The hinge of d + r s (worst case, plain for r = 0) is the same with z = -r and q = r p: its kink in d
//! is the hinge's, and the cone r s is the spread term.
//! Source: Ferris, Munson, SIAM J. Optim. 13, 2002, for the hinge; the spread term is ours.
//! Rejected: lowering eps in steps of 0.1 with primal Newton (hundreds of iterations, or none that
//! succeeds, on one exact row in seven).

use super::stop_rule::{StopRule, Verdict};
use super::trust_region::step;
use super::{Options, Solution};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::linalg;
use crate::loss::{Dual, LossEval, Scores};
use crate::objective::{LinearObjective, NewtonSystem, RowMotion, RowTerms};
use crate::parallel::iter::*;
use crate::simd;
use crate::special::{cdf, pdf, quantile};

/// Unknowns up to which the system is a matrix: 32 MB.
pub(super) const LARGEST: usize = 2000;
/// The same for computed rows, whose passes cost too much for methods that make many: 134 MB.
pub(super) const LARGEST_COMPUTED: usize = 4100;
/// Computed rows of which the matrix is made, per unknown; iterations without a better gap after which they are doubled.
const ROWS_PER_UNKNOWN: usize = 30;
/// See [`ROWS_PER_UNKNOWN`].
const SLOW: usize = 2;
/// The gap may be so many times the complementarity before mu waits for the equations.
const LAG: f64 = 30.0;
/// J may rise by so many times the complementarity in a step, which is halved at most [`HALVINGS`] times.
const CLIMB: f64 = 3.0;
/// See [`CLIMB`].
const HALVINGS: usize = 20;
/// Part of the way to the nearest border that a step may go.
const FRACTION: f64 = 0.99;

/// One row's score and its dual variables.
#[derive(Debug, Clone, Copy)]
struct ScoreRow {
    dual: Dual,
    y: f64,
    /// d = a - y m
    a: f64,
    c: f64,
    m: f64,
    v: f64,
    p: f64,
    xi: f64,
    eta: f64,
}

impl ScoreRow {
    /// On the central path: p solves d = s z(p) + mu / (1 - p) - mu / p.
    fn central(dual: Dual, (y, a, c): (f64, f64, f64), (m, v): (f64, f64), mu: f64) -> Self {
        let (mut d, s) = (a - y * m, v.sqrt());
        if let Dual::Radius(r) = dual {
            d += r * s;
        }
        // Without spread the equation is quadratic in p; this is its root that does not cancel.
        let root = d.hypot(2.0 * mu);
        let mut p = if d > 0.0 { (d - 2.0 * mu + root) / (2.0 * d) } else { 2.0 * mu / (2.0 * mu - d + root) };
        if s > 0.0 && dual == Dual::Normal {
            let (mut low, mut high) = (-6.0f64, 6.0f64);
            for _ in 0..30 {
                let z = 0.5 * (low + high);
                if s * z + mu / cdf(-z) - mu / cdf(z) < d { low = z } else { high = z }
            }
            p = cdf(0.5 * (low + high));
        }
        let p = p.clamp(1e-9, 1.0 - 1e-9);
        Self { dual, y, a, c, m, v, p, xi: mu / (1.0 - p), eta: mu / p }
    }

    /// The spread, kept above zero by epsilon: at w = 0 every row's is zero, with a kink of its own.
    fn s(&self, epsilon: f64) -> f64 {
        (self.v + epsilon * epsilon).sqrt()
    }

    fn d(&self) -> f64 {
        self.a - self.y * self.m
    }

    /// (z, q, s dz/dp): what matters of p where there is spread; z = -dq/dp.
    fn slope(&self, s: f64) -> (f64, f64, f64) {
        match self.dual {
            _ if s == 0.0 => (0.0, 0.0, 0.0),
            Dual::Normal => {
                let z = quantile(self.p);
                let q = pdf(z);
                (z, q, s / q.max(f64::MIN_POSITIVE))
            }
            Dual::Radius(r) => (-r, r * self.p, 0.0),
        }
    }

    /// d(d)/dp along the row's own equations, and what they lack.
    fn stiffness(&self, mu: f64, s: f64, z: f64, spread: f64) -> (f64, f64) {
        let stiffness = self.xi / (1.0 - self.p) + self.eta / self.p + spread;
        (stiffness, self.d() - s * z - mu / (1.0 - self.p) + mu / self.p)
    }

    fn terms(&self, mu: f64, epsilon: f64) -> RowTerms {
        let s = self.s(epsilon);
        let (z, q, spread) = self.slope(s);
        let (stiffness, rho) = self.stiffness(mu, s, z, spread);
        let theta = self.c / stiffness;
        RowTerms { s, p: self.c * self.p, q: self.c * q, theta, z, residual: theta * rho }
    }

    /// (dp, dxi, deta) for a full step of x.
    fn direction(&self, mu: f64, epsilon: f64, motion: &RowMotion) -> [f64; 3] {
        let s = self.s(epsilon);
        let (z, _, spread) = self.slope(s);
        let (stiffness, rho) = self.stiffness(mu, s, z, spread);
        let ds = if s > 0.0 { motion.wsd / s } else { 0.0 };
        let dp = (-self.y * motion.dm - z * ds + rho) / stiffness;
        let dxi = (mu + self.xi * dp) / (1.0 - self.p) - self.xi;
        let deta = (mu - self.eta * dp) / self.p - self.eta;
        [dp, dxi, deta]
    }

    /// The largest step that keeps p in (0, 1) and xi, eta above zero.
    fn longest(&self, [dp, dxi, deta]: [f64; 3]) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        until(self.p, dp).min(until(1.0 - self.p, -dp)).min(until(self.xi, dxi)).min(until(self.eta, deta))
    }

    fn moved(&self, t: f64, motion: &RowMotion, [dp, dxi, deta]: [f64; 3]) -> Self {
        Self {
            m: self.m + t * motion.dm,
            v: (self.v + t * (2.0 * motion.wsd + t * motion.dsd)).max(0.0),
            p: self.p + t * dp,
            xi: self.xi + t * dxi,
            eta: self.eta + t * deta,
            ..*self
        }
    }
}

/// The rows' mean complementarity, about mu on the central path.
fn complementarity(rows: &[ScoreRow]) -> f64 {
    rows.iter().map(|r| r.c * 0.5 * (r.p * r.eta + (1.0 - r.p) * r.xi)).sum()
}

/// J at x from the rows' scores.
fn value(objective: &LinearObjective<'_>, x: &[f64], rows: &[ScoreRow]) -> f64 {
    let mut y = Vec::with_capacity(rows.len());
    let (mut m, mut v) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
    for row in rows {
        y.push(row.y);
        m.push(row.m);
        v.push(row.v);
    }
    let mut eval = vec![LossEval::default(); rows.len()];
    objective.problem().loss.eval(&Scores { first: 0, y: &y, m: &m, v: &v, width: 0.0 }, &mut eval);
    objective.penalty(x) + rows.iter().zip(&eval).map(|(row, e)| row.c * e.value).sum::<f64>()
}

pub(super) fn minimize(
    objective: &LinearObjective<'_>,
    mut x: Vec<f64>,
    mut mu: f64,
    iterations_before: usize,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    let (targets, loss) = (objective.problem().targets, objective.problem().loss);
    let dual = |row| {
        loss.dual(row).ok_or_else(|| Error::Internal("an interior-point method for a loss without a dual".into()))
    };
    let scores = objective.scores(&x, control)?;
    let mut rows: Vec<ScoreRow> = (0..scores.len())
        .into_par_iter()
        .map(|i| Ok(ScoreRow::central(dual(i)?, (targets.at(i), loss.offset(i), objective.weight(i)), scores[i], mu)))
        .collect::<Result<_>>()?;
    let mut here = value(objective, &x, &rows);
    let mut open = complementarity(&rows);
    let mut lags = false;
    let mut watch = StopRule::new(objective, &x, <[f64]>::to_vec, options, control);
    let exact = objective.facts().exact;
    let mut matrix_rows = if objective.source().is_some() { ROWS_PER_UNKNOWN * x.len() } else { usize::MAX };
    let mut iteration = iterations_before;
    let status = loop {
        watch.see(&x, here);
        let epsilon = if exact { 0.0 } else { mu };
        let terms: Vec<RowTerms> = rows.par_iter().map(|row| row.terms(mu, epsilon)).collect();
        let NewtonSystem { matrix, bound, rhs } = objective.system(&x, &terms, (matrix_rows, iteration), control)?;
        match watch.verdict(iteration, bound, open)? {
            Verdict::GoOn => {}
            Verdict::Drifted => {
                let scores = objective.scores(&x, control)?;
                rows.iter_mut().zip(scores).for_each(|(row, (m, v))| (row.m, row.v) = (m, v));
            }
            Verdict::End(status) => break status,
        }
        if watch.is_slow(SLOW) {
            matrix_rows = matrix_rows.saturating_mul(2);
        }
        let p = Factored::new(matrix, x.len()).solve(&rhs)?;
        let motion = objective.motion(&x, &p, control)?;
        let directions: Vec<[f64; 3]> =
            rows.par_iter().zip(&motion).map(|(row, m)| row.direction(mu, epsilon, m)).collect();
        let longest =
            rows.par_iter().zip(&directions).map(|(row, d)| row.longest(*d)).reduce(|| f64::INFINITY, f64::min);
        let mut t = (FRACTION * longest).min(1.0);
        // Where many spreads vanish together a full step may climb: shorten it until J does not, up
        // to what the central path itself is above the minimum. No pass over the data is needed.
        let ceiling = here + CLIMB * open.max(mu);
        let start = x.clone();
        for _ in 0..HALVINGS {
            x = start.iter().zip(&p).map(|(x, p)| x + t * p).collect();
            let moved: Vec<ScoreRow> =
                rows.par_iter().zip(&motion).zip(&directions).map(|((row, m), d)| row.moved(t, m, *d)).collect();
            let there = value(objective, &x, &moved);
            if there <= ceiling {
                lags = there - bound > LAG * open.max(mu);
                (rows, here) = (moved, there);
                break;
            }
            t *= 0.5;
            x.copy_from_slice(&start);
        }
        // The rows' mean complementarity; a step that went far deserves a bolder aim.
        open = complementarity(&rows);
        // While the bound lags far behind, the equations are not yet solved at this mu: stay.
        mu = if lags { mu } else { open * (1.0 - t).powi(2).clamp(0.05, 0.8) };
        iteration += 1;
    };
    watch.end(iteration, status)
}

/// A matrix (lower triangle valid) with its Cholesky factor, where rounding leaves it one.
pub(super) struct Factored {
    n: usize,
    matrix: Vec<f64>,
    factor: Option<Vec<f64>>,
}

impl Factored {
    pub(super) fn new(mut matrix: Vec<f64>, n: usize) -> Self {
        for i in 0..n {
            for j in 0..i {
                matrix[j * n + i] = matrix[i * n + j];
            }
        }
        let mut factor = matrix.clone();
        let factor = linalg::cholesky(&mut factor, n).then_some(factor);
        Self { n, matrix, factor }
    }

    /// -M^-1 rhs.
    pub(super) fn solve(&self, rhs: &[f64]) -> Result<Vec<f64>> {
        let (n, lower) = (self.n, &self.matrix);
        if let Some(factor) = &self.factor {
            let mut p: Vec<f64> = rhs.iter().map(|r| -r).collect();
            linalg::cholesky_solve(factor, n, &mut p);
            if p.iter().all(|p| p.is_finite()) {
                return Ok(p);
            }
        }
        // Rounding has made the matrix indefinite: CG copes with that.
        let largest = (0..n).map(|j| lower[j * n + j]).fold(0.0, f64::max);
        let m: Vec<f64> = (0..n).map(|j| lower[j * n + j].max(1e-14 * largest).max(f64::MIN_POSITIVE)).collect();
        let step = step(rhs, &m, f64::INFINITY, 1e-12, 10 * n, |v, out| {
            out.iter_mut().zip(lower.chunks_exact(n)).for_each(|(o, row)| *o = simd::dot(row, v));
            Ok(())
        })?;
        Ok(step.p)
    }
}
