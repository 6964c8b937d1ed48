//! Parameters of SVM-GSU: unchecked, then checked. Only checked ones can fit.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::loss::{LossKind, TargetKind};
use crate::model::Calibration;
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
    /// Whether and how probabilities are fitted.
    pub calibration: Calibration,
    /// Number of threads; `None` is the environment's default.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 1e-3,
            loss: LossKind::ExpectedHinge,
            solver: SolverKind::Auto,
            options: Options::default(),
            fit_intercept: true,
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

    setters! {
        /// Strength of the penalty, > 0 (default 1e-3).
        alpha: f64 => alpha;
        /// The loss, one for classes (default: the expected hinge).
        loss: LossKind => loss;
        /// The solver (default: chosen by the data).
        solver: SolverKind => solver;
        /// Certified relative duality gap at which to stop, > 0 (default 1e-6).
        tol: f64 => options.tol;
        /// Iterations (SGD: steps) at most; `None` leaves it to the solver.
        max_iter: Option<usize> => options.max_iter;
        /// SGD: rows per step.
        batch_size: usize => options.batch_size;
        /// SGD: average the last half of the iterates?
        averaging: bool => options.averaging;
        /// SGD: project w on the ball of radius 1/sqrt(alpha), which holds the optimum?
        projection: bool => options.projection;
        /// SGD: the step is 1 / (alpha (t + offset)); `None` is 1 / alpha.
        step_offset: Option<f64> => options.step_offset;
        /// Seed of everything random: SGD's batches, the folds of the calibration.
        seed: u64 => options.seed;
        /// Fit b, or hold it at 0?
        fit_intercept: bool => fit_intercept;
        /// Also fit probabilities, by cross-validation?
        probability: bool => calibration.probability;
        /// Folds of that cross-validation, >= 2 (default 5); classes with fewer rows get fewer folds.
        folds: usize => calibration.folds;
        /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
        threads: Option<usize> => threads;
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        check_positive("alpha", self.alpha)?;
        self.loss.check_for(TargetKind::Signs)?;
        self.calibration.check()?;
        check_threads(self.threads)?;
        self.options.check()?;
        Ok(Valid(self))
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;
