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
use crate::model::profile::end;

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
