//! The box-constrained quadratic program of the labelled rows, by Newton's method.
//!
//! With b = h / (2 W) (W the sum of the weights s) the program of the reduction reads
//! ```text
//! min_b  1/2 b'(G0 + 2 W S^{-1}) b - y'b      subject to  |b_i| <= xi s_i / (2 W)
//! ```
//! and its solution minimises the Huber objective J(b) = 1/W sum s_i H_xi(y_i - (G0 b)_i) + b'G0 b: b_i = s_i
//! H'_xi(r_i) / (2 W). J is convex and piecewise quadratic; Newton's method on it fixes the rows whose
//! residual exceeds xi at their bound and solves for the others, so each step is a solve with some rows
//! missing, and when the rows stay the same the solution is exact. Where a step does not lower J, which is rare, `bounded`
//! goes on with the program in b itself: it is slower and always ends. Rejected: to cut the step by a line search (as fast,
//! the same solutions).
//!
//! Without rounding, that is. Where G0 is nearly singular J hardly depends on b in some directions, and
//! b'G0 b is a small difference of large terms: then the value of J after a step that ends *at* the solution may
//! be larger than before it, by rounding. (Two rows with the kernel 1 - 1e-12 at alpha = 1e-4: an error of 5e-3
//! in b is one of 1e-16 in J, whose terms are rounded to 1e-13.) So a step that does not lower J is judged by the
//! conditions of the solution and the rounding of their terms; the curvature of the program in b is at least 2 W / s_i.

use crate::control::Control;
use crate::error::Result;

use super::bounded;
pub(super) use super::program::{Point, Problem};
use super::system::System;

/// More steps than any problem seen needed (20).
const MAX_STEPS: usize = 50;

impl Problem<'_> {
    /// Squared loss: one solve, from a guess.
    pub(super) fn squared(&self, system: &mut System, guess: &Point, control: &Control) -> Result<Point> {
        let mut start = vec![0.0; guess.b.len()];
        self.labels.iter().for_each(|&i| start[i] = guess.b[i]);
        let f = system.moved((&guess.b, &guess.f), &start)?;
        let (b, f) = system.solve(self.labels, self.total, self.targets, (start, f), control)?;
        Ok(Point { b, f, steps: 1 })
    }

    /// The solution, from any start.
    pub(super) fn solve(&self, system: &mut System, start: Point, control: &Control) -> Result<Point> {
        if self.threshold == f64::INFINITY {
            return self.squared(system, &start, control);
        }
        let weights = system.weights().to_vec();
        let mut at = Point { steps: 0, ..start };
        let mut value = self.objective(&weights, &at);
        let mut last: Option<Vec<i8>> = None;
        for step in 1..=MAX_STEPS {
            control.check()?;
            let sides = self.sides(&at.f);
            if last.as_ref() == Some(&sides) {
                return Ok(at);
            }
            let next = self.step(system, &weights, &sides, &at, control)?;
            let next_value = self.objective(&weights, &next);
            // Residuals at the threshold up to rounding may change sides for ever.
            if self.violation(&weights, &next) <= 1e-13 {
                return Ok(Point { steps: step, ..next });
            }
            if !(next_value < value) {
                if self.is_solution(system, &next) {
                    return Ok(Point { steps: step, ..next });
                }
                break;
            }
            (at, value, last) = (Point { steps: step, ..next }, next_value, Some(sides));
        }
        let found = bounded::solve(self, system, &at, control)?;
        Ok(Point { steps: at.steps + found.steps, ..found })
    }

    /// +1, -1 for labels beyond the threshold, else 0.
    fn sides(&self, f: &[f64]) -> Vec<i8> {
        let side = |&i: &usize| {
            let r = self.residual(f, i);
            i8::from(r > self.threshold) - i8::from(r < -self.threshold)
        };
        self.labels.iter().map(side).collect()
    }

    fn step(&self, system: &mut System, weights: &[f64], sides: &[i8], at: &Point, control: &Control) -> Result<Point> {
        let mut start = vec![0.0; weights.len()];
        let mut free = vec![];
        for (&i, &side) in self.labels.iter().zip(sides) {
            if side == 0 {
                free.push(i);
                start[i] = at.b[i];
            } else {
                start[i] = f64::from(side) * self.bound(weights, i);
            }
        }
        let f = system.moved((&at.b, &at.f), &start)?;
        let (b, f) = system.solve(&free, self.total, self.targets, (start, f), control)?;
        Ok(Point { b, f, steps: 0 })
    }
}
