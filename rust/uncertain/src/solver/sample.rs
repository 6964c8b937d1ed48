//! The rough solution on a sample of the rows, where a large problem starts.

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::control::Control;
use crate::error::Result;
use crate::linalg;
use crate::objective::{Derivatives, LinearObjective, Problem};

use super::smoothing::SAMPLE_EPSILON;
use super::strategy::solve;
use super::{Options, SolverKind, Start, newton, smoothing};

/// Rows from which a sample is solved first.
const SAMPLED_ROWS: usize = 8_192;
/// One row in so many is in the sample, which then takes about as long as two passes over all rows. With twice the rows
/// it would save less than one: each falls short of the optimum by the part unknowns / rows of the sample, about.
const SAMPLE_STRIDE: usize = 10;
/// One row in so many while these are few for the unknowns.
const DENSE_STRIDE: usize = 8;
/// Rows per unknown that are enough for a Hessian.
const ROWS_PER_UNKNOWN: usize = 128;
/// No sample is larger: a first guess from a million rows is no better than needed, and its rows are copied.
const MOST_SAMPLED_ROWS: usize = 1 << 16;
/// Nor is the copy, whatever the number of features: it is the only memory of a fit that grows with wide rows.
const SAMPLE_BYTES: usize = 128 << 20;
/// The optimum of the sample is off by its statistical error; solving it further would be waste. (J is much closer
/// to its minimum than the certificate says: that is of first order in the gradient.)
const SAMPLE_TOL: f64 = 1e-2;
/// Seed of the sample: an exact solver's answer does not depend on the user's.
const SEED: u64 = 0;

/// The rough solution on a sample of the rows, or zero when there are few.
pub(super) fn first_guess(objective: &LinearObjective<'_>, options: &Options, control: &Control) -> Result<Start> {
    let zero = Start { x: vec![0.0; objective.dim()], epsilon: 1.0, factor: None };
    let problem = objective.problem();
    let n = problem.data.n_rows();
    if n < SAMPLED_ROWS {
        return Ok(zero);
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let most = (SAMPLE_BYTES / problem.data.row_bytes()).clamp(SAMPLED_ROWS, MOST_SAMPLED_ROWS);
    let enough = (n / DENSE_STRIDE).min(ROWS_PER_UNKNOWN * objective.dim());
    let mut rows = index::sample(&mut rng, n, (n / SAMPLE_STRIDE).max(enough).min(most)).into_vec();
    rows.sort_unstable();
    let data = problem.data.take(&rows)?;
    let targets = problem.targets.take(&rows);
    // All weights of the sample may be zero: then it gives no start.
    let Ok(weights) = problem.weights.map(|w| w.take(&rows)).transpose() else { return Ok(zero) };
    let loss = problem.loss.take_rows(&rows);
    let loss = loss.as_deref().unwrap_or(problem.loss);
    let sample = Problem { data: &data, targets: (&targets).into(), weights: weights.as_ref(), loss, ..*problem };
    let sample = sample.check()?;
    let source = objective.source().map(|source| source.take(&rows)).transpose()?;
    let sample = match &source {
        Some(source) => sample.with_source(&**source)?,
        None => sample,
    };
    solve_sample(&sample, options, control)
}

/// The rough solution of this sample, with the smoothing and the Hessian at it.
pub(super) fn solve_sample(sample: &LinearObjective<'_>, options: &Options, control: &Control) -> Result<Start> {
    let start = first_guess(sample, options, control)?;
    let options = Options { tol: SAMPLE_TOL.max(options.tol), max_iter: None, ..*options };
    let solution = solve(SolverKind::Auto, sample, start, &options, &control.quiet())?;
    let mut x = solution.w;
    x.push(solution.b);
    if !newton::fits(sample) {
        return Ok(Start { x, epsilon: SAMPLE_EPSILON, factor: None });
    }
    let e = sample.evaluate(&x, SAMPLE_EPSILON, Derivatives::Hessian, control)?;
    let epsilon = if smoothing::is_needed(&e) { SAMPLE_EPSILON } else { 0.0 };
    let factor = e.hessian.and_then(|mut h| linalg::cholesky(&mut h, x.len()).then_some(h));
    Ok(Start { x, epsilon, factor })
}
