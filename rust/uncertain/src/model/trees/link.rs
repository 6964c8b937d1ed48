//! From scores to predictions.

use ndarray::Array2;

use crate::model::probability::sigmoid;
use crate::named::named;

/// Function from the sum of the leaves to the prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum Link {
    /// A number is its score.
    Identity,
    /// A number is exp(score).
    Log,
    /// P(second of two classes) = 1 / (1 + exp(-score)).
    Logit,
    /// P(k) = exp(F_k) / sum_j exp(F_j), three classes or more.
    Softmax,
}

named!(Link, "link");

impl Link {
    /// Classes of a model with so many scores, 0 for numbers; `None` if they do not go together.
    pub(super) fn n_classes(self, n_scores: usize) -> Option<usize> {
        match (self, n_scores) {
            (Self::Identity | Self::Log, 1) => Some(0),
            (Self::Logit, 1) => Some(2),
            (Self::Softmax, 3..) => Some(n_scores),
            _ => None,
        }
    }

    /// Predicted numbers, in the place of their scores.
    pub(super) fn mean(self, scores: &mut [f64]) {
        if self == Self::Log {
            scores.iter_mut().for_each(|score| *score = score.exp());
        }
    }

    /// Probabilities of the classes.
    pub(super) fn probabilities(self, mut scores: Array2<f64>) -> Array2<f64> {
        if scores.ncols() == 1 {
            let second = scores.column(0).mapv(sigmoid);
            return Array2::from_shape_fn((second.len(), 2), |(i, k)| if k == 1 { second[i] } else { 1.0 - second[i] });
        }
        for mut row in scores.outer_iter_mut() {
            let largest = row.fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            row.mapv_inplace(|score| (score - largest).exp());
            let sum = row.sum();
            row.mapv_inplace(|p| p / sum);
        }
        scores
    }
}
