//! Solvers of the linear problem, behind one function: [`fit_linear`].
//!
//! All but SGD stop on the certified relative duality gap, not on a gradient norm whose
//! meaning depends on the scale of the data. SGD takes the steps it is given and reports the gap it
//! reached. Not converging is a [`Status`], not an error.
//!
//! Large problems are first solved roughly on a random tenth of the rows, an eighth if these are few (and the sample,
//! if it is still large, on one of its own). The full problem then starts near its optimum. The sample's Hessian, off by a few per cent,
//! preconditions L-BFGS: about five passes over all rows, each as costly as a gradient, whatever the scales of the features.
//!
//! Rows without spread make the objective kinked. Newton and L-BFGS stop where smoothing the kinks would have to become
//! very narrow, and an interior-point method goes on (`interior`), which is also that of kinked losses and exact rows. If
//! all rows are exact and wide, their dual is solved by coordinates (`coordinate`: 12,000 x 784 in a twentieth of the
//! interior-point method's time). Rows that are uncertain in few directions only, with enough features to avoid them
//! all, use the cone-aware method (`cone`) from the start, in the space that they span. All stop on the same gap.
//!
//! To add a solver: one file, one variant of [`SolverKind`]; the tests below run every variant.

mod cone;
mod coordinate;
mod few;
mod follow;
mod interior;
mod lbfgs;
pub(crate) mod levenberg;
mod newton;
mod options;
mod remote;
mod sample;
pub mod sgd;
pub mod smo;
mod smoothing;
mod solution;
mod sphere;
mod stop_rule;
mod strategy;
mod trust_region;
mod zero;

pub(crate) use few::FewRows;
pub(crate) use follow::{WarmStart, follow};
pub(crate) use lbfgs::{CurvaturePair, MEMORY, direction};
pub use options::{Options, SolverKind};
pub(crate) use remote::{Guess, fit_remote};
pub use solution::{Solution, Status};
pub(crate) use strategy::descend;

use crate::control::Control;
use crate::data::RowSource;
use crate::error::{Error, Result};
use crate::objective::{Derivatives, Evaluation, LinearObjective, Problem};
use crate::parallel;
use crate::sums::RowSums;
use sample::first_guess;
use solution::{Best, Ended, Start};
use strategy::{first_epsilon, solve};

/// Fit w and b from `start` (d numbers for w, one for b), or from zero.
pub fn fit_linear(
    problem: &Problem<'_>,
    kind: SolverKind,
    options: &Options,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Solution> {
    options.check()?;
    fit(&problem.check()?, kind, options, start.map(Near::Point), control)
}

/// [`fit_linear`] from a guess for the same rows with other weights.
pub(crate) fn fit_near(
    problem: &Problem<'_>,
    kind: SolverKind,
    options: &Options,
    guess: &Guess,
    control: &Control,
) -> Result<Solution> {
    options.check()?;
    fit(&problem.check()?, kind, options, Some(Near::Guess(guess)), control)
}

/// [`fit_linear`] of a score that is linear in exact rows of `source`, one per row of the problem's data: d is their
/// width. They are computed anew in every pass and never held. Not for [`SolverKind::Sgd`].
pub fn fit_source(
    problem: &Problem<'_>,
    source: &dyn RowSource,
    kind: SolverKind,
    options: &Options,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Solution> {
    options.check()?;
    if kind == SolverKind::Sgd {
        return Err(Error::parameter("solver", kind.name(), "one that passes over all rows: auto, newton or lbfgs"));
    }
    fit(&problem.check()?.with_source(source)?, kind, options, start.map(Near::Point), control)
}

/// The caller's guess of the optimum.
#[derive(Clone, Copy)]
enum Near<'a> {
    Point(&'a [f64]),
    Guess(&'a Guess),
}

impl Near<'_> {
    fn x(&self) -> &[f64] {
        match self {
            Self::Point(x) => x,
            Self::Guess(guess) => &guess.0.x,
        }
    }
}

fn fit(
    objective: &LinearObjective<'_>,
    kind: SolverKind,
    options: &Options,
    near: Option<Near<'_>>,
    control: &Control,
) -> Result<Solution> {
    let loss = objective.problem().loss;
    if !loss.is_convex() {
        return Err(Error::parameter("loss", format!("{loss:?}"), "convex"));
    }
    let start = near.as_ref().map(Near::x);
    if let Some(x) = start.filter(|x| x.len() != objective.dim() || x.iter().any(|v| !v.is_finite())) {
        return Err(Error::shape("start", format!("{} finite numbers", objective.dim()), x.len()));
    }
    control.check()?;
    // Everything runs on a pool of this crate, also for a caller who has not chosen one.
    parallel::run(|| {
        if kind == SolverKind::Sgd {
            return sgd::fit(objective, options, start, control);
        }
        if let Some(losses) = coordinate::losses(objective) {
            let solution = coordinate::minimize(objective, losses, options, control)?;
            // Nothing here takes over where a tube is exact; who can write it as two hinges does.
            if solution.status != Status::NoProgress || loss.dual(0).is_none() {
                return Ok(solution);
            }
        }
        if cone::is_thin(objective) && cone::fits(objective) {
            let solution = cone::minimize(objective, 0, options, control)?;
            if solution.status != Status::NoProgress {
                return Ok(solution);
            }
        }
        let start = match near {
            Some(Near::Point(x)) => Start { x: x.to_vec(), epsilon: first_epsilon(objective, x), factor: None },
            Some(Near::Guess(guess)) => guess.0.clone(),
            None => first_guess(objective, options, control)?,
        };
        solve(kind, objective, start, options, control)
    })?
}

/// Are exact rows of so many features, and so many of them, solved by their dual's coordinates?
pub(crate) fn by_coordinates(n_rows: usize, n_features: usize) -> bool {
    coordinate::are_wide(n_rows, n_features)
}

/// Is the Newton system of a problem with so many computed columns a matrix?
pub(crate) fn holds_matrix(width: usize) -> bool {
    width < interior::LARGEST_COMPUTED
}

/// J and bound at a point, without derivatives beyond the first.
fn assess<R: RowSums>(objective: &LinearObjective<'_, R>, x: &[f64], control: &Control) -> Result<Evaluation> {
    objective.evaluate(x, 0.0, Derivatives::Gradient, control)
}

#[cfg(test)]
mod tests;
