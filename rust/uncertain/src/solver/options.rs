//! Which solver, and how it runs.

use crate::error::Result;
use crate::named::named;
use crate::number;
use crate::params::{builder, check_at_least_one, check_not_negative, check_positive};

/// The solvers by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum SolverKind {
    /// Newton for few rows; for many, L-BFGS preconditioned with the Hessian of a sample.
    #[default]
    Auto,
    /// Trust-region Newton, for up to 300 features; above L-BFGS takes its place.
    Newton,
    /// Limited-memory BFGS.
    Lbfgs,
    /// Stochastic gradient steps of Pegasos type.
    Sgd,
}

named!(SolverKind, "solver");

builder! {
    /// How a solver runs.
    #[derive(Copy)]
    pub struct Options {
        /// Certified relative duality gap at which to stop, > 0.
        #[serde(with = "number")]
        tol: f64 = 1e-6,
        /// Iterations at most, steps of SGD; `None`: 500, above 300 features 5000 of L-BFGS, 20,000 of SGD.
        #[serde(with = "number::limit")]
        max_iter: Option<usize> = None,
        /// SGD: rows per step.
        batch_size: usize = 64,
        /// SGD: return the average of the last half of the iterates?
        averaging: bool = true,
        /// SGD: keep |w| <= 1 / sqrt(alpha), where the optimum is known to be?
        projection: bool = true,
        /// SGD: the step is 1 / (alpha (t + offset)); `None` is 1 / alpha (first step of length one), 0 the paper's.
        #[serde(with = "number::option")]
        step_offset: Option<f64> = None,
        /// SGD: seed of the batches. No other solver depends on it.
        seed: u64 = 0,
    }
}

impl Options {
    /// Are all options in range?
    pub fn check(&self) -> Result<()> {
        check_positive("tol", self.tol)?;
        check_at_least_one("max_iter", self.max_iter)?;
        check_at_least_one("batch_size", self.batch_size)?;
        check_not_negative("step_offset", self.step_offset.unwrap_or(0.0))
    }

    pub(super) fn iterations(&self) -> usize {
        self.max_iter.unwrap_or(500)
    }
}
