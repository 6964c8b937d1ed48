//! Parameters of the regression: unchecked, then checked.

use crate::error::{Error, Result};
use crate::loss::{ExpectedEpsilonInsensitive, ExpectedHuber, ExpectedSquared, Loss, NoisyTargets};
use crate::model::params::{check_positive, check_threads, setters};
use crate::solver::{Options, SolverKind};

/// What is averaged: a loss of the residual r.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResidualLoss {
    /// max(0, |r| - epsilon)
    EpsilonInsensitive {
        /// Half the width of the tube, >= 0, in units of y.
        epsilon: f64,
    },
    /// r^2 / 2 up to delta, straight beyond.
    Huber {
        /// > 0, in units of y.
        delta: f64,
    },
    /// r^2 / 2
    Squared,
}

impl ResidualLoss {
    /// The loss of this name; the parameters it does not have are ignored.
    pub fn new(name: &str, epsilon: f64, delta: f64) -> Result<Self> {
        let loss = match name {
            "epsilon_insensitive" => Self::EpsilonInsensitive { epsilon },
            "huber" => Self::Huber { delta },
            "squared" => Self::Squared,
            other => {
                let names = "one of epsilon_insensitive, huber, squared";
                return Err(Error::parameter("loss", format!("{other:?}"), names));
            }
        };
        loss.check()?;
        Ok(loss)
    }

    /// The name users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::EpsilonInsensitive { .. } => "epsilon_insensitive",
            Self::Huber { .. } => "huber",
            Self::Squared => "squared",
        }
    }

    fn check(self) -> Result<()> {
        match self {
            Self::EpsilonInsensitive { epsilon } if !(0.0..f64::INFINITY).contains(&epsilon) => {
                Err(Error::parameter("epsilon", epsilon, "a finite number >= 0"))
            }
            Self::Huber { delta } if !(delta > 0.0 && delta.is_finite()) => {
                Err(Error::parameter("delta", delta, "a finite number > 0"))
            }
            _ => Ok(()),
        }
    }

    /// The loss of residuals divided by `scale`, and the power of `scale` that it is to be multiplied with.
    pub(super) fn scaled(self, scale: f64, variances: Option<Vec<f64>>) -> (Box<dyn Loss>, i32) {
        fn with<L: Loss + Clone + 'static>(loss: L, variances: Option<Vec<f64>>) -> Box<dyn Loss> {
            match variances {
                Some(variances) => Box::new(NoisyTargets::new(loss, variances)),
                None => Box::new(loss),
            }
        }
        match self {
            Self::EpsilonInsensitive { epsilon } => {
                (with(ExpectedEpsilonInsensitive { epsilon: epsilon / scale }, variances), 1)
            }
            Self::Huber { delta } => (with(ExpectedHuber { delta: delta / scale }, variances), 2),
            Self::Squared => (with(ExpectedSquared, variances), 2),
        }
    }
}

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Params {
    /// Strength of the penalty.
    pub alpha: f64,
    /// The loss.
    pub loss: ResidualLoss,
    /// Which solver.
    pub solver: SolverKind,
    /// What the solver is told.
    pub options: Options,
    /// Whether b is fitted.
    pub fit_intercept: bool,
    /// Number of threads; `None` is the environment's default.
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 1e-3,
            loss: ResidualLoss::EpsilonInsensitive { epsilon: 0.1 },
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
        /// The loss (default: epsilon-insensitive with epsilon = 0.1).
        loss: ResidualLoss => loss;
        /// The solver (default: chosen by the data); not SGD.
        solver: SolverKind => solver;
        /// Certified relative duality gap at which to stop, > 0 (default 1e-6).
        tol: f64 => options.tol;
        /// Iterations at most; `None` leaves it to the solver.
        max_iter: Option<usize> => options.max_iter;
        /// Seed of the sample that a large fit starts from.
        seed: u64 => options.seed;
        /// Fit b, or hold it at 0?
        fit_intercept: bool => fit_intercept;
        /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
        threads: Option<usize> => threads;
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        check_positive("alpha", self.alpha)?;
        self.loss.check()?;
        if self.solver == SolverKind::Sgd {
            return Err(Error::parameter("solver", "sgd", "one of auto, newton, lbfgs for regression"));
        }
        check_threads(self.threads)?;
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
