//! Parameters of kernel classification: unchecked, then checked. Only checked ones can fit.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::model::Calibration;
use crate::model::kernel_machine::Kernel;
use crate::params::{Valid, check_positive, check_threads, setters};
use crate::probabilistic_kernel::{Bandwidth, Coupling};
use crate::solver::smo::Options;
use crate::state::number;

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct Params {
    /// Price of the loss.
    #[serde(rename = "C", with = "number")]
    pub c: f64,
    /// Where kernel values come from.
    pub kernel: Kernel,
    /// Bandwidth of the kernel between Gaussians.
    #[serde(with = "number::median")]
    pub sigma: Bandwidth,
    /// Which noise the rows of a pair see.
    pub coupling: Coupling,
    /// What the solver is told.
    pub options: Options,
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
        Self {
            c: 1.0,
            kernel: Kernel::Probabilistic,
            sigma: Bandwidth::Fixed(1.0),
            coupling: Coupling::Shared,
            options: Options::default(),
            calibration: Calibration::default(),
            seed: 0,
            threads: None,
        }
    }
}

impl Params {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bandwidth, > 0 (default 1), or [`Bandwidth::Median`]; without meaning for other kernels.
    pub fn sigma(self, sigma: impl Into<Bandwidth>) -> Self {
        Self { sigma: sigma.into(), ..self }
    }

    setters! {
        /// Where kernel values come from in fits of any kind of model ([`Step`](crate::file::Step)).
        kernel: Kernel => kernel;
        /// Price of the loss, > 0 (default 1).
        c: f64 => c;
        /// Which noise the rows of a pair see (default: shared).
        coupling: Coupling => coupling;
        /// Certified relative duality gap at which to stop, > 0 (default 1e-6).
        tol: f64 => options.tol;
        /// Pairs of coefficients optimised at most; `None` leaves it to the solver.
        max_iter: Option<usize> => options.max_iter;
        /// Leave coefficients out that stay at a bound (default)?
        shrinking: bool => options.shrinking;
        /// Bytes for the kernel matrix, or for the rows of it that are kept (default 1 GiB).
        cache_size: usize => options.cache_size;
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
        check_positive("C", self.c)?;
        self.sigma.check()?;
        self.calibration.check()?;
        check_threads(self.threads)?;
        self.options.check()?;
        Ok(Valid(self))
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;
