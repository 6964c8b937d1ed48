//! [`Predictor`]: what is said about new rows, the same questions for every model and transform.

use ndarray::{Array1, Array2, Axis};

use crate::control::Control;
use crate::data::{GaussianArray, Incomplete};
use crate::density::Densities;
use crate::error::{Error, Result};

/// Treatment of rows that are mixtures of Gaussians, at a fit or a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OfMixtures {
    /// Every component is a row by itself. A fit gives it the label of its row and the row's weight times its own; answers
    /// are averaged with the components' weights: exact for whatever is an expectation over a row's distribution.
    #[default]
    Components,
    /// As `Components`, for models with a likelihood of rows, p(row) = sum_c v_c p(component c): given the row, a
    /// component counts in proportion to v_c p(component c). A fit sees components that are parts of rows, and which of a
    /// row's parts is the true one is as unknown to EM as which component of the distribution it comes from.
    Likelihood,
    /// One Gaussian with the moments of the mixture takes the row's place.
    Moments,
    /// It takes them as they are ([`Incomplete`] with mixtures).
    Own,
    /// They are refused.
    Refused,
}

/// Which rows it can be asked about, and what comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct About {
    /// Features of the rows; `None` when any number will do.
    pub n_features: Option<usize>,
    /// Classes it tells apart, 0 for a regression; `None` for a transform.
    pub n_classes: Option<usize>,
    /// Features of what a transform makes of rows; `None`: as many as they have.
    pub n_features_out: Option<usize>,
    /// Does it fill gaps, use them, or pass them on?
    pub takes_gaps: bool,
    /// Does it use limits, or pass them on?
    pub takes_limits: bool,
    /// Are gaps and limits still there in what a transform makes of rows?
    pub keeps_gaps: bool,
    /// How does it treat rows that are mixtures?
    pub of_mixtures: OfMixtures,
}

impl About {
    /// A classifier, or with 0 classes a regression.
    pub fn model(n_features: usize, n_classes: usize) -> Self {
        Self { n_features: Some(n_features), n_classes: Some(n_classes), ..Self::default() }
    }

    /// A transform of rows with so many features, any number if `None`.
    pub fn transform(n_features: impl Into<Option<usize>>) -> Self {
        Self { n_features: n_features.into(), ..Self::default() }
    }

    /// A transform to so many features.
    pub fn to(self, n_features: usize) -> Self {
        Self { n_features_out: Some(n_features), ..self }
    }

    /// It takes rows with gaps.
    pub fn with_gaps(self) -> Self {
        Self { takes_gaps: true, ..self }
    }

    /// It takes rows with gaps and limits.
    pub fn with_limits(self) -> Self {
        Self { takes_gaps: true, takes_limits: true, ..self }
    }

    /// Treatment of rows that are mixtures.
    pub fn with_mixtures(self, of_mixtures: OfMixtures) -> Self {
        Self { of_mixtures, ..self }
    }

    /// It passes gaps and limits on.
    pub fn keeping_gaps(self) -> Self {
        Self { keeps_gaps: true, ..self.with_limits() }
    }
}

/// Predictions for new rows. Gaps come only to what [takes](About::takes_gaps) them.
pub trait Predictor: Sync {
    /// Its questions.
    fn about(&self) -> About;

    /// The rows that a transform makes of these.
    fn transform(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<GaussianArray> {
        Err(Error::Data("this is not a transform".into()))
    }

    /// Rows and log p(row), of a transform that has a likelihood of rows; of one pass where it can.
    fn transform_with_likelihood(&self, rows: Incomplete<'_>, control: &Control) -> Result<(GaussianArray, Vec<f64>)> {
        Ok((self.transform(rows, control)?, self.log_likelihood(rows, control)?))
    }

    /// The feature that each one of a transform's comes from, with its gaps and limits; `None`: the one in its place.
    fn picked(&self) -> Option<&[usize]> {
        None
    }

    /// Undo [`transform`](Self::transform).
    fn inverse_transform(&self, _rows: &GaussianArray) -> Result<GaussianArray> {
        Err(Error::Data("this transform cannot be undone".into()))
    }

    /// Mean scores of classes, n x 1 or n x K; predictions of a regression, n x 1; features of a feature map.
    fn decision(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Array2<f64>> {
        Err(Error::Data("this has no scores".into()))
    }

    /// Means and standard deviations of the scores under the uncertainty of each row.
    fn decision_distribution(&self, _: Incomplete<'_>, _: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        Err(Error::Data("this model has no distribution of its scores".into()))
    }

    /// P(class | row), n x K.
    fn predict_proba(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Array2<f64>> {
        Err(Error::Data("this has no probabilities".into()))
    }

    /// Its logarithm, which may be exact where the probability is 0 in rounding.
    fn log_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        Ok(self.predict_proba(rows, control)?.mapv_into(f64::ln))
    }

    /// log p(class, row), n x K, where a classifier has a likelihood of rows: one pass tells the probabilities of a mixture's
    /// components and which of these are true.
    fn log_joint(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Option<Array2<f64>>> {
        Ok(None)
    }

    /// Distribution of the true target of every row.
    fn densities(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Densities> {
        Err(Error::Data("this has no densities of targets".into()))
    }

    /// Distribution with log p(part, row) in the place of shares, where a regression has a likelihood of rows.
    fn joint_densities(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Option<Densities>> {
        Ok(None)
    }

    /// log p(row).
    fn log_likelihood(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Vec<f64>> {
        Err(Error::Data("this has no likelihood of rows".into()))
    }
}

/// The predictor of what was fitted: itself, or its hyperplanes.
pub trait HasPredictor {
    /// The predictor for new rows.
    fn predictor(&self) -> &dyn Predictor;
}

impl<T: Predictor> HasPredictor for T {
    fn predictor(&self) -> &dyn Predictor {
        self
    }
}

/// The answers of a regression, n x 1.
pub(crate) fn column(values: Vec<f64>) -> Array2<f64> {
    Array1::from_vec(values).insert_axis(Axis(1))
}
