//! Results of a fit of a line beside the law, for reports and joint predictions.

use crate::error::{Error, Result};
use crate::model::error_scale::check_factors;
use crate::model::line::{LeastSquares, LineFit};
use crate::state::{Arrays, Parts};

/// Estimates beside the law; lists are empty where the fit had no such thing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beside {
    /// Sum of log p(y | x).
    pub log_likelihood: Option<f64>,
    /// Least squares of the readings: intercept and coefficients.
    pub naive: Vec<f64>,
    /// Their standard errors.
    pub naive_std: Vec<f64>,
    /// Degrees of freedom, or share and width of bad data.
    pub outlier_law: Vec<f64>,
    /// Their standard errors, where known.
    pub outlier_law_std: Vec<f64>,
    /// P(outlier | y, x) of every row of the fit.
    pub outlier_probability: Vec<f64>,
    /// The factor of the targets' error bars, and its standard error where known.
    pub error_scale: Vec<f64>,
    /// The factors of the features' error bars, d numbers, with which predictions read rows.
    pub feature_error_scale: Vec<f64>,
    /// Their standard errors.
    pub feature_error_scale_std: Vec<f64>,
    /// Errors that rows share, k numbers.
    pub modes: Vec<f64>,
    /// Their covariance, k x k.
    pub modes_covariance: Vec<f64>,
    /// Their covariance with intercept and coefficients, k x (1 + d).
    pub modes_law_covariance: Vec<f64>,
    /// Of modes that were made from a covariance of all rows: those of the rows of the fit, n x k.
    pub modes_of_rows: Vec<f64>,
    /// The share of that matrix which they leave out.
    pub modes_loss: Option<f64>,
}

impl Beside {
    /// As far as it is finite.
    pub(super) fn from_line(fit: LineFit) -> Self {
        let finite = |values: Vec<f64>| if values.iter().all(|x| x.is_finite()) { values } else { vec![] };
        let naive = fit.naive.unwrap_or(LeastSquares { values: vec![], std: vec![] });
        let (scales, scale_stds): (Vec<f64>, Vec<f64>) = fit.feature_error_scale.into_iter().unzip();
        let (laws, law_stds): (Vec<f64>, Vec<f64>) = fit.noise.into_iter().unzip();
        let error_scale = fit.error_scale.map_or_else(Vec::new, |(factor, std)| vec![factor, std]);
        Self {
            log_likelihood: Some(fit.log_likelihood).filter(|log| log.is_finite()),
            naive: naive.values,
            naive_std: naive.std,
            outlier_law: laws,
            outlier_law_std: finite(law_stds),
            outlier_probability: fit.outlier_probability,
            error_scale: error_scale.into_iter().filter(|x| x.is_finite()).collect(),
            feature_error_scale: scales,
            feature_error_scale_std: finite(scale_stds),
            modes: fit.modes,
            modes_covariance: finite(fit.modes_covariance),
            modes_law_covariance: finite(fit.modes_law_covariance),
            modes_of_rows: vec![],
            modes_loss: None,
        }
    }

    pub(super) fn write(&self, arrays: &mut Arrays) {
        let square = |values: &[f64]| [values.len().isqrt(); 2];
        let mut put = |name: &str, shape: &[usize], values: &[f64]| {
            if !values.is_empty() {
                arrays.put(name, shape, values);
            }
        };
        put("log_likelihood", &[1], self.log_likelihood.as_slice());
        let k = self.modes.len().max(1);
        put("modes_law_covariance", &[k, self.modes_law_covariance.len() / k], &self.modes_law_covariance);
        put("modes_of_rows", &[self.modes_of_rows.len() / k, k], &self.modes_of_rows);
        put("modes_loss", &[1], self.modes_loss.as_slice());
        put("modes_covariance", &square(&self.modes_covariance), &self.modes_covariance);
        for (name, values) in [
            ("naive", &self.naive),
            ("naive_std", &self.naive_std),
            ("outlier_law", &self.outlier_law),
            ("outlier_law_std", &self.outlier_law_std),
            ("outlier_probability", &self.outlier_probability),
            ("error_scale", &self.error_scale),
            ("feature_error_scale", &self.feature_error_scale),
            ("feature_error_scale_std", &self.feature_error_scale_std),
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
        let modes_of_rows = match parts.optional("modes_of_rows")? {
            Some(tensor) if tensor.shape.len() == 2 && tensor.shape[1] == k => tensor.values,
            Some(tensor) => {
                let shape = tensor.shape;
                return Err(Error::ModelFile(format!("the tensor `modes_of_rows` has the shape {shape:?}")));
            }
            None => vec![],
        };
        let known = Self {
            log_likelihood: parts.optional_shaped("log_likelihood", &[1])?.map(|log| log[0]),
            naive: parts.optional_shaped("naive", &[d + 1])?.unwrap_or_default(),
            naive_std: parts.optional_shaped("naive_std", &[d + 1])?.unwrap_or_default(),
            outlier_law_std: parts.optional_shaped("outlier_law_std", &[laws])?.unwrap_or_default(),
            outlier_probability: any(parts, "outlier_probability", 1..=usize::MAX)?,
            error_scale: any(parts, "error_scale", 1..=2)?,
            feature_error_scale: parts.optional_shaped("feature_error_scale", &[d])?.unwrap_or_default(),
            feature_error_scale_std: parts.optional_shaped("feature_error_scale_std", &[d])?.unwrap_or_default(),
            modes_law_covariance: parts.optional_shaped("modes_law_covariance", &[k, d + 1])?.unwrap_or_default(),
            modes_of_rows,
            modes_loss: parts.optional_shaped("modes_loss", &[1])?.map(|loss| loss[0]),
            modes_covariance: parts.optional_shaped("modes_covariance", &[k, k])?.unwrap_or_default(),
            outlier_law,
            modes,
        };
        check_factors(&known.feature_error_scale)?;
        if let Some(row) = known.outlier_probability.iter().position(|p| !(0.0..=1.0).contains(p)) {
            let value = known.outlier_probability[row];
            return Err(Error::ModelFile(format!("`outlier_probability` of row {row} is {value}, no probability")));
        }
        Ok(known)
    }
}
