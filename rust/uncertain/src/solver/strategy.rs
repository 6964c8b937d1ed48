//! Who begins and who goes on: Newton or L-BFGS where rows are wide, an interior-point method where they are narrow, and
//! what is left where that one ends short.

use crate::control::Control;
use crate::data::Kind;
use crate::error::{Error, Result};
use crate::loss::Smoothness;
use crate::objective::LinearObjective;

#[cfg(feature = "clarabel")]
use super::clarabel;
use super::{Ended, Options, Solution, SolverKind, Start, Status, cone, interior, lbfgs, newton, points};

/// Barrier parameter after a sample of computed rows.
const COMPUTED_MU: f64 = 0.2;
/// Smoothing from which a slow descent starts.
const SLOW_EPSILON: f64 = 0.1;
/// Barrier parameter, in units of J, with which the interior-point method goes on from there.
const HANDED_OVER: f64 = 0.05;

/// Solve with Newton or L-BFGS, and with the interior-point method what they cannot.
pub(super) fn smooth(
    kind: SolverKind,
    objective: &LinearObjective<'_>,
    start: Start,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    let problem = objective.problem();
    let largest = if objective.source().is_some() { interior::LARGEST_COMPUTED } else { interior::LARGEST };
    let hand_over = objective.dim() <= largest && problem.loss.dual(0).is_some();
    let kinked = problem.loss.smoothness() == Smoothness::Kinked || objective.covariances().kind() == Kind::Zero;
    if hand_over && objective.source().is_none() && objective.covariances().kind() == Kind::Zero {
        let solution = points::minimize(objective, start.x, start.epsilon, options, control)?;
        return if solution.status == Status::NoProgress {
            slowly(objective, solution, options, control)
        } else {
            Ok(solution)
        };
    }
    if hand_over && kinked {
        // After a sample of computed rows many duals are still on the wrong side: further from the border they turn sooner.
        let mu = if objective.source().is_some() { start.epsilon.max(COMPUTED_MU) } else { start.epsilon };
        let solution = interior::minimize(objective, start.x, mu, 0, options, control)?;
        return if solution.status == Status::NoProgress {
            slowly(objective, solution, options, control)
        } else {
            Ok(solution)
        };
    }
    let quasi = kind == SolverKind::Lbfgs || kind == SolverKind::Auto && start.factor.is_some();
    let ended = match quasi {
        true => lbfgs::minimize(objective, start, hand_over, options, control)?,
        false => newton::minimize(objective, start, hand_over, options, control)?,
    };
    match ended {
        Ended::Done(solution) => Ok(solution),
        Ended::Narrow { best, iterations } => {
            let mu = HANDED_OVER * best.objective.min(1.0);
            let solution = interior::minimize(objective, best.x, mu, iterations, options, control)?;
            if solution.status != Status::NoProgress {
                return Ok(solution);
            }
            slowly(objective, solution, options, control)
        }
    }
}

/// What is left where the interior-point method's step ends short, such as for spreads that vanish together at
/// the optimum (a few directions per row, more features than rows): the cone-aware method; for small
/// problems of hinges Clarabel, whose cones are exact where ours stalls near 1e-5; and Newton with a
/// smoothing that shrinks slowly.
fn slowly(objective: &LinearObjective<'_>, before: Solution, options: &Options, control: &Control) -> Result<Solution> {
    let mut best = before;
    let mut improved = false;
    if cone::fits(objective) {
        let after = cone::minimize(objective, best.iterations, options, control)?;
        improved = take_better(&mut best, after);
    }
    #[cfg(feature = "clarabel")]
    if best.gap > options.tol && clarabel::is_small(objective) {
        let after = clarabel::minimize(objective, options, control)?;
        let iterations = best.iterations + after.iterations;
        improved |= take_better(&mut best, Solution { iterations, ..after });
    }
    if improved {
        return Ok(best);
    }
    let mut x = best.w.clone();
    x.push(best.b);
    let start = Start { x, epsilon: SLOW_EPSILON, factor: None };
    let left = Options { max_iter: Some(options.iterations().saturating_sub(best.iterations).max(1)), ..*options };
    match newton::minimize(objective, start, false, &left, control)? {
        Ended::Done(after) => {
            let iterations = best.iterations + after.iterations;
            take_better(&mut best, after);
            Ok(Solution { iterations, ..best })
        }
        Ended::Narrow { .. } => Err(Error::Internal("smoothing gave up where it must not".into())),
    }
}

/// Put the solution with the smaller gap into `best`; was it the new one?
fn take_better(best: &mut Solution, after: Solution) -> bool {
    let better = after.gap < best.gap;
    if better {
        *best = after;
    }
    better
}

/// Descend from `start` to a local minimum of an objective that need not be convex.
pub(crate) fn descend(
    objective: &LinearObjective<'_>,
    start: &[f64],
    max_iter: usize,
    control: &Control,
) -> Result<Solution> {
    let options = Options { max_iter: Some(max_iter), ..Options::default() };
    let start = Start { x: start.to_vec(), epsilon: 0.0, factor: None };
    match lbfgs::minimize(objective, start, false, &options, control)? {
        Ended::Done(solution) => Ok(solution),
        Ended::Narrow { .. } => Err(Error::Internal("smoothing gave up where it must not".into())),
    }
}
