//! Trust-region Newton-CG.
//!
//! The Hessian is summed as a matrix in the same pass that computes the gradient, and CG runs on it for free. The
//! region is needed because far from the solution the curvature of a loss underflows: a Newton step there would be
//! endless. Above [`DENSE`] unknowns L-BFGS is faster, also than CG on products with the Hessian (rejected for that).
//! Source: Nocedal, Wright, Numerical Optimization, algorithms 4.1 and 7.2; Lin, Weng, Keerthi 2008.

use super::trust_region::{TrustStep, step};
use super::{Best, Ended, Options, Start, Status, smoothing, zero};
use crate::control::Control;
use crate::data::covariance::Structure;
use crate::error::{Error, Result};
use crate::linalg::norm;
use crate::objective::{Derivatives, Evaluation, LinearObjective};
use crate::simd;
use crate::sums::RowSums;

/// Unknowns up to which the method is taken: 64 partial sums of the matrix are then at most 46 MB.
pub(super) const DENSE: usize = 301;
/// Limit where rows have a few directions beside a diagonal, as those behind a denoiser of few directions: a pass of
/// them costs as much as a dozen of diagonal ones, and L-BFGS takes a hundred and fifty.
const DENSE_DIRECTIONS: usize = 513;
/// A step that J no longer notices goes on where it leaves less than this part of the gap.
const CLOSER: f64 = 0.5;

/// Iterations after which a gap above [`FAR`] may be that of a class that no plane separates.
const LOST: usize = 5;
/// See [`LOST`].
const FAR: f64 = 0.1;

/// Is the Hessian small enough for the method?
pub(super) fn fits(objective: &LinearObjective<'_>) -> bool {
    let beside = matches!(objective.covariances().structure(), Structure::Factor(factor) if factor.diagonal.is_some());
    objective.dim() <= if beside { DENSE_DIRECTIONS } else { DENSE }
}

pub(super) fn minimize<R: RowSums>(
    objective: &LinearObjective<'_, R>,
    start: Start,
    hand_over: bool,
    options: &Options,
    control: &Control,
) -> Result<Ended> {
    let want = Derivatives::Hessian;
    let mut e = smoothing::first_evaluation(objective, &start, want, control)?;
    let mut x = start.x;
    let mut best = Best::new(&x, &e);
    let mut radius = f64::INFINITY;
    for iteration in 0..=options.iterations() {
        control.report(iteration, best.objective, best.gap());
        if best.gap() <= options.tol {
            return Ok(Ended::Done(best.solution(iteration, Status::Converged)));
        }
        if iteration == options.iterations() {
            break;
        }
        if iteration == LOST && best.gap() > FAR && zero::fits(objective) {
            let passes = zero::certify(objective, &x, &mut best, options, control)?;
            if best.gap() <= options.tol {
                control.report(iteration + passes, best.objective, best.gap());
                return Ok(Ended::Done(best.solution(iteration + passes, Status::Converged)));
            }
        }
        let TrustStep { p, promised, norm: length } = newton_step(&e, radius)?;
        let epsilon = smoothing::next(&e, promised, hand_over, options.tol);
        let narrow = smoothing::is_too_narrow(epsilon) || smoothing::was_dropped_too_early(&e, iteration);
        if hand_over && narrow {
            return Ok(Ended::Narrow { best, iterations: iteration });
        }
        let stuck = promised <= 1e-15 * e.smoothed;
        let trial: Vec<f64> = x.iter().zip(&p).map(|(x, p)| x + p).collect();
        // When the step should bring us below the tolerance its Hessian would be thrown away.
        let last = epsilon == e.epsilon && promised < 0.01 * options.tol * e.smoothed;
        let mut at = objective.evaluate(&trial, epsilon, if last { Derivatives::Gradient } else { want }, control)?;
        let gap = best.gap();
        best.see(&trial, &at);
        // J is as low as rounding lets it be, but the bound is of first order in the step: it may still rise.
        if stuck && epsilon == e.epsilon && best.gap() > options.tol.max(CLOSER * gap) {
            return Ok(Ended::Done(best.solution(iteration + 1, Status::NoProgress)));
        }
        // A change of epsilon lowers J_eps by itself; what counts then is that it did go down.
        let won = (e.smoothed - at.smoothed) / promised.max(f64::MIN_POSITIVE);
        if won < 0.25 && !stuck {
            radius = 0.25 * length;
        } else if won > 0.75 && length > 0.9 * radius {
            radius *= 4.0;
        }
        let rounding =
            (e.smoothed - at.smoothed).abs() <= 1e-14 * e.smoothed && norm(&at.gradient) <= norm(&e.gradient);
        if won > 1e-4 || rounding || stuck {
            if last && best.gap() > options.tol {
                at = objective.evaluate(&trial, epsilon, want, control)?;
            }
            (x, e) = (trial, at);
        } else if epsilon != e.epsilon {
            e = objective.evaluate(&x, epsilon, want, control)?;
        }
    }
    Ok(Ended::Done(best.solution(options.iterations(), Status::MaxIterations)))
}

/// The step within the radius.
fn newton_step(e: &Evaluation, radius: f64) -> Result<TrustStep> {
    let n = e.gradient.len();
    let missing = || Error::Internal("a Newton step without a Hessian".into());
    let mut hessian = e.hessian.clone().ok_or_else(missing)?;
    for i in 0..n {
        for j in 0..i {
            hessian[j * n + i] = hessian[i * n + j];
        }
    }
    let diagonal: Vec<f64> = (0..n).map(|j| hessian[j * n + j]).collect();
    let floor = diagonal.iter().copied().fold(0.0, f64::max) * 1e-14 + f64::MIN_POSITIVE;
    let m: Vec<f64> = diagonal.iter().map(|h| h.max(floor)).collect();
    step(&e.gradient, &m, radius, 1e-9, 4 * n, |v, out| {
        out.iter_mut().zip(hessian.chunks_exact(n)).for_each(|(o, row)| *o = simd::dot(row, v));
        Ok(())
    })
}
