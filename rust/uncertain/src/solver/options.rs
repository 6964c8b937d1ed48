//! Which solver, and how it runs.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::named::named;
use crate::state::number;

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

/// How a solver runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Stop when the certified relative duality gap is at most this.
    #[serde(with = "number")]
    pub tol: f64,
    /// Iterations, steps of SGD; `None`: 500, above 300 features 5000 of L-BFGS, 20,000 of SGD.
    #[serde(with = "number::limit")]
    pub max_iter: Option<usize>,
    /// SGD: rows per step.
    pub batch_size: usize,
    /// SGD: return the average of the last half of the iterates.
    pub averaging: bool,
    /// SGD: keep |w| <= 1 / sqrt(alpha), where the optimum is known to be.
    pub projection: bool,
    /// SGD: the step is 1 / (alpha (t + offset)); `None` is 1 / alpha (first step of length one), 0 the paper's.
    #[serde(with = "number::option")]
    pub step_offset: Option<f64>,
    /// SGD: seed of the batches. No other solver depends on it.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tol: 1e-6,
            max_iter: None,
            batch_size: 64,
            averaging: true,
            projection: true,
            step_offset: None,
            seed: 0,
        }
    }
}

impl Options {
    /// Are all options in range?
    pub fn check(&self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol.is_finite()) {
            return Err(Error::parameter("tol", self.tol, "a finite number > 0"));
        }
        if self.max_iter == Some(0) {
            return Err(Error::parameter("max_iter", 0, ">= 1"));
        }
        if self.batch_size == 0 {
            return Err(Error::parameter("batch_size", 0, ">= 1"));
        }
        if let Some(offset) = self.step_offset.filter(|x| !(*x >= 0.0 && x.is_finite())) {
            return Err(Error::parameter("step_offset", offset, "a finite number >= 0"));
        }
        Ok(())
    }

    pub(super) fn iterations(&self) -> usize {
        self.max_iter.unwrap_or(500)
    }
}
