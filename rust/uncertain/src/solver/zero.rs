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
//! The answer is x0 + eps u with an eps so small that it is the optimum to any usual tolerance: u is the direction in which
//! the class differs from the others, and a sigmoid of scores, which does not know their scale, still learns from it.
//! Rejected for one class against several: w = 0 itself, which calls all rows alike (ten clouds in four dimensions: 66 instead of
//! 78 percent correct). Two classes take it, see `model/linear/at_zero.rs`.

use super::{Best, Options};
use crate::control::Control;
use crate::error::Result;
use crate::linalg::Spd;
use crate::loss::{Dual, Smoothness, TargetKind};
use crate::objective::{Derivatives, LinearObjective};
use crate::simd::dot;
use crate::special::quantile;
use crate::sums::RowSums;

/// The smoothing, in units of the margin: J is above the minimum by about this part. It is one for all tolerances, so that
/// scores of fits to different rows have one scale.
const EPSILON: f64 = 1e-8;
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

/// Put w = 0 with the b of the side of `near` into `best` if it is no worse, and its bound; the number of passes. Begins in
/// the direction of `near` where that is all it has.
pub(super) fn certify<R: RowSums>(
    objective: &LinearObjective<'_, R>,
    near: &[f64],
    best: &mut Best,
    options: &Options,
    control: &Control,
) -> Result<usize> {
    let d = objective.dim() - 1;
    let side = near[d].signum();
    let mut x = vec![0.0; d + 1];
    x[d] = side;
    let e = objective.evaluate(&x, EPSILON, Derivatives::Gradient, control)?;
    let zero = e.objective;
    if zero > best.objective * (1.0 + ROUNDING) || zero >= 1.0 {
        return Ok(1);
    }
    best.see(&x, &e);
    // The lighter class has all of J, 2 for each row, and the other balances it with this share of its weight.
    let light = zero / 2.0;
    if is_at(objective, near) && near[d].abs() != 1.0 {
        x.copy_from_slice(near);
    } else {
        x[d] = side * (1.0 - EPSILON * quantile(light / (1.0 - light)));
    }
    let mut e = objective.evaluate(&x, EPSILON, Derivatives::Hessian, control)?;
    best.see(&x, &e);
    let mut passes = 2;
    for _ in 0..STEPS {
        if e.objective - best.bound <= options.tol * e.objective {
            (best.x, best.objective) = (x, e.objective);
            break;
        }
        let falls = best.objective < zero * (1.0 - ROUNDING);
        let Some(hessian) = e.hessian.take().filter(|_| !falls) else { break };
        let Some(hessian) = Spd::new(hessian, d + 1) else { break };
        let step = hessian.solve(e.gradient.iter().map(|g| -g).collect());
        let slope = dot(&e.gradient, &step);
        let mut t = 1.0;
        let mut better = None;
        for _ in 0..HALVINGS {
            let trial: Vec<f64> = x.iter().zip(&step).map(|(x, p)| x + t * p).collect();
            let at = objective.evaluate(&trial, EPSILON, Derivatives::Hessian, control)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::loss::ExpectedHinge;
    use crate::objective::Problem;
    use crate::solver::{Guess, Solution, SolverKind, fit_linear, fit_near, interior};
    use crate::testing::Numbers;

    /// One row in ten is of a class in the middle of the others.
    fn rows(n: usize) -> (GaussianArray, Vec<f64>) {
        let mut numbers = Numbers::new(11);
        let target = |i: usize| if i.is_multiple_of(10) { 1.0 } else { -1.0 };
        let mean = |at: usize| numbers.normal() * if target(at / 3) > 0.0 { 0.7 } else { 2.0 };
        let means: Vec<f64> = (0..3 * n).map(mean).collect();
        let std: Vec<f64> = (0..3 * n).map(|_| 0.1 + 0.9 * numbers.uniform()).collect();
        let covariances = Covariances::from_std(Rows::from_vec(std, 3).unwrap());
        let data = GaussianArray::new(Rows::from_vec(means, 3).unwrap(), covariances).unwrap();
        (data, (0..n).map(target).collect())
    }

    #[test]
    fn a_lost_class_takes_few_passes_and_has_the_optimum_of_the_interior_point_method() {
        let (data, targets) = rows(600);
        let (options, control) = (Options::default(), Control::new());
        let of = |targets| {
            let (data, loss) = (&data, &ExpectedHinge);
            Problem { data, targets, weights: None, alpha: 1e-3, fit_intercept: true, loss }
        };
        let problem = of((&targets).into());
        let found = fit_linear(&problem, SolverKind::Auto, &options, None, &control).unwrap();
        assert!(found.gap <= 1e-6 && found.iterations <= 16, "{found:?}");
        assert!(found.objective >= 0.2 && found.objective <= 0.2 * (1.0 + 1e-6), "{found:?}");
        assert!(found.w.iter().any(|w| *w != 0.0) && found.w.iter().all(|w| w.abs() < 1e-6), "{found:?}");
        let objective = problem.check().unwrap();
        let slow = interior::minimize(&objective, vec![0.0, 0.0, 0.0, -1.0], 0.1, 0, &options, &control).unwrap();
        assert!((slow.objective / found.objective - 1.0).abs() <= 2e-6 && slow.gap <= 1e-6, "{slow:?}");

        // The class on the other side of the hyperplane.
        let turned: Vec<f64> = targets.iter().map(|y| -y).collect();
        let Solution { w, b, iterations, .. } =
            fit_linear(&of((&turned).into()), SolverKind::Auto, &options, None, &control).unwrap();
        assert!(iterations == found.iterations && (b + found.b).abs() < 1e-12);
        assert!(w.iter().zip(&found.w).all(|(a, b)| (a + b).abs() <= 1e-6 * b.abs()));

        // From there it takes a look.
        let x: Vec<f64> = found.w.iter().copied().chain([found.b]).collect();
        let guess = Guess::near(&problem, &x, &control).unwrap();
        let again = fit_near(&problem, SolverKind::Auto, &options, &guess, &control).unwrap();
        assert!(again.iterations <= 2 && again.gap <= 1e-6, "{again:?}");
    }

    #[test]
    fn a_class_with_a_plane_is_none_and_costs_a_pass() {
        let (data, mut targets) = rows(600);
        (0..600).for_each(|i| targets[i] = if data.means().row(i)[0] > 1.5 { 1.0 } else { -1.0 });
        let problem = Problem {
            data: &data,
            targets: (&targets).into(),
            weights: None,
            alpha: 1e-3,
            fit_intercept: true,
            loss: &ExpectedHinge,
        };
        let (options, control) = (Options::default(), Control::new());
        let found = fit_linear(&problem, SolverKind::Auto, &options, None, &control).unwrap();
        assert!(found.w[0] > 0.1, "{found:?}");
        let x = [found.w.clone(), vec![found.b]].concat();
        let mut best = Best { x: x.clone(), objective: found.objective, bound: 0.0 };
        assert_eq!(certify(&problem.check().unwrap(), &x, &mut best, &options, &control).unwrap(), 1);
        assert_eq!(best.x, x);
    }
}
