//! When to lower the smoothing eps of J_eps.
//!
//! Data with error bars everywhere need it only at the start: w = 0 gives every row a spread of zero.
//! Once the narrowest row is wider than eps it is dropped for good, and so it is where eps has to shrink below
//! [`NARROW`] while no row is that narrow. With exact points among the
//! rows eps must shrink instead, each time a step at the present one would win less than the part
//! of the gap that the smoothing keeps open. That is fine while eps is a good part of the margin;
//! below [`NARROW`] the interior-point method takes over.

use super::Start;
use crate::control::Control;
use crate::error::Result;
use crate::objective::{Derivatives, Evaluation, LinearObjective};
use crate::sums::RowSums;

/// Factor by which eps shrinks.
const SHRINK: f64 = 0.1;
/// Decrease where no other method goes on: slowly enough for Newton to follow.
const SHRINK_SLOWLY: f64 = 0.3;
/// Below this (in units of the margin) rounding decides which side of a kink a row is on.
const SMALLEST: f64 = 1e-11;
/// A step worth taking at this eps promises at least this part of the gap that eps keeps open.
const WORTHWHILE: f64 = 0.25;
/// Iterations in which data with error bars everywhere have converged.
const USUAL_ITERATIONS: usize = 15;
/// A smoothing (in units of the margin) below which rows see too little of the kinks of others.
const NARROW: f64 = 0.02;
/// Smoothing to start with after a sample: rows with error bars are wider and switch it off at once.
pub(super) const SAMPLE_EPSILON: f64 = 0.05;

/// The smoothing for the next step; `promised` is the decrease of J_eps that the step's model predicts.
pub(super) fn next(e: &Evaluation, promised: f64, hand_over: bool, tol: f64) -> f64 {
    // No row says how narrow it is where the loss is smooth by itself.
    let wide = (hand_over || e.narrowest == f64::INFINITY) && e.narrowest >= NARROW.max(2.0 * e.epsilon);
    if e.epsilon == 0.0 || wide {
        return 0.0;
    }
    let shrink = if hand_over { SHRINK } else { SHRINK_SLOWLY };
    let enough = e.smoothing_gap <= 0.3 * tol * e.objective;
    if promised >= WORTHWHILE * e.smoothing_gap || enough {
        return e.epsilon;
    }
    let less = (shrink * e.epsilon).max(SMALLEST);
    // Rows that are wide enough to do without are not handed over for an eps that has become narrow.
    if hand_over && is_too_narrow(less) && !is_needed(e) { 0.0 } else { less }
}

/// Is the narrowest row too narrow to do without?
pub(super) fn is_needed(e: &Evaluation) -> bool {
    e.narrowest < NARROW
}

/// Have rows become narrow while a solver worked for `iterations` without smoothing?
pub(super) fn was_dropped_too_early(e: &Evaluation, iterations: usize) -> bool {
    e.epsilon == 0.0 && is_needed(e) && iterations >= USUAL_ITERATIONS
}

/// Are there rows so narrow that smoothing is the wrong tool from here on?
pub(super) fn is_too_narrow(epsilon: f64) -> bool {
    epsilon > 0.0 && epsilon < NARROW
}

/// J at the start: with the smoothing asked for, or with more where rows turn out to be narrow.
pub(super) fn first_evaluation<R: RowSums>(
    objective: &LinearObjective<'_, R>,
    start: &Start,
    derivatives: Derivatives,
    control: &Control,
) -> Result<Evaluation> {
    let e = objective.evaluate(&start.x, start.epsilon, derivatives, control)?;
    if e.epsilon == 0.0 && is_needed(&e) {
        return objective.evaluate(&start.x, SAMPLE_EPSILON, derivatives, control);
    }
    Ok(e)
}
