//! Parameters of Huber regression: unchecked, then checked. Only checked ones can fit.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::Calibration;
use crate::params::{Valid, check_not_negative, check_positive, check_threads, setters};
use crate::probabilistic_kernel::Coupling;
use crate::state::number;

use super::graph::Graph;
use super::operator::Operator;
use super::source::Kernel;

/// One view of the rows: some of their features, a kernel on them, a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// Its features; `None`: all.
    pub columns: Option<Vec<usize>>,
    /// Its kernel.
    pub kernel: Kernel,
    /// Its weight c in f = sum_a c^a K^a w^a, > 0.
    #[serde(with = "number")]
    pub weight: f64,
    /// Its graph.
    pub graph: Graph,
}

impl Default for View {
    fn default() -> Self {
        Self {
            columns: None,
            kernel: Kernel::Rbf { gamma: None, coupling: Coupling::Shared },
            weight: 1.0,
            graph: Graph::Neighbors { count: 10, gamma: None },
        }
    }
}

/// Parameters as the caller wishes them; [`check`](Self::check) makes them usable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct Params {
    /// Strength of the penalty on w (lambda).
    #[serde(with = "number")]
    pub alpha: f64,
    /// Strength of the penalty by the graphs (gamma).
    #[serde(with = "number")]
    pub manifold_alpha: f64,
    /// Strength of the penalty on differences between views.
    #[serde(with = "number")]
    pub between_alpha: f64,
    /// By how much a refinement lowers the threshold.
    #[serde(with = "number")]
    pub delta: f64,
    /// Refinements at most.
    pub max_refinements: usize,
    /// The first threshold; `None`: the largest residual of the squared-loss fit.
    #[serde(with = "number::option")]
    pub threshold: Option<f64>,
    /// Centre the targets?
    pub fit_intercept: bool,
    /// Normalised Laplacians, or D - W?
    pub normalized: bool,
    /// The views.
    pub views: Vec<View>,
    /// Whether and how probabilities are fitted; targets are then -1 and +1.
    pub calibration: Calibration,
    /// Seed of the folds.
    pub seed: u64,
    /// Bytes a fit may take; `None`: half of what is available.
    pub max_bytes: Option<u64>,
    /// Number of threads; `None` is the environment's default.
    #[serde(skip)]
    pub threads: Option<usize>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            alpha: 1e-4,
            manifold_alpha: 1e-5,
            between_alpha: 0.0,
            delta: 0.01,
            max_refinements: 3,
            threshold: None,
            fit_intercept: false,
            normalized: true,
            views: vec![View::default()],
            calibration: Calibration::default(),
            seed: 0,
            max_bytes: None,
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
        /// Strength of the penalty on w, > 0 (default 1e-4).
        alpha: f64 => alpha;
        /// Strength of the penalty by the graphs, >= 0 (default 1e-5).
        manifold_alpha: f64 => manifold_alpha;
        /// Strength of the penalty on differences between views, >= 0 (default 0).
        between_alpha: f64 => between_alpha;
        /// By how much a refinement lowers the threshold, > 0 (default 0.01).
        delta: f64 => delta;
        /// Refinements at most (default 3).
        max_refinements: usize => max_refinements;
        /// The first threshold, > 0; without refinements the fixed one (default: found from the data).
        threshold: Option<f64> => threshold;
        /// Centre the targets by the mean of the labels in use (default: no)?
        fit_intercept: bool => fit_intercept;
        /// Normalised Laplacians (default), or D - W?
        normalized: bool => normalized;
        /// The views (default: one of all features).
        views: Vec<View> => views;
        /// Also fit probabilities, by cross-validation (default: no)? Every class then needs two labels.
        probability: bool => calibration.probability;
        /// Folds of that cross-validation, >= 2 (default 5); classes with fewer labels get fewer folds.
        folds: usize => calibration.folds;
        /// Seed of the folds (default 0).
        seed: u64 => seed;
        /// Bytes a fit may take (default: half of the memory available).
        max_bytes: Option<u64> => max_bytes;
        /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
        threads: Option<usize> => threads;
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        check_positive("alpha", self.alpha)?;
        check_positive("delta", self.delta)?;
        check_positive("threshold", self.threshold.unwrap_or(1.0))?;
        check_not_negative("manifold_alpha", self.manifold_alpha)?;
        check_not_negative("between_alpha", self.between_alpha)?;
        if self.views.is_empty() {
            return Err(Error::parameter("views", "[]", "at least one group of columns"));
        }
        self.calibration.check()?;
        check_threads(self.threads)?;
        for view in &self.views {
            if view.columns.as_ref().is_some_and(Vec::is_empty) {
                return Err(Error::Data("a view without features".into()));
            }
            if !(view.weight > 0.0 && view.weight.is_finite()) {
                return Err(Error::parameter("view_weights", view.weight, "finite numbers > 0"));
            }
            if view.kernel == Kernel::Precomputed && (self.views.len() > 1 || view.columns.is_some()) {
                return Err(Error::parameter("kernel", "\"precomputed\"", "another one when there are several views"));
            }
            view.graph.check()?;
            if let Graph::Given { matrix, regulariser } = &view.graph {
                if let Operator::Dense { n, values } = matrix
                    && values.len() != n * n
                {
                    return Err(Error::shape("graph", format!("{n} x {n} numbers"), values.len()));
                }
                matrix.check(!regulariser)?;
            }
        }
        Ok(Valid(self))
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;
