//! Parameters of the uncertainty-SVC family: unchecked, then checked. Only checked ones can fit.

use super::Bound;
use crate::error::{Error, Result};
use crate::model::params::{check_folds, check_positive, check_threads, named, setters};
use crate::solver::{HAS_CLARABEL, Options};

/// The members of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

impl Method {
    /// All of them, by the names users write.
    pub const ALL: [(&'static str, Self); 5] = [
        ("usvc", Self::Usvc),
        ("tsvc", Self::Tsvc),
        ("ausvc", Self::Ausvc),
        ("mpsvc", Self::Mpsvc),
        ("psvm", Self::Psvm),
    ];
}

named!(Method, "method");

/// What solves the convex problems that the methods are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Solver {
    /// An interior-point method in d + 1 unknowns.
    #[default]
    Auto,
    /// A general cone solver, to compare with; only in builds with the Cargo feature `clarabel`.
    Clarabel,
}

impl Solver {
    /// Both, by the names users write.
    pub const ALL: [(&'static str, Self); 2] = [("auto", Self::Auto), ("clarabel", Self::Clarabel)];
}

named!(Solver, "solver");

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Params {
    /// Price of the losses against 1/2 |w|^2.
    pub c: f64,
    /// Which member of the family.
    pub method: Method,
    /// Radius of every row's ellipsoid, in standard deviations.
    pub radius: f64,
    /// Sets the radius instead, with `bound`.
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
    /// Whether the sigmoids of probabilities are fitted.
    pub probability: bool,
    /// Folds of the cross-validation behind the sigmoids.
    pub folds: usize,
    /// Number of threads; `None` is the environment's default.
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
            probability: false,
            folds: 5,
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
        probability: bool => probability;
        /// Folds of that cross-validation, >= 2 (default 5); classes with fewer rows get fewer folds.
        folds: usize => folds;
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
        if !(self.radius >= 0.0 && self.radius.is_finite()) {
            return Err(Error::parameter("radius", self.radius, "a finite number >= 0"));
        }
        check_folds(self.folds)?;
        check_threads(self.threads)?;
        if self.solver == Solver::Clarabel && !HAS_CLARABEL {
            let expected = "\"auto\": this build is without the Cargo feature clarabel";
            return Err(Error::parameter("solver", "\"clarabel\"", expected));
        }
        self.options.check()?;
        let radius = self.confidence.map_or(Ok(self.radius), |confidence| self.bound.radius(confidence))?;
        Ok(ValidParams { params: self, radius })
    }
}

/// Parameters that have passed [`Params::check`].
#[derive(Debug, Clone, PartialEq)]
pub struct ValidParams {
    pub(super) params: Params,
    pub(super) radius: f64,
}

impl ValidParams {
    /// The parameters, to look at or to change.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The radius in use: the one given, or the one that the confidence asks for.
    pub fn radius(&self) -> f64 {
        self.radius
    }
}
