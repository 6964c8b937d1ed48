//! Intervals of the slopes by the profile of the likelihood: with everything else at its best for each value c of a slope,
//! the interval has the c with
//! ```text
//! 2 (L(best) - L(c)) V2 / V <= z^2
//! ```
//! L counts the degrees of freedom of the scatter ([`Freedom`]). V is the slope's variance, V2 the one that L tells of: the
//! same where rows are independent and weigh alike. Weights count as so many rows, (sum c)^2 / sum c^2, and groups
//! widen the interval as they do the standard error.

use std::cell::Cell;

use crate::control::Control;
use crate::data::Incomplete;
use crate::deconvolution::Mixture;
use crate::deconvolution::with_target::Weight;
use crate::error::{Error, Result};
use crate::model::mixture_regression::freedom::Freedom;
use crate::model::mixture_regression::information::{errors, information};
use crate::model::mixture_regression::law::{Law, least_variance};
use crate::model::mixture_regression::newton::{Goal, climbed};
use crate::model::mixture_regression::readings::{LocalReadings, Readings};
use crate::model::mixture_regression::root::Root;
use crate::model::profile::end;

/// Lower and upper ends of all slopes, infinite where there is none, NaN where standard errors are not known or the
/// likelihood has no maximum on the way.
pub(super) fn intervals(
    law: &Law,
    joint: &Mixture,
    rows: Incomplete<'_>,
    weight: Weight<'_>,
    z: f64,
    control: &Control,
) -> Result<Vec<f64>> {
    let (d, readings) = (law.coef.len(), LocalReadings::new(rows, weight));
    if !readings.affordable(d) {
        return Err(Error::Data(format!(
            "method=\"profile\": {} rows of {d} features are too many for so many fits; with so many, \"wald\" is as good",
            readings.total().rows
        )));
    }
    let (Some(known), Some(alone)) = (&law.errors, information(law, joint, &readings, control)?) else {
        return Ok(vec![f64::NAN; 2 * d]);
    };
    let Some(alone) = errors(law, joint, &alone, None) else { return Ok(vec![f64::NAN; 2 * d]) };
    let total = readings.total();
    let freedom = Freedom::new(joint, rows, weight, total, control)?;
    let (best, way) = climbed(joint.clone(), &readings, Goal::Profile(&freedom, None), control)?;
    let coef = Law::from_joint(&best)?.coef;
    let mut expansion = readings.sums(&coef, &best, control)?.information(&best);
    freedom.counted(&best, Some(&mut expansion))?;
    let origin = Root::new(&best)?;
    origin.turn(&mut expansion);
    let exact = Law::from_joint(&best)?.scatter.powi(2) <= least_variance(&best) * (1.0 + 1e-6);
    let free: Vec<usize> = (0..expansion.q).filter(|&p| !(exact && p == d + 1)).collect();
    let factor = expansion.factor(&free).filter(|_| way.converged);
    let mut ends = vec![];
    for j in 0..d {
        let Some(factor) = &factor else {
            ends.extend([f64::NAN; 2]);
            continue;
        };
        // How the others follow this slope.
        let mut one = vec![0.0; free.len()];
        one[j] = 1.0;
        let column = factor.solve(&one);
        let scale = total.weight / total.squares * (alone.coef[j] / known.coef[j]).powi(2);
        let lost = Cell::new(false);
        let root = |by: f64| -> Result<f64> {
            control.check()?;
            let mut along = vec![0.0; expansion.q];
            free.iter().zip(&column).for_each(|(&p, x)| along[p] = by * x / column[j]);
            let start = origin.moved(&best, &coef, &along, 1.0).or_else(|_| {
                let only: Vec<f64> = (0..expansion.q).map(|p| if p == j { by } else { 0.0 }).collect();
                origin.moved(&best, &coef, &only, 1.0)
            })?;
            let (_, there) = climbed(start, &readings, Goal::Profile(&freedom, Some(j)), &control.quiet())?;
            // Of the last one, which is next to the end.
            lost.set(!there.converged);
            Ok((2.0 * (way.value - there.value).max(0.0) * scale).sqrt())
        };
        for sign in [-1.0, 1.0] {
            lost.set(false);
            let found = coef[j] + end(z, sign * known.coef[j], root)?;
            // What a fit that ended early is below, its maximum is below all the more.
            ends.push(if lost.get() && found.is_finite() { f64::NAN } else { found });
        }
    }
    Ok(ends)
}
