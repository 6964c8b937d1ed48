//! Which method solves a problem, and which one goes on where that ends short.
//!
//! Few rows in many dimensions go to the cone-aware method in their span, losses with a kink and exact rows to the
//! interior-point method. Everything else is smooth but for narrow rows: Newton or L-BFGS begin, and the interior-point
//! method goes on when rows are too narrow for smoothing.

use crate::control::Control;
use crate::data::covariance::Structure;
use crate::error::{Error, Result};
use crate::linalg;
use crate::loss::Smoothness;
use crate::objective::{Derivatives, LinearObjective};

use super::{Best, Ended, Options, Solution, SolverKind, Start, Status, cone, interior, lbfgs, newton, sphere, zero};

/// Iterations of L-BFGS where the Hessian is too large for Newton: they are cheap, and hundreds may be needed.
const LBFGS_ITERATIONS: usize = 5000;
/// Barrier parameter after a sample of computed rows.
const COMPUTED_MU: f64 = 0.2;
/// Unknowns between which a fit that starts near its optimum begins with a Hessian: for fewer a Newton step is cheap, for more
/// the Hessian costs more than it saves.
pub(super) const WITH_HESSIAN: std::ops::Range<usize> = 100..1000;
/// Unknowns from which a Hessian of rows with factors of their own costs as much as [`RENEWED`] passes or so.
const DEAR: usize = 100;
/// Iterations of L-BFGS with one Hessian.
const RENEWED: usize = 12;
/// Smoothing or barrier parameter at a guess.
pub(super) const GUESSED: f64 = 0.1;
/// Barrier parameter, in units of J, with which the interior-point method goes on after smoothing.
const HANDED_OVER: f64 = 0.05;

/// The smoothing or barrier parameter of a start that the caller guessed, usually near the optimum. Smooth rows need
/// none there, which one pass finds out; one that is wider than they are would be narrowed until the
/// interior-point method had to take over. At w = 0 no row has spread.
pub(super) fn first_epsilon(objective: &LinearObjective<'_>, x: &[f64]) -> f64 {
    let is_zero = x.split_last().is_none_or(|(_, w)| w.iter().all(|w| *w == 0.0));
    if is_zero || is_kinked(objective) { GUESSED } else { 0.0 }
}

/// A start near the optimum: x, with the Hessian there where that is worth it.
///
/// Rejected: one Hessian for all folds, as few rows at the margin make it (10,000 x 400, 100 rows of the class: 30 iterations
/// with that of another fold, 8 with its own).
pub(super) fn start_near(objective: &LinearObjective<'_>, x: &[f64], control: &Control) -> Result<Start> {
    let mut start = Start { x: x.to_vec(), epsilon: first_epsilon(objective, x), factor: None };
    if WITH_HESSIAN.contains(&objective.dim()) && !is_kinked(objective) && objective.source().is_none() {
        let e = objective.evaluate(x, start.epsilon, Derivatives::Hessian, control)?;
        start.factor = e.hessian.and_then(|mut h| linalg::cholesky(&mut h, x.len()).then_some(h));
    }
    Ok(start)
}

/// Do rows have kinks that no spread smooths?
pub(super) fn is_kinked(objective: &LinearObjective<'_>) -> bool {
    let facts = objective.facts();
    facts.loss.smoothness() == Smoothness::Kinked || facts.exact
}

/// Solve from `start`.
pub(super) fn solve(
    kind: SolverKind,
    objective: &LinearObjective<'_>,
    start: Start,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    let (facts, computed) = (objective.facts(), objective.source().is_some());
    let largest = if computed { interior::LARGEST_COMPUTED } else { interior::LARGEST };
    let hand_over = facts.dim <= largest && facts.loss.dual(0).is_some();
    let solution = if hand_over && is_kinked(objective) {
        // After a sample of computed rows many duals are still near the wrong border: a larger barrier frees them sooner.
        let mu = if computed { start.epsilon.max(COMPUTED_MU) } else { start.epsilon };
        interior::minimize(objective, start.x, mu, 0, options, control)?
    } else {
        match smooth(kind, objective, start, hand_over, options, control)? {
            Ended::Done(solution) => return Ok(solution),
            Ended::Narrow { best, iterations } => {
                let mu = HANDED_OVER * best.objective.min(1.0);
                interior::minimize(objective, best.x, mu, iterations, options, control)?
            }
        }
    };
    if solution.status == Status::NoProgress {
        last_resort(objective, solution, options, control)
    } else {
        Ok(solution)
    }
}

/// Has every row a factor F, S = F F'? Then a Hessian is a product of all their columns, while a pass reads
/// them once.
fn has_factors(objective: &LinearObjective<'_>) -> bool {
    matches!(objective.covariances().structure(), Structure::Factor(factor) if factor.diagonal.is_none())
}

/// Newton or L-BFGS, with smoothing.
fn smooth(
    kind: SolverKind,
    objective: &LinearObjective<'_>,
    start: Start,
    hand_over: bool,
    options: &Options,
    control: &Control,
) -> Result<Ended> {
    let sampled = kind == SolverKind::Auto && start.factor.is_some();
    if newton::fits(objective) && zero::fits(objective) && zero::is_at(objective, &start.x) {
        // A sample, or the rows of all folds, had no plane that separates.
        let mut best = Best { x: start.x.clone(), objective: f64::INFINITY, bound: f64::NEG_INFINITY };
        let passes = zero::certify(objective, &start.x, &mut best, options, control)?;
        if best.gap() <= options.tol {
            control.report(passes, best.objective, best.gap());
            return Ok(Ended::Done(best.solution(passes, Status::Converged)));
        }
    }
    if !newton::fits(objective) {
        let options = Options { max_iter: Some(options.max_iter.unwrap_or(LBFGS_ITERATIONS)), ..*options };
        lbfgs::minimize(objective, start, hand_over, &options, control)
    } else if kind == SolverKind::Lbfgs || sampled {
        lbfgs::minimize(objective, start, hand_over, options, control)
    } else if kind == SolverKind::Auto && objective.dim() >= DEAR && has_factors(objective) {
        lbfgs::minimize_renewing(objective, start, Some(RENEWED), hand_over, options, control)
    } else {
        newton::minimize(objective, start, hand_over, options, control)
    }
}

/// Where spreads vanish together at the optimum (a few directions per row, more features than rows; or exact features
/// that separate the classes beside noisy ones) an interior-point method's steps end short. The cone-aware one goes on.
fn last_resort(
    objective: &LinearObjective<'_>,
    best: Solution,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    if !cone::fits(objective) {
        return Ok(best);
    }
    let after = cone::minimize(objective, best.iterations, options, control)?;
    Ok(if after.gap < best.gap { after } else { best })
}

/// From `start` to a local minimum of a function of its direction that need not be convex.
pub(crate) fn descend(
    objective: &LinearObjective<'_>,
    start: &[f64],
    max_iter: usize,
    control: &Control,
) -> Result<Solution> {
    if objective.dim() <= newton::DENSE {
        return sphere::minimize(objective, start, max_iter, control);
    }
    let options = Options { max_iter: Some(max_iter), ..Options::default() };
    let start = Start { x: start.to_vec(), epsilon: 0.0, factor: None };
    match lbfgs::minimize(objective, start, false, &options, control)? {
        Ended::Done(solution) => Ok(solution),
        Ended::Narrow { .. } => Err(Error::Internal("smoothing stopped where nothing takes over".into())),
    }
}
