//! Parameters of Huber regression: unchecked, then checked. Only checked ones can fit.

use crate::error::{Error, Result};
use crate::probabilistic_kernel::Coupling;

use super::graph::Graph;
use super::operator::Operator;
use super::source::Kernel;

/// One view of the rows: some of their features, a kernel on them, a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Its features; `None`: all.
    pub columns: Option<Vec<usize>>,
    /// Its kernel.
    pub kernel: Kernel,
    /// Its weight c in f = sum_a c^a K^a w^a, > 0.
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
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Params {
    /// Strength of the penalty on w (lambda).
    pub alpha: f64,
    /// Strength of the penalty by the graphs (gamma).
    pub manifold_alpha: f64,
    /// Strength of the penalty on differences between views.
    pub between_alpha: f64,
    /// By how much a refinement lowers the threshold.
    pub delta: f64,
    /// Refinements at most.
    pub max_refinements: usize,
    /// The first threshold; `None`: the largest residual of the squared-loss fit.
    pub threshold: Option<f64>,
    /// Centre the targets?
    pub fit_intercept: bool,
    /// Normalised Laplacians, or D - W?
    pub normalized: bool,
    /// The views.
    pub views: Vec<View>,
    /// Fit sigmoids to cross-validated scores of classes (targets -1 and +1)?
    pub probability: bool,
    /// Folds of that cross-validation, at most.
    pub folds: usize,
    /// Seed of its partition.
    pub seed: u64,
    /// Bytes a fit may take; `None`: half of what is available.
    pub max_bytes: Option<u64>,
    /// Number of threads; `None` is the environment's default.
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
            probability: false,
            folds: 5,
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

    /// Strength of the penalty on w, > 0 (default 1e-4).
    pub fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// Strength of the penalty by the graphs, >= 0 (default 1e-5).
    pub fn manifold_alpha(self, manifold_alpha: f64) -> Self {
        Self { manifold_alpha, ..self }
    }

    /// Strength of the penalty on differences between views, >= 0 (default 0).
    pub fn between_alpha(self, between_alpha: f64) -> Self {
        Self { between_alpha, ..self }
    }

    /// By how much a refinement lowers the threshold, > 0 (default 0.01).
    pub fn delta(self, delta: f64) -> Self {
        Self { delta, ..self }
    }

    /// Refinements at most (default 3).
    pub fn max_refinements(self, max_refinements: usize) -> Self {
        Self { max_refinements, ..self }
    }

    /// The first threshold, > 0; without refinements the fixed one (default: found from the data).
    pub fn threshold(self, threshold: Option<f64>) -> Self {
        Self { threshold, ..self }
    }

    /// Centre the targets by the mean of the labels in use (default: no)?
    pub fn fit_intercept(self, fit_intercept: bool) -> Self {
        Self { fit_intercept, ..self }
    }

    /// Normalised Laplacians (default), or D - W?
    pub fn normalized(self, normalized: bool) -> Self {
        Self { normalized, ..self }
    }

    /// The views (default: one of all features).
    pub fn views(self, views: Vec<View>) -> Self {
        Self { views, ..self }
    }

    /// Sigmoids for classes (default: no); every class then needs two labels.
    pub fn probability(self, probability: bool) -> Self {
        Self { probability, ..self }
    }

    /// Folds of the cross-validation behind the sigmoids, >= 2 (default 5).
    pub fn folds(self, folds: usize) -> Self {
        Self { folds, ..self }
    }

    /// Seed of its partition (default 0).
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Bytes a fit may take (default: half of the memory available).
    pub fn max_bytes(self, max_bytes: Option<u64>) -> Self {
        Self { max_bytes, ..self }
    }

    /// Threads of a fit; `None` is [`default_threads`](crate::parallel::default_threads).
    pub fn threads(self, threads: Option<usize>) -> Self {
        Self { threads, ..self }
    }

    /// Parameters that can fit, or the first one that is out of range.
    pub fn check(self) -> Result<ValidParams> {
        let positive = [("alpha", self.alpha), ("delta", self.delta), ("threshold", self.threshold.unwrap_or(1.0))];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "a finite number > 0"));
            }
        }
        for (name, value) in [("manifold_alpha", self.manifold_alpha), ("between_alpha", self.between_alpha)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::parameter(name, value, "a finite number >= 0"));
            }
        }
        if self.views.is_empty() {
            return Err(Error::parameter("views", "[]", "at least one group of columns"));
        }
        if self.folds < 2 {
            return Err(Error::parameter("folds", self.folds, "at least 2"));
        }
        if self.threads == Some(0) {
            return Err(Error::parameter("threads", 0, "at least 1"));
        }
        for view in &self.views {
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
        Ok(ValidParams(self))
    }
}

/// Parameters that have passed [`Params::check`].
#[derive(Debug, Clone, PartialEq)]
pub struct ValidParams(pub(super) Params);

impl ValidParams {
    /// The parameters, to look at or to change.
    pub fn params(&self) -> &Params {
        &self.0
    }
}
