//! Primal-dual interior point for exact points: the linear SVM, and the ends of a regression's tube.
//!
//! Without spread every loss of the hinge's family is c max(0, d), d = a - y (w'x + b), and the problem a quadratic
//! program. With the dual p of a row and its two slacks the optimum is
//!
//! ```text
//! d = xi - eta,    p eta = mu,    (1 - p) xi = mu,    mu -> 0,
//! alpha w - sum c p y x = 0,    sum c p y = 0
//! ```
//!
//! Mehrotra's method: the step for mu = 0 says how far one may aim and what the products leave over, the second
//! step, with the same matrix, aims there and makes up for it. The duals bound the minimum, so the method
//! stops on the certificate of all others, after 5 to 25 iterations whatever the scales of features and penalty.
//! Source: S. Mehrotra, SIAM J. Optim. 2, 1992; E. Gertz, J. Griffin, SVMs by interior points, Argonne
//! ANL/MCS-P1289, 2005.
//! Rejected: the method of [`super::interior`] alone, which spreads need: its safeguards cost up to 500 iterations
//! on a hundred points with features of size 300.

use super::interior::Factored;
use super::stop_rule::{StopRule, Verdict};
use super::{Options, Solution};
use crate::control::Control;
use crate::error::Result;
use crate::objective::{LinearObjective, NewtonSystem, RowTerms};
use crate::parallel::iter::*;

/// Part of the way to the nearest border that a step may go.
const FRACTION: f64 = 0.995;
/// A dual's least distance from 0 and 1 at the start.
const INSIDE: f64 = 1e-9;

/// A row with its dual variables; c is its weight.
#[derive(Debug, Clone, Copy)]
struct ExactRow {
    y: f64,
    a: f64,
    c: f64,
    m: f64,
    p: f64,
    xi: f64,
    eta: f64,
}

/// What to aim at: mu, and the products of the first step to make up for.
#[derive(Debug, Clone, Copy, Default)]
struct Aim {
    mu: f64,
    p_eta: f64,
    p_xi: f64,
}

/// (dp, dxi, deta)
type Direction = [f64; 3];

impl ExactRow {
    /// On the central path: p solves d = mu / (1 - p) - mu / p.
    fn central(mut self, mu: f64) -> Self {
        let d = self.d();
        let root = d.hypot(2.0 * mu);
        // The root of the quadratic that does not cancel.
        let p = if d > 0.0 { (d - 2.0 * mu + root) / (2.0 * d) } else { 2.0 * mu / (2.0 * mu - d + root) };
        self.p = p.clamp(INSIDE, 1.0 - INSIDE);
        (self.xi, self.eta) = (mu / (1.0 - self.p), mu / self.p);
        self
    }

    fn d(&self) -> f64 {
        self.a - self.y * self.m
    }

    /// d(d)/dp along the row's own equations.
    fn stiffness(&self) -> f64 {
        self.xi / (1.0 - self.p) + self.eta / self.p
    }

    /// The slacks that the aim asks for.
    fn slacks(&self, aim: Aim) -> (f64, f64) {
        ((aim.mu + aim.p_xi) / (1.0 - self.p), (aim.mu - aim.p_eta) / self.p)
    }

    /// The row's part of the system for mu = 0.
    fn terms(&self) -> RowTerms {
        let theta = self.c / self.stiffness();
        RowTerms { p: self.c * self.p, theta, residual: theta * self.d(), ..RowTerms::default() }
    }

    /// What `aim` adds to the right-hand side, per unit of (x, 1).
    fn shift(&self, aim: Aim) -> f64 {
        let (xi, eta) = self.slacks(aim);
        -self.y * self.c / self.stiffness() * (eta - xi)
    }

    fn direction(&self, dm: f64, aim: Aim) -> Direction {
        let (xi, eta) = self.slacks(aim);
        let dp = (self.d() - self.y * dm - xi + eta) / self.stiffness();
        [dp, xi - self.xi + self.xi * dp / (1.0 - self.p), eta - self.eta - self.eta * dp / self.p]
    }

    /// The longest step that keeps p in (0, 1) and the slacks above zero.
    fn longest(&self, [dp, dxi, deta]: Direction) -> f64 {
        let until = |value: f64, change: f64| if change < 0.0 { -value / change } else { f64::INFINITY };
        until(self.p, dp).min(until(1.0 - self.p, -dp)).min(until(self.xi, dxi)).min(until(self.eta, deta))
    }

    fn moved(&self, t: f64, dm: f64, [dp, dxi, deta]: Direction) -> Self {
        let Self { m, p, xi, eta, .. } = *self;
        Self { m: m + t * dm, p: p + t * dp, xi: xi + t * dxi, eta: eta + t * deta, ..*self }
    }
}

/// The rows' mean complementarity: mu on the central path.
fn complementarity(rows: &[ExactRow]) -> f64 {
    rows.iter().map(|r| r.c * 0.5 * (r.p * r.eta + (1.0 - r.p) * r.xi)).sum()
}

fn longest(rows: &[ExactRow], directions: &[Direction]) -> f64 {
    let free = rows.par_iter().zip(directions).map(|(row, d)| row.longest(*d)).reduce(|| f64::INFINITY, f64::min);
    (FRACTION * free).min(1.0)
}

/// From x, with duals on the central path of mu there.
pub(super) fn minimize(
    objective: &LinearObjective<'_>,
    mut x: Vec<f64>,
    mu: f64,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    let (targets, loss) = (objective.problem().targets, objective.problem().loss);
    let row = |(i, (m, _)): (usize, &(f64, f64))| {
        let row =
            ExactRow { y: targets.at(i), a: loss.offset(i), c: objective.weight(i), m: *m, p: 0.0, xi: 0.0, eta: 0.0 };
        row.central(mu)
    };
    let mut rows: Vec<ExactRow> = objective.scores(&x, control)?.iter().enumerate().map(row).collect();
    let mut watch = StopRule::new(objective, &x, <[f64]>::to_vec, options, control);
    let mut iteration = 0;
    let status = loop {
        let here = objective.penalty(&x) + rows.iter().map(|row| row.c * row.d().max(0.0)).sum::<f64>();
        watch.see(&x, here);
        let terms: Vec<RowTerms> = rows.par_iter().map(ExactRow::terms).collect();
        let NewtonSystem { matrix, bound, rhs } = objective.system(&x, &terms, (usize::MAX, iteration), control)?;
        let open = complementarity(&rows);
        match watch.verdict(iteration, bound, open)? {
            Verdict::GoOn => {}
            Verdict::Drifted => {
                let scores = objective.scores(&x, control)?;
                rows.iter_mut().zip(scores).for_each(|(row, (m, _))| row.m = m);
            }
            Verdict::End(status) => break status,
        }
        iteration += 1;
        let matrix = Factored::new(matrix, x.len());
        let none = vec![Aim::default(); rows.len()];
        let (_, dm, first) = step(objective, &rows, &x, &matrix, &rhs, &none, control)?;
        let t = longest(&rows, &first);
        let reached: Vec<ExactRow> =
            rows.iter().zip(&dm).zip(&first).map(|((row, dm), d)| row.moved(t, *dm, *d)).collect();
        let mu = (complementarity(&reached) / open).clamp(0.0, 1.0).powi(3) * open;
        let aims: Vec<Aim> = first.iter().map(|[dp, dxi, deta]| Aim { mu, p_eta: dp * deta, p_xi: dp * dxi }).collect();
        let (dx, dm, second) = step(objective, &rows, &x, &matrix, &rhs, &aims, control)?;
        let t = longest(&rows, &second);
        x.iter_mut().zip(&dx).for_each(|(x, dx)| *x += t * dx);
        rows.par_iter_mut().zip(&dm).zip(&second).for_each(|((row, dm), d)| *row = row.moved(t, *dm, *d));
    };
    watch.end(iteration, status)
}

/// The step to these aims: of x, of the rows' scores, and of their duals. `rhs` is that of mu = 0.
fn step(
    objective: &LinearObjective<'_>,
    rows: &[ExactRow],
    x: &[f64],
    matrix: &Factored,
    rhs: &[f64],
    aims: &[Aim],
    control: &Control,
) -> Result<(Vec<f64>, Vec<f64>, Vec<Direction>)> {
    let shifts: Vec<f64> = rows.par_iter().zip(aims).map(|(row, aim)| row.shift(*aim)).collect();
    let mut rhs: Vec<f64> = rhs.to_vec();
    if shifts.iter().any(|shift| *shift != 0.0) {
        rhs.iter_mut().zip(objective.combination(&shifts, control)?).for_each(|(r, s)| *r += s);
    }
    if !objective.problem().fit_intercept {
        rhs[x.len() - 1] = 0.0;
    }
    let dx = matrix.solve(&rhs)?;
    let dm: Vec<f64> = objective.motion(x, &dx, control)?.iter().map(|motion| motion.dm).collect();
    let directions = rows.par_iter().zip(&dm).zip(aims).map(|((row, dm), aim)| match row.c {
        // A row without weight must not shorten anybody's step.
        0.0 => [0.0; 3],
        _ => row.direction(*dm, *aim),
    });
    let directions = directions.collect();
    Ok((dx, dm, directions))
}
