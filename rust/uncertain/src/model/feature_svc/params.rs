//! Parameters: unchecked, then checked. Only checked ones can fit.

use crate::error::Result;
use crate::kernel::probabilistic_rbf::{Bandwidth, Coupling};
use crate::model::Calibration;
use crate::number;
use crate::params::{check_at_least_one, check_positive, params};
use crate::solver::Options;

params! {
    pub struct Params {
        /// Price of the loss, > 0.
        #[serde(rename = "C", with = "number")]
        c: f64 = 1.0,
        /// Frequencies, >= 1; twice as many features.
        n_components: usize = 500,
        /// Bandwidth of the kernel, > 0, or [`Bandwidth::Median`] of the rows that have weight.
        #[serde(with = "number::median")]
        sigma: Bandwidth as impl Into<Bandwidth> = Bandwidth::Fixed(1.0),
        /// Coupling of the kernel.
        coupling: Coupling = Coupling::Shared,
        /// How the solver runs; its seed is that of the frequencies and of the folds.
        options: Options = Options::default() => { tol: f64, max_iter: Option<usize>, seed: u64 },
        /// Whether and how probabilities are fitted.
        calibration: Calibration = Calibration::default() => { probability: bool, folds: usize },
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        check_positive("C", self.c)?;
        self.sigma.check()?;
        check_at_least_one("n_components", self.n_components)?;
        self.calibration.check()?;
        self.options.check()
    }
}
