//! Parameters of the machine: unchecked, then checked.

use crate::error::Result;
use crate::model::Calibration;
use crate::number;
use crate::params::{check_at_least_one, check_not_negative, check_positive, params};

params! {
    pub struct Params {
        /// Added to the diagonal of both covariances in units of their mean variance, >= 0.
        #[serde(with = "number")]
        ridge: f64 = 1e-6,
        /// Relative change of the minimum at which to stop, > 0.
        #[serde(with = "number")]
        tol: f64 = 1e-10,
        /// Iterations at most, >= 1.
        max_iter: usize = 1000,
        /// Whether and how probabilities are fitted.
        calibration: Calibration = Calibration::default() => { probability: bool, folds: usize },
        /// Seed of the folds.
        seed: u64 = 0,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        check_not_negative("ridge", self.ridge)?;
        check_positive("tol", self.tol)?;
        check_at_least_one("max_iter", self.max_iter)?;
        self.calibration.check()
    }
}
