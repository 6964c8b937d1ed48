//! [`Calibration`]: whether and how a classifier's probabilities are fitted, the same parameters for every classifier.

use crate::data::Labels;
use crate::error::{Error, Result};
use crate::model::folds::Folds;
use crate::params::builder;

builder! {
    /// Sigmoids from scores to probabilities, fitted to scores of held-out rows; without them there are classes only.
    #[derive(Copy, Eq)]
    pub struct Calibration {
        /// Also fit probabilities, by cross-validation?
        probability: bool = false,
        /// Folds of that cross-validation, at least 2; classes with fewer rows get fewer folds.
        folds: usize = 5,
    }
}

impl Calibration {
    pub(super) fn check(self) -> Result<()> {
        if self.folds < 2 { Err(Error::parameter("folds", self.folds, "at least 2")) } else { Ok(()) }
    }

    /// The folds of these rows, where probabilities are wanted.
    pub(super) fn split(self, labels: &Labels, seed: u64) -> Result<Option<Folds>> {
        self.probability.then(|| Folds::new(labels, self.folds, seed)).transpose()
    }
}
