//! Parameters and views of Huber regression in the header of a file.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::huber::{Graph, Kernel, Operator, Params, Sparse, View};

/// All parameters except threads and memory, which belong to a machine, and the views.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParamsHeader {
    alpha: f64,
    manifold_alpha: f64,
    between_alpha: f64,
    delta: f64,
    max_refinements: usize,
    threshold: Option<f64>,
    fit_intercept: bool,
    normalized: bool,
    probability: bool,
    folds: usize,
    seed: u64,
}

impl ParamsHeader {
    pub fn of(params: &Params) -> Self {
        Self {
            alpha: params.alpha,
            manifold_alpha: params.manifold_alpha,
            between_alpha: params.between_alpha,
            delta: params.delta,
            max_refinements: params.max_refinements,
            threshold: params.threshold,
            fit_intercept: params.fit_intercept,
            normalized: params.normalized,
            probability: params.calibration.probability,
            folds: params.calibration.folds,
            seed: params.seed,
        }
    }

    /// Not yet checked, and with the default views.
    pub fn params(&self) -> Result<Params> {
        Ok(Params::new()
            .alpha(self.alpha)
            .manifold_alpha(self.manifold_alpha)
            .between_alpha(self.between_alpha)
            .delta(self.delta)
            .max_refinements(self.max_refinements)
            .threshold(self.threshold)
            .fit_intercept(self.fit_intercept)
            .normalized(self.normalized)
            .probability(self.probability)
            .folds(self.folds)
            .seed(self.seed))
    }
}

/// One view: as it was asked for, and the gamma that was found for its kernel.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ViewHeader {
    columns: Option<Vec<usize>>,
    weight: f64,
    kernel: KernelHeader,
    found_gamma: Option<f64>,
    graph: GraphHeader,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum KernelHeader {
    Linear,
    Quadratic,
    Polynomial { degree: u32, gamma: Option<f64>, coef0: f64 },
    Rbf { gamma: Option<f64>, coupling: String },
    Precomputed,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum GraphHeader {
    None,
    Knn {
        count: usize,
        gamma: Option<f64>,
    },
    Rbf {
        gamma: Option<f64>,
    },
    /// Its matrix stays behind.
    Given {
        regulariser: bool,
    },
}

impl ViewHeader {
    pub fn of(view: &View, found: Kernel) -> Self {
        let kernel = match view.kernel {
            Kernel::Linear => KernelHeader::Linear,
            Kernel::Quadratic => KernelHeader::Quadratic,
            Kernel::Polynomial { degree, gamma, coef0 } => KernelHeader::Polynomial { degree, gamma, coef0 },
            Kernel::Rbf { gamma, coupling } => KernelHeader::Rbf { gamma, coupling: coupling.name().to_owned() },
            Kernel::Precomputed => KernelHeader::Precomputed,
        };
        let graph = match view.graph {
            Graph::None => GraphHeader::None,
            Graph::Neighbors { count, gamma } => GraphHeader::Knn { count, gamma },
            Graph::Full { gamma } => GraphHeader::Rbf { gamma },
            Graph::Given { regulariser, .. } => GraphHeader::Given { regulariser },
        };
        Self { columns: view.columns.clone(), weight: view.weight, kernel, found_gamma: found.gamma(), graph }
    }

    /// The view, and its kernel with the gamma that was found.
    pub fn view(self) -> Result<(View, Kernel)> {
        let kernel = match self.kernel {
            KernelHeader::Linear => Kernel::Linear,
            KernelHeader::Quadratic => Kernel::Quadratic,
            KernelHeader::Polynomial { degree, gamma, coef0 } => Kernel::Polynomial { degree, gamma, coef0 },
            KernelHeader::Rbf { gamma, coupling } => Kernel::Rbf { gamma, coupling: coupling.parse()? },
            KernelHeader::Precomputed => Kernel::Precomputed,
        };
        let found = kernel.with_gamma(self.found_gamma)?;
        let graph = match self.graph {
            GraphHeader::None => Graph::None,
            GraphHeader::Knn { count, gamma } => Graph::Neighbors { count, gamma },
            GraphHeader::Rbf { gamma } => Graph::Full { gamma },
            GraphHeader::Given { regulariser } => {
                // Of no rows: a fit refuses it for its size.
                let matrix = Operator::Sparse(Sparse::new(vec![0], vec![], vec![])?);
                Graph::Given { matrix, regulariser }
            }
        };
        if self.columns.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::Data("a view without features".into()));
        }
        Ok((View { columns: self.columns, kernel, weight: self.weight, graph }, found))
    }
}
