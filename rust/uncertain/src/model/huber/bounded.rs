//! The quadratic program of the labelled rows by a primal active-set method: slower than Newton's on J, but it
//! ends whatever rounding does.
//!
//! ```text
//! q(b) = 1/2 b'(G0 + 2 W S^{-1}) b - y'b     subject to  |b_i| <= u_i
//! ```
//! Some rows are held at a bound and q is minimised over the others. If that leaves the box, go as far as it
//! allows and hold the rows that are in the way; else free the held row whose condition is violated most. q falls
//! from face to face, so none comes twice and the method is finite.
//!
//! With rounding: a condition is violated if it is so by more than the rounding of its terms, and a row that was
//! freed and is back at its bound at once, without a step, stays there until q has fallen. So each of two falls of q
//! frees every row at most once, and nothing goes round in circles.

use crate::control::Control;
use crate::error::{Error, Result};

use super::program::{Point, Problem};
use super::system::System;

/// Changes of the active set, for each label.
const CHANGES: usize = 20;
/// Violation of the conditions, relative to the largest residual that they allow, of an answer that is given where
/// rounding is worse than estimated.
const TOLERANCE: f64 = 1e-8;

/// The solution, from any start.
pub(super) fn solve(problem: &Problem<'_>, system: &mut System, start: &Point, control: &Control) -> Result<Point> {
    let weights = system.weights().to_vec();
    let mut b = vec![0.0; weights.len()];
    let mut held = vec![0_i8; weights.len()];
    for &i in problem.labels {
        let bound = problem.bound(&weights, i);
        b[i] = start.b[i].clamp(-bound, bound);
        held[i] = i8::from(b[i] == bound) - i8::from(b[i] == -bound);
    }
    let f = system.times(&b)?;
    let mut at = Point { b, f, steps: 0 };
    let mut stuck = vec![false; weights.len()];
    let mut freed = None;
    while at.steps < CHANGES * (problem.labels.len() + 5) {
        control.check()?;
        at.steps += 1;
        let free: Vec<usize> = problem.labels.iter().copied().filter(|&i| held[i] == 0).collect();
        let (b, f) = system.solve(&free, problem.total, problem.targets, (at.b.clone(), at.f.clone()), control)?;
        let rounding = system.rounding(&b, problem.targets, problem.total);
        // The first row in the way, and the part of the step that it allows.
        let mut way: Option<(usize, f64)> = None;
        for &i in &free {
            let bound = problem.bound(&weights, i);
            let beyond = b[i].abs() - bound;
            if 2.0 * problem.total / weights[i] * beyond > rounding[i] {
                let part = ((bound.copysign(b[i]) - at.b[i]) / (b[i] - at.b[i])).clamp(0.0, 1.0);
                if way.is_none_or(|(_, least)| part < least) {
                    way = Some((i, part));
                }
            }
        }
        if let Some((i, part)) = way {
            let side = b[i].signum();
            for &k in &free {
                at.b[k] += part * (b[k] - at.b[k]);
            }
            at.b[i] = side * problem.bound(&weights, i);
            held[i] = side as i8;
            at.f = system.times(&at.b)?;
            if freed == Some(i) && part <= f64::EPSILON {
                stuck[i] = true;
            } else if part > f64::EPSILON {
                stuck.fill(false);
            }
            freed = None;
            continue;
        }
        at = Point { b, f, steps: at.steps };
        // The multiplier of a held row is r_i - 2 W / s_i b_i and points out of the box.
        let violation = |i: usize| {
            let inward = f64::from(held[i]) * problem.gradient(&weights, &at, i) - rounding[i];
            if held[i] == 0 || stuck[i] { 0.0 } else { inward }
        };
        let worst = problem.labels.iter().copied().max_by(|a, b| violation(*a).total_cmp(&violation(*b)));
        match worst.filter(|&i| violation(i) > 0.0) {
            Some(i) => {
                held[i] = 0;
                freed = Some(i);
            }
            None => break,
        }
    }
    // Held rows that are stuck, and sums that ended early, are told apart from solutions here.
    let violation = problem.violation(&weights, &at);
    if violation <= TOLERANCE || problem.is_solution(system, &at) {
        return Ok(at);
    }
    Err(Error::Data(format!(
        "the system of the labelled rows is too nearly singular for its threshold {}: its conditions are violated by {violation:.1e}; raise alpha, or scale the kernel down",
        problem.threshold
    )))
}
