//! The epsilon-insensitive loss where rows are exact: the tube's two ends as two hinges.
//!
//! Without spread the tube has two kinks per row, which smoothing alone resolves to no small gap on few rows. As
//! two rows, hinges of t - epsilon - f and f - t - epsilon ([`TubeEnds`]), it is a problem of margins, which
//! the interior-point methods solve to the same certified gap:
//!
//! ```text
//! J = alpha/2 |w|^2 + sum c (H_1 + H_2) = 2 (alpha/4 |w|^2 + sum c/2 H_1 + sum c/2 H_2)
//! ```
//!
//! It takes the rows twice, so it is the first choice only where all are exact and not wide, and a second one where
//! the usual way ends early.

use crate::control::Control;
use crate::data::Kind;
use crate::error::Result;
use crate::loss::TubeEnds;
use crate::objective::Problem;
use crate::solver::{Options, Solution, SolverKind, Status, by_coordinates, fit_linear};

/// The minimum for the loss of half width `epsilon` and exact targets; `usual` is the way of all losses.
pub(super) fn fit(
    problem: &Problem<'_>,
    epsilon: f64,
    solver: SolverKind,
    options: &Options,
    usual: impl Fn() -> Result<Solution>,
    control: &Control,
) -> Result<Solution> {
    problem.check()?;
    if let Some(solution) = flat(problem, epsilon) {
        return Ok(solution);
    }
    let ends = || by_ends(problem, epsilon, solver, options, control);
    let exact = problem.data.covariances().kind() == Kind::Zero;
    let narrow = exact && !by_coordinates(problem.data.n_rows(), problem.data.n_features());
    let first = if narrow { ends()? } else { usual()? };
    if first.status == Status::Converged {
        return Ok(first);
    }
    let second = if narrow { usual()? } else { ends()? };
    Ok(if second.gap < first.gap { second } else { first })
}

/// w = 0, when one tube holds all targets of positive weight: nothing is lost, and J = 0.
fn flat(problem: &Problem<'_>, epsilon: f64) -> Option<Solution> {
    let counted = |i: &usize| problem.weights.is_none_or(|c| c[*i] > 0.0);
    let targets = || (0..problem.targets.len()).filter(counted).map(|i| problem.targets.at(i));
    let (low, high) = (targets().fold(f64::INFINITY, f64::min), targets().fold(f64::NEG_INFINITY, f64::max));
    let b = if problem.fit_intercept { 0.5 * (low + high) } else { 0.0 };
    let holds = b - low <= epsilon && high - b <= epsilon;
    let w = vec![0.0; problem.data.n_features()];
    holds.then_some(Solution { w, b, objective: 0.0, gap: 0.0, iterations: 0, status: Status::Converged })
}

fn by_ends(
    problem: &Problem<'_>,
    epsilon: f64,
    solver: SolverKind,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    let n = problem.targets.len();
    let rows: Vec<usize> = (0..n).chain(0..n).collect();
    let data = problem.data.take(&rows)?;
    let sign = |k: usize| if k < n { 1.0 } else { -1.0 };
    let signs: Vec<f64> = (0..2 * n).map(sign).collect();
    let offsets = rows.iter().enumerate().map(|(k, &i)| sign(k) * problem.targets.at(i) - epsilon).collect();
    let weights = problem.weights.map(|c| c.take(&rows)).transpose()?;
    let doubled = Problem {
        data: &data,
        targets: (&signs).into(),
        weights: weights.as_ref(),
        alpha: 0.5 * problem.alpha,
        loss: &TubeEnds::new(offsets),
        ..*problem
    };
    let solution = fit_linear(&doubled, solver, options, None, control)?;
    Ok(Solution { objective: 2.0 * solution.objective, ..solution })
}
