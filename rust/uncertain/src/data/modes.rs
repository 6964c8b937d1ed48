//! [`Modes`]: errors that rows share.

use crate::error::{Error, Result};

/// k standard normal numbers a, of which row i has the error M_i a in its target (or its linear predictor), and N_i a in its
/// features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Modes {
    /// M, n x k.
    pub of_targets: Vec<f64>,
    /// N, n x d x k; nothing where features share no errors.
    pub of_features: Vec<f64>,
    /// k.
    pub k: usize,
}

impl Modes {
    /// Of n rows with d features: sizes, and finite numbers.
    pub(crate) fn check(&self, n: usize, d: usize) -> Result<()> {
        let k = self.k;
        if self.of_targets.len() != n * k {
            return Err(Error::shape("modes", format!("{n} rows of {k}"), self.of_targets.len()));
        }
        if !self.of_features.is_empty() && self.of_features.len() != n * d * k {
            return Err(Error::shape("modes of features", format!("{n} rows of {d} x {k}"), self.of_features.len()));
        }
        for (what, values, width) in [("modes", &self.of_targets, k), ("modes of features", &self.of_features, d * k)] {
            if let Some(at) = values.iter().position(|m| !m.is_finite()) {
                let (row, column) = (at / width, at % width);
                return Err(Error::NotFinite { what: what.into(), row, column, value: values[at] });
            }
        }
        Ok(())
    }

    /// Modes of the rows with these numbers.
    pub(crate) fn take(&self, rows: &[usize]) -> Self {
        let n = self.of_targets.len().checked_div(self.k).unwrap_or(0);
        let pick = |values: &[f64]| -> Vec<f64> {
            let width = values.len().checked_div(n).unwrap_or(0);
            rows.iter().flat_map(|&i| &values[i * width..(i + 1) * width]).copied().collect()
        };
        Self { of_targets: pick(&self.of_targets), of_features: pick(&self.of_features), k: self.k }
    }
}
