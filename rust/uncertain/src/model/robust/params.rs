//! Parameters of the uncertainty-SVC family: unchecked, then checked. Only checked ones can fit.

use super::Bound;
use crate::error::{Error, Result};
use crate::model::Calibration;
use crate::named::named;
use crate::number;
use crate::params::{check_not_negative, check_positive, params};
use crate::solver::Options;

/// The members of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// Worst case over the ellipsoid.
    #[default]
    Usvc,
    /// Best case over the ellipsoid.
    Tsvc,
    /// Worst case, misclassified rows shrink.
    Ausvc,
    /// Smallest sum of error probabilities.
    Mpsvc,
    /// Best case over balls.
    Psvm,
}

named!(Method, "method");

/// How algorithm 3 (MPSVC) changes the weights theta of the rows between its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Theta {
    /// Rows on the right side nearer than the mean gain weight, rows on the wrong side lose it.
    #[default]
    Near,
    /// As published: rows with y f < 1 gain weight, all others lose it.
    Published,
}

named!(Theta, "theta");

params! {
    pub struct Params {
        /// Price of the losses against 1/2 |w|^2, > 0.
        #[serde(rename = "C", with = "number")]
        c: f64 = 1.0,
        /// The member of the family.
        method: Method = Method::Usvc,
        /// Radius of every row's ellipsoid in standard deviations, >= 0.
        #[serde(with = "number")]
        radius: f64 = 1.0,
        /// The radius from a probability, with `bound`; `None` leaves it to `radius`.
        #[serde(with = "number::option")]
        confidence: Option<f64> = None,
        /// Assumption about the rows' distributions where the radius comes from a probability.
        bound: Bound = Bound::Gaussian,
        /// AUSVC and MPSVC: the part of its first radius that a row on the wrong side loses per round, in (0, 1].
        #[serde(with = "number")]
        shrink: f64 = 0.1,
        /// MPSVC: which rows' weights change between the rounds of algorithm 3.
        theta: Theta = Theta::Near,
        /// MPSVC: the factor by which they change, > 1.
        #[serde(with = "number")]
        theta_factor: f64 = 10.0,
        /// MPSVC: finish with a descent on its measure, or stop where the paper's algorithm does?
        polish: bool = true,
        /// Gap and iterations of every convex problem, seed of the folds.
        options: Options = Options::default() => { tol: f64, max_iter: Option<usize>, seed: u64 },
        /// Fit b, or hold it at 0?
        fit_intercept: bool = true,
        /// Whether and how probabilities are fitted.
        calibration: Calibration = Calibration::default() => { probability: bool, folds: usize },
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        check_positive("C", self.c)?;
        check_not_negative("radius", self.radius)?;
        if !(self.shrink > 0.0 && self.shrink <= 1.0) {
            return Err(Error::parameter("shrink", self.shrink, "above 0 and at most 1"));
        }
        if !(self.theta_factor > 1.0 && self.theta_factor.is_finite()) {
            return Err(Error::parameter("theta_factor", self.theta_factor, "a finite number > 1"));
        }
        self.calibration.check()?;
        self.options.check()?;
        self.confidence.map(|confidence| self.bound.radius(confidence)).transpose().map(drop)
    }
}

impl ValidParams {
    /// The radius in use: the one given, or the one that the confidence asks for.
    pub fn radius(&self) -> f64 {
        let of_confidence = self.0.confidence.and_then(|confidence| self.0.bound.radius(confidence).ok());
        of_confidence.unwrap_or(self.0.radius)
    }
}
