//! [`Saved`]: what a file holds, and predictions with it.

use ndarray::Array2;

use super::{Class, Step, class};
use crate::control::Control;
use crate::data::{GaussianArray, Incomplete};
use crate::error::{Error, Result};
use crate::model::{gsu, one_vs_rest};
use crate::state::{Answers, complete};

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
const MAX_STEPS: usize = 64;

impl Saved {
    /// A model with unnamed features.
    #[must_use]
    pub fn new(steps: Vec<Step>, classes: Vec<Class>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { steps, classes, features: vec![], columns: "{}".to_owned(), version }
    }

    /// Do the parts fit together? Else the reason.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        if self.steps.len() > MAX_STEPS {
            return Err(format!("it has {} steps; at most {MAX_STEPS} make sense", self.steps.len()));
        }
        let transforms = self.steps.len().saturating_sub(1);
        let (Some(n_classes), None) = (
            self.steps.last().and_then(|step| step.answers().n_classes()),
            self.steps[..transforms].iter().find(|step| step.answers().n_classes().is_some()),
        ) else {
            return Err("its steps must be transforms followed by one classifier or regressor".to_owned());
        };
        let d = self.steps.iter().find_map(|step| step.answers().n_features()).unwrap_or_default();
        let mut here = d;
        for step in self.steps.iter().map(Step::answers) {
            if let Some(other) = step.n_features().filter(|&n| n != here) {
                return Err(format!("its steps disagree about the number of features: {here} and {other}"));
            }
            here = step.n_features_out(here);
        }
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

    /// What the transforms make of the rows: the rows that the last step sees.
    ///
    /// Gaps ([`Incomplete`]) must come to an imputer, a denoiser or a discriminant.
    ///
    /// # Errors
    /// Those of the transforms; [`Error::Data`] where gaps come to a step that does not take them, or are still there
    /// in the end, since a [`GaussianArray`] has none: a discriminant wants them as they are, in
    /// [`predict`](Self::predict).
    pub fn transform<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<GaussianArray> {
        match self.moved(rows.into(), |_| true)? {
            (data, None) => Ok(data),
            (_, Some(_)) => Err(Error::Data("there are still gaps in what the last step sees".into())),
        }
    }

    /// The rows that the last step sees, with the gaps that are left for it; by way of the transforms to `take`.
    fn moved<'a>(
        &self,
        rows: Incomplete<'a>,
        take: impl Fn(&Step) -> bool,
    ) -> Result<(GaussianArray, Option<&'a [bool]>)> {
        let (mut data, mut missing) = (rows.gaussians().clone(), rows.missing());
        let steps = self.steps.iter().filter(|step| take(step)).map(Step::answers);
        for step in steps.filter(|step| step.n_classes().is_none()) {
            let rows = Incomplete::from_parts(&data, missing);
            if !step.takes_gaps() {
                complete(rows)?;
            }
            data = step.transform(rows, &Control::new())?;
            missing = missing.filter(|_| step.keeps_gaps());
        }
        Ok((data, missing))
    }

    /// The classifier or (if not `classes`) the regressor, asked about rows as it sees them.
    fn ask<T>(
        &self,
        classes: bool,
        (rows, missing): (GaussianArray, Option<&[bool]>),
        question: impl Fn(&dyn Answers, Incomplete<'_>, &Control) -> Result<T>,
    ) -> Result<T> {
        let last = self.steps.last().map(Step::answers);
        let Some(model) = last.filter(|model| model.n_classes().is_some_and(|n| (n > 0) == classes)) else {
            let expected = if classes { "classifier" } else { "regressor" };
            return Err(Error::Data(format!("the last step is not a {expected}")));
        };
        let rows = Incomplete::from_parts(&rows, missing);
        if !model.takes_gaps() {
            complete(rows)?;
        }
        question(model, rows, &Control::new())
    }

    /// The class code of every row, an index into `classes`.
    pub fn predict<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Vec<u32>> {
        let scores = self.decision(data)?;
        Ok(one_vs_rest::classes(scores.view()))
    }

    /// The predicted target of every row.
    pub fn predict_targets<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Vec<f64>> {
        self.ask(false, self.moved(data.into(), |_| true)?, |model, rows, control| {
            Ok(model.decision(rows, control)?.column(0).to_vec())
        })
    }

    /// Means and standard deviations of a regression's predictions under each row's own uncertainty.
    ///
    /// A [`GaussianCollapser`](crate::transform::GaussianCollapser) takes covariances away from the regression, not
    /// from the rows: the deviations are those of the rows without it, of a linear model sqrt(w'C w) with the posterior
    /// covariance C of a denoiser in front.
    pub fn predict_distribution<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<(Vec<f64>, Vec<f64>)> {
        let data = data.into();
        let known = self.moved(data, |step| !matches!(step, Step::Collapser(_)))?;
        let (means, stds) = self.ask(false, known, |model, rows, control| {
            let (means, stds) = model.decision_distribution(rows, control)?;
            Ok((means.column(0).to_vec(), stds.column(0).to_vec()))
        })?;
        let collapsed = self.steps.iter().any(|step| matches!(step, Step::Collapser(_)));
        Ok((if collapsed { self.predict_targets(data)? } else { means }, stds))
    }

    /// The class of every row.
    pub fn predict_classes<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Vec<&Class>> {
        let codes = self.predict(data)?;
        let missing = || Error::Data("there are fewer class labels than classes".into());
        codes.into_iter().map(|code| self.classes.get(code as usize).ok_or_else(missing)).collect()
    }

    /// The probability of every class, n x K, of a model that was fitted with probabilities.
    pub fn predict_proba<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Array2<f64>> {
        self.ask(true, self.moved(data.into(), |_| true)?, |model, rows, control| model.predict_proba(rows, control))
    }

    /// The mean scores of the classes, n x 1 for two of them, else n x K.
    pub fn decision<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Array2<f64>> {
        self.ask(true, self.moved(data.into(), |_| true)?, |model, rows, control| model.decision(rows, control))
    }
}
