//! Problems whose rows other processes hold: passes alone, from the solution on a sample that is here.
//!
//! If all rows have error bars, large problems are solved as usual: about five passes of L-BFGS, preconditioned by the
//! sample's Hessian. If rows have none, or the loss has kinks that spread does not smooth, interior-point methods would go
//! on, but they keep numbers beside every row. Here Newton's method goes on instead and lowers the smoothing until the gap
//! is closed. If it stops before that, its status says so.

use super::sample::solve_sample;
use super::strategy::{GUESSED, start_near};
use super::{Ended, Options, Solution, SolverKind, Start, Status, assess, lbfgs, newton, smoothing};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::loss::Smoothness;
use crate::objective::{LinearObjective, Problem};
use crate::parallel;
use crate::sums::RowSums;

/// Iterations of L-BFGS before Newton tries.
const LBFGS_ITERATIONS: usize = 40;

/// Where passes over remote rows start, or over rows of which only the weights are others.
#[derive(Debug, Clone)]
pub(crate) struct Guess(pub(super) Start);

impl Guess {
    /// The rough solution of a sample.
    pub(crate) fn from_sample(sample: &Problem<'_>, options: &Options, control: &Control) -> Result<Self> {
        let objective = sample.check()?;
        parallel::run(|| solve_sample(&objective, options, control))?.map(Self)
    }

    /// A point near the optimum, as that of the same rows with other weights is.
    pub(crate) fn near(problem: &Problem<'_>, x: &[f64], control: &Control) -> Result<Self> {
        let objective = problem.check()?;
        parallel::run(|| start_near(&objective, x, control))?.map(Self)
    }
}

/// Fit w and b by passes. A solution that has not converged says how far it came.
pub(crate) fn fit_remote<R: RowSums>(
    objective: &LinearObjective<'_, R>,
    guess: &Guess,
    kind: SolverKind,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    let facts = objective.facts();
    let kinked = facts.exact || facts.loss.smoothness() == Smoothness::Kinked;
    let dense = objective.dim() <= newton::DENSE;
    let by_newton = dense && (kinked || kind == SolverKind::Newton);
    let Guess(mut start) = guess.clone();
    if kinked {
        start.epsilon = start.epsilon.max(GUESSED);
    }
    let first = if by_newton {
        done(newton::minimize(objective, start, false, options, control)?)?
    } else {
        let max_iter = options.max_iter.or(dense.then_some(LBFGS_ITERATIONS));
        done(lbfgs::minimize(objective, start, false, &Options { max_iter, ..*options }, control)?)?
    };
    let asked = options.max_iter.is_some_and(|most| first.iterations >= most);
    if first.status == Status::Converged || !dense || asked {
        return Ok(first);
    }
    let x: Vec<f64> = first.w.iter().copied().chain([first.b]).collect();
    // Rows have become narrow (all of them where w = 0 is the optimum), or convergence is slow.
    let narrow = smoothing::is_needed(&assess(objective, &x, control)?);
    if by_newton && (kinked || !narrow) {
        return Ok(first);
    }
    let start = Start { x, epsilon: if narrow { GUESSED } else { 0.0 }, factor: None };
    let second = done(newton::minimize(objective, start, false, options, control)?)?;
    let iterations = first.iterations + second.iterations;
    Ok(Solution { iterations, ..if second.gap < first.gap { second } else { first } })
}

fn done(ended: Ended) -> Result<Solution> {
    match ended {
        Ended::Done(solution) => Ok(solution),
        Ended::Narrow { .. } => Err(Error::Internal("smoothing stopped where nothing takes over".into())),
    }
}
