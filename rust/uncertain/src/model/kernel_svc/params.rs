//! Parameters of kernel classification: unchecked, then checked. Only checked ones can fit.

use crate::error::{Error, Result};
use crate::solver::smo::Options;

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Params {
    /// Price of the loss.
    pub c: f64,
    /// What the solver is told.
    pub options: Options,
    /// Whether the sigmoids of probabilities are fitted.
    pub probability: bool,
    /// Folds of the cross-validation behind the sigmoids.
    pub folds: usize,
    /// Seed of the folds.
    pub seed: u64,
    /// Number of threads; `None` is the environment's default.
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self { c: 1.0, options: Options::default(), probability: false, folds: 5, seed: 0, threads: None }
    }
}

impl Params {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Price of the loss, > 0 (default 1).
    pub fn c(self, c: f64) -> Self {
        Self { c, ..self }
    }

    /// Violation of the optimality conditions at which to stop, > 0 (default 1e-3).
    pub fn tol(mut self, tol: f64) -> Self {
        self.options.tol = tol;
        self
    }

    /// Pairs of coefficients optimised at most; `None` leaves it to the solver.
    pub fn max_iter(mut self, max_iter: Option<usize>) -> Self {
        self.options.max_iter = max_iter;
        self
    }

    /// Leave coefficients out that stay at a bound (default)?
    pub fn shrinking(mut self, shrinking: bool) -> Self {
        self.options.shrinking = shrinking;
        self
    }

    /// Bytes for rows of the kernel matrix that are computed or gathered (default 200 MiB).
    pub fn cache_size(mut self, bytes: usize) -> Self {
        self.options.cache_size = bytes;
        self
    }

    /// Also fit probabilities, by cross-validation?
    pub fn probability(self, probability: bool) -> Self {
        Self { probability, ..self }
    }

    /// Folds of that cross-validation, >= 2 (default 5); classes with fewer rows get fewer folds.
    pub fn folds(self, folds: usize) -> Self {
        Self { folds, ..self }
    }

    /// Seed of the folds.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
    pub fn threads(self, threads: Option<usize>) -> Self {
        Self { threads, ..self }
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("C", self.c, "a finite number > 0"));
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
