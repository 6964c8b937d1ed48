//! Parameters of the uncertainty-SVC family: unchecked, then checked. Only checked ones can fit.

use super::Bound;
use crate::error::{Error, Result};
use crate::solver::Options;

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

impl std::str::FromStr for Method {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let names = Self::ALL.map(|(known, _)| known).join(", ");
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, method)| method).ok_or_else(|| Error::parameter("method", name, format!("one of {names}")))
    }
}

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

    /// C, > 0 (default 1).
    pub fn c(self, c: f64) -> Self {
        Self { c, ..self }
    }

    /// The member of the family (default: USVC).
    pub fn method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Radius of the ellipsoids, >= 0 (default 1).
    pub fn radius(self, radius: f64) -> Self {
        Self { radius, ..self }
    }

    /// The radius from a probability, with this bound; `None` leaves it to [`radius`](Self::radius).
    pub fn confidence(self, confidence: Option<f64>, bound: Bound) -> Self {
        Self { confidence, bound, ..self }
    }

    /// MPSVC: finish with a descent on its measure (default), or stop where the paper's algorithm does?
    pub fn polish(self, polish: bool) -> Self {
        Self { polish, ..self }
    }

    /// Certified relative duality gap of every convex problem, > 0 (default 1e-6).
    pub fn tol(mut self, tol: f64) -> Self {
        self.options.tol = tol;
        self
    }

    /// Iterations of every convex problem at most; `None` is 500.
    pub fn max_iter(mut self, max_iter: Option<usize>) -> Self {
        self.options.max_iter = max_iter;
        self
    }

    /// Seed of the folds of the calibration.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// Fit b, or hold it at 0?
    pub fn fit_intercept(self, fit_intercept: bool) -> Self {
        Self { fit_intercept, ..self }
    }

    /// Also fit probabilities, by cross-validation?
    pub fn probability(self, probability: bool) -> Self {
        Self { probability, ..self }
    }

    /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
    pub fn threads(self, threads: Option<usize>) -> Self {
        Self { threads, ..self }
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        if !(self.c > 0.0 && self.c.is_finite()) {
            return Err(Error::parameter("C", self.c, "a finite number > 0"));
        }
        if !(self.radius >= 0.0 && self.radius.is_finite()) {
            return Err(Error::parameter("radius", self.radius, "a finite number >= 0"));
        }
        if self.folds < 2 {
            return Err(Error::parameter("folds", self.folds, "at least 2"));
        }
        if self.threads == Some(0) {
            return Err(Error::parameter("threads", 0, "at least 1"));
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
