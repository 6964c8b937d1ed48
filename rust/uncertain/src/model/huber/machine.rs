//! [`Machine`]: a model with the rows of its fit, all that predictions need and a model file holds.

use ndarray::Array2;

use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::model::linear::scores::check_finite;
use crate::model::one_vs_rest;
use crate::readable::readable;

use super::fitted::{Model, predict};
use super::source::Kernel;
use super::spread;

readable! {
    /// A regression (one output), or a classifier (one output for two classes, else one per class).
    #[derive(Debug, Clone, PartialEq)]
    pub struct Machine {
        /// The fit.
        model: Model => &Model,
        /// Rows of the fit; `None` with a precomputed kernel, where new rows are kernel values to all of them.
        rows: Option<GaussianArray> => Option<&GaussianArray>,
        /// Classes; 0 for a regression.
        n_classes: usize => usize,
    }
}

impl Machine {
    /// From a fit and its rows, which a precomputed kernel does not keep; `n_classes` = 0: a regression.
    pub(crate) fn new(model: Model, rows: Option<GaussianArray>, n_classes: usize) -> Result<Self> {
        let outputs = model.outcomes.len();
        if outputs != if n_classes > 2 { n_classes } else { 1 } || n_classes == 1 {
            return Err(Error::Data(format!("a model of {n_classes} classes cannot have {outputs} outputs")));
        }
        if model.platt.as_ref().is_some_and(|platt| n_classes == 0 || platt.len() != outputs) {
            return Err(Error::Data("probabilities are one sigmoid for each output of a classifier".into()));
        }
        let precomputed = model.parts.iter().any(|part| part.kernel == Kernel::Precomputed);
        let rows = rows.filter(|_| !precomputed);
        let n = match (&rows, model.parts.first()) {
            (_, None) => return Err(Error::Data("a model without views".into())),
            (None, Some(_)) if !precomputed || model.parts.len() > 1 => {
                return Err(Error::Data("a model without the rows of its fit".into()));
            }
            (Some(rows), Some(_)) => rows.n_rows(),
            (None, Some(part)) => part.coef.nrows(),
        };
        if let Some(part) = model.parts.iter().find(|part| part.coef.dim() != (n, outputs)) {
            return Err(Error::shape("coefficients", format!("{n} x {outputs}"), format!("{:?}", part.coef.dim())));
        }
        if let Some(rows) = &rows {
            let d = rows.n_features();
            let mut columns = model.parts.iter().filter_map(|part| part.columns.as_ref()).flatten();
            if let Some(column) = columns.find(|column| **column >= d) {
                return Err(Error::Data(format!("views: feature {column} of rows that have {d}")));
            }
            for part in &model.parts {
                let width = part.columns.as_ref().map_or(d, Vec::len);
                let usable = |scales: &Vec<f64>| {
                    scales.len() == width && scales.iter().all(|scale| scale.is_normal() && *scale > 0.0)
                };
                if !part.scales.as_ref().is_none_or(usable) {
                    return Err(Error::Data(format!("scales of a view are {width} numbers > 0")));
                }
            }
        }
        // One layout: machines are equal when their numbers are.
        let rows = rows.map(GaussianArray::with_triangles).transpose()?;
        Ok(Self { model, rows, n_classes })
    }

    /// Features of new rows.
    #[must_use]
    pub fn n_features(&self) -> usize {
        let of_fit = || self.model.parts.first().map_or(0, |part| part.coef.nrows());
        self.rows.as_ref().map_or_else(of_fit, GaussianArray::n_features)
    }

    /// Values of the outputs at new rows, n x outputs: predictions of a regression, scores of classes.
    pub(crate) fn decision(&self, new: &GaussianArray, control: &Control) -> Result<Array2<f64>> {
        if new.n_features() != self.n_features() {
            return Err(Error::shape("X", format!("{} features as in the fit", self.n_features()), new.n_features()));
        }
        let intercepts: Vec<f64> = self.model.outcomes.iter().map(|outcome| outcome.intercept).collect();
        let scores = predict(&self.model.parts, &intercepts, new, self.rows.as_ref(), control)?;
        check_finite(&scores, scores.ncols()).map(|()| scores)
    }

    /// Mean and standard deviation of the outputs under the noise of each row; the mean is
    /// [`decision`](Self::decision). Exact, see `spread.rs`.
    pub(crate) fn decision_distribution(
        &self,
        new: &GaussianArray,
        control: &Control,
    ) -> Result<(Array2<f64>, Array2<f64>)> {
        let means = self.decision(new, control)?;
        let variances = spread::variances(&self.model.parts, new, self.rows.as_ref(), means.ncols(), control)?;
        check_finite(&variances, means.ncols())?;
        Ok((means, variances.mapv(f64::sqrt)))
    }

    /// P(class | row), n x K, rows summing to 1: the sigmoid of the score, for more than two classes divided by
    /// their sum. The score of a row with error bars is an average over them already.
    pub(crate) fn predict_proba(&self, new: &GaussianArray, control: &Control) -> Result<Array2<f64>> {
        let sigmoids = self.model.platt.as_ref().ok_or_else(Error::no_probabilities)?;
        let scores = self.decision(new, control)?;
        let exact = Array2::zeros(scores.dim());
        one_vs_rest::probabilities(sigmoids, scores.view(), exact.view())
    }
}
