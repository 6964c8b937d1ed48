//! The fitted model: support rows with their kernel, and the machine on its values.

use ndarray::{Array2, ArrayView2};

use super::SvcExpansion;
use crate::control::Control;
use crate::data::{GaussianArray, MixtureArray};
use crate::error::{Error, Result};
use crate::model::kernel_machine::{Basis, kernel_values};

/// A fitted probabilistic kernel classifier.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The support rows and their kernel; `None` of a machine on kernel values, which takes those with its support
    /// rows in the place of rows.
    pub basis: Option<Basis>,
    /// Coefficients, intercepts, sigmoids.
    pub expansion: SvcExpansion,
}

impl Model {
    /// Number of features d.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.basis.as_ref().map_or(self.expansion.support.len(), |basis| basis.rows().n_features())
    }

    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.expansion.n_classes()
    }

    /// `question` (one of [`SvcExpansion::decision`], [`SvcExpansion::predict_proba`], [`SvcExpansion::pair_scores`]) on the
    /// kernel values of `data`, block by block, within `control`.
    pub(crate) fn answer(
        &self,
        data: impl Into<MixtureArray>,
        question: impl Fn(&SvcExpansion, ArrayView2<'_, f64>) -> Result<Array2<f64>>,
        control: &Control,
    ) -> Result<Array2<f64>> {
        let data = data.into();
        match &self.basis {
            Some(basis) => basis.map(&data, control, |kernel| question(&self.expansion, kernel)),
            None => question(&self.expansion, kernel_values(&data)?.view()),
        }
    }

    /// Means and standard deviations of the scores of all pairs of classes, each n x K (K - 1) / 2, under the noise
    /// of the row. For two classes the mean is [`decision`](Self::decision).
    ///
    /// A score is a mean over noise. With the independent coupling it is that of f(x) over x ~ N(x_t, S_t), f being
    /// the score of an exact point; with the shared one all rows move together, the support rows too. Exact:
    /// products of Gaussian kernels have Gaussian means. The work is quadratic in the support rows.
    pub(crate) fn decision_distribution(
        &self,
        data: &GaussianArray,
        control: &Control,
    ) -> Result<(Array2<f64>, Array2<f64>)> {
        let means = self.answer(data, SvcExpansion::pair_scores, control)?;
        let Some(basis) = &self.basis else {
            return Err(Error::Data("kernel = \"precomputed\": kernel values have no distribution".into()));
        };
        let variances = basis.variances(data, self.expansion.pair_coef().view(), control)?;
        Ok((means, variances.mapv(f64::sqrt)))
    }
}
