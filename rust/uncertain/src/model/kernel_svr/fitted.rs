//! The fitted model: support rows with their kernel, and the machine on its values.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use crate::control::Control;
use crate::data::{GaussianArray, MixtureArray};
use crate::error::{Error, Result};
use crate::model::FitReport;
use crate::model::kernel_machine::{Basis, kernel_values};
use crate::state::column;

/// A fitted regression on any kernel: f = sum_i b_i K(x_i, .) + intercept.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SvrExpansion {
    /// Numbers of the support rows among the fitted rows (of mixtures: among their components), ascending.
    pub support: Vec<u32>,
    /// Their signed coefficients.
    pub dual_coef: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// How the solver ended.
    pub fit: FitReport,
}

impl SvrExpansion {
    /// For rows that are mixtures: support rows become their components, whose coefficients are the row's times their
    /// weights, so that the kernel with a support row is that with a Gaussian again.
    pub(super) fn spread_over(&mut self, data: &MixtureArray) {
        if data.is_gaussian() {
            return;
        }
        let (rows, coef) = (std::mem::take(&mut self.support), std::mem::take(&mut self.dual_coef));
        for (row, coef) in rows.into_iter().zip(coef) {
            let own = data.row(row as usize);
            self.dual_coef.extend(own.clone().map(|c| coef * data.weights()[c]));
            self.support.extend(own.map(|c| c as u32));
        }
    }

    /// Predictions from the kernel between new rows and the support rows, n x (number of support rows).
    pub(crate) fn predict(&self, kernel: ArrayView2<'_, f64>) -> Result<Vec<f64>> {
        if kernel.ncols() != self.support.len() {
            let expected = format!("{} columns, one per support row", self.support.len());
            return Err(Error::shape("kernel", expected, kernel.ncols()));
        }
        let scores: Array1<f64> = kernel.dot(&ArrayView1::from(&self.dual_coef));
        Ok(scores.iter().map(|score| score + self.intercept).collect())
    }
}

/// A fitted probabilistic kernel regression.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The support rows and their kernel; `None` of a machine on kernel values, which takes those with its support
    /// rows in the place of rows.
    pub basis: Option<Basis>,
    /// Coefficients and intercept.
    pub expansion: SvrExpansion,
}

impl Model {
    /// Number of features d.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.basis.as_ref().map_or(self.expansion.support.len(), |basis| basis.rows().n_features())
    }

    /// [`predict`](Self::predict) that can be stopped.
    pub(crate) fn predict_within(&self, data: impl Into<MixtureArray>, control: &Control) -> Result<Vec<f64>> {
        let data = data.into();
        let Some(basis) = &self.basis else { return self.expansion.predict(kernel_values(&data)?.view()) };
        let all: Array2<f64> = basis.map(&data, control, |kernel| Ok(column(self.expansion.predict(kernel)?)))?;
        Ok(all.into_raw_vec_and_offset().0)
    }

    /// [`predict`](Self::predict), and the standard deviations of the predictions under the noise of each row.
    ///
    /// As those of a classifier's scores: with the independent coupling those of f(x) over x ~ N(x_t, S_t), f being
    /// the prediction at an exact point; with the shared one all rows move together, the support rows too.
    pub(crate) fn predict_distribution(&self, data: &GaussianArray, control: &Control) -> Result<(Vec<f64>, Vec<f64>)> {
        let Some(basis) = &self.basis else {
            return Err(Error::Data("kernel = \"precomputed\": kernel values have no distribution".into()));
        };
        let coef = ArrayView1::from(&self.expansion.dual_coef).insert_axis(Axis(1));
        let variances = basis.variances(data, coef, control)?;
        Ok((self.predict_within(data, control)?, variances.iter().map(|v| v.sqrt()).collect()))
    }
}
