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
//!
//! Mehrotra's method: the step for mu = 0 says how far one may aim and what the products p eta, (1 - p) xi leave over;
//! the second step, with the same matrix, aims there and makes up for it. Of computed rows, whose passes are dear and whose
//! matrix is a sketch, mu follows the last step instead.
//! Sources: Ferris, Munson, SIAM J. Optim. 13, 2002, for the hinge; S. Mehrotra, SIAM J. Optim. 2, 1992; the spread
//! term is ours.
//! Rejected: lowering eps in steps of 0.1 with primal Newton (hundreds of iterations, or none that
//! succeeds, on one exact row in seven); mu by the last step for all rows (15 to 40 iterations where these are 9 to 20).

use super::stop_rule::{StopRule, Verdict};
use super::trust_region::step;
use super::{Options, Solution};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::linalg::Spd;
use crate::loss::{Dual, LossEval, Scores};
use crate::objective::{LinearObjective, NewtonSystem, RowMotion, RowTerms};
use crate::parallel::iter::*;
use crate::simd;
use crate::special::{cdf, pdf, quantile};

/// Unknowns up to which the system is a matrix: 32 MB.
pub(super) const LARGEST: usize = 2000;
/// Limit for computed rows, whose passes cost too much for methods that make many: 134 MB.
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
/// Barrier parameter at the start, at least.
const FIRST_MU: f64 = 0.1;

/// Aim of a step: mu, and the second-order products of the predictor.
#[derive(Debug, Clone, Copy, Default)]
struct Aim {
    mu: f64,
    p_eta: f64,
    p_xi: f64,
}

/// Change of a row's duals, (dp, dxi, deta).
type Direction = [f64; 3];

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

    /// The spread, kept above zero by epsilon: at w = 0 that of every row is zero, with a kink.
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

    /// The slacks (xi, eta) that the aim asks for.
    fn slacks(&self, aim: Aim) -> (f64, f64) {
        ((aim.mu + aim.p_xi) / (1.0 - self.p), (aim.mu - aim.p_eta) / self.p)
    }

    /// d(d)/dp along the row's equations, of which `spread` is the share of s z(p).
    fn stiffness(&self, spread: f64) -> f64 {
        self.xi / (1.0 - self.p) + self.eta / self.p + spread
    }

    /// The row's part of the system with this aim.
    fn terms(&self, aim: Aim, epsilon: f64) -> RowTerms {
        let s = self.s(epsilon);
        let (z, q, spread) = self.slope(s);
        let (xi, eta) = self.slacks(aim);
        let theta = self.c / self.stiffness(spread);
        RowTerms { s, p: self.c * self.p, q: self.c * q, theta, z, residual: theta * (self.d() - s * z - xi + eta) }
    }

    /// Terms that `aim` adds to the residual of [`terms`](Self::terms) for mu = 0.
    fn shift(&self, aim: Aim, epsilon: f64) -> RowTerms {
        let s = self.s(epsilon);
        let (z, _, spread) = self.slope(s);
        let (xi, eta) = self.slacks(aim);
        RowTerms { s, z, residual: self.c / self.stiffness(spread) * (eta - xi), ..RowTerms::default() }
    }

    /// The change of the duals for a full step of x.
    fn direction(&self, aim: Aim, epsilon: f64, motion: &RowMotion) -> Direction {
        // A row without weight must not shorten the step.
        if self.c == 0.0 {
            return [0.0; 3];
        }
        let s = self.s(epsilon);
        let (z, _, spread) = self.slope(s);
        let (xi, eta) = self.slacks(aim);
        let ds = if s > 0.0 { motion.wsd / s } else { 0.0 };
        let dp = (self.d() - s * z - self.y * motion.dm - z * ds - xi + eta) / self.stiffness(spread);
        [dp, xi - self.xi + self.xi * dp / (1.0 - self.p), eta - self.eta - self.eta * dp / self.p]
    }

    /// The largest step that keeps p in (0, 1) and xi, eta above zero.
    fn longest(&self, [dp, dxi, deta]: Direction) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        until(self.p, dp).min(until(1.0 - self.p, -dp)).min(until(self.xi, dxi)).min(until(self.eta, deta))
    }

    fn moved(&self, t: f64, motion: &RowMotion, [dp, dxi, deta]: Direction) -> Self {
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

/// A step of x, the rows' scores along it, and the change of their duals.
struct Step {
    x: Vec<f64>,
    motion: Vec<RowMotion>,
    duals: Vec<Direction>,
}

impl Step {
    /// The part of it that keeps all duals inside their bounds, at most 1.
    fn longest(&self, rows: &[ScoreRow]) -> f64 {
        let inside = rows.par_iter().zip(&self.duals).map(|(row, d)| row.longest(*d));
        (FRACTION * inside.reduce(|| f64::INFINITY, f64::min)).min(1.0)
    }

    /// The rows at t along it.
    fn rows(&self, rows: &[ScoreRow], t: f64) -> Vec<ScoreRow> {
        rows.par_iter().zip(&self.motion).zip(&self.duals).map(|((row, m), d)| row.moved(t, m, *d)).collect()
    }
}

/// A Newton system at x, factored; its right-hand side is that of `aim`, one for all rows.
struct System<'a> {
    objective: &'a LinearObjective<'a>,
    rows: &'a [ScoreRow],
    x: &'a [f64],
    epsilon: f64,
    matrix: Factored,
    rhs: Vec<f64>,
    control: &'a Control,
}

impl System<'_> {
    fn solve(&self, rhs: &[f64], aim: impl Fn(usize) -> Aim + Sync) -> Result<Step> {
        let x = self.matrix.solve(rhs)?;
        let motion = self.objective.motion(self.x, &x, self.control)?;
        let duals = (0..self.rows.len()).into_par_iter();
        let duals = duals.map(|i| self.rows[i].direction(aim(i), self.epsilon, &motion[i])).collect();
        Ok(Step { x, motion, duals })
    }

    /// Mehrotra's predictor for mu = 0 and the step that corrects it, with its mu.
    fn corrected(&self, open: f64, least_mu: f64) -> Result<(Step, f64)> {
        let Self { rows, epsilon, .. } = *self;
        let predictor = self.solve(&self.rhs, |_| Aim::default())?;
        let ahead = complementarity(&predictor.rows(rows, predictor.longest(rows)));
        let mu = ((ahead / open).clamp(0.0, 1.0).powi(3) * open).max(least_mu);
        let aim = |i: usize| {
            let [dp, dxi, deta] = predictor.duals[i];
            Aim { mu, p_eta: dp * deta, p_xi: dp * dxi }
        };
        let shift: Vec<RowTerms> = (0..rows.len()).into_par_iter().map(|i| rows[i].shift(aim(i), epsilon)).collect();
        let mut rhs = self.rhs.clone();
        rhs.iter_mut().zip(self.objective.pull_back(self.x, &shift, self.control)?).for_each(|(r, s)| *r += s);
        if !self.objective.facts().fit_intercept {
            rhs[self.x.len() - 1] = 0.0;
        }
        Ok((self.solve(&rhs, aim)?, mu))
    }
}

/// The rows' scores at x, with duals on the central path of mu there.
fn central_rows(objective: &LinearObjective<'_>, x: &[f64], mu: f64, control: &Control) -> Result<Vec<ScoreRow>> {
    let (targets, loss) = (objective.problem().targets, objective.problem().loss);
    let dual = |row| {
        loss.dual(row).ok_or_else(|| Error::Internal("an interior-point method for a loss without a dual".into()))
    };
    let scores = objective.scores(x, control)?;
    let row = |i| Ok(ScoreRow::central(dual(i)?, (targets.at(i), loss.offset(i), objective.weight(i)), scores[i], mu));
    (0..scores.len()).into_par_iter().map(row).collect()
}

pub(super) fn minimize(
    objective: &LinearObjective<'_>,
    mut x: Vec<f64>,
    mu: f64,
    iterations_before: usize,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    let computed = objective.source().is_some();
    let mut mu = if computed { mu } else { mu.max(FIRST_MU) };
    let mut rows = central_rows(objective, &x, mu, control)?;
    let mut here = value(objective, &x, &rows);
    let mut open = complementarity(&rows);
    let mut lags = false;
    let mut watch = StopRule::new(objective, &x, <[f64]>::to_vec, options, control);
    let exact = objective.facts().exact;
    let mut matrix_rows = if computed { ROWS_PER_UNKNOWN * x.len() } else { usize::MAX };
    let mut iteration = iterations_before;
    let status = loop {
        watch.see(&x, here);
        let epsilon = if exact { 0.0 } else { mu };
        let aim = if computed { Aim { mu, ..Aim::default() } } else { Aim::default() };
        let terms: Vec<RowTerms> = rows.par_iter().map(|row| row.terms(aim, epsilon)).collect();
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
        let matrix = Factored::new(matrix, x.len());
        let system = System { objective, rows: &rows, x: &x, epsilon, matrix, rhs, control };
        // While the bound lags far behind, the equations are not yet solved at this mu: stay.
        let (step, aimed) = if computed {
            (system.solve(&system.rhs, |_| aim)?, mu)
        } else {
            system.corrected(open, if lags { open } else { 0.0 })?
        };
        let mut t = step.longest(&rows);
        // Where many spreads vanish together a full step may climb: shorten it until J does not, up
        // to what the central path itself is above the minimum. No pass over the data is needed.
        let ceiling = here + CLIMB * open.max(aimed);
        for _ in 0..HALVINGS {
            let moved_x: Vec<f64> = x.iter().zip(&step.x).map(|(x, p)| x + t * p).collect();
            let moved = step.rows(&rows, t);
            let there = value(objective, &moved_x, &moved);
            if there <= ceiling {
                lags = there - bound > LAG * open.max(aimed);
                (x, rows, here) = (moved_x, moved, there);
                break;
            }
            t *= 0.5;
        }
        // The rows' mean complementarity; a step that went far deserves a bolder aim.
        open = complementarity(&rows);
        mu = match computed {
            false => aimed,
            true if lags => mu,
            true => open * (1.0 - t).powi(2).clamp(0.05, 0.8),
        };
        iteration += 1;
    };
    watch.end(iteration, status)
}

/// A matrix (lower triangle valid) with its Cholesky factor, where rounding leaves it one.
pub(super) struct Factored {
    n: usize,
    matrix: Vec<f64>,
    factor: Option<Spd>,
}

impl Factored {
    pub(super) fn new(mut matrix: Vec<f64>, n: usize) -> Self {
        for i in 0..n {
            for j in 0..i {
                matrix[j * n + i] = matrix[i * n + j];
            }
        }
        let factor = Spd::new(matrix.clone(), n);
        Self { n, matrix, factor }
    }

    /// -M^-1 rhs.
    pub(super) fn solve(&self, rhs: &[f64]) -> Result<Vec<f64>> {
        let (n, lower) = (self.n, &self.matrix);
        if let Some(factor) = &self.factor {
            let p = factor.solve(rhs.iter().map(|r| -r).collect());
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
