//! [`Step`]: every kind of thing that a model file holds and other languages fit, in one list.

mod average;
pub(super) mod chain;
#[cfg(test)]
mod tests;

pub use average::Average;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::kernel::features;
use crate::model::{
    discriminant, feature_svc, gsu, huber, kernel_svc, kernel_svr, linear::Regressor, minimax, mixture_regression,
    robust, trees,
};
use crate::state::{
    Answering, Answers, Arrays, Fitted, Named, Parameters, Parts, PenaltyPath, RemoteRows, RowsHeader, Take, Tensor,
    Training, Valid, With, from_named, names, read_rows, to_named, write_rows,
};
use crate::transform::{
    GaussianCollapser, GaussianDenoiser, GaussianImputer, GaussianScaler, KernelMap, LinearMap, SubspaceProjector,
};

/// What the header of a file says about a step.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepHeader {
    kind: String,
    params: Box<RawValue>,
    state: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<RowsHeader>,
}

impl StepHeader {
    fn is_average(&self) -> bool {
        self.kind == AVERAGE
    }
}

/// As they are written.
impl PartialEq for StepHeader {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.params.get() == other.params.get()
            && self.state.get() == other.state.get()
            && self.rows == other.rows
    }
}

const AVERAGE: &str = "average";

/// The enum from its list: one line per kind, and nothing else to write for it here.
macro_rules! steps {
    ($d:tt $($(#[$doc:meta])* $variant:ident($model:ty) = $kind:literal;)*) => {
        /// One step of a model: transforms first, the classifier or regressor last.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Step {
            $($(#[$doc])* $variant(Box<With<$model>>),)*
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

        $(impl From<With<$model>> for Step {
            fn from(with: With<$model>) -> Self {
                Self::$variant(Box::new(with))
            }
        }

        impl Holds for With<$model> {
            fn of(step: &Step) -> Option<&Self> {
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

/// What one kind of step holds.
trait Holds: Sized {
    fn of(step: &Step) -> Option<&Self>;
}

steps! { $
    /// Scales means and covariances.
    Scaler(GaussianScaler) = "scaler";
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
    Regression(Regressor) = "gsu-regression";
    /// A robust SVM.
    Robust(robust::Model) = "robust";
    /// A minimax probability machine.
    Minimax(minimax::Model) = "minimax";
    /// A Gaussian discriminant.
    Discriminant(discriminant::Model) = "discriminant";
    /// A regression with errors in features and target.
    MixtureRegression(mixture_regression::Model) = "mixture-regression";
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

impl Step {
    /// Fit this kind, with parameters from JSON text by the names that users write.
    ///
    /// # Errors
    /// An unknown kind or parameter, and those of the fit.
    pub fn fit(
        kind: &str,
        params: &str,
        threads: Option<usize>,
        training: &Training<'_>,
        control: &Control,
    ) -> Result<Self> {
        of_kind!(kind, Model => {
            let params = checked::<Model>(params, threads)?;
            Ok(Self::new(<Model as Fitted>::fit(&params, training, control)?, params))
        })
    }

    /// [`fit`](Self::fit) to rows held by other processes.
    ///
    /// # Errors
    /// A kind that is not made of sums over the rows, and those of [`fit`](Self::fit).
    pub fn fit_remote(
        kind: &str,
        params: &str,
        threads: Option<usize>,
        remote: &RemoteRows<'_>,
        control: &Control,
    ) -> Result<Self> {
        of_kind!(kind, Model => {
            let params = checked::<Model>(params, threads)?;
            Ok(Self::new(Model::fit_remote(&params, remote, control)?, params))
        })
    }

    /// Held-out losses of this kind along a path of penalties, the strongest first.
    ///
    /// # Errors
    /// A kind without a penalty to choose, and those of [`fit`](Self::fit).
    pub fn path(
        kind: &str,
        params: &str,
        penalties: &[f64],
        threads: Option<usize>,
        training: &Training<'_>,
        control: &Control,
    ) -> Result<PenaltyPath> {
        of_kind!(kind, Model => Model::path(&checked::<Model>(params, threads)?, penalties, training, control))
    }

    /// Go on from `before` (`None`: from nothing) with more rows.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and for another kind before.
    pub fn partial_fit(
        kind: &str,
        params: &str,
        threads: Option<usize>,
        before: Option<&Self>,
        training: &Training<'_>,
        control: &Control,
    ) -> Result<Self> {
        if let Some(before) = before.filter(|before| before.kind() != kind) {
            return Err(Error::Data(format!("a model of kind {} cannot go on as {kind}", before.kind())));
        }
        of_kind!(kind, Model => {
            let params = checked::<Model>(params, threads)?;
            let before = before.and_then(<With<Model> as Holds>::of).map(|with| &with.model);
            Ok(Self::new(Model::partial_fit(&params, before, training, control)?, params))
        })
    }

    /// The names of the parameters of a kind.
    ///
    /// # Errors
    /// An unknown kind.
    pub fn parameter_names(kind: &str) -> Result<Vec<String>> {
        of_kind!(kind, Model => names::<<Model as Fitted>::Params>())
    }

    /// Are these parameters, by the names that users write, in range?
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check_parameters(kind: &str, params: &str) -> Result<()> {
        of_kind!(kind, Model => checked::<Model>(params, None).map(drop))
    }

    /// Inverse of [`arrays`](Self::arrays), for kinds without rows; parameters by the names that users write.
    ///
    /// # Errors
    /// Whatever does not make a model of this kind.
    pub fn from_arrays(kind: &str, params: &str, header: &str, arrays: Vec<(String, Tensor)>) -> Result<Self> {
        of_kind!(kind, Model => from_arrays::<Model>(params, header, arrays).map(Self::from))
    }

    /// Inverse of [`write`](Self::write).
    pub(super) fn read(header: &StepHeader, step: usize, take: &mut Take<'_>) -> Result<Self> {
        let kind = header.kind.as_str();
        if !Self::KINDS.contains(&kind) {
            return Err(Error::ModelFile(unknown(kind).to_string()));
        }
        of_kind!(kind, Model => read::<Model>(header, step, take).map(Self::from))
    }

    /// A model or transform with the parameters of its fit.
    pub fn new<M: Fitted>(model: M, params: Valid<M::Params>) -> Self
    where
        Self: From<With<M>>,
    {
        With::new(model, params).into()
    }

    /// The same, where the parameters are not known or do not matter any more.
    pub fn of<M: Fitted>(model: M) -> Self
    where
        Self: From<With<M>>,
    {
        let params = Valid(model.usual_params());
        With::new(model, params).into()
    }

    /// What answers about new rows.
    #[must_use]
    pub fn answers(&self) -> &dyn Answers {
        each!(self, with => with.model.answers())
    }

    /// All arrays but those of [`rows`](Self::rows), and the rest as JSON text: what it knows about itself.
    ///
    /// # Errors
    /// None that could be mended.
    pub fn arrays(&self) -> Result<(String, Vec<Named>)> {
        let mut arrays = Arrays::default();
        let header = each!(self, with => json(&with.model.write(&with.params, &mut arrays)))?;
        Ok((header, arrays.into_inner()))
    }

    /// The rows of the fit that belong to it.
    #[must_use]
    pub fn rows(&self) -> Option<&crate::GaussianArray> {
        each!(self, with => with.model.rows())
    }

    /// The parameters in JSON, by the names that users write.
    ///
    /// # Errors
    /// None that could be mended.
    pub fn parameters(&self) -> Result<String> {
        each!(self, with => to_named(with.params.params()))
    }

    /// What the header of a file says of it.
    pub(super) fn header(&self) -> Result<StepHeader> {
        let mut arrays = Arrays::default();
        let (params, state) =
            each!(self, with => (raw(&with.params)?, raw(&with.model.write(&with.params, &mut arrays))?));
        let rows = self.rows().map(|rows| write_rows(rows, &mut arrays));
        Ok(StepHeader { kind: self.kind().to_owned(), params, state, rows })
    }

    /// Its tensors in a file.
    pub(super) fn tensors(&self) -> Vec<Named> {
        let mut arrays = Arrays::default();
        each!(self, with => {
            with.model.write(&with.params, &mut arrays);
        });
        if let Some(rows) = self.rows() {
            write_rows(rows, &mut arrays);
        }
        arrays.into_inner().into_iter().filter(|named| !named.aside).collect()
    }
}

fn checked<M: Fitted>(params: &str, threads: Option<usize>) -> Result<Valid<M::Params>> {
    let mut params = from_named::<M::Params>(params)?;
    params.set_threads(threads);
    params.check()
}

fn read<M: Fitted>(header: &StepHeader, step: usize, take: &mut Take<'_>) -> Result<With<M>> {
    let params: Valid<M::Params> = parsed(&header.params)?;
    let state: M::Header = parsed(&header.state)?;
    let rows = header.rows.as_ref().map(|rows| read_rows(rows, &mut Parts::new(step, None, take))).transpose()?;
    let mut parts = Parts::new(step, rows, take);
    let model = M::read(state, &params, &mut parts).map_err(|error| match error {
        error @ (Error::ModelFile(_) | Error::Internal(_)) => error,
        other => Error::ModelFile(other.to_string()),
    })?;
    if parts.optional_rows().is_some() {
        return Err(Error::ModelFile(format!("step {step} has rows that do not belong to it")));
    }
    Ok(With { model, params })
}

fn from_arrays<M: Fitted>(params: &str, header: &str, arrays: Vec<(String, Tensor)>) -> Result<With<M>> {
    let params = checked::<M>(params, None)?;
    let state = serde_json::from_str(header).map_err(|e| Error::Data(format!("header of a model: {e}")))?;
    let mut left: BTreeMap<String, Tensor> = arrays.into_iter().collect();
    let model = M::read(state, &params, &mut Parts::new(0, None, &mut |name| Ok(left.remove(name))))?;
    match left.keys().next() {
        Some(name) => Err(Error::Data(format!("the array {name} does not belong to the model"))),
        None => Ok(With { model, params }),
    }
}

fn parsed<T: serde::de::DeserializeOwned>(json: &RawValue) -> Result<T> {
    serde_json::from_str(json.get()).map_err(|e| Error::ModelFile(format!("its description is not understood ({e})")))
}

fn json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Internal(format!("header of a model: {e}")))
}

fn raw<T: Serialize>(value: &T) -> Result<Box<RawValue>> {
    let text = json(value)?;
    RawValue::from_string(text).map_err(|e| Error::Internal(format!("header of a model: {e}")))
}

fn unknown(kind: &str) -> Error {
    Error::parameter("kind", format!("{kind:?}"), format!("one of {}", Step::KINDS.join(", ")))
}
