//! Parameters of the regression: unchecked, then checked.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::loss::{LossKind, TargetKind};
use crate::params::{Valid, check_positive, check_threads, setters};
use crate::solver::{Options, SolverKind};
use crate::state::number;

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct Params {
    /// Strength of the penalty.
    #[serde(with = "number")]
    pub alpha: f64,
    /// The loss.
    pub loss: LossKind,
    /// Which solver.
    pub solver: SolverKind,
    /// What the solver is told.
    pub options: Options,
    /// Whether b is fitted.
    pub fit_intercept: bool,
    /// Number of threads; `None` is the environment's default.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 1e-3,
            loss: LossKind::Huber { delta: 1.35 },
            solver: SolverKind::Auto,
            options: Options::default(),
            fit_intercept: true,
            threads: None,
        }
    }
}

impl Params {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Strength of the penalty, > 0 (default 1e-3).
        alpha: f64 => alpha;
        /// The loss (default: Huber with delta = 1.35, in units of y).
        loss: LossKind => loss;
        /// The solver (default: chosen by the data); not SGD.
        solver: SolverKind => solver;
        /// Certified relative duality gap at which to stop, > 0 (default 1e-6).
        tol: f64 => options.tol;
        /// Iterations at most; `None` leaves it to the solver.
        max_iter: Option<usize> => options.max_iter;
        /// Has no effect: nothing in these fits is random.
        seed: u64 => options.seed;
        /// Fit b, or hold it at 0?
        fit_intercept: bool => fit_intercept;
        /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
        threads: Option<usize> => threads;
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        check_positive("alpha", self.alpha)?;
        self.loss.check_for(TargetKind::Real)?;
        if self.solver == SolverKind::Sgd {
            return Err(Error::parameter("solver", "sgd", "one of auto, newton, lbfgs for regression"));
        }
        check_threads(self.threads)?;
        self.options.check()?;
        Ok(Valid(self))
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;
