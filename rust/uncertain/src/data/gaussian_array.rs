//! [`GaussianArray`]: n rows, each a Gaussian N(x_i, S_i) in d dimensions.

use std::ops::Range;

use crate::data::{Covariances, Rows};
use crate::error::{Error, Result};

/// n Gaussians in d dimensions: means (n x d) and covariances of one [`Kind`](crate::data::Kind).
///
/// Cheap to clone and to slice: both share the memory.
#[derive(Debug, Clone)]
pub struct GaussianArray {
    means: Rows,
    covariances: Covariances,
    warnings: Vec<String>,
}

impl GaussianArray {
    /// Exact points: every covariance is zero.
    pub fn points(means: Rows) -> Result<Self> {
        Self::new(means, Covariances::Zero)
    }

    /// Gaussians with these means and covariances.
    pub fn new(means: Rows, covariances: Covariances) -> Result<Self> {
        covariances.check_shape(means.n_rows(), means.width())?;
        Ok(Self { means, covariances, warnings: vec![] })
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.means.n_rows()
    }

    /// Dimension d of every Gaussian.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.means.width()
    }

    /// The means, n x d.
    #[must_use]
    pub fn means(&self) -> &Rows {
        &self.means
    }

    /// The covariances.
    #[must_use]
    pub fn covariances(&self) -> &Covariances {
        &self.covariances
    }

    /// What was mended while reading the data (tiny negative eigenvalues set to zero), for the user.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Rows `range`, sharing the memory.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self { covariances: self.covariances.slice(range.clone()), means: self.means.slice(range), warnings: vec![] }
    }

    /// The rows with these numbers, copied.
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        if let Some(&row) = rows.iter().find(|&&i| i >= self.n_rows()) {
            return Err(Error::Data(format!("row {row} does not exist: there are {} rows", self.n_rows())));
        }
        Ok(Self { means: self.means.take(rows), covariances: self.covariances.take(rows), warnings: vec![] })
    }
}
