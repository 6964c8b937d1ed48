//! [`Saved`]: what a file holds, and predictions with it.

use ndarray::{Array1, Array2};

use super::{Class, class};
use crate::control::Control;
use crate::data::{GaussianArray, Incomplete};
use crate::error::{Error, Result};
use crate::model::{gsu, one_vs_rest};
use crate::state::Predictor;
use crate::step::{Step, chain};

/// A fitted model with all that is needed to use it on new rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// Any number of transforms, then one classifier or regressor.
    pub steps: Vec<Step>,
    /// The label of each class code; empty for a regressor.
    pub classes: Vec<Class>,
    /// The names of the features; empty when they have none.
    pub features: Vec<String>,
    /// A JSON object about the columns of the table, kept to the letter for the caller.
    pub columns: String,
    /// Version of the library that wrote the file.
    pub version: String,
}

/// Bytes of [`Saved::columns`] at most.
const MAX_COLUMNS: usize = 1 << 20;

impl Saved {
    /// A model with unnamed features.
    #[must_use]
    pub fn new(steps: Vec<Step>, classes: Vec<Class>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { steps, classes, features: vec![], columns: "{}".to_owned(), version }
    }

    /// Do the parts fit together? Else the reason.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let (d, n_classes) = chain::sizes(&self.steps)?;
        if !self.features.is_empty() && self.features.len() != d {
            return Err(format!("it names {} features, but its model has {d}", self.features.len()));
        }
        class::check(&self.classes, n_classes)?;
        if self.columns.len() > MAX_COLUMNS {
            return Err(format!("its description of columns has {} bytes of {MAX_COLUMNS}", self.columns.len()));
        }
        match serde_json::from_str::<serde_json::Value>(&self.columns) {
            Ok(value) if value.is_object() => Ok(()),
            Ok(_) => Err("its description of columns is not a JSON object".to_owned()),
            Err(e) => Err(format!("its description of columns is not JSON ({e})")),
        }
    }

    /// The SVM-GSU.
    ///
    /// # Errors
    /// [`Error::Data`] when the last step is another one.
    pub fn model(&self) -> Result<&gsu::Model> {
        match self.steps.last() {
            Some(Step::Gsu(with)) => Ok(&with.model),
            _ => Err(Error::Data("the last step is not an SVM-GSU".into())),
        }
    }

    /// The rows behind the transforms, as the last step takes them.
    ///
    /// Gaps ([`Incomplete`]) must come to an imputer, a denoiser or a discriminant.
    ///
    /// # Errors
    /// As in the transforms; [`Error::Data`] where gaps come to a step that does not take them, or are still there
    /// in the end, since a [`GaussianArray`] has none: a discriminant wants them as they are, in
    /// [`predict`](Self::predict).
    pub fn transform<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<GaussianArray> {
        let moved = chain::moved(&self.steps, rows.into(), |_| true, &Control::new())?;
        match moved.missing {
            None => Ok(moved.data),
            Some(_) => Err(Error::Data("there are still gaps in what the last step sees".into())),
        }
    }

    /// The classifier or (if not `classes`) the regressor is there?
    fn check_last(&self, classes: bool) -> Result<()> {
        let last = self.steps.last().and_then(|step| step.predictor().about().n_classes);
        if last.is_some_and(|n| (n > 0) == classes) {
            return Ok(());
        }
        let expected = if classes { "classifier" } else { "regressor" };
        Err(Error::Data(format!("the last step is not a {expected}")))
    }

    /// The classifier or (if not `classes`) the regressor, asked about rows.
    fn ask<T>(
        &self,
        classes: bool,
        rows: Incomplete<'_>,
        question: impl Fn(&dyn Predictor, Incomplete<'_>, &Control) -> Result<T>,
    ) -> Result<T> {
        self.check_last(classes)?;
        let control = Control::new();
        chain::ask(&self.steps, rows, |_| true, &control, |model, rows| question(model, rows, &control))
    }

    /// The class code of every row, an index into `classes`.
    pub fn predict<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Array1<u32>> {
        let scores = self.decision_function(data)?;
        Ok(one_vs_rest::classes(scores.view()).into())
    }

    /// The predicted target of every row.
    pub fn predict_targets<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Array1<f64>> {
        self.ask(false, data.into(), |model, rows, control| Ok(model.decision(rows, control)?.column(0).to_owned()))
    }

    /// Means and standard deviations of a regression's predictions under the uncertainty of each row.
    ///
    /// A [`GaussianCollapser`](crate::transform::GaussianCollapser) takes covariances away from the regression, not
    /// from the rows: the deviations are those of the rows without it, of a linear model sqrt(w'C w) with the posterior
    /// covariance C of a denoiser in front.
    pub fn predict_distribution<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<(Array1<f64>, Array1<f64>)> {
        self.check_last(false)?;
        let (means, stds) = chain::distribution(&self.steps, data.into(), &Control::new())?;
        Ok((means.column(0).to_owned(), stds.column(0).to_owned()))
    }

    /// The class of every row.
    pub fn predict_classes<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Vec<&Class>> {
        let codes = self.predict(data)?;
        let missing = || Error::Data("there are fewer class labels than classes".into());
        codes.into_iter().map(|code| self.classes.get(code as usize).ok_or_else(missing)).collect()
    }

    /// The probability of every class, n x K, of a model that was fitted with probabilities.
    pub fn predict_proba<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Array2<f64>> {
        self.ask(true, data.into(), |model, rows, control| model.predict_proba(rows, control))
    }

    /// The mean scores of the classes, n x 1 for two of them, else n x K.
    pub fn decision_function<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Array2<f64>> {
        self.ask(true, data.into(), |model, rows, control| model.decision(rows, control))
    }
}
