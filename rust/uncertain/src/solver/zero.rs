//! Is w = 0 the optimum? A class that no plane separates from the many rows of the others, found in a few passes.
//!
//! One class against many others is often lost: the best answer of a hinge is then w = 0, b = -1, the side of the
//! heavier class, where every row of it is exactly at its kink and none has spread. Smoothing narrows towards
//! that point for dozens of passes before an interior-point method ends there.
//!
//! Idea: near that point x0 nothing but scale depends on the smoothing. With x = x0 + eps u the spread of a row is
//! eps sqrt(1 + u'S u), its distance from the kink eps (u'x + u_b), and the rows of the other class are far from theirs, so
//!
//! ```text
//! J_eps(x0 + eps u) = J(x0) + eps G(u) + alpha/2 eps^2 |u|^2
//! ```
//!
//! with one smooth convex G. If w = 0 is the optimum G has a minimum, and its duals, which do not depend on eps, certify it:
//! the bound lacks alpha/2 eps^2 |u|^2, which a tiny eps makes nothing. If not, G falls for ever, and soon J(x) < J(x0) says
//! so. Both are a few steps of Newton's method with one eps that never has to shrink.
//!
//! The answer is x0 + eps u with an eps so small that it is the optimum to a part of the tolerance: u is the direction in which
//! the class differs from the others, and a sigmoid of scores, which does not know their scale, still learns from it.
//! Rejected: w = 0 itself, which calls all rows alike (ten clouds in four dimensions: 66 instead of 78 percent correct).

use super::{Best, Options};
use crate::control::Control;
use crate::error::Result;
use crate::linalg;
use crate::loss::{Dual, Smoothness, TargetKind};
use crate::objective::{Derivatives, LinearObjective};
use crate::simd::dot;
use crate::special::quantile;
use crate::sums::RowSums;

/// The smoothing, in units of the margin, at most, and its part of the tolerance: so much J is above the minimum.
const EPSILON: f64 = 1e-4;
/// See [`EPSILON`].
const PART: f64 = 0.1;
/// The smoothing at least: rounding decides what is left of the rows' distances.
const SMALLEST: f64 = 1e-9;
/// Newton steps at most.
const STEPS: usize = 15;
/// Halvings of a step, and the sufficient decrease.
const HALVINGS: usize = 20;
/// See [`HALVINGS`].
const DECREASE: f64 = 1e-4;
/// Differences of J below this part of it are rounding.
const ROUNDING: f64 = 1e-15;
/// A penalty below which w has no size, only a direction.
const NOTHING: f64 = 1e-12;

/// Is it a problem whose rows have kinks only where they have no spread, and an offset that reaches them at w = 0?
pub(super) fn fits<R: RowSums>(objective: &LinearObjective<'_, R>) -> bool {
    let facts = objective.facts();
    let loss = facts.loss;
    facts.fit_intercept
        && !facts.exact
        && loss.targets() == TargetKind::Signs
        && loss.smoothness() == Smoothness::WithSpread
        && loss.dual(0) == Some(Dual::Normal)
}

/// Is this as good as w = 0, with a side?
pub(super) fn is_at<R: RowSums>(objective: &LinearObjective<'_, R>, x: &[f64]) -> bool {
    x.last().is_some_and(|b| *b != 0.0) && objective.penalty(x) <= NOTHING
}

/// Put w = 0 with the b of this `side` (its sign) into `best` if it is no worse, and its bound; the number of passes.
pub(super) fn certify<R: RowSums>(
    objective: &LinearObjective<'_, R>,
    side: f64,
    best: &mut Best,
    options: &Options,
    control: &Control,
) -> Result<usize> {
    let (side, d) = (side.signum(), objective.dim() - 1);
    let epsilon = (PART * options.tol).clamp(SMALLEST, EPSILON);
    let mut x = vec![0.0; d + 1];
    x[d] = side;
    let e = objective.evaluate(&x, epsilon, Derivatives::Gradient, control)?;
    let zero = e.objective;
    if zero > best.objective * (1.0 + ROUNDING) || zero >= 1.0 {
        return Ok(1);
    }
    best.see(&x, &e);
    // The lighter class has all of J, 2 for each row, and the other balances it with this share of its weight.
    let light = zero / 2.0;
    x[d] = side * (1.0 - epsilon * quantile(light / (1.0 - light)));
    let mut e = objective.evaluate(&x, epsilon, Derivatives::Hessian, control)?;
    best.see(&x, &e);
    let mut passes = 2;
    for _ in 0..STEPS {
        if e.objective - best.bound <= options.tol * e.objective {
            (best.x, best.objective) = (x, e.objective);
            break;
        }
        let falls = best.objective < zero * (1.0 - ROUNDING);
        let Some(mut factor) = e.hessian.take().filter(|_| !falls) else { break };
        if !linalg::cholesky(&mut factor, d + 1) {
            break;
        }
        let mut step: Vec<f64> = e.gradient.iter().map(|g| -g).collect();
        linalg::cholesky_solve(&factor, d + 1, &mut step);
        let slope = dot(&e.gradient, &step);
        let mut t = 1.0;
        let mut better = None;
        for _ in 0..HALVINGS {
            let trial: Vec<f64> = x.iter().zip(&step).map(|(x, p)| x + t * p).collect();
            let at = objective.evaluate(&trial, epsilon, Derivatives::Hessian, control)?;
            passes += 1;
            best.see(&trial, &at);
            if at.smoothed <= e.smoothed + DECREASE * t * slope + ROUNDING * zero {
                better = Some((trial, at));
                break;
            }
            t *= 0.5;
        }
        let Some(found) = better else { break };
        (x, e) = found;
    }
    Ok(passes)
}
