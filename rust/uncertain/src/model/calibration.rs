//! [`Calibration`]: whether and how a classifier's probabilities are fitted, the same parameters for every classifier.

use serde::{Deserialize, Serialize};

use crate::data::Labels;
use crate::error::{Error, Result};
use crate::model::folds::Folds;

/// Sigmoids from scores to probabilities, fitted to scores of held-out rows; without them there are classes only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Fit them?
    pub probability: bool,
    /// Folds of the cross-validation behind them, at least 2; classes with fewer rows get fewer folds.
    pub folds: usize,
}

impl Default for Calibration {
    /// None; five folds once they are asked for.
    fn default() -> Self {
        Self { probability: false, folds: 5 }
    }
}

impl Calibration {
    pub(super) fn check(self) -> Result<()> {
        if self.folds < 2 { Err(Error::parameter("folds", self.folds, "at least 2")) } else { Ok(()) }
    }

    /// The folds of these rows, where probabilities are wanted.
    pub(super) fn folds(self, labels: &Labels, seed: u64) -> Result<Option<Folds>> {
        self.probability.then(|| Folds::new(labels, self.folds, seed)).transpose()
    }
}
