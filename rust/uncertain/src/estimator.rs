//! [`Fit`], [`Classifier`], [`Regressor`] and [`Transform`]: the same words for every model, so that a program can be generic
//! over models.
//!
//! Parameters fit a model to a [`Dataset`]; a model answers about rows: a `&GaussianArray`, a `&MixtureArray`, or a `&Dataset`
//! where there are gaps. A row's answer is an average over its own distribution, and the distribution of a score is that under
//! the row's own uncertainty.
//!
//! ```
//! use uncertain::ndarray::{Array1, Array2, arr2};
//! use uncertain::prelude::*;
//! use uncertain::{discriminant, gsu};
//!
//! /// The share of rows whose class is found.
//! fn accuracy<P: Fit<Model: Classifier>>(params: &P, data: &Dataset, truth: &[u32]) -> Result<f64> {
//!     let labels: Array1<u32> = params.fit(data)?.predict(data)?;
//!     Ok(labels.iter().zip(truth).filter(|(a, b)| a == b).count() as f64 / truth.len() as f64)
//! }
//!
//! # fn main() -> Result<()> {
//! let means: Array2<f64> = arr2(&[[1.0, 2.0], [1.2, -1.0], [1.1, 0.3], [-1.0, 1.5], [-0.8, -2.0], [-0.9, 0.1]]);
//! let rows = GaussianArray::from_std(means.view(), means.mapv(|x| 0.1 + 0.1 * x.abs()))?;
//! let truth = [1, 1, 1, 0, 0, 0];
//! let data = Dataset::classification(&rows, truth)?;
//! assert_eq!(accuracy(&gsu::Params::new().alpha(0.01), &data, &truth)?, 1.0);
//! assert_eq!(accuracy(&discriminant::Params::new(), &data, &truth)?, 1.0);
//! # Ok(())
//! # }
//! ```

use ndarray::{Array1, Array2};

use crate::control::Control;
use crate::data::{Dataset, GaussianArray, Incomplete};
use crate::deconvolution::{self, FittedMixture};
use crate::density::Densities;
use crate::error::{Error, Result};
use crate::model::linear::{LinearClassifier, LinearRegressor};
use crate::model::{
    discriminant, feature_svc, gsu, gsu_regression, huber, kernel_svc, kernel_svr, law, minimax, mixture_regression,
    one_vs_rest, robust, trees,
};
use crate::state::{Fitted, Folding, HasPredictor, Parameters, PenaltyPath, Predictor, Valid, for_fit};
use crate::transform::{
    DenoiserParams, GaussianCollapser, GaussianDenoiser, GaussianImputer, GaussianLogScaler, GaussianScaler,
    ImputerParams, KernelMap, KernelMapParams, LinearMap, LogScalerParams, ScalerParams, SubspaceProjector,
};

/// Parameters that can fit a model.
pub trait Fit {
    /// The fitted model.
    type Model;

    /// Fit to rows and what is known of them, as the [`Control`] of the parameters says.
    ///
    /// # Errors
    /// A parameter that is out of range ([`Error::Parameter`]); data that the model does not take: without the classes or
    /// targets that it needs, with gaps where it knows none, a class without rows of positive weight, too few rows, numbers
    /// that overflow; [`Error::Interrupted`].
    fn fit(&self, data: &Dataset) -> Result<Self::Model>;
}

/// A model that tells K classes apart, by their codes 0 .. K.
pub trait Classifier {
    /// Number of classes K; 0 of a model that was fitted as a regression.
    fn n_classes(&self) -> usize;

    /// The class of every row, n codes: the sign of the score for two classes, else the largest score's.
    ///
    /// # Errors
    /// Another number of features than that of the fit; gaps in rows of a model that knows none; a regression.
    fn predict<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array1<u32>>;

    /// P(class | row), n x K, rows summing to 1.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict); a model without probabilities (most are fitted with `probability(true)`).
    fn predict_proba<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array2<f64>>;

    /// The mean score of every row, n x 1 for two classes (positive: class 1), else n x K.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict).
    fn decision_function<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array2<f64>>;

    /// Means and standard deviations of the scores under each row's own uncertainty, each n x 1 or n x K.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict); a model that knows no distribution of its scores.
    fn decision_distribution<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<(Array2<f64>, Array2<f64>)>;
}

/// A model that predicts a number per row.
pub trait Regressor {
    /// The prediction for every row, n numbers in units of the targets.
    ///
    /// # Errors
    /// Another number of features than that of the fit; gaps in rows of a model that knows none.
    fn predict<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array1<f64>>;

    /// Means and standard deviations of the predictions under each row's own uncertainty, n numbers each.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict); a model that knows no such distribution.
    fn predict_distribution<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<(Array1<f64>, Array1<f64>)>;

    /// The distribution of every row's true target, a mixture of normal distributions.
    ///
    /// # Errors
    /// Those of [`predict`](Self::predict); a model that knows no such distribution.
    fn predict_density<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Densities>;
}

/// From Gaussians to Gaussians: means and covariances move together.
pub trait Transform {
    /// The rows that it makes of these. Rows that are mixtures become Gaussians with the moments of what it makes of them.
    ///
    /// # Errors
    /// Another number of features than that of the fit; gaps that it does not take; numbers that overflow.
    fn transform<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<GaussianArray>;

    /// The rows that it has made these of.
    ///
    /// # Errors
    /// A transform that cannot be undone; those of [`transform`](Self::transform).
    fn inverse_transform(&self, rows: &GaussianArray) -> Result<GaussianArray>;
}

impl<P: Fit> Fit for Valid<P> {
    type Model = P::Model;

    fn fit(&self, data: &Dataset) -> Result<P::Model> {
        self.params().fit(data)
    }
}

/// By way of the model's own fit, for rows of any kind.
fn fit<M: Fitted>(params: &M::Params, data: &Dataset) -> Result<M> {
    let mut params = params.clone();
    let control = params.control_mut().cloned().unwrap_or_default();
    let params = params.check()?;
    for_fit(M::OF_MIXTURES, data, |data| M::fit(&params, data, &control))
}

/// Predictor for rows of any kind; an error unless it is a classifier or (if not `classes`) a regression.
fn asked(model: &dyn Predictor, classes: bool) -> Result<Folding<'_>> {
    if model.about().n_classes.is_some_and(|n_classes| (n_classes > 0) == classes) {
        return Ok(Folding(model));
    }
    let (what, other) = if classes { ("regression", "Regressor") } else { ("classifier", "Classifier") };
    Err(Error::Data(format!("this was fitted as a {what}: ask it by the methods of {other}")))
}

macro_rules! answers {
    (Classifier for $Model:ty) => {
        impl Classifier for $Model {
            fn n_classes(&self) -> usize {
                self.predictor().about().n_classes.unwrap_or(0)
            }

            fn predict<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array1<u32>> {
                Ok(one_vs_rest::classes(Classifier::decision_function(self, rows)?.view()).into())
            }

            fn predict_proba<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array2<f64>> {
                asked(self.predictor(), true)?.predict_proba(rows.into(), &Control::new())
            }

            fn decision_function<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array2<f64>> {
                asked(self.predictor(), true)?.decision(rows.into(), &Control::new())
            }

            fn decision_distribution<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<(Array2<f64>, Array2<f64>)> {
                asked(self.predictor(), true)?.decision_distribution(rows.into(), &Control::new())
            }
        }
    };
    (Regressor for $Model:ty) => {
        impl Regressor for $Model {
            fn predict<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Array1<f64>> {
                let predictions = asked(self.predictor(), false)?.decision(rows.into(), &Control::new())?;
                Ok(predictions.column(0).to_owned())
            }

            fn predict_distribution<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<(Array1<f64>, Array1<f64>)> {
                let model = asked(self.predictor(), false)?;
                let (means, stds) = model.decision_distribution(rows.into(), &Control::new())?;
                Ok((means.column(0).to_owned(), stds.column(0).to_owned()))
            }

            fn predict_density<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<Densities> {
                asked(self.predictor(), false)?.densities(rows.into(), &Control::new())
            }
        }
    };
    (Transform for $Model:ty) => {
        impl Transform for $Model {
            fn transform<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<GaussianArray> {
                Predictor::transform(&Folding(self.predictor()), rows.into(), &Control::new())
            }

            fn inverse_transform(&self, rows: &GaussianArray) -> Result<GaussianArray> {
                self.predictor().inverse_transform(rows)
            }
        }
    };
}

/// Parameters, the model that they fit, and by what it is asked.
macro_rules! estimators {
    ($($Params:ty $(as $params:tt)? => $Model:ty: $($Answer:ident)+;)*) => {$(
        impl Fit for $Params {
            type Model = $Model;

            fn fit(&self, data: &Dataset) -> Result<$Model> {
                let params = &(*self)$(.$params)?;
                fit(params, data)
            }
        }

        $(answers!($Answer for $Model);)+
    )*};
}

estimators! {
    gsu::Params => gsu::Model: Classifier;
    robust::Params => robust::Model: Classifier;
    minimax::Params => minimax::Model: Classifier;
    discriminant::Params => discriminant::Model: Classifier;
    kernel_svc::Params => kernel_svc::Model: Classifier;
    feature_svc::Params => feature_svc::Model: Classifier;
    gsu_regression::Params => LinearRegressor: Regressor;
    kernel_svr::Params => kernel_svr::Model: Regressor;
    mixture_regression::Params => mixture_regression::Model: Regressor;
    huber::Params => huber::Machine: Classifier Regressor;
    law::Params => law::Model: Classifier Regressor;
    ScalerParams => GaussianScaler: Transform;
    LogScalerParams => GaussianLogScaler: Transform;
    KernelMapParams => KernelMap: Transform;
    DenoiserParams as 0 => GaussianDenoiser: Transform;
    ImputerParams as 0 => GaussianImputer: Transform;
    GaussianCollapser => GaussianCollapser: Transform;
    SubspaceProjector => SubspaceProjector: Transform;
}

answers!(Classifier for LinearClassifier);
answers!(Transform for LinearMap);
answers!(Classifier for trees::Model);
answers!(Regressor for trees::Model);

impl Fit for deconvolution::Params {
    type Model = FittedMixture;

    /// The mixture behind the rows, and the way to it.
    fn fit(&self, data: &Dataset) -> Result<FittedMixture> {
        self.clone().check()?.fit_rows(data.rows(), data.weights.as_ref(), false, &self.control)
    }
}

/// Parameters whose penalty can be chosen by cross-validation.
pub trait Path: Fit {
    /// Held-out losses of these penalties (`alpha`, or for the machines with a C its values), the strongest first, and which one
    /// to take; the penalty of the parameters does not matter.
    ///
    /// # Errors
    /// Those of [`Fit::fit`]; penalties that are not positive or not in order; too few rows or groups of a class.
    fn path(&self, data: &Dataset, penalties: &[f64]) -> Result<PenaltyPath>;
}

macro_rules! paths {
    ($($Params:ty)+) => {$(
        impl Path for $Params {
            fn path(&self, data: &Dataset, penalties: &[f64]) -> Result<PenaltyPath> {
                let params = self.clone().check()?;
                for_fit(<Self::Model as Fitted>::OF_MIXTURES, data, |data| {
                    <Self::Model as Fitted>::path(&params, penalties, data, &self.control)
                })
            }
        }
    )+};
}

paths! { gsu::Params gsu_regression::Params robust::Params kernel_svc::Params kernel_svr::Params }

impl gsu::Params {
    /// Go on from `before` (`None`: from zero) with SGD on these rows, a batch: as many steps as make one pass over them, with
    /// step sizes that continue from batch to batch.
    ///
    /// The data must be for all classes ([`Dataset::with_classes`]), but not all must occur in a batch. The reports give
    /// objective and gap for the batch alone. Probabilities are dropped: they belong to the old hyperplanes.
    ///
    /// # Errors
    /// Those of [`Fit::fit`]; another number of features or classes than before.
    pub fn partial_fit(&self, before: Option<&gsu::Model>, data: &Dataset) -> Result<gsu::Model> {
        let params = self.clone().check()?;
        for_fit(gsu::Model::OF_MIXTURES, data, |data| gsu::Model::partial_fit(&params, before, data, &self.control))
    }
}
