//! Intervals of coefficients by the profile of the likelihood.
//!
//! With the other parameters at their best for each value c of a coefficient, the interval has the c with
//! ```text
//! 2 (F(c) - F(best)) V2 / V <= z^2
//! ```
//! F what the fit minimises. V is the coefficient's variance with both stages counted and V2 that of the second stage alone: the
//! profile knows nothing of the density's uncertainty, of weights and groups, which widen it as they do the standard error.

use std::cell::Cell;

use crate::error::Result;
use crate::linalg::Spd;
use crate::model::law::newton::{Maximum, Problem, square};
use crate::solver::Status;

/// Most fits for an end of an interval.
const MOST_FITS: usize = 30;
/// An end is found to this part of the half-width.
const ENOUGH: f64 = 1e-6;
/// Standard errors from the estimate beyond which an interval has no end.
const ENDLESS: f64 = 100.0;

/// Lower and upper ends of all coefficients, infinite where there is none, NaN where standard errors are not known or a fit on
/// the way does not converge.
pub(in crate::model) fn intervals(
    problem: &Problem<'_>,
    best: &Maximum,
    covariance: &[f64],
    z: f64,
) -> Result<Vec<f64>> {
    let (likelihood, q) = (&problem.likelihood, best.free.len());
    let p = likelihood.p();
    let information = Spd::new(square(&best.hessian, &best.free), q);
    let mut ends = vec![];
    for place in likelihood.first_coef()..likelihood.modes().start {
        let variance = covariance[place * p + place];
        let own = best.free.iter().position(|free| *free == place);
        let (Some(own), Some(information), true) = (own, &information, variance > 0.0) else {
            ends.extend([f64::NAN; 2]);
            continue;
        };
        // How the others follow this coefficient, and its variance in this stage alone.
        let along = information.solve((0..q).map(|a| f64::from(u8::from(a == own))).collect());
        let (alone, lost) = (along[own], Cell::new(false));
        let quiet = problem.control.quiet();
        let root = |by: f64| -> Result<f64> {
            problem.control.check()?;
            let mut start = best.theta.clone();
            best.free.iter().zip(&along).for_each(|(&at, along)| start[at] += by * along / alone);
            let bounds = problem.lower.iter().zip(problem.upper);
            start.iter_mut().zip(bounds).for_each(|(at, (low, high))| *at = at.clamp(*low, *high));
            start[place] = best.theta[place] + by;
            let there = Problem { control: &quiet, ..*problem }.maximum(start, Some(place))?;
            // Of the last one, which is next to the end.
            lost.set(there.status != Status::Converged);
            Ok((2.0 * (there.value - best.value).max(0.0) * alone / variance).sqrt())
        };
        for sign in [-1.0, 1.0] {
            lost.set(false);
            let limit = best.theta[place] + end(z, sign * variance.sqrt(), root)?;
            // What a fit that ended early is below, its maximum is below all the more.
            ends.push(if lost.get() && limit.is_finite() { f64::NAN } else { limit });
        }
    }
    Ok(ends)
}

/// The distance from the best at which the root of the deviance is z, by secants inside a bracket; it is about |by| / |std|.
pub(in crate::model) fn end(z: f64, std: f64, root: impl Fn(f64) -> Result<f64>) -> Result<f64> {
    let ((mut low, mut at_low), mut high) = ((0.0, -z), f64::INFINITY);
    let mut by = z;
    for _ in 0..MOST_FITS {
        let value = root(by * std)? - z;
        if value.abs() <= ENOUGH * z || high - low <= ENOUGH * low {
            break;
        }
        // The root of the deviance is nearly linear: the line through this point and the last one below.
        let next = by - value * (by - low) / (value - at_low);
        if value < 0.0 {
            (low, at_low) = (by, value);
        } else {
            high = by;
        }
        by = if high.is_infinite() {
            if next.is_finite() && next > by { next.min(4.0 * by) } else { 2.0 * by }
        } else if next > low && next < high {
            next
        } else {
            0.5 * (low + high)
        };
        if by > ENDLESS {
            return Ok(f64::INFINITY * std.signum());
        }
    }
    Ok(by * std)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_where_the_root_is() {
        for z in [1.0, 1.96] {
            let found = end(z, -0.5, |by| Ok((by.abs() / 0.5).powf(0.8))).unwrap();
            assert!(((found.abs() / 0.5).powf(0.8) - z).abs() < 1e-5 && found < 0.0);
            assert_eq!(end(z, 0.5, |by| Ok((by / 0.5).tanh() * 0.9 * z)).unwrap(), f64::INFINITY);
        }
    }
}
