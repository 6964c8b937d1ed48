//! Parameters: unchecked, then checked. Only checked ones can fit.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::kernel::features::Approximation;
use crate::kernel::probabilistic_rbf::{Bandwidth, Coupling};
use crate::model::Calibration;
use crate::params::{Valid, check_positive, check_threads, setters};
use crate::solver::Options;
use crate::state::number;

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct Params {
    /// Price of the loss.
    #[serde(rename = "C", with = "number")]
    pub c: f64,
    /// How the kernel is approximated.
    pub approximation: Approximation,
    /// Frequencies (twice as many features), or landmark rows.
    pub n_components: usize,
    /// Bandwidth of the kernel.
    #[serde(with = "number::median")]
    pub sigma: Bandwidth,
    /// Coupling of the kernel.
    pub coupling: Coupling,
    /// What the solver is told; its seed is that of everything random.
    pub options: Options,
    /// Whether and how probabilities are fitted.
    pub calibration: Calibration,
    /// Number of threads; `None` is the environment's default.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            c: 1.0,
            approximation: Approximation::Random,
            n_components: 500,
            sigma: Bandwidth::Fixed(1.0),
            coupling: Coupling::Shared,
            options: Options::default(),
            calibration: Calibration::default(),
            threads: None,
        }
    }
}

impl Params {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bandwidth of the kernel, > 0 (default 1), or [`Bandwidth::Median`] of the rows that have weight.
    pub fn sigma(self, sigma: impl Into<Bandwidth>) -> Self {
        Self { sigma: sigma.into(), ..self }
    }

    setters! {
        /// Price of the loss, > 0 (default 1).
        c: f64 => c;
        /// How the kernel is approximated (default: random features).
        approximation: Approximation => approximation;
        /// Frequencies, or landmark rows at most, >= 1 (default 500).
        n_components: usize => n_components;
        /// Coupling of the kernel (default: shared).
        coupling: Coupling => coupling;
        /// Certified relative duality gap at which to stop, > 0 (default 1e-6).
        tol: f64 => options.tol;
        /// Iterations at most; `None` leaves it to the solver.
        max_iter: Option<usize> => options.max_iter;
        /// Seed of frequencies or landmarks, and of the folds.
        seed: u64 => options.seed;
        /// Also fit probabilities, by cross-validation?
        probability: bool => calibration.probability;
        /// Folds of that cross-validation, >= 2 (default 5); classes with fewer rows get fewer folds.
        folds: usize => calibration.folds;
        /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
        threads: Option<usize> => threads;
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        check_positive("C", self.c)?;
        self.sigma.check()?;
        if self.n_components == 0 {
            return Err(Error::parameter("n_components", 0, ">= 1"));
        }
        self.calibration.check()?;
        check_threads(self.threads)?;
        self.options.check()?;
        Ok(Valid(self))
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;
