//! Parameters of the regression: unchecked, then checked.

use crate::error::{Error, Result};
use crate::loss::{LossKind, TargetKind};
use crate::number;
use crate::params::{check_positive, params};
use crate::solver::{Options, SolverKind};

params! {
    pub struct Params {
        /// Strength of the penalty, > 0.
        #[serde(with = "number")]
        alpha: f64 = 1e-3,
        /// The loss, one for real targets, in units of y.
        loss: LossKind = LossKind::Huber { delta: 1.35 },
        /// The solver, not SGD; by default chosen by the data.
        solver: SolverKind = SolverKind::Auto,
        /// How the solver runs; nothing in these fits is random.
        options: Options = Options::default() => { tol: f64, max_iter: Option<usize>, seed: u64 },
        /// Fit b, or hold it at 0?
        fit_intercept: bool = true,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        check_positive("alpha", self.alpha)?;
        self.loss.check_for(TargetKind::Real)?;
        if self.solver == SolverKind::Sgd {
            return Err(Error::parameter("solver", "sgd", "one of auto, newton, lbfgs for regression"));
        }
        self.options.check()
    }
}
