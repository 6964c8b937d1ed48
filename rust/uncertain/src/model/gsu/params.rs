//! Parameters of SVM-GSU: unchecked, then checked. Only checked ones can fit.

use crate::error::{Error, Result};
use crate::solver::{Options, SolverKind};

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Params {
    /// Strength of the penalty.
    pub alpha: f64,
    /// Which solver.
    pub solver: SolverKind,
    /// What the solver is told.
    pub options: Options,
    /// Whether b is fitted.
    pub fit_intercept: bool,
    /// Whether the sigmoids of probabilities are fitted.
    pub probability: bool,
    /// Folds of the cross-validation behind the sigmoids.
    pub folds: usize,
    /// Number of threads; `None` is the environment's default.
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 1e-3,
            solver: SolverKind::Auto,
            options: Options::default(),
            fit_intercept: true,
            probability: false,
            folds: 5,
            threads: None,
        }
    }
}

impl Params {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Strength of the penalty, > 0 (default 1e-3).
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// The solver (default: chosen by the data).
    pub fn solver(self, solver: SolverKind) -> Self {
        Self { solver, ..self }
    }

    /// Certified relative duality gap at which to stop, > 0 (default 1e-6).
    pub fn tol(mut self, tol: f64) -> Self {
        self.options.tol = tol;
        self
    }

    /// Iterations (SGD: steps) at most; `None` leaves it to the solver.
    pub fn max_iter(mut self, max_iter: Option<usize>) -> Self {
        self.options.max_iter = max_iter;
        self
    }

    /// SGD: rows per step.
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.options.batch_size = batch_size;
        self
    }

    /// SGD: average the last half of the iterates?
    pub fn averaging(mut self, averaging: bool) -> Self {
        self.options.averaging = averaging;
        self
    }

    /// SGD: project w on the ball of radius 1/sqrt(alpha), which holds the optimum?
    pub fn projection(mut self, projection: bool) -> Self {
        self.options.projection = projection;
        self
    }

    /// SGD: the step is 1 / (alpha (t + offset)); `None` is 1 / alpha.
    pub fn step_offset(mut self, offset: Option<f64>) -> Self {
        self.options.step_offset = offset;
        self
    }

    /// Seed of everything random: SGD's batches, the folds of the calibration.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Fit b, or hold it at 0?
    pub fn fit_intercept(self, fit_intercept: bool) -> Self {
        Self { fit_intercept, ..self }
    }

    /// Also fit probabilities, by cross-validation?
    pub fn probability(self, probability: bool) -> Self {
        Self { probability, ..self }
    }

    /// Folds of that cross-validation, >= 2 (default 5); classes with fewer rows get fewer folds.
    pub fn folds(self, folds: usize) -> Self {
        Self { folds, ..self }
    }

    /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
    pub fn threads(self, threads: Option<usize>) -> Self {
        Self { threads, ..self }
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            return Err(Error::parameter("alpha", self.alpha, "a finite number > 0"));
        }
        if self.folds < 2 {
            return Err(Error::parameter("folds", self.folds, "at least 2"));
        }
        if self.threads == Some(0) {
            return Err(Error::parameter("threads", 0, "at least 1"));
        }
        self.options.check()?;
        Ok(ValidParams(self))
    }
}

/// Parameters that have passed [`Params::check`].
#[derive(Debug, Clone, PartialEq)]
pub struct ValidParams(pub(super) Params);

impl ValidParams {
    /// The parameters, to look at or to change.
    pub fn params(&self) -> &Params {
        &self.0
    }
}
