//! Parameters and results.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::named::named;
use crate::number;
use crate::params::{check_at_least_one, check_not_negative, params};
use crate::solver::Status;

/// [`Params::reg`] where rows do not count.
pub(super) const LEAST: f64 = 1e-6;
/// Rises of the log-likelihood, per row and in total, the larger of which ends EM by default.
const TOL: f64 = 1e-6;
const TOTAL: f64 = 0.1;

/// How many components.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
#[non_exhaustive]
pub enum Components {
    /// As many.
    Fixed(usize),
    /// By cross-validated likelihood, at most [`Params::max_components`].
    Auto,
}

impl fmt::Display for Components {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::from(*self).fmt(f)
    }
}

impl TryFrom<Value> for Components {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match (value.as_str(), value.as_u64()) {
            (Some("auto"), _) => Ok(Self::Auto),
            (_, Some(n)) => Ok(Self::Fixed(usize::try_from(n).unwrap_or(usize::MAX))),
            _ => Err(format!("n_components = {value}: must be an integer >= 1 or \"auto\"")),
        }
    }
}

impl From<Components> for Value {
    fn from(components: Components) -> Self {
        match components {
            Components::Fixed(n) => n.into(),
            Components::Auto => "auto".into(),
        }
    }
}

/// How EM is made faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Acceleration {
    /// Its steps are extrapolated.
    #[default]
    Squarem,
}

named!(Acceleration, "acceleration");

params! {
    /// Parameters of extreme deconvolution.
    pub struct Params {
        /// Number of components.
        #[serde(rename = "n_components")]
        components: Components = Components::Fixed(1),
        /// The most that [`Components::Auto`] tries, >= 1.
        max_components: usize = 10,
        /// Stop when the mean log-likelihood per row rises by no more than this in one step, >= 0; `None`: as
        /// `Params::patience`.
        #[serde(with = "number::option")]
        tol: Option<f64> as impl Into<Option<f64>> = None,
        /// Passes over the rows after the first one at most, >= 1; each is a step of EM or an extrapolation.
        max_iter: usize = 1000,
        /// How EM is made faster; `None`: plain EM.
        acceleration: Option<Acceleration> = Some(Acceleration::Squarem),
        /// T is at least this part of the features' scale in every direction, in (0, 1); `None`: as `floor`.
        #[serde(rename = "reg_covar", with = "number::option")]
        reg: Option<f64> as impl Into<Option<f64>> = Some(LEAST),
        /// Seed of the start, and of the folds of [`Components::Auto`].
        seed: u64 = 0,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        if self.components == Components::Fixed(0) {
            return Err(Error::parameter("n_components", 0, "an integer >= 1 or \"auto\""));
        }
        check_at_least_one("max_components", self.max_components)?;
        check_not_negative("tol", self.tol.unwrap_or(0.0))?;
        check_at_least_one("max_iter", self.max_iter)?;
        match self.reg.filter(|reg| !(*reg >= 1e-12 && *reg < 1.0)) {
            Some(bad) => Err(Error::parameter("reg_covar", bad, "at least 1e-12 and below 1")),
            None => Ok(()),
        }
    }

    /// The rise per row at which EM on so many rows stops.
    ///
    /// A step that raises the log-likelihood of all rows together by a tenth says nothing about the truth, which is a chi
    /// squared away from the maximum. Directions in which few rows show no variance beyond their noise are followed for
    /// hundreds of steps by a rule that does not know the rows.
    pub(super) fn patience(&self, rows: f64) -> f64 {
        self.tol.unwrap_or_else(|| TOL.max(TOTAL / rows))
    }
}

/// A fitted mixture and the way to it.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedMixture {
    /// Result of a fit.
    pub mixture: Mixture,
    /// Mean log-likelihood per row, at the start and after every step that was kept; it never falls. The imputer's, and
    /// the denoiser's for rows with gaps, with its penalty, (d + 1)/(2n) log |T|.
    pub history: Vec<f64>,
    /// Passes over the rows after the first one: steps, and extrapolations that were not kept.
    pub n_iter: usize,
    /// How it ended.
    pub status: Status,
    /// Cross-validated log-likelihoods behind the number of components, where it was chosen.
    pub choice: Option<Choice>,
}

impl FittedMixture {
    /// The way without the mixture.
    #[must_use]
    pub fn report(&self) -> Report {
        let held_out = self.choice.as_ref().map(|choice| choice.log_likelihoods.clone());
        Report { history: self.history.clone(), n_iter: self.n_iter, status: self.status, held_out }
    }
}

/// The way to a mixture, which a model file may remember.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// As [`FittedMixture::history`].
    pub history: Vec<f64>,
    /// As [`FittedMixture::n_iter`].
    pub n_iter: usize,
    /// How it ended.
    pub status: Status,
    /// Cross-validated log-likelihoods of 1, 2 .. components, where their number was chosen.
    pub held_out: Option<Vec<f64>>,
}

/// How the number of components was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The number with the largest held-out likelihood.
    pub n_components: usize,
    /// Mean log-likelihood per held-out row for 1, 2, ... components, as far as was tried.
    pub log_likelihoods: Vec<f64>,
}
