//! Intervals of the coefficients by the profile of the likelihood: with everything else at its best for each value c of a
//! coefficient, the interval has the c with
//! ```text
//! 2 (F(c) - F(best)) V2 / V <= z^2
//! ```
//! F what the fit minimises, with the weights and variances of its last round. V is the coefficient's variance with both stages
//! counted, and V2 that of the likelihood given the density of true features.

use std::cell::{Cell, RefCell};

use crate::control::Control;
use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::model::profile::end;
use crate::solver::Status;
use crate::solver::levenberg::{Minimum, Objective, minimise};

/// Steps of one fit.
const MOST_STEPS: usize = 200;

/// Lower and upper ends of the d coefficients behind an intercept, infinite where there is none, NaN where standard errors are not known or a fit on
/// the way does not converge.
pub(super) fn intervals<O: Objective>(
    line: &mut O,
    d: usize,
    best: &Minimum<O::State>,
    free: &[usize],
    covariance: &[f64],
    (lower, upper): (&[f64], &[f64]),
    z: f64,
    control: &Control,
) -> Result<Vec<f64>> {
    let (width, q) = (best.at.len(), free.len());
    let Some((base, _)) = line.value(&best.at)? else { return Ok(vec![f64::NAN; 2 * d]) };
    let mut information: Vec<f64> =
        (0..q * q).map(|at| best.derivatives.hessian[free[at / q] * width + free[at % q]]).collect();
    let sound = cholesky(&mut information, q);
    let line = RefCell::new(line);
    let mut ends = vec![];
    for place in 1..=d {
        let variance = covariance[place * width + place];
        let own = free.iter().position(|free| *free == place);
        let (Some(own), true) = (own, sound && variance > 0.0) else {
            ends.extend([f64::NAN; 2]);
            continue;
        };
        // How the others follow this coefficient, and its variance in this stage alone.
        let mut along = vec![0.0; q];
        along[own] = 1.0;
        cholesky_solve(&information, q, &mut along);
        let (alone, lost) = (along[own], Cell::new(false));
        let root = |by: f64| -> Result<f64> {
            control.check()?;
            let (mut start, mut held) = (best.at.clone(), (lower.to_vec(), upper.to_vec()));
            free.iter().zip(&along).for_each(|(&at, x)| start[at] += by * x / alone);
            start.iter_mut().zip(lower.iter().zip(upper)).for_each(|(at, (low, high))| *at = at.clamp(*low, *high));
            start[place] = best.at[place] + by;
            (held.0[place], held.1[place]) = (start[place], start[place]);
            let line = &mut **line.borrow_mut();
            let Some(first) = line.value(&start)? else {
                lost.set(true);
                return Ok(f64::INFINITY);
            };
            let there = minimise(line, start, first, (&held.0, &held.1), MOST_STEPS)?;
            // Of the last one, which is next to the end.
            lost.set(there.status != Status::Converged);
            Ok((2.0 * (there.value - base).max(0.0) * alone / variance).sqrt())
        };
        for sign in [-1.0, 1.0] {
            lost.set(false);
            let found = best.at[place] + end(z, sign * variance.sqrt(), root)?;
            // What a fit that ended early is below, its maximum is below all the more.
            ends.push(if lost.get() && found.is_finite() { f64::NAN } else { found });
        }
    }
    Ok(ends)
}
