//! When to lower the smoothing eps of J_eps.
//!
//! Data with error bars everywhere need it only at the start: w = 0 gives every row a spread of zero.
//! Once the narrowest row is wider than eps it is dropped for good. With exact points among the
//! rows eps must shrink instead, each time the solver has little left to win at the present one:
//! what then remains of the gap is the smoothing's own. The certificate says when to stop, so no
//! final eps has to be chosen.

use crate::objective::Evaluation;

/// Factor by which eps shrinks.
const SHRINK: f64 = 0.1;
/// Part of the gap that a further step must promise to win, else eps is what keeps the gap open.
const WORTHWHILE: f64 = 0.25;
/// Below this (in units of the margin) rounding decides which side of a kink a row is on.
const SMALLEST: f64 = 1e-13;

/// The smoothing for the next step; `promised` is the decrease of J_eps that the step's model predicts.
pub(super) fn next(e: &Evaluation, promised: f64) -> f64 {
    if e.epsilon == 0.0 || e.narrowest >= 2.0 * e.epsilon {
        return 0.0;
    }
    let gap = e.objective - e.bound;
    if promised < WORTHWHILE * gap { (SHRINK * e.epsilon).max(SMALLEST) } else { e.epsilon }
}

/// Is there nothing left to lower?
pub(super) fn is_exhausted(epsilon: f64) -> bool {
    epsilon <= SMALLEST
}
