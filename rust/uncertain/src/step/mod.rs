//! [`Step`]: every kind of thing that is fitted, answers and is saved, in one list. Here kinds are dispatched: to their
//! fits (`fit`), to what answers about new rows, and to the arrays that model files and other languages hold
//! (`arrays`). Steps one behind the other are a `chain`.

use crate::error::{Error, Result};
use crate::kernel::features;
use crate::model::{
    discriminant, feature_svc, gsu, huber, kernel_svc, kernel_svr, law, linear::LinearRegressor, minimax,
    mixture_regression, robust, trees,
};
use crate::state::{Fitted, FittedStep, HasPredictor, Parameters, Predictor, Valid, from_named, to_named};
use crate::transform::{
    GaussianCollapser, GaussianDenoiser, GaussianImputer, GaussianLogScaler, GaussianScaler, KernelMap, LinearMap,
    SubspaceProjector,
};

/// The enum from its list: one line per kind, and nothing else to write for it here.
macro_rules! steps {
    ($d:tt $($(#[$doc:meta])* $variant:ident($model:ty) = $kind:literal;)*) => {
        /// One step of a model: transforms first, the classifier or regressor last.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Step {
            $($(#[$doc])* $variant(Box<FittedStep<$model>>),)*
        }

        /// An expression of what a step holds, whatever that is.
        macro_rules! each {
            ($d step:expr, $d with:ident => $d answer:expr) => {
                match $d step {
                    $(Step::$variant($d with) => $d answer,)*
                }
            };
        }

        /// A result with the type of the kind of this name.
        macro_rules! of_kind {
            ($d kind:expr, $d Model:ident => $d answer:expr) => {
                match $d kind {
                    $($kind => {
                        type $d Model = $model;
                        $d answer
                    })*
                    other => Err(unknown(other)),
                }
            };
        }

        $(impl From<FittedStep<$model>> for Step {
            fn from(with: FittedStep<$model>) -> Self {
                Self::$variant(Box::new(with))
            }
        }

        impl StepModel for FittedStep<$model> {
            fn from_step(step: &Step) -> Option<&Self> {
                if let Step::$variant(with) = step { Some(with) } else { None }
            }
        })*

        impl Step {
            /// All kinds by name.
            pub const KINDS: &'static [&'static str] = &[$($kind),*];

            /// The name of its kind.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $kind,)*
                }
            }
        }
    };
}

/// Contents of one kind of step.
trait StepModel: Sized {
    fn from_step(step: &Step) -> Option<&Self>;
}

steps! { $
    /// Scales means and covariances.
    Scaler(GaussianScaler) = "scaler";
    /// Takes some features as logarithms.
    LogScaler(GaussianLogScaler) = "log-scaler";
    /// Cuts covariances down to subspaces.
    Subspace(SubspaceProjector) = "subspace";
    /// Makes covariances simpler.
    Collapser(GaussianCollapser) = "collapser";
    /// Takes linear combinations of the features.
    LinearMap(LinearMap) = "linear-map";
    /// Goes to the feature space of a kernel.
    KernelMap(KernelMap) = "kernel-map";
    /// Exact points whose inner products are a kernel.
    Features(features::Features) = "features";
    /// Replaces measurements by posteriors of their true values.
    Denoiser(GaussianDenoiser) = "denoiser";
    /// Fills gaps.
    Imputer(GaussianImputer) = "imputer";
    /// SVM-GSU.
    Gsu(gsu::Model) = "gsu";
    /// Regression of SVM-GSU's kind.
    Regression(LinearRegressor) = "gsu-regression";
    /// A robust SVM.
    Robust(robust::Model) = "robust";
    /// A minimax probability machine.
    Minimax(minimax::Model) = "minimax";
    /// A Gaussian discriminant.
    Discriminant(discriminant::Model) = "discriminant";
    /// A regression with errors in features and target.
    MixtureRegression(mixture_regression::Model) = "mixture-regression";
    /// A generalised linear law between true values.
    Law(law::Model) = "law";
    /// A kernel classifier.
    KernelSvc(kernel_svc::Model) = "kernel-svc";
    /// A kernel classifier on features.
    FeatureSvc(feature_svc::Model) = "feature-svc";
    /// A kernel regressor.
    KernelSvr(kernel_svr::Model) = "kernel-svr";
    /// A Huber regression or classifier; a graph given as a matrix is not saved.
    Huber(huber::Machine) = "huber";
    /// Boosted trees on error columns.
    Trees(trees::Model) = "trees";
    /// Pipelines that answer together.
    Average(Average) = "average";
}

// Behind the list, which makes the macros that dispatch; where these are used all its types must be in scope.
mod arrays;
mod average;
pub(crate) mod chain;
mod fit;
#[cfg(test)]
mod tests;

pub(crate) use arrays::StepHeader;
pub use average::Average;

impl Step {
    /// A model or transform with the parameters of its fit.
    pub fn new<M: Fitted>(model: M, params: Valid<M::Params>) -> Self
    where
        Self: From<FittedStep<M>>,
    {
        FittedStep::new(model, params).into()
    }

    /// A step whose parameters are not known or do not matter any more.
    pub fn from_model<M: Fitted>(model: M) -> Self
    where
        Self: From<FittedStep<M>>,
    {
        let params = Valid(model.usual_params());
        FittedStep::new(model, params).into()
    }

    /// The predictor for new rows.
    #[must_use]
    pub fn predictor(&self) -> &dyn Predictor {
        each!(self, with => with.model.predictor())
    }

    /// The parameters in JSON, by the names that users write.
    ///
    /// # Errors
    /// Internal errors only.
    pub fn parameters(&self) -> Result<String> {
        each!(self, with => to_named(with.params.params()))
    }
}

fn checked<M: Fitted>(params: &str) -> Result<Valid<M::Params>> {
    from_named::<M::Params>(params)?.check()
}

fn unknown(kind: &str) -> Error {
    Error::parameter("kind", format!("{kind:?}"), format!("one of {}", Step::KINDS.join(", ")))
}
