//! Where a solver starts, where it ends, and what certifies that.

use crate::named::named;
use crate::objective::Evaluation;

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The certified gap is at most `tol`.
    Converged,
    /// `max_iter` iterations without reaching `tol`.
    #[strum(serialize = "max_iter")]
    MaxIterations,
    /// Rounding prevents further progress; the gap says how good the point is.
    NoProgress,
    /// SGD: took the steps it was given.
    StepsDone,
    /// The rows can be told apart by a plane: the likelihood rises for ever, and its coefficients have no end.
    Separated,
}

named!(Status, "status");

/// Where a solver ended, and how good that is.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Weights.
    pub w: Vec<f64>,
    /// Intercept.
    pub b: f64,
    /// J(w, b).
    pub objective: f64,
    /// Certified relative duality gap: J(w, b) - J* <= gap * J(w, b).
    pub gap: f64,
    /// Iterations over all rows (SGD: steps).
    pub iterations: usize,
    /// How it ended.
    pub status: Status,
}

/// The best point and the best bound seen: each certifies the other.
#[derive(Debug)]
pub(super) struct Best {
    pub x: Vec<f64>,
    pub objective: f64,
    pub bound: f64,
}

impl Best {
    pub(super) fn new(x: &[f64], e: &Evaluation) -> Self {
        Self { x: x.to_vec(), objective: e.objective, bound: e.bound }
    }

    pub(super) fn see(&mut self, x: &[f64], e: &Evaluation) {
        self.bound = self.bound.max(e.bound);
        if e.objective < self.objective {
            self.objective = e.objective;
            self.x.copy_from_slice(x);
        }
    }

    pub(super) fn gap(&self) -> f64 {
        if self.objective > 0.0 { ((self.objective - self.bound) / self.objective).max(0.0) } else { 0.0 }
    }

    pub(super) fn solution(self, iterations: usize, status: Status) -> Solution {
        let (gap, d) = (self.gap(), self.x.len() - 1);
        Solution { b: self.x[d], w: self.x[..d].to_vec(), objective: self.objective, gap, iterations, status }
    }
}

/// A point to start from, and the smoothing that goes with it.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub x: Vec<f64>,
    pub epsilon: f64,
    /// Cholesky factor of a Hessian close to that at the optimum.
    pub factor: Option<Vec<f64>>,
}

/// How Newton or L-BFGS ended.
pub(super) enum Ended {
    Done(Solution),
    /// Some rows have so little spread that the interior-point method should go on from here.
    Narrow {
        best: Best,
        iterations: usize,
    },
}
