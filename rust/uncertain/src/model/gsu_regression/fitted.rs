//! [`Model`]: what a fit leaves behind, and what it says about new rows.

use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::model::gsu::FitReport;
use crate::model::score;

/// A fitted linear regression.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// d weights.
    pub coef: Vec<f64>,
    /// Intercept.
    pub intercept: f64,
    /// How the fit ended.
    pub fit: FitReport,
}

impl Model {
    /// Number of features d.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.coef.len()
    }

    /// w'x_i + b of every row.
    pub fn predict(&self, data: &GaussianArray) -> Result<Vec<f64>> {
        if data.n_features() != self.n_features() {
            let expected = format!("{} features, as the model was fitted on", self.n_features());
            return Err(Error::shape("data", expected, data.n_features()));
        }
        score::means(data, &self.coef, self.intercept)
    }

    /// Means and standard deviations of the predictions under each row's own uncertainty: N(w'x_i + b, w'S_i w).
    pub fn predict_distribution(&self, data: &GaussianArray) -> Result<(Vec<f64>, Vec<f64>)> {
        Ok((self.predict(data)?, score::stds(data, &self.coef)?))
    }
}
