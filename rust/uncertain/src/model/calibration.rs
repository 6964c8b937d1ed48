//! [`Calibration`]: whether and how a classifier's probabilities are fitted, the same parameters for every classifier.

use std::borrow::Cow;

use crate::data::Labels;
use crate::data::weights::TakeRows;
use crate::error::{Error, Result};
use crate::model::folds::Folds;
use crate::model::sampled::Sampled;
use crate::params::builder;

builder! {
    /// Sigmoids from scores to probabilities, fitted to scores of held-out rows; without them there are classes only.
    ///
    /// Beyond 200,000 rows linear models and features of kernels are calibrated on a sample of about so many: whole
    /// groups, at least 5,000 rows of every class that has them, with weights that make up for different shares.
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
    pub(super) fn split(
        self,
        labels: &Labels,
        seed: u64,
        sets: impl FnOnce() -> Result<Vec<Vec<usize>>>,
    ) -> Result<Option<Folds>> {
        self.probability.then(|| Folds::new(&sets()?, labels, self.folds, seed)).transpose()
    }

    /// The rows that calibrate, and their folds, where probabilities are wanted: all rows, or a sample of very many.
    pub(super) fn held_out<'a, D: TakeRows>(
        self,
        data: &D,
        labels: &'a Labels,
        seed: u64,
    ) -> Result<Option<HeldOut<'a, D>>> {
        if !self.probability {
            return Ok(None);
        }
        if let Some(Sampled { data, labels }) = Sampled::draw(data, labels, seed)?
            // A class in few large groups may be missing in the sample.
            && let Ok(folds) = Folds::new(&data.sets()?, &labels, self.folds, seed)
        {
            return Ok(Some(HeldOut { data, labels: Cow::Owned(labels), folds }));
        }
        let folds = Folds::new(&data.sets()?, labels, self.folds, seed)?;
        Ok(Some(HeldOut { data: data.clone(), labels: Cow::Borrowed(labels), folds }))
    }
}

/// Rows that are held out in turn, fold by fold.
#[derive(Debug)]
pub(super) struct HeldOut<'a, D> {
    pub data: D,
    pub labels: Cow<'a, Labels>,
    pub folds: Folds,
}
