//! Parameters of the uncertainty-SVC family: unchecked, then checked. Only checked ones can fit.

use serde::{Deserialize, Serialize};

use super::Bound;
use crate::error::{Error, Result};
use crate::model::Calibration;
use crate::named::named;
use crate::params::{Valid, check_not_negative, check_positive, check_threads, setters};
use crate::solver::{HAS_CLARABEL, Options};
use crate::state::number;

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

/// What solves the convex problems that the methods are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Solver {
    /// An interior-point method in d + 1 unknowns.
    #[default]
    Auto,
    /// A general cone solver, to compare with; only in builds with the Cargo feature `clarabel`.
    Clarabel,
}

named!(Solver, "solver");

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct Params {
    /// Price of the losses against 1/2 |w|^2.
    #[serde(rename = "C", with = "number")]
    pub c: f64,
    /// Which member of the family.
    pub method: Method,
    /// Radius of every row's ellipsoid, in standard deviations.
    #[serde(with = "number")]
    pub radius: f64,
    /// Sets the radius instead, with `bound`.
    #[serde(with = "number::option")]
    pub confidence: Option<f64>,
    /// What is assumed of the rows' distributions.
    pub bound: Bound,
    /// MPSVC: finish with a descent on its measure?
    pub polish: bool,
    /// What solves the convex problems.
    pub solver: Solver,
    /// Gap and iterations of every convex problem, seed of the folds.
    pub options: Options,
    /// Whether b is fitted.
    pub fit_intercept: bool,
    /// Whether and how probabilities are fitted.
    pub calibration: Calibration,
    /// Number of threads; `None` is the environment's default.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            c: 1.0,
            method: Method::Usvc,
            radius: 1.0,
            confidence: None,
            bound: Bound::Gaussian,
            polish: true,
            solver: Solver::Auto,
            options: Options::default(),
            fit_intercept: true,
            calibration: Calibration::default(),
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
        /// C, > 0 (default 1).
        c: f64 => c;
        /// The member of the family (default: USVC).
        method: Method => method;
        /// Radius of the ellipsoids, >= 0 (default 1).
        radius: f64 => radius;
        /// MPSVC: finish with a descent on its measure (default), or stop where the paper's algorithm does?
        polish: bool => polish;
        /// What solves the convex problems (default: ours).
        solver: Solver => solver;
        /// Certified relative duality gap of every convex problem, > 0 (default 1e-6).
        tol: f64 => options.tol;
        /// Iterations of every convex problem at most; `None` is 500.
        max_iter: Option<usize> => options.max_iter;
        /// Seed of the folds of the calibration.
        seed: u64 => options.seed;
        /// Fit b, or hold it at 0?
        fit_intercept: bool => fit_intercept;
        /// Also fit probabilities, by cross-validation?
        probability: bool => calibration.probability;
        /// Folds of that cross-validation, >= 2 (default 5); classes with fewer rows get fewer folds.
        folds: usize => calibration.folds;
        /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
        threads: Option<usize> => threads;
    }

    /// The radius from a probability, with this bound; `None` leaves it to [`radius`](Self::radius).
    pub fn confidence(self, confidence: Option<f64>, bound: Bound) -> Self {
        Self { confidence, bound, ..self }
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        check_positive("C", self.c)?;
        check_not_negative("radius", self.radius)?;
        self.calibration.check()?;
        check_threads(self.threads)?;
        if self.solver == Solver::Clarabel && !HAS_CLARABEL {
            let expected = "\"auto\": this build is without the Cargo feature clarabel";
            return Err(Error::parameter("solver", "\"clarabel\"", expected));
        }
        self.options.check()?;
        self.confidence.map(|confidence| self.bound.radius(confidence)).transpose()?;
        Ok(Valid(self))
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;

impl ValidParams {
    /// The radius in use: the one given, or the one that the confidence asks for.
    pub fn radius(&self) -> f64 {
        let of_confidence = self.0.confidence.and_then(|confidence| self.0.bound.radius(confidence).ok());
        of_confidence.unwrap_or(self.0.radius)
    }
}
