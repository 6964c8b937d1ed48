//! [`StopRule`]: when an interior-point method ends.
//!
//! It ends on the certified gap. It also ends where neither the gap nor the complementarity has become smaller for some
//! iterations: then rounding is the limit. J is followed from step to step without a pass over the rows, so it may have drifted:
//! before a method ends, J is computed anew at its best point.

use super::{Best, Options, Solution, Status, assess};
use crate::control::Control;
use crate::error::Result;
use crate::objective::LinearObjective;

/// Iterations without improvement after which rounding is the limit.
const PATIENCE: usize = 12;
/// An improvement: less than this part of the least so far.
const BETTER: f64 = 0.9;

/// The best point and bound of a method, and how long it has been without a better gap.
pub(super) struct StopRule<'a, F> {
    objective: &'a LinearObjective<'a>,
    /// From the method's unknowns to (w, b).
    features: F,
    options: &'a Options,
    control: &'a Control,
    pub best: Best,
    least_gap: f64,
    least_open: f64,
    idle: usize,
    /// Is J at the best point that of a pass over the rows?
    assessed: bool,
}

/// The next action.
pub(super) enum Verdict {
    GoOn,
    /// The gap was reached for a J that had drifted: read the rows' scores anew.
    Drifted,
    End(Status),
}

impl<'a, F: Fn(&[f64]) -> Vec<f64>> StopRule<'a, F> {
    pub(super) fn new(
        objective: &'a LinearObjective<'a>,
        x: &[f64],
        features: F,
        options: &'a Options,
        control: &'a Control,
    ) -> Self {
        let best = Best { objective: f64::INFINITY, bound: f64::NEG_INFINITY, x: x.to_vec() };
        let (least_gap, least_open) = (f64::INFINITY, f64::INFINITY);
        Self { objective, features, options, control, best, least_gap, least_open, idle: 0, assessed: false }
    }

    /// The method is at x, where J is `here`.
    pub(super) fn see(&mut self, x: &[f64], here: f64) {
        if here < self.best.objective {
            self.best.objective = here;
            self.best.x.copy_from_slice(x);
            self.assessed = false;
        }
    }

    /// After an iteration that found `bound`; `open` is the complementarity: it falls where many duals still change sides
    /// and the gap does not move.
    pub(super) fn verdict(&mut self, iteration: usize, bound: f64, open: f64) -> Result<Verdict> {
        self.control.check()?;
        let best = &mut self.best;
        best.bound = best.bound.max(bound);
        self.control.report(iteration, best.objective, best.gap());
        let mut drifted = false;
        if best.gap() <= self.options.tol {
            best.objective = assess(self.objective, &(self.features)(&best.x), self.control)?.objective;
            self.assessed = true;
            if best.gap() <= self.options.tol {
                return Ok(Verdict::End(Status::Converged));
            }
            drifted = true;
        }
        let better = best.gap() < BETTER * self.least_gap || open < BETTER * self.least_open;
        self.idle = if better { 0 } else { self.idle + 1 };
        (self.least_gap, self.least_open) = (self.least_gap.min(best.gap()), self.least_open.min(open));
        Ok(match iteration >= self.options.iterations() {
            _ if self.idle > PATIENCE || open.is_nan() => Verdict::End(Status::NoProgress),
            true => Verdict::End(Status::MaxIterations),
            false if drifted => Verdict::Drifted,
            false => Verdict::GoOn,
        })
    }

    /// Has the gap been the same for more than so many iterations, though it is below 1/2?
    pub(super) fn is_slow(&self, iterations: usize) -> bool {
        self.idle > iterations && self.least_gap < 0.5
    }

    /// The best point, in the caller's features and with J as everybody computes it.
    pub(super) fn end(mut self, iterations: usize, status: Status) -> Result<Solution> {
        self.best.x = (self.features)(&self.best.x);
        if !self.assessed {
            self.best.objective = assess(self.objective, &self.best.x, self.control)?.objective;
        }
        Ok(self.best.solution(iterations, status))
    }
}
