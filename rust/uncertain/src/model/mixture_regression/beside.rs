//! What a fit to the targets given the readings ([`line`](crate::line)) knows beside the law: for reports and joint predictions.

use crate::error::{Error, Result};
use crate::state::{Arrays, Parts};

/// Estimates beside the law; lists are empty where the fit had no such thing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beside {
    /// Of intercept and coefficients, (1 + d) x (1 + d).
    pub covariance: Vec<f64>,
    /// Sum of log p(y | x).
    pub log_likelihood: Option<f64>,
    /// Degrees of freedom, or share and width of bad data.
    pub outlier_law: Vec<f64>,
    /// Their standard errors, where known.
    pub outlier_law_std: Vec<f64>,
    /// P(outlier | y, x) of every row of the fit.
    pub outlier_probability: Vec<f64>,
    /// The factor of the targets' error bars, and its standard error where known.
    pub error_scale: Vec<f64>,
    /// Errors that rows share, k numbers.
    pub modes: Vec<f64>,
    /// Their covariance, k x k.
    pub modes_covariance: Vec<f64>,
}

impl Beside {
    pub(super) fn write(&self, arrays: &mut Arrays) {
        let square = |values: &[f64]| [values.len().isqrt(); 2];
        let mut put = |name: &str, shape: &[usize], values: &[f64]| {
            if !values.is_empty() {
                arrays.put(name, shape, values);
            }
        };
        put("covariance", &square(&self.covariance), &self.covariance);
        put("log_likelihood", &[1], self.log_likelihood.as_slice());
        put("modes_covariance", &square(&self.modes_covariance), &self.modes_covariance);
        for (name, values) in [
            ("outlier_law", &self.outlier_law),
            ("outlier_law_std", &self.outlier_law_std),
            ("outlier_probability", &self.outlier_probability),
            ("error_scale", &self.error_scale),
            ("modes", &self.modes),
        ] {
            put(name, &[values.len()], values);
        }
    }

    /// Of a law of `d` coefficients.
    pub(super) fn read(d: usize, parts: &mut Parts<'_>) -> Result<Self> {
        let any = |parts: &mut Parts<'_>, name: &str, lengths: std::ops::RangeInclusive<usize>| -> Result<Vec<f64>> {
            let Some(tensor) = parts.optional(name)? else { return Ok(vec![]) };
            match tensor.shape[..] {
                [n] if lengths.contains(&n) => Ok(tensor.values),
                _ => Err(Error::ModelFile(format!("the tensor `{name}` has the shape {:?}", tensor.shape))),
            }
        };
        let outlier_law = any(parts, "outlier_law", 1..=2)?;
        let modes = any(parts, "modes", 1..=usize::MAX)?;
        let (laws, k) = (outlier_law.len(), modes.len());
        let known = Self {
            covariance: parts.optional_shaped("covariance", &[d + 1, d + 1])?.unwrap_or_default(),
            log_likelihood: parts.optional_shaped("log_likelihood", &[1])?.map(|log| log[0]),
            outlier_law_std: parts.optional_shaped("outlier_law_std", &[laws])?.unwrap_or_default(),
            outlier_probability: any(parts, "outlier_probability", 1..=usize::MAX)?,
            error_scale: any(parts, "error_scale", 1..=2)?,
            modes_covariance: parts.optional_shaped("modes_covariance", &[k, k])?.unwrap_or_default(),
            outlier_law,
            modes,
        };
        if let Some(row) = known.outlier_probability.iter().position(|p| !(0.0..=1.0).contains(p)) {
            let value = known.outlier_probability[row];
            return Err(Error::ModelFile(format!("`outlier_probability` of row {row} is {value}, no probability")));
        }
        Ok(known)
    }
}
