//! Intervals of coefficients by the profile of the likelihood.
//!
//! With the other parameters at their best for each value c of a coefficient, the interval has the c with
//! ```text
//! 2 (sum c_i) (F(c) - F(best)) V2 / V <= z^2
//! ```
//! V the coefficient's variance with both stages counted and V2 that of the second stage alone: the profile knows
//! nothing of the density's uncertainty, which widens it as it does the standard error.

use crate::control::Control;
use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::model::law::likelihood::Likelihood;
use crate::model::law::newton::{Maximum, maximum, square};

/// Most fits for an end of an interval.
const MOST_FITS: usize = 30;
/// An end is found to this part of the half-width.
const ENOUGH: f64 = 1e-6;
/// Standard errors from the estimate beyond which an interval has no end.
const ENDLESS: f64 = 100.0;

/// Lower and upper ends of all coefficients, infinite where there is none, NaN where standard errors are not known.
pub(super) fn intervals(
    likelihood: Likelihood<'_>,
    best: &Maximum,
    covariance: &[f64],
    alphas: &[f64],
    z: f64,
    control: &Control,
) -> Result<Vec<f64>> {
    let (p, q) = (likelihood.p(), best.free.len());
    let mut ends = vec![];
    for place in likelihood.first_coef()..likelihood.modes().start {
        let variance = covariance[place * p + place];
        let mut information = square(&best.at.hessian, &best.free);
        information.iter_mut().for_each(|h| *h = -*h);
        for (at, &own) in best.free.iter().enumerate() {
            let alpha = own.checked_sub(likelihood.first_coef()).and_then(|j| alphas.get(j)).unwrap_or(&0.0);
            information[at * q + at] += alpha * likelihood.weight();
        }
        let own = best.free.iter().position(|free| *free == place);
        let (Some(own), true) = (own, variance > 0.0 && cholesky(&mut information, q)) else {
            ends.extend([f64::NAN; 2]);
            continue;
        };
        // How the others follow this coefficient, and its variance in this stage alone.
        let mut along = vec![0.0; q];
        along[own] = 1.0;
        cholesky_solve(&information, q, &mut along);
        let alone = along[own];
        let std = variance.sqrt();
        let root = |by: f64| -> Result<f64> {
            control.check()?;
            let mut start = best.theta.clone();
            best.free.iter().zip(&along).for_each(|(&at, along)| start[at] += by * along / alone);
            start[place] = best.theta[place] + by;
            let there = maximum(likelihood, start, alphas, Some(place), &control.quiet())?;
            Ok((2.0 * likelihood.weight() * (there.value - best.value).max(0.0) * alone / variance).sqrt())
        };
        for sign in [-1.0, 1.0] {
            ends.push(best.theta[place] + end(z, sign * std, root)?);
        }
    }
    Ok(ends)
}

/// The distance from the best at which the root of the deviance is z, by secants inside a bracket; it is about |by| / |std|.
fn end(z: f64, std: f64, root: impl Fn(f64) -> Result<f64>) -> Result<f64> {
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
