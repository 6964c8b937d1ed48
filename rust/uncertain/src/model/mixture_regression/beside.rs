//! Results of a fit of a line beside the law, for reports and joint predictions.

use crate::error::{Error, Result};
use crate::model::error_scale::check_factors;
use crate::model::line::{LeastSquares, LineFit};
use crate::state::{Arrays, Parts};

/// As many as there are.
const ANY: usize = usize::MAX;

/// Estimates beside the law; lists are empty where the fit had no such thing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beside {
    /// Sum of log p(y | x), one number.
    pub log_likelihood: Vec<f64>,
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
    /// The share of that matrix which they leave out, one number.
    pub modes_loss: Vec<f64>,
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
            log_likelihood: finite(vec![fit.log_likelihood]),
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
            ..Self::default()
        }
    }

    /// Name, values and shape of each list, of a law of `d` coefficients.
    fn lists(&mut self, d: usize) -> [(&'static str, &mut Vec<f64>, Vec<usize>); 14] {
        let (k, laws) = (self.modes.len(), self.outlier_law.len());
        [
            ("log_likelihood", &mut self.log_likelihood, vec![1]),
            ("naive", &mut self.naive, vec![d + 1]),
            ("naive_std", &mut self.naive_std, vec![d + 1]),
            ("outlier_law", &mut self.outlier_law, vec![ANY]),
            ("outlier_law_std", &mut self.outlier_law_std, vec![laws]),
            ("outlier_probability", &mut self.outlier_probability, vec![ANY]),
            ("error_scale", &mut self.error_scale, vec![ANY]),
            ("feature_error_scale", &mut self.feature_error_scale, vec![d]),
            ("feature_error_scale_std", &mut self.feature_error_scale_std, vec![d]),
            ("modes", &mut self.modes, vec![ANY]),
            ("modes_covariance", &mut self.modes_covariance, vec![k, k]),
            ("modes_law_covariance", &mut self.modes_law_covariance, vec![k, d + 1]),
            ("modes_of_rows", &mut self.modes_of_rows, vec![ANY, k]),
            ("modes_loss", &mut self.modes_loss, vec![1]),
        ]
    }

    pub(super) fn write(&self, d: usize, arrays: &mut Arrays) {
        for (name, values, mut shape) in self.clone().lists(d).into_iter().filter(|(_, values, _)| !values.is_empty()) {
            if shape[0] == ANY {
                shape[0] = values.len() / shape.get(1).unwrap_or(&1);
            }
            arrays.put(name, &shape, values.as_slice());
        }
    }

    /// Of a law of `d` coefficients.
    pub(super) fn read(d: usize, parts: &mut Parts<'_>) -> Result<Self> {
        let mut list = |name: &str, shape: &[usize]| -> Result<Vec<f64>> {
            let Some(tensor) = parts.optional(name)? else { return Ok(vec![]) };
            let fits = |(size, expected): (&usize, &usize)| *expected == ANY || size == expected;
            if tensor.shape.len() == shape.len()
                && tensor.shape.iter().zip(shape).all(fits)
                && !tensor.values.is_empty()
            {
                return Ok(tensor.values);
            }
            Err(Error::ModelFile(format!("the tensor `{name}` has the shape {:?}", tensor.shape)))
        };
        // The sizes of others depend on these.
        let (modes, outlier_law) = (list("modes", &[ANY])?, list("outlier_law", &[ANY])?);
        let mut known = Self { modes, outlier_law, ..Self::default() };
        for (name, values, shape) in known.lists(d).into_iter().filter(|(_, values, _)| values.is_empty()) {
            *values = list(name, &shape)?;
        }
        if known.outlier_law.len().max(known.error_scale.len()) > 2 {
            return Err(Error::ModelFile("`outlier_law` and `error_scale` are at most two numbers".into()));
        }
        check_factors(&known.feature_error_scale)?;
        if let Some(row) = known.outlier_probability.iter().position(|p| !(0.0..=1.0).contains(p)) {
            let value = known.outlier_probability[row];
            return Err(Error::ModelFile(format!("`outlier_probability` of row {row} is {value}, no probability")));
        }
        Ok(known)
    }
}
