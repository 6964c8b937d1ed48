//! Solvers of the linear problem, behind one function: [`fit_linear`].
//!
//! Newton and L-BFGS stop on the certified relative duality gap, not on a gradient norm whose
//! meaning depends on the scale of the data. SGD takes the steps it is given and reports the gap it
//! reached. Not converging is a [`Status`], not an error.
//!
//! Large problems are first solved roughly on a random eighth of the rows (and that one, if still
//! large, on an eighth of its own). The full problem then starts near its optimum, and the sample's
//! Hessian, off by a few per cent, preconditions L-BFGS: some five passes over all rows, each at the
//! price of a gradient, whatever the scales of the features.
//!
//! Rows without spread make the objective kinked. Where smoothing them would have to become very
//! narrow, Newton and L-BFGS hand over to an interior-point method, which stops on the same gap; where all rows are
//! exact it is the one for quadratic programs (`points`) from the start. Rows that
//! are uncertain in few directions only, with features enough to avoid them all, go to one of their own
//! (`cone`) at once, in the space that they span.
//!
//! Hinges can also be given to a cone solver as a whole ([`fit_clarabel`], a feature of the build): slow, but
//! written by others.
//!
//! To add a solver: one file, one variant of [`SolverKind`]; the tests below run every variant.

#[cfg(feature = "clarabel")]
mod clarabel;
mod cone;
mod interior;
mod lbfgs;
mod newton;
mod points;
pub mod sgd;
pub mod smo;
mod smoothing;
mod trust_region;

use std::str::FromStr;

#[cfg(feature = "clarabel")]
pub use clarabel::fit_clarabel;
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::control::Control;
use crate::data::Kind;
use crate::error::{Error, Result};
use crate::linalg;
use crate::loss::Smoothness;
use crate::objective::{Evaluation, LinearObjective, Objective, Problem, RowSource, Want};
use crate::parallel;

/// The solvers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SolverKind {
    /// Newton for few rows; for many, L-BFGS preconditioned with the Hessian of a sample.
    #[default]
    Auto,
    /// Trust-region Newton-CG: the Hessian as a matrix for up to a few hundred features, streamed
    /// Hessian-vector products above.
    Newton,
    /// Limited-memory BFGS.
    Lbfgs,
    /// Stochastic gradient steps of Pegasos type.
    Sgd,
}

impl SolverKind {
    /// All of them, by the names users write.
    pub const ALL: [(&'static str, Self); 4] =
        [("auto", Self::Auto), ("newton", Self::Newton), ("lbfgs", Self::Lbfgs), ("sgd", Self::Sgd)];

    /// The name users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, kind)| *kind == self).map_or("auto", |(name, _)| name)
    }
}

impl std::str::FromStr for SolverKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
        let names = Self::ALL.map(|(known, _)| known).join(", ");
        found.map(|(_, kind)| kind).ok_or_else(|| Error::parameter("solver", name, format!("one of {names}")))
    }
}

/// How a solver runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Stop when the certified relative duality gap is at most this.
    pub tol: f64,
    /// Iterations of Newton and L-BFGS, steps of SGD; `None`: 500, 500, 20,000.
    pub max_iter: Option<usize>,
    /// SGD: rows per step.
    pub batch_size: usize,
    /// SGD: return the average of the last half of the iterates.
    pub averaging: bool,
    /// SGD: keep |w| <= 1 / sqrt(alpha), where the optimum is known to be.
    pub projection: bool,
    /// SGD: the step is 1 / (alpha (t + offset)); `None` is 1 / alpha (first step of length one), 0 the paper's.
    pub step_offset: Option<f64>,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tol: 1e-6,
            max_iter: None,
            batch_size: 64,
            averaging: true,
            projection: true,
            step_offset: None,
            seed: 0,
        }
    }
}

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The certified gap is at most `tol`.
    Converged,
    /// `max_iter` iterations without reaching `tol`.
    MaxIterations,
    /// Rounding prevents further progress; the gap says how good the point is.
    NoProgress,
    /// SGD: took the steps it was given.
    StepsDone,
}

impl Status {
    /// The name users see.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::MaxIterations => "max_iter",
            Self::NoProgress => "no_progress",
            Self::StepsDone => "steps_done",
        }
    }
}

/// Is the Newton system of a problem with so many computed columns a matrix?
pub(crate) fn holds_matrix(width: usize) -> bool {
    width < interior::LARGEST_COMPUTED
}

impl FromStr for Status {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let all = [Self::Converged, Self::MaxIterations, Self::NoProgress, Self::StepsDone];
        let found = all.into_iter().find(|status| status.name() == name);
        found.ok_or_else(|| Error::Data(format!("`{name}` is not a way a fit can end")))
    }
}

/// Where a solver ended, and how good that is.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Weights.
    pub w: Vec<f64>,
    /// Intercept.
    pub b: f64,
    /// J(w, b).
    pub objective: f64,
    /// Certified relative duality gap: J(w, b) - J* <= gap * J(w, b).
    pub gap: f64,
    /// Iterations over all rows (SGD: steps).
    pub iterations: usize,
    /// How it ended.
    pub status: Status,
}

/// The best point and the best bound seen: each certifies the other.
#[derive(Debug)]
struct Best {
    x: Vec<f64>,
    objective: f64,
    bound: f64,
}

impl Best {
    fn new(x: &[f64], e: &Evaluation) -> Self {
        Self { x: x.to_vec(), objective: e.objective, bound: e.bound }
    }

    fn see(&mut self, x: &[f64], e: &Evaluation) {
        self.bound = self.bound.max(e.bound);
        if e.objective < self.objective {
            self.objective = e.objective;
            self.x.copy_from_slice(x);
        }
    }

    fn gap(&self) -> f64 {
        if self.objective > 0.0 { ((self.objective - self.bound) / self.objective).max(0.0) } else { 0.0 }
    }

    fn solution(self, iterations: usize, status: Status) -> Solution {
        let (gap, d) = (self.gap(), self.x.len() - 1);
        Solution { b: self.x[d], w: self.x[..d].to_vec(), objective: self.objective, gap, iterations, status }
    }
}

/// A point to start from, and the smoothing that goes with it.
struct Start {
    x: Vec<f64>,
    epsilon: f64,
    /// Cholesky factor of a Hessian close to that at the optimum.
    factor: Option<Vec<f64>>,
}

/// How Newton or L-BFGS ended.
enum Ended {
    Done(Solution),
    /// Some rows have so little spread that the interior-point method should go on from here.
    Narrow {
        best: Best,
        iterations: usize,
    },
}

/// Rows from which a sample is solved first.
const SAMPLED_ROWS: usize = 8_192;
/// One row in so many is in the sample.
const SAMPLE_STRIDE: usize = 8;
/// The sample's own optimum is off by its statistical error; solving it further would be waste.
const SAMPLE_TOL: f64 = 1e-3;
/// Smoothing to start with after a sample: rows with error bars are wider and switch it off at once.
const SAMPLE_EPSILON: f64 = 0.05;
/// Barrier parameter after a sample of computed rows.
const COMPUTED_MU: f64 = 0.2;
/// Smoothing from which a slow descent starts.
const SLOW_EPSILON: f64 = 0.1;
/// Barrier parameter, in units of J, with which the interior-point method goes on from there.
const HANDED_OVER: f64 = 0.05;

/// Fit w and b from `start` (d numbers for w, one for b), or from zero.
///
/// # Errors
/// Bad sizes, targets, weights or parameters; data so large that J overflows; [`Error::Interrupted`].
pub fn fit_linear(
    problem: &Problem<'_>,
    kind: SolverKind,
    options: &Options,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Solution> {
    options.check()?;
    fit(&problem.check()?, kind, options, start, control)
}

/// [`fit_linear`] of a score that is linear in exact rows of `source`, one per row of the problem's data: d is their
/// width. They are computed anew in every pass and never held. Not for [`SolverKind::Sgd`].
///
/// # Errors
/// Those of [`fit_linear`] and of the source.
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
    fit(&problem.check()?.of_source(source)?, kind, options, start, control)
}

fn fit(
    objective: &LinearObjective<'_>,
    kind: SolverKind,
    options: &Options,
    start: Option<&[f64]>,
    control: &Control,
) -> Result<Solution> {
    let loss = objective.problem().loss;
    if !loss.is_convex() {
        return Err(Error::parameter("loss", format!("{loss:?}"), "convex"));
    }
    if let Some(x) = start.filter(|x| x.len() != objective.dim() || x.iter().any(|v| !v.is_finite())) {
        return Err(Error::shape("start", format!("{} finite numbers", objective.dim()), x.len()));
    }
    control.check()?;
    // Everything runs on one of our own pools, also for a caller who has not chosen one.
    parallel::run(|| {
        if kind == SolverKind::Sgd {
            return sgd::fit(objective, options, start, control);
        }
        if cone::is_thin(objective) && cone::fits(objective) {
            let solution = cone::minimize(objective, 0, options, control)?;
            if solution.status != Status::NoProgress {
                return Ok(solution);
            }
        }
        let start = match start {
            // The smoothing finds out by itself, in one pass, that it is not needed.
            Some(x) => Start { x: x.to_vec(), epsilon: 0.1, factor: None },
            None => first_guess(objective, options, control)?,
        };
        smooth(kind, objective, start, options, control)
    })?
}

/// Is [`fit_clarabel`] in this build (Cargo feature `clarabel`)?
pub const HAS_CLARABEL: bool = cfg!(feature = "clarabel");

/// The place of Clarabel in a build without it.
///
/// # Errors
/// Always: [`Error::Parameter`].
#[cfg(not(feature = "clarabel"))]
pub fn fit_clarabel(_: &Problem<'_>, _: &Options, _: &Control) -> Result<Solution> {
    Err(Error::parameter("solver", "\"clarabel\"", "\"auto\": this build is without the Cargo feature clarabel"))
}

/// Solve with Newton or L-BFGS, and with the interior-point method what they cannot.
fn smooth(
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

/// The rough solution on a sample of the rows, or zero when there are few.
fn first_guess(objective: &LinearObjective<'_>, options: &Options, control: &Control) -> Result<Start> {
    let zero = Start { x: vec![0.0; objective.dim()], epsilon: 1.0, factor: None };
    let problem = objective.problem();
    let n = problem.data.n_rows();
    if n < SAMPLED_ROWS {
        return Ok(zero);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let mut rows = index::sample(&mut rng, n, n / SAMPLE_STRIDE).into_vec();
    rows.sort_unstable();
    let data = problem.data.take(&rows)?;
    let pick = |values: &[f64]| rows.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let (targets, weights) = (pick(problem.targets), problem.weights.map(pick));
    let loss = problem.loss.of_rows(&rows);
    let loss = loss.as_deref().unwrap_or(problem.loss);
    let sample = Problem { data: &data, targets: &targets, weights: weights.as_deref(), loss, ..*problem };
    // All weights of the sample may be zero: then it has nothing to say.
    let Ok(sample) = sample.check() else { return Ok(zero) };
    let source = objective.source().map(|source| source.take(&rows)).transpose()?;
    let sample = match &source {
        Some(source) => sample.of_source(&**source)?,
        None => sample,
    };
    let start = first_guess(&sample, options, control)?;
    let options = Options { tol: SAMPLE_TOL.max(options.tol), max_iter: None, ..*options };
    let solution = smooth(SolverKind::Auto, &sample, start, &options, &control.quiet())?;
    let mut x = solution.w;
    x.push(solution.b);
    if sample.dim() > newton::DENSE {
        return Ok(Start { x, epsilon: SAMPLE_EPSILON, factor: None });
    }
    let e = sample.evaluate(&x, SAMPLE_EPSILON, Want::Hessian, control)?;
    let epsilon = if smoothing::is_needed(&e) { SAMPLE_EPSILON } else { 0.0 };
    let factor = e.hessian.and_then(|mut h| linalg::cholesky(&mut h, x.len()).then_some(h));
    Ok(Start { x, epsilon, factor })
}

impl Options {
    /// Are all options in range?
    pub fn check(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            return Err(Error::parameter("tol", self.tol, "a finite number > 0"));
        }
        if self.max_iter == Some(0) {
            return Err(Error::parameter("max_iter", 0, ">= 1"));
        }
        if self.batch_size == 0 {
            return Err(Error::parameter("batch_size", 0, ">= 1"));
        }
        if let Some(offset) = self.step_offset.filter(|x| !(*x >= 0.0 && x.is_finite())) {
            return Err(Error::parameter("step_offset", offset, "a finite number >= 0"));
        }
        Ok(())
    }

    fn iterations(&self) -> usize {
        self.max_iter.unwrap_or(500)
    }
}

/// J at the start: with the smoothing asked for, or with more where rows turn out to be narrow.
fn evaluate_start(objective: &dyn Objective, start: &Start, want: Want, control: &Control) -> Result<Evaluation> {
    let e = objective.evaluate(&start.x, start.epsilon, want, control)?;
    if e.epsilon == 0.0 && smoothing::is_needed(&e) {
        return objective.evaluate(&start.x, SAMPLE_EPSILON, want, control);
    }
    Ok(e)
}

/// J and bound at a point, without derivatives beyond the first.
fn assess(objective: &dyn Objective, x: &[f64], control: &Control) -> Result<Evaluation> {
    objective.evaluate(x, 0.0, Want::Gradient, control)
}

#[cfg(test)]
mod tests;
