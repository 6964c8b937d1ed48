//! Limited-memory BFGS with a strong Wolfe line search.
//!
//! One pass over the data per evaluation, no second derivatives: the choice for very many features. Where a Hessian can
//! be had, but costs as much as a dozen passes, it takes the place of the multiple of the identity from which the memory
//! starts, and is renewed when it is that many iterations old ([`minimize_renewing`]).
//! Source: Nocedal, Wright, Numerical Optimization, algorithms 7.4, 7.5 and 3.5-3.6 (the zoom here
//! bisects a cubic interpolation that leaves the bracket's inner eighty per cent).

use std::collections::VecDeque;

use super::{Best, Ended, Options, Start, Status, smoothing};
use crate::control::Control;
use crate::error::Result;
use crate::linalg;
use crate::objective::{Derivatives, Evaluation, LinearObjective};
use crate::simd::dot;
use crate::sums::RowSums;

/// Pairs of differences remembered.
pub(crate) const MEMORY: usize = 12;
/// Sufficient decrease and curvature of the Wolfe conditions.
const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
/// Without a certificate a step that wins no more than this (relative) is the last one.
const STALLED: f64 = 1e-11;
/// Evaluations of one line search.
const TRIALS: usize = 25;
/// A gap so many times the tolerance is closed without another Hessian.
const CLOSE: f64 = 100.0;

/// Two points' difference and that of their gradients.
pub(crate) struct CurvaturePair {
    s: Vec<f64>,
    y: Vec<f64>,
    /// 1 / s'y
    rho: f64,
}

impl CurvaturePair {
    /// `None` where the gradients do not say that the function is convex in between.
    pub(crate) fn new(s: Vec<f64>, y: Vec<f64>) -> Option<Self> {
        let sy = dot(&s, &y);
        let convex = sy > 1e-12 * dot(&y, &y) * dot(&s, &s).sqrt().min(1.0) && sy > 0.0;
        convex.then(|| Self { rho: 1.0 / sy, s, y })
    }
}

pub(super) fn minimize<R: RowSums>(
    objective: &LinearObjective<'_, R>,
    start: Start,
    hand_over: bool,
    options: &Options,
    control: &Control,
) -> Result<Ended> {
    minimize_renewing(objective, start, None, hand_over, options, control)
}

/// [`minimize`] with a Hessian at the start and whenever the last one is `every` iterations old.
///
/// Beside Newton's method with one in each of its iterations: on rows of an RBF kernel (300 unknowns, rank 10) one or
/// two Hessians and a dozen passes, where Newton took seven Hessians. Rejected: the identity until the first Hessian
/// (the less penalty, the longer its way).
pub(super) fn minimize_renewing<R: RowSums>(
    objective: &LinearObjective<'_, R>,
    start: Start,
    every: Option<usize>,
    hand_over: bool,
    options: &Options,
    control: &Control,
) -> Result<Ended> {
    let first = if every.is_some() && start.factor.is_none() { Derivatives::Hessian } else { Derivatives::Gradient };
    let mut e = smoothing::first_evaluation(objective, &start, first, control)?;
    let Start { mut x, mut factor, .. } = start;
    let mut best = Best::new(&x, &e);
    let mut pairs: VecDeque<CurvaturePair> = VecDeque::with_capacity(MEMORY + 1);
    // Iterations since the last Hessian.
    let mut age = 0;
    for iteration in 0..=options.iterations() {
        control.report(iteration, best.objective, best.gap());
        if best.gap() <= options.tol {
            return Ok(Ended::Done(best.solution(iteration, Status::Converged)));
        }
        if iteration == options.iterations() {
            break;
        }
        if every.is_some_and(|every| age >= every) && best.gap() > CLOSE * options.tol {
            e = objective.evaluate(&x, e.epsilon, Derivatives::Hessian, control)?;
        }
        if let Some(mut hessian) = e.hessian.take() {
            factor = linalg::cholesky(&mut hessian, x.len()).then_some(hessian);
            pairs.clear();
            age = 0;
        }
        age += 1;
        let mut p = direction(&e.gradient, &pairs, factor.as_deref());
        let epsilon = smoothing::next(&e, -0.5 * dot(&e.gradient, &p), hand_over, options.tol);
        let narrow = smoothing::is_too_narrow(epsilon) || smoothing::was_dropped_too_early(&e, iteration);
        if hand_over && narrow {
            return Ok(Ended::Narrow { best, iterations: iteration });
        }
        if epsilon != e.epsilon {
            e = objective.evaluate(&x, epsilon, Derivatives::Gradient, control)?;
            best.see(&x, &e);
            p = direction(&e.gradient, &pairs, factor.as_deref());
        }
        let first = if pairs.is_empty() && factor.is_none() { 1.0 / dot(&p, &p).sqrt().max(1e-300) } else { 1.0 };
        let found = search(objective, &x, &e, &p, first, control, &mut best)?;
        match found {
            Some((next, at)) => {
                let s: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
                let y: Vec<f64> = at.gradient.iter().zip(&e.gradient).map(|(a, b)| a - b).collect();
                let stalls = at.bound == f64::NEG_INFINITY && e.smoothed - at.smoothed <= STALLED * e.smoothed.abs();
                pairs.extend(CurvaturePair::new(s, y));
                if pairs.len() > MEMORY {
                    pairs.pop_front();
                }
                (x, e) = (next, at);
                if stalls {
                    return Ok(Ended::Done(best.solution(iteration + 1, Status::NoProgress)));
                }
            }
            // A stale memory can point nowhere: once more along the gradient before giving up.
            None if !pairs.is_empty() => pairs.clear(),
            None => return Ok(Ended::Done(best.solution(iteration, Status::NoProgress))),
        }
    }
    Ok(Ended::Done(best.solution(options.iterations(), Status::MaxIterations)))
}

/// -H g by the two-loop recursion, from a factored Hessian or a multiple of the identity.
pub(crate) fn direction(gradient: &[f64], pairs: &VecDeque<CurvaturePair>, factor: Option<&[f64]>) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut alphas = Vec::with_capacity(pairs.len());
    for CurvaturePair { s, y, rho } in pairs.iter().rev() {
        let alpha = rho * dot(s, &q);
        q.iter_mut().zip(y).for_each(|(q, y)| *q -= alpha * y);
        alphas.push(alpha);
    }
    match (factor, pairs.back()) {
        (Some(factor), _) => linalg::cholesky_solve(factor, q.len(), &mut q),
        (None, Some(CurvaturePair { s, y, .. })) => {
            let scale = dot(s, y) / dot(y, y);
            q.iter_mut().for_each(|q| *q *= scale);
        }
        (None, None) => {}
    }
    for (CurvaturePair { s, y, rho }, alpha) in pairs.iter().zip(alphas.into_iter().rev()) {
        let beta = rho * dot(y, &q);
        q.iter_mut().zip(s).for_each(|(q, s)| *q += (alpha - beta) * s);
    }
    q
}

/// A point on the line that satisfies the strong Wolfe conditions, or at least went down.
fn search<R: RowSums>(
    objective: &LinearObjective<'_, R>,
    x: &[f64],
    e: &Evaluation,
    p: &[f64],
    first: f64,
    control: &Control,
    best: &mut Best,
) -> Result<Option<(Vec<f64>, Evaluation)>> {
    let slope0 = dot(&e.gradient, p);
    if slope0 >= 0.0 {
        return Ok(None);
    }
    // The bracket: (t, value, slope) of its better end, t of the other (infinite while expanding).
    let (mut low, mut high) = ((0.0, e.smoothed, slope0), f64::INFINITY);
    let mut t = first;
    let mut found: Option<(Vec<f64>, Evaluation)> = None;
    for _ in 0..TRIALS {
        let point: Vec<f64> = x.iter().zip(p).map(|(x, p)| x + t * p).collect();
        let at = objective.evaluate(&point, e.epsilon, Derivatives::Gradient, control)?;
        best.see(&point, &at);
        let (value, slope) = (at.smoothed, dot(&at.gradient, p));
        if value > e.smoothed + DECREASE * t * slope0 || value >= low.1 {
            high = t;
        } else {
            let done = slope.abs() <= -CURVATURE * slope0;
            if slope * (high.min(f64::MAX) - low.0) >= 0.0 && high.is_finite() || high.is_infinite() && slope >= 0.0 {
                high = low.0;
            }
            low = (t, value, slope);
            found = Some((point, at));
            if done {
                break;
            }
        }
        t = if high.is_infinite() {
            4.0 * t
        } else {
            // The minimum of the parabola through the better end's value and slope and the other end.
            let width = high - low.0;
            let curvature = if high == t { (value - low.1 - low.2 * width) / (width * width) } else { 0.0 };
            let step = if curvature > 0.0 { -low.2 / (2.0 * curvature) / width } else { 0.5 };
            low.0 + width * step.clamp(0.1, 0.9)
        };
        if (t - low.0).abs() < 1e-14 * t.abs() {
            break;
        }
    }
    Ok(found)
}
