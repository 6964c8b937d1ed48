//! Parameters of Huber regression: unchecked, then checked. Only checked ones can fit.

use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::Coupling;
use crate::model::Calibration;
use crate::number;
use crate::params::{builder, check_not_negative, check_positive, params};

use super::graph::Graph;
use super::operator::Operator;
use super::source::Kernel;

builder! {
    /// One view of the rows: some of their features, a kernel on them, a graph.
    pub struct View {
        /// Its features; `None`: all.
        columns: Option<Vec<usize>> = None,
        /// Its kernel.
        kernel: Kernel = Kernel::Rbf { gamma: None, coupling: Coupling::Shared },
        /// Its weight c in f = sum_a c^a K^a w^a, > 0.
        #[serde(with = "number")]
        weight: f64 = 1.0,
        /// Its graph.
        graph: Graph = Graph::Neighbors { count: 10, gamma: None },
    }
}

params! {
    pub struct Params {
        /// Strength of the penalty on w (lambda), > 0.
        #[serde(with = "number")]
        alpha: f64 = 1e-4,
        /// Strength of the penalty by the graphs (gamma), >= 0.
        #[serde(with = "number")]
        manifold_alpha: f64 = 1e-5,
        /// Strength of the penalty on differences between views, >= 0.
        #[serde(with = "number")]
        between_alpha: f64 = 0.0,
        /// By how much a refinement lowers the threshold, > 0.
        #[serde(with = "number")]
        delta: f64 = 0.01,
        /// Refinements at most.
        max_refinements: usize = 3,
        /// The first threshold, > 0; without refinements the fixed one. `None`: the largest residual of the
        /// squared-loss fit.
        #[serde(with = "number::option")]
        threshold: Option<f64> = None,
        /// Centre the targets by the mean of the labels in use?
        fit_intercept: bool = false,
        /// Normalised Laplacians, or D - W?
        normalized: bool = true,
        /// Divide features by their spreads: always, never, or (`None`) where a kernel would depend on units that no
        /// gamma says and spreads are unlike, or for x'z far from one.
        #[serde(default)]
        scale_features: Option<bool> = None,
        /// The views; by default one of all features.
        views: Vec<View> = vec![View::default()],
        /// Whether and how probabilities are fitted; targets are then -1 and +1, and every class needs two labels.
        calibration: Calibration = Calibration::default() => { probability: bool, folds: usize },
        /// Seed of the folds.
        seed: u64 = 0,
        /// Bytes a fit may take; `None`: half of what is available.
        max_bytes: Option<u64> = None,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        check_positive("alpha", self.alpha)?;
        check_positive("delta", self.delta)?;
        check_positive("threshold", self.threshold.unwrap_or(1.0))?;
        check_not_negative("manifold_alpha", self.manifold_alpha)?;
        check_not_negative("between_alpha", self.between_alpha)?;
        if self.views.is_empty() {
            return Err(Error::parameter("views", "[]", "at least one group of columns"));
        }
        self.calibration.check()?;
        for view in &self.views {
            if view.columns.as_ref().is_some_and(Vec::is_empty) {
                return Err(Error::Data("a view without features".into()));
            }
            if !(view.weight > 0.0 && view.weight.is_finite()) {
                return Err(Error::parameter("view_weights", view.weight, "finite numbers > 0"));
            }
            if view.kernel == Kernel::Precomputed && self.scale_features == Some(true) {
                return Err(Error::parameter(
                    "scale_features",
                    true,
                    "another value for a kernel matrix, which has no features",
                ));
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
        Ok(())
    }
}
