//! [`LinearRegressor`]: one hyperplane whose score is the prediction.

use super::scores;
use crate::data::GaussianArray;
use crate::error::Result;
use crate::model::FitReport;

/// A fitted linear regression.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearRegressor {
    /// d weights.
    pub coef: Vec<f64>,
    /// Intercept.
    pub intercept: f64,
    /// How the fit ended.
    pub fit: FitReport,
}

impl LinearRegressor {
    /// Number of features d.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.coef.len()
    }

    /// w'x_i + b of every row.
    pub(crate) fn predict(&self, data: &GaussianArray) -> Result<Vec<f64>> {
        data.check_features(self.n_features())?;
        scores::finite(scores::means(data, &self.coef, self.intercept)?)
    }

    /// Means and standard deviations of the predictions under each row's own uncertainty: N(w'x_i + b, w'S_i w).
    pub(crate) fn predict_distribution(&self, data: &GaussianArray) -> Result<(Vec<f64>, Vec<f64>)> {
        Ok((self.predict(data)?, scores::finite(scores::stds(data, &self.coef)?)?))
    }
}
