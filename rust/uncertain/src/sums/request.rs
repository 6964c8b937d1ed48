//! [`Request`]: all that a fit wants to know about rows wherever they are.

use serde::{Deserialize, Serialize};

use crate::data::covariance::packed_len;
use crate::error::{Error, Result};
use crate::loss::{EllipsoidHinge, Loss, LossKind};
use crate::mixture::Mixture;

use super::line::LineRequest;

/// A loss that can be sent to other processes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RemoteLoss {
    /// One that users choose by name.
    Kind(LossKind),
    /// The hinge of the worst point of an ellipsoid of this radius.
    WorstCase {
        /// In standard deviations.
        radius: f64,
    },
}

impl RemoteLoss {
    /// The loss of so many rows, whose targets have these variances.
    pub fn build(self, rows: usize, variances: Option<Vec<f64>>) -> Box<dyn Loss> {
        match self {
            Self::Kind(kind) => kind.build(variances),
            Self::WorstCase { radius } => Box::new(EllipsoidHinge::worst(&vec![radius; rows])),
        }
    }

    /// Does it see means alone?
    pub(crate) fn is_of_points(self) -> bool {
        self == Self::Kind(LossKind::Hinge)
    }
}

/// Parameters of a linear problem that the rows need; the penalty stays with the solver.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LinearProblem {
    /// The class on the positive side; `None` for a regression.
    pub class: Option<usize>,
    /// The fold that is left out.
    pub held_out: Option<usize>,
    /// The loss, in units of `scale`.
    pub loss: RemoteLoss,
    /// Of a regression: what is subtracted from its targets.
    pub center: f64,
    /// Their divisor then.
    pub scale: f64,
    /// 1 / sum of the weights of all rows that are not left out.
    pub share: f64,
}

/// Sums over rows; those of partitions are added, but for what is said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, strum::EnumCount)]
#[non_exhaustive]
pub enum Request {
    /// Rows, their weight, rows of a kind that has spread; then rows and weight of every class (one, of a regression),
    /// fold by fold.
    Counts {
        /// Classes.
        classes: usize,
        /// Folds, at least 1.
        folds: usize,
    },
    /// Without `center`: per feature the weight of the rows that have it, then sum c x. With it: sum c (x - center)^2,
    /// then sum c S_jj.
    Moments {
        /// One number per feature, or none.
        center: Vec<f64>,
    },
    /// Of the targets y: weight, sum c (y - center), sum c (y - center)^2, the smallest and the largest y, and the number of
    /// rows whose y has an error.
    Targets {
        /// Near their mean.
        center: f64,
    },
    /// J_eps of a linear problem without its penalty at x = (w, b): the smallest spread of a row, then J_eps and J, the
    /// tangents, what gradient and bound need of either class, and the packed Hessian where it is wanted.
    Value {
        /// Which problem; `None`: the only one that these rows are held for.
        problem: Option<LinearProblem>,
        /// The point.
        x: Vec<f64>,
        /// The smoothing.
        epsilon: f64,
        /// The matrix too?
        hessian: bool,
    },
    /// Row by row, of rows that were held out: mean and standard deviation of the score by the hyperplane of their
    /// fold, target and weight. Partitions follow each other.
    Scores {
        /// The class on the positive side.
        class: usize,
        /// One row in so many.
        every: usize,
        /// (w, b) of every fold.
        planes: Vec<Vec<f64>>,
    },
    /// Sums of EM with these components, and the log-likelihood of the rows; with classes, the components are theirs, class
    /// by class, equally many.
    Em {
        /// Classes, or 0: all rows see all components.
        classes: usize,
        /// The components.
        mixture: Mixture,
    },
    /// Per class (or for all rows, with 0): rows, weight, sum of squared weights, then per feature the weight of the rows
    /// that have it.
    Presence {
        /// Classes, or 0.
        classes: usize,
    },
    /// Class by class, fold by fold: weight, sum c off with off = x - center, and the packed triangle of sum c (off off' + S).
    Scatter {
        /// Classes.
        classes: usize,
        /// Folds, at least 1.
        folds: usize,
        /// Near the mean of every class, one after the other.
        centers: Vec<f64>,
    },
    /// Derivatives of the log-likelihood of the rows under one component (`deconvolution::with_target::Sums`).
    Density {
        /// The component.
        mixture: Mixture,
    },
    /// Of a line between true features and targets.
    Line(LineRequest),
}

impl Request {
    /// Numbers in the answer to a [`Value`](Self::Value) of d features.
    pub(crate) fn value_len(d: usize, hessian: bool) -> usize {
        4 + 2 * (d + 2) + if hessian { packed_len(d + 1) } else { 0 }
    }

    /// Add the sums of the rows that come next to those of the rows before.
    pub fn add(&self, total: &mut Vec<f64>, next: &[f64]) -> Result<()> {
        if let Self::Scores { .. } = self {
            total.extend_from_slice(next);
            return Ok(());
        }
        if total.len() != next.len() {
            return Err(Error::Data(format!(
                "one partition of the rows answers with {} numbers, another with {}: have all the same features?",
                total.len(),
                next.len()
            )));
        }
        self.add_sums(total, next);
        Ok(())
    }

    /// [`add`](Self::add) of as many numbers.
    pub(crate) fn add_sums(&self, total: &mut [f64], next: &[f64]) {
        type Pick = fn(f64, f64) -> f64;
        let extremes: &[(usize, Pick)] = match self {
            Self::Value { .. } => &[(0, f64::min)],
            Self::Targets { .. } => &[(3, f64::min), (4, f64::max)],
            _ => &[],
        };
        let kept: Vec<(usize, f64)> = extremes.iter().map(|&(k, pick)| (k, pick(total[k], next[k]))).collect();
        total.iter_mut().zip(next).for_each(|(a, b)| *a += b);
        kept.into_iter().for_each(|(k, extreme)| total[k] = extreme);
    }
}
