//! Parameters of the machine: unchecked, then checked.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::Calibration;
use crate::params::{Valid, check_not_negative, check_positive, check_threads, setters};
use crate::state::number;

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct Params {
    /// Added to the diagonal of both covariances in units of their mean variance.
    #[serde(with = "number")]
    pub ridge: f64,
    /// Relative change of the minimum at which to stop.
    #[serde(with = "number")]
    pub tol: f64,
    /// Iterations at most.
    pub max_iter: usize,
    /// Whether and how probabilities are fitted.
    pub calibration: Calibration,
    /// Seed of the folds.
    pub seed: u64,
    /// Number of threads; `None` is the environment's default.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self { ridge: 1e-6, tol: 1e-10, max_iter: 1000, calibration: Calibration::default(), seed: 0, threads: None }
    }
}

impl Params {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Added to the diagonal of both covariances in units of their mean variance, >= 0 (default 1e-6).
        ridge: f64 => ridge;
        /// Relative change of the minimum at which to stop, > 0 (default 1e-10).
        tol: f64 => tol;
        /// Iterations at most, >= 1 (default 1000).
        max_iter: usize => max_iter;
        /// Also fit probabilities, by cross-validation?
        probability: bool => calibration.probability;
        /// Folds of that cross-validation, >= 2 (default 5); classes with fewer rows get fewer folds.
        folds: usize => calibration.folds;
        /// Seed of the folds.
        seed: u64 => seed;
        /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
        threads: Option<usize> => threads;
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        check_not_negative("ridge", self.ridge)?;
        check_positive("tol", self.tol)?;
        if self.max_iter == 0 {
            return Err(Error::parameter("max_iter", 0, ">= 1"));
        }
        self.calibration.check()?;
        check_threads(self.threads)?;
        Ok(Valid(self))
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;
