//! Parameters of SVM-GSU: unchecked, then checked. Only checked ones can fit.

use crate::error::Result;
use crate::loss::{LossKind, TargetKind};
use crate::model::Calibration;
use crate::number;
use crate::params::{check_positive, params};
use crate::solver::{Options, SolverKind};

params! {
    pub struct Params {
        /// Strength of the penalty, > 0.
        #[serde(with = "number")]
        alpha: f64 = 1e-3,
        /// The loss, one for classes.
        loss: LossKind = LossKind::ExpectedHinge,
        /// The solver; by default chosen by the data.
        solver: SolverKind = SolverKind::Auto,
        /// How the solver runs; its seed is that of the folds, too.
        options: Options = Options::default() => {
            tol: f64, max_iter: Option<usize>, batch_size: usize, averaging: bool, projection: bool,
            step_offset: Option<f64>, seed: u64
        },
        /// Fit b, or hold it at 0?
        fit_intercept: bool = true,
        /// Whether and how probabilities are fitted.
        calibration: Calibration = Calibration::default() => { probability: bool, folds: usize },
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        check_positive("alpha", self.alpha)?;
        self.loss.check_for(TargetKind::Signs)?;
        self.calibration.check()?;
        self.options.check()
    }
}
