//! [`Saved`]: what a file holds, and predictions with it.

use ndarray::Array2;

use super::Class;
use super::class;
use crate::control::Control;
use crate::data::{GaussianArray, Incomplete};
use crate::error::{Error, Result};
use crate::transform::{GaussianDenoiser, GaussianImputer, GaussianScaler, KernelMap, SubspaceProjector};
use crate::{
    deconvolution, discriminant, feature_svc, gsu, gsu_regression, huber, kernel_svc, kernel_svr, linear, minimax,
    robust,
};

/// One step of a model: transforms first, the classifier or regressor last.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Scales means and covariances.
    Scaler(GaussianScaler),
    /// Cuts covariances down to subspaces.
    Subspace(SubspaceProjector),
    /// Goes to the feature space of a kernel.
    KernelMap(Box<KernelMap>),
    /// Replaces measurements by posteriors of their true values.
    Denoiser(GaussianDenoiser),
    /// Fills gaps.
    Imputer(GaussianImputer),
    /// The classifier and the parameters it was fitted with.
    Gsu {
        /// What was fitted.
        model: Box<gsu::Model>,
        /// With what.
        params: Box<gsu::ValidParams>,
    },
    /// A kernel classifier.
    KernelSvc {
        /// What was fitted.
        model: Box<kernel_svc::Model>,
        /// With what.
        params: Box<kernel_svc::ValidParams>,
    },
    /// A kernel classifier on features.
    FeatureSvc {
        /// What was fitted.
        model: Box<feature_svc::Model>,
        /// With what.
        params: Box<feature_svc::ValidParams>,
    },
    /// A kernel regressor.
    KernelSvr {
        /// What was fitted.
        model: Box<kernel_svr::Model>,
        /// With what.
        params: Box<kernel_svr::ValidParams>,
    },
    /// A regression and the parameters it was fitted with.
    Regression {
        /// What was fitted.
        model: Box<linear::Regressor>,
        /// With what.
        params: Box<gsu_regression::ValidParams>,
    },
    /// A robust SVM.
    Robust {
        /// Its hyperplanes.
        model: Box<linear::Classifier>,
        /// With what they were fitted.
        params: Box<robust::ValidParams>,
    },
    /// A minimax probability machine.
    Minimax {
        /// What was fitted.
        model: Box<minimax::Model>,
        /// With what.
        params: Box<minimax::ValidParams>,
    },
    /// A Gaussian discriminant.
    Discriminant {
        /// What was fitted.
        model: Box<discriminant::Model>,
        /// With what.
        params: Box<discriminant::ValidParams>,
        /// How that went.
        report: Box<deconvolution::Report>,
    },
    /// A Huber regression or classifier.
    Huber {
        /// What was fitted, with its rows.
        machine: Box<huber::Machine>,
        /// With what; a graph given as a matrix is not saved.
        params: Box<huber::ValidParams>,
    },
}

impl Step {
    /// A [`Step::Gsu`].
    #[must_use]
    pub fn gsu(model: gsu::Model, params: gsu::ValidParams) -> Self {
        Self::Gsu { model: Box::new(model), params: Box::new(params) }
    }

    /// A [`Step::Regression`].
    #[must_use]
    pub fn regression(model: linear::Regressor, params: gsu_regression::ValidParams) -> Self {
        Self::Regression { model: Box::new(model), params: Box::new(params) }
    }

    /// A [`Step::Robust`] of [`robust::Model::linear`].
    #[must_use]
    pub fn robust(model: linear::Classifier, params: robust::ValidParams) -> Self {
        Self::Robust { model: Box::new(model), params: Box::new(params) }
    }

    /// A [`Step::Minimax`] of the parts of a [`minimax::Model`].
    #[must_use]
    pub fn minimax(linear: linear::Classifier, worst_case_accuracy: Vec<f64>, params: minimax::ValidParams) -> Self {
        Self::Minimax { model: Box::new(minimax::Model { linear, worst_case_accuracy }), params: Box::new(params) }
    }

    /// A [`Step::Discriminant`].
    #[must_use]
    pub fn discriminant(
        model: discriminant::Model,
        mut params: discriminant::ValidParams,
        report: deconvolution::Report,
    ) -> Self {
        // Threads belong to a machine.
        params.0.em.threads = None;
        Self::Discriminant { model: Box::new(model), params: Box::new(params), report: Box::new(report) }
    }

    /// A [`Step::Huber`].
    #[must_use]
    pub fn huber(machine: huber::Machine, params: huber::ValidParams) -> Self {
        Self::Huber { machine: Box::new(machine), params: Box::new(params) }
    }

    /// Features of what it makes of `d` features.
    fn n_features_out(&self, d: usize) -> usize {
        if let Self::KernelMap(map) = self { map.rank() } else { d }
    }

    /// A [`Step::KernelSvc`].
    #[must_use]
    pub fn kernel_svc(model: kernel_svc::Model, params: kernel_svc::ValidParams) -> Self {
        Self::KernelSvc { model: Box::new(model), params: Box::new(params) }
    }

    /// A [`Step::FeatureSvc`].
    #[must_use]
    pub fn feature_svc(model: feature_svc::Model, params: feature_svc::ValidParams) -> Self {
        Self::FeatureSvc { model: Box::new(model), params: Box::new(params) }
    }

    /// A [`Step::KernelSvr`].
    #[must_use]
    pub fn kernel_svr(model: kernel_svr::Model, params: kernel_svr::ValidParams) -> Self {
        Self::KernelSvr { model: Box::new(model), params: Box::new(params) }
    }

    /// Features it was fitted on; `None` when any number will do.
    fn n_features(&self) -> Option<usize> {
        match self {
            Self::Scaler(scaler) => Some(scaler.mean().len()),
            Self::Subspace(_) => None,
            Self::KernelMap(map) => Some(map.n_features()),
            Self::Denoiser(denoiser) => Some(denoiser.mixture().n_features()),
            Self::Imputer(imputer) => Some(imputer.mixture().n_features()),
            Self::Gsu { model, .. } => Some(model.linear.n_features()),
            Self::Robust { model, .. } => Some(model.n_features()),
            Self::Minimax { model, .. } => Some(model.linear.n_features()),
            Self::KernelSvc { model, .. } => Some(model.n_features()),
            Self::FeatureSvc { model, .. } => Some(model.map.n_features()),
            Self::KernelSvr { model, .. } => Some(model.basis.rows().n_features()),
            Self::Regression { model, .. } => Some(model.n_features()),
            Self::Discriminant { model, .. } => Some(model.mixture().n_features()),
            Self::Huber { machine, .. } => Some(machine.n_features()),
        }
    }

    /// Does it fill gaps, use them, or pass them on?
    fn takes_gaps(&self) -> bool {
        matches!(self, Self::Scaler(_) | Self::Imputer(_) | Self::Denoiser(_) | Self::Discriminant { .. })
    }

    /// Classes it tells apart, 0 for a regressor; `None` for a transform.
    fn n_classes(&self) -> Option<usize> {
        match self {
            Self::Scaler(_) | Self::Subspace(_) | Self::KernelMap(_) | Self::Denoiser(_) | Self::Imputer(_) => None,
            Self::Gsu { model, .. } => Some(model.linear.n_classes()),
            Self::Robust { model, .. } => Some(model.n_classes()),
            Self::Minimax { model, .. } => Some(model.linear.n_classes()),
            Self::KernelSvc { model, .. } => Some(model.n_classes()),
            Self::FeatureSvc { model, .. } => Some(model.n_classes),
            Self::Discriminant { model, .. } => Some(model.n_classes()),
            Self::KernelSvr { .. } | Self::Regression { .. } => Some(0),
            Self::Huber { machine, .. } => Some(machine.n_classes()),
        }
    }
}

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
            self.steps.last().and_then(Step::n_classes),
            self.steps[..transforms].iter().find(|step| step.n_classes().is_some()),
        ) else {
            return Err("its steps must be transforms followed by one classifier or regressor".to_owned());
        };
        let d = self.steps.iter().find_map(Step::n_features).unwrap_or_default();
        let mut here = d;
        for step in &self.steps {
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
            Some(Step::Gsu { model, .. }) => Ok(model),
            _ => Err(Error::Data("the last step is not an SVM-GSU".into())),
        }
    }

    /// The regression.
    pub fn regression(&self) -> Result<&linear::Regressor> {
        match self.steps.last() {
            Some(Step::Regression { model, .. }) => Ok(model),
            _ => Err(Error::Data("the last step is not a regression".into())),
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
        match self.moved(rows.into())? {
            (data, None) => Ok(data),
            (_, Some(_)) => Err(Error::Data("there are still gaps in what the last step sees".into())),
        }
    }

    /// The rows that the last step sees, with the gaps that are left for it.
    fn moved<'a>(&self, rows: Incomplete<'a>) -> Result<(GaussianArray, Option<&'a [bool]>)> {
        let (mut data, mut missing) = (rows.gaussians().clone(), rows.missing());
        let control = Control::new();
        for step in &self.steps {
            if missing.is_some() && !step.takes_gaps() {
                return Err(Error::Data(
                    "rows with missing features need an imputer, a denoiser or a discriminant, and the model has none \
                     before they come to a step that does not take them"
                        .into(),
                ));
            }
            let rows = Incomplete::from_parts(&data, missing);
            data = match step {
                Step::Scaler(scaler) => scaler.transform(&data)?,
                Step::Subspace(projector) => projector.transform(&data, &control)?,
                Step::KernelMap(map) => map.transform(&data, &control)?,
                Step::Denoiser(denoiser) => {
                    missing = None;
                    denoiser.transform(rows, &control)?
                }
                Step::Imputer(imputer) => match missing.take() {
                    Some(missing) => imputer.transform(Incomplete::from_parts(&data, Some(missing)), &control)?,
                    None => data,
                },
                Step::Gsu { .. }
                | Step::KernelSvc { .. }
                | Step::FeatureSvc { .. }
                | Step::KernelSvr { .. }
                | Step::Robust { .. }
                | Step::Minimax { .. }
                | Step::Regression { .. }
                | Step::Discriminant { .. }
                | Step::Huber { .. } => data,
            };
        }
        Ok((data, missing))
    }

    /// The class code of every row, an index into `classes`.
    pub fn predict<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Vec<u32>> {
        let (rows, missing) = self.moved(data.into())?;
        match self.steps.last() {
            Some(Step::Gsu { model, .. }) => model.linear.predict(&rows),
            Some(Step::Robust { model, .. }) => model.predict(&rows),
            Some(Step::Minimax { model, .. }) => model.linear.predict(&rows),
            Some(Step::KernelSvc { model, .. }) => model.predict(&rows),
            Some(Step::FeatureSvc { model, .. }) => model.predict(&rows, &Control::new()),
            Some(Step::Discriminant { model, .. }) => {
                model.predict(Incomplete::from_parts(&rows, missing), &Control::new())
            }
            Some(Step::Huber { machine, .. }) if machine.n_classes() > 0 => machine.predict(&rows, &Control::new()),
            _ => no_classifier(),
        }
    }

    /// The predicted target of every row.
    pub fn predict_targets<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Vec<f64>> {
        match self.steps.last() {
            Some(Step::KernelSvr { model, .. }) => model.predict(&self.transform(data)?),
            Some(Step::Regression { model, .. }) => model.predict(&self.transform(data)?),
            Some(Step::Huber { machine, .. }) if machine.n_classes() == 0 => {
                Ok(machine.decision(&self.transform(data)?, &Control::new())?.column(0).to_vec())
            }
            _ => Err(Error::Data("the last step is not a regressor".into())),
        }
    }

    /// Means and standard deviations of a regression's predictions, as
    /// [`linear::Regressor::predict_distribution`].
    pub fn predict_distribution<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<(Vec<f64>, Vec<f64>)> {
        self.regression()?.predict_distribution(&self.transform(data)?)
    }

    /// The class of every row.
    pub fn predict_classes<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Vec<&Class>> {
        let codes = self.predict(data)?;
        let missing = || Error::Data("there are fewer class labels than classes".into());
        codes.into_iter().map(|code| self.classes.get(code as usize).ok_or_else(missing)).collect()
    }

    /// The probability of every class, n x K (see [`linear::Classifier::predict_proba`]).
    pub fn predict_proba<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Array2<f64>> {
        let (rows, missing) = self.moved(data.into())?;
        match self.steps.last() {
            Some(Step::Gsu { model, .. }) => model.linear.predict_proba(&rows),
            Some(Step::Robust { model, .. }) => model.predict_proba(&rows),
            Some(Step::Minimax { model, .. }) => model.linear.predict_proba(&rows),
            Some(Step::KernelSvc { model, .. }) => model.predict_proba(&rows),
            Some(Step::FeatureSvc { model, .. }) => model.predict_proba(&rows, &Control::new()),
            Some(Step::Discriminant { model, .. }) => {
                model.predict_proba(Incomplete::from_parts(&rows, missing), &Control::new())
            }
            Some(Step::Huber { machine, .. }) if machine.n_classes() > 0 => {
                machine.predict_proba(&rows, &Control::new())
            }
            _ => no_classifier(),
        }
    }

    /// The mean scores (see [`linear::Classifier::decision`]).
    pub fn decision<'a>(&self, data: impl Into<Incomplete<'a>>) -> Result<Array2<f64>> {
        let (rows, missing) = self.moved(data.into())?;
        match self.steps.last() {
            Some(Step::Gsu { model, .. }) => model.linear.decision(&rows),
            Some(Step::Robust { model, .. }) => model.decision(&rows),
            Some(Step::Minimax { model, .. }) => model.linear.decision(&rows),
            Some(Step::KernelSvc { model, .. }) => model.decision(&rows),
            Some(Step::FeatureSvc { model, .. }) => model.decision(&rows, &Control::new()),
            Some(Step::Discriminant { model, .. }) => {
                model.decision(Incomplete::from_parts(&rows, missing), &Control::new())
            }
            Some(Step::Huber { machine, .. }) if machine.n_classes() > 0 => machine.decision(&rows, &Control::new()),
            _ => no_classifier(),
        }
    }
}

fn no_classifier<T>() -> Result<T> {
    Err(Error::Data("the last step is not a classifier".into()))
}
