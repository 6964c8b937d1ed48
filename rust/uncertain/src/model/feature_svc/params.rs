//! Parameters: unchecked, then checked. Only checked ones can fit.

use crate::error::{Error, Result};
use crate::kernel::features::Approximation;
use crate::kernel::probabilistic_rbf::Coupling;
use crate::solver::Options;

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Params {
    /// Price of the loss.
    pub c: f64,
    /// How the kernel is approximated.
    pub approximation: Approximation,
    /// Frequencies (twice as many features), or landmark rows.
    pub n_components: usize,
    /// Bandwidth of the kernel.
    pub sigma: f64,
    /// Coupling of the kernel.
    pub coupling: Coupling,
    /// What the solver is told; its seed is that of everything random.
    pub options: Options,
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
            c: 1.0,
            approximation: Approximation::Random,
            n_components: 500,
            sigma: 1.0,
            coupling: Coupling::Shared,
            options: Options::default(),
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

    /// Price of the loss, > 0 (default 1).
    pub fn c(self, c: f64) -> Self {
        Self { c, ..self }
    }

    /// How the kernel is approximated (default: random features).
    pub fn approximation(self, approximation: Approximation) -> Self {
        Self { approximation, ..self }
    }

    /// Frequencies, or landmark rows at most, >= 1 (default 500).
    pub fn n_components(self, n_components: usize) -> Self {
        Self { n_components, ..self }
    }

    /// Bandwidth of the kernel, > 0 (default 1).
    pub fn sigma(self, sigma: f64) -> Self {
        Self { sigma, ..self }
    }

    /// Coupling of the kernel (default: shared).
    pub fn coupling(self, coupling: Coupling) -> Self {
        Self { coupling, ..self }
    }

    /// Certified relative duality gap at which to stop, > 0 (default 1e-6).
    pub fn tol(mut self, tol: f64) -> Self {
        self.options.tol = tol;
        self
    }

    /// Iterations at most; `None` leaves it to the solver.
    pub fn max_iter(mut self, max_iter: Option<usize>) -> Self {
        self.options.max_iter = max_iter;
        self
    }

    /// Seed of frequencies or landmarks, and of the folds.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
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

    /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
    pub fn threads(self, threads: Option<usize>) -> Self {
        Self { threads, ..self }
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        for (name, value) in [("C", self.c), ("sigma", self.sigma)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "a finite number > 0"));
            }
        }
        if self.n_components == 0 {
            return Err(Error::parameter("n_components", 0, ">= 1"));
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
