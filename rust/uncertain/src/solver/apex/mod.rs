//! Newton's method where a few rows are at the tip of their cone.
//!
//! Of rows that are uncertain in a few directions most have spread at the optimum, and Newton's method is at home. But
//! w avoids the spreads of some, F'w = 0, and where such a row is also on the margin its loss has a kink there, in
//! 1 + rank directions at once. Smoothing them must become very narrow, an interior-point method for all rows pays for
//! every row what only these need. So they are held apart: a step minimises
//!
//! ```text
//! (quadratic model of all other rows and the penalty)(delta) + sum over the held rows of c L(theta + E'delta),
//! ```
//!
//! the held rows' losses as they are, which is a small cone program once the model's matrix is factored
//! ([`Corner`]). Its multipliers (p, h), |h| <= q(p), are the held rows' duals; those of the others are their
//! slopes, and together they give the bound of every other method. Rows are held when their spread is small, which does
//! not have to be right: a row that is held with spread is exact all the same.
//! Source: proximal Newton, Lee, Sun, Saunders, SIAM J. Optim. 24, 2014; the model with its cones is ours.
//! Rejected: the cone-aware method for all rows (88 iterations at five times the price, on 2000 rows of 784 features);
//! L-BFGS with shrinking smoothing (600 passes).

mod held;

use super::cone::Corner;
use super::solution::{Best, Ended};
use super::{Options, Status};
use crate::control::Control;
use crate::data::Weights;
use crate::error::Result;
use crate::linalg;
use crate::loss::Smoothness;
use crate::objective::{Derivatives, Evaluation, LinearObjective};
use crate::simd::dot;
use held::HeldRows;

/// Spread (in units of the margin) below which rows are held, where there is room.
const HELD: f64 = 0.1;
/// Spread below which a row must be held.
const NARROW: f64 = 0.02;
/// Sufficient decrease.
const DECREASE: f64 = 1e-4;
/// Halvings of a step.
const HALVINGS: usize = 30;
/// Steps shorter than this in a row, after which another method goes on.
const SHORT: f64 = 0.1;
/// See [`SHORT`].
const PATIENCE: usize = 8;
/// The model is solved to this part of the gap that is asked for.
const MODEL: f64 = 0.05;

/// Is it a problem whose rows have kinks only where they have no spread?
pub(super) fn fits(objective: &LinearObjective<'_>) -> bool {
    objective.source().is_none()
        && !objective.facts().exact
        && objective.problem().loss.smoothness() == Smoothness::WithSpread
        && objective.problem().loss.dual(0).is_some()
}

/// The rows that are not held at x.
struct FreeRows {
    weights: Weights,
}

impl FreeRows {
    fn new(objective: &LinearObjective<'_>, held: &[usize]) -> Self {
        let problem = objective.problem();
        let mut weights = problem.weights.map_or_else(|| vec![1.0; problem.data.n_rows()], |w| w.to_vec());
        held.iter().for_each(|&row| weights[row] = 0.0);
        Self { weights: Weights::from_shares(weights) }
    }
}

/// From x on; [`Ended::Narrow`] where too many rows would have to be held, or steps remain short.
pub(super) fn minimize(
    objective: &LinearObjective<'_>,
    mut best: Best,
    mut iteration: usize,
    options: &Options,
    control: &Control,
) -> Result<Ended> {
    let mut x = best.x.clone();
    let Some(mut held) = hold(objective, &x, &[], control)? else {
        return Ok(Ended::Narrow { best, iterations: iteration });
    };
    let mut others = FreeRows::new(objective, &held.numbers);
    let mut nu: Option<Vec<f64>> = None;
    let mut short = 0;
    loop {
        let rest = objective.reweighted(&others.weights);
        let (mut e, mut classes) = rest.evaluate_with_sums(&x, 0.0, Derivatives::Hessian, control)?;
        if e.narrowest < NARROW {
            let Some(more) = hold(objective, &x, &held.numbers, control)? else {
                return Ok(Ended::Narrow { best, iterations: iteration });
            };
            held = more;
            others = FreeRows::new(objective, &held.numbers);
            (e, classes) =
                objective.reweighted(&others.weights).evaluate_with_sums(&x, 0.0, Derivatives::Hessian, control)?;
            nu = None;
        }
        let rest = objective.reweighted(&others.weights);
        let theta = held.theta(&x);
        let losses = held.losses(&theta)?;
        let here = e.objective + losses.iter().sum::<f64>();
        if let Some(nu) = &nu {
            held.add(nu, &mut classes);
            see(&mut best, &x, here, objective.bound(&classes[0], &classes[1]));
        }
        control.report(iteration, best.objective, best.gap());
        if best.gap() <= options.tol {
            return Ok(Ended::Done(best.solution(iteration, Status::Converged)));
        }
        if iteration >= options.iterations() {
            return Ok(Ended::Done(best.solution(iteration, Status::MaxIterations)));
        }
        let Some(step) = step(&held, &e, &theta, MODEL * options.tol * here, control)? else {
            return Ok(Ended::Narrow { best, iterations: iteration });
        };
        // The slope of the smooth part and what the held rows win, which is no less than their slope promises.
        let ahead = add(&x, &step.delta, 1.0);
        let after: f64 = held.losses(&held.theta(&ahead))?.iter().sum();
        let slope = dot(&e.gradient, &step.delta) + after - losses.iter().sum::<f64>();
        let mut t = 1.0;
        let mut found = false;
        for _ in 0..HALVINGS {
            let trial = add(&x, &step.delta, t);
            let (at, mut classes) = rest.evaluate_with_sums(&trial, 0.0, Derivatives::Gradient, control)?;
            let there = at.objective + held.losses(&held.theta(&trial))?.iter().sum::<f64>();
            held.add(&step.nu, &mut classes);
            see(&mut best, &trial, there, objective.bound(&classes[0], &classes[1]));
            if there <= here + DECREASE * t * slope {
                (x, found) = (trial, true);
                break;
            }
            t *= 0.5;
        }
        iteration += 1;
        nu = Some(step.nu);
        if best.gap() <= options.tol {
            control.report(iteration, best.objective, best.gap());
            return Ok(Ended::Done(best.solution(iteration, Status::Converged)));
        }
        short = if t < SHORT { short + 1 } else { 0 };
        if !found || short > PATIENCE {
            return Ok(Ended::Narrow { best, iterations: iteration });
        }
    }
}

/// J and the bound of the duals at x.
fn see(best: &mut Best, x: &[f64], here: f64, bound: f64) {
    best.bound = best.bound.max(bound);
    if here < best.objective {
        best.objective = here;
        best.x.copy_from_slice(x);
    }
}

/// x + t delta
fn add(x: &[f64], delta: &[f64], t: f64) -> Vec<f64> {
    x.iter().zip(delta).map(|(x, d)| x + t * d).collect()
}

/// The rows held at x: those held before and all with little spread; `None` where they are too many.
fn hold<'a>(
    objective: &'a LinearObjective<'a>,
    x: &[f64],
    before: &[usize],
    control: &Control,
) -> Result<Option<HeldRows<'a>>> {
    let scores = objective.scores(x, control)?;
    let below = |most: f64| -> Vec<usize> {
        let narrow = |&row: &usize| objective.weight(row) > 0.0 && scores[row].1 < most * most;
        (0..scores.len()).filter(|row| narrow(row) || before.binary_search(row).is_ok()).collect()
    };
    for most in [HELD, NARROW] {
        if let Some(held) = HeldRows::new(objective, below(most))? {
            return Ok(Some(held));
        }
    }
    Ok(None)
}

struct NewtonStep {
    delta: Vec<f64>,
    /// The held rows' duals.
    nu: Vec<f64>,
}

/// The minimum of the model; `None` where its matrix is not positive definite.
fn step(
    held: &HeldRows<'_>,
    e: &Evaluation,
    theta: &[f64],
    enough: f64,
    control: &Control,
) -> Result<Option<NewtonStep>> {
    let n = e.gradient.len();
    let Some(mut factor) = e.hessian.clone() else { return Ok(None) };
    if !linalg::cholesky(&mut factor, n) {
        return Ok(None);
    }
    // L^-1 E and L^-1 g: theta_0 = theta - E'H^-1 g, G = E'H^-1 E.
    let mut images = held.vectors.clone();
    images.extend(&e.gradient);
    linalg::solve_lower_rows(&factor, n, &mut images);
    let (vectors, gradient) = images.split_at(held.vectors.len());
    let m = held.size();
    let mut nu = vec![];
    if m > 0 {
        let mut g = vec![0.0; m * m];
        linalg::gemm_nt(vectors, vectors, n, &mut g);
        let theta0: Vec<f64> =
            theta.iter().zip(vectors.chunks_exact(n)).map(|(theta, v)| theta - dot(v, gradient)).collect();
        let corner = Corner::new(held.rows()?, held.first.clone());
        nu = corner.solve(&theta0, &g, enough, |theta, nu| held.gap(theta, nu), control)?;
    }
    // delta = -H^-1 (g + E c nu)
    let mut delta: Vec<f64> = e.gradient.iter().map(|g| -g).collect();
    for (v, by) in held.vectors.chunks_exact(n).zip(held.weighted(&nu)) {
        delta.iter_mut().zip(v).for_each(|(d, v)| *d -= by * v);
    }
    linalg::cholesky_solve(&factor, n, &mut delta);
    Ok(delta.iter().all(|d| d.is_finite()).then_some(NewtonStep { delta, nu }))
}
