//! Fitted objects, alike for every model and transform: where they come from, what they answer, and how they go
//! into files and other languages.
//!
//! A model implements [`Fitted`] (fit from [`Dataset`](crate::Dataset), in and out as named arrays and a small serde header) and
//! [`Predictor`] (what it says about new rows). With its parameters beside it ([`FittedStep`]) it is a step of a model
//! file and an object of other languages; both read the same arrays, so no attribute is described twice.
//! Everything about a kind that is not mathematics is in its one implementation and its line in
//! [`Step`](crate::step::Step).
//!
//! This module knows no model: models and transforms depend on it, files and borders on them.

mod arrays;
mod folding;
mod gaussians;
mod params;
mod penalty_path;
mod predictor;
mod remote;

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::control::Control;
use crate::data::{Dataset, GaussianArray};
use crate::error::{Error, Result};

pub(crate) use arrays::TakeTensor;
pub use arrays::{Arrays, NamedTensor, Parts, Tensor};
pub use folding::Folding;
pub(crate) use folding::{as_mixtures, folded_moments, for_fit};
pub(crate) use gaussians::{RowsHeader, read as read_rows, write as write_rows};
pub use params::{NoParams, Parameters, Valid, from_named, names, to_named};
pub use penalty_path::PenaltyPath;
pub(crate) use predictor::column;
pub use predictor::{About, HasPredictor, OfMixtures, Predictor};
pub use remote::RemoteRows;

/// Parameters of a fitted object that are no arrays, in a struct `Header`; a file has all of it, and nothing else.
macro_rules! header {
    ($($(#[$meta:meta])* $field:ident: $type:ty),+ $(,)?) => {
        /// Parameters that are no arrays.
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Header {
            $($(#[$meta])* $field: $type,)+
        }
    };
}
pub(crate) use header;

/// A model or transform that was fitted.
pub trait Fitted: HasPredictor + Clone + PartialEq + Debug + Send + Sync {
    /// With what.
    type Params: Parameters;
    /// Its kind and parameters.
    type Header: Serialize + DeserializeOwned;
    /// Treatment of mixtures by its fit.
    const OF_MIXTURES: OfMixtures = OfMixtures::Components;

    /// Fit.
    fn fit(params: &Valid<Self::Params>, data: &Dataset, control: &Control) -> Result<Self>;

    /// [`fit`](Self::fit), and what the transform makes of the rows of the fit.
    fn fit_transform(params: &Valid<Self::Params>, data: &Dataset, control: &Control) -> Result<(Self, GaussianArray)> {
        let model = Self::fit(params, data, control)?;
        let moved = model.predictor().transform(data.rows(), control)?;
        Ok((model, moved))
    }

    /// Fit to rows held by other processes, by passes over them.
    fn fit_remote(_: &Valid<Self::Params>, _: &RemoteRows<'_>, _: &Control) -> Result<Self> {
        Err(Error::Data("this is not made of sums over the rows, so all of them must be in one memory".into()))
    }

    /// Go on from `before` with more rows.
    fn partial_fit(
        _params: &Valid<Self::Params>,
        _before: Option<&Self>,
        _data: &Dataset,
        _control: &Control,
    ) -> Result<Self> {
        Err(Error::Data("this is not fitted in batches".into()))
    }

    /// Held-out losses along a path of penalties (the strongest first), and which one to take; the penalty of the
    /// parameters does not matter.
    fn path(_: &Valid<Self::Params>, _penalties: &[f64], _: &Dataset, _: &Control) -> Result<PenaltyPath> {
        Err(Error::Data("this has no penalty to choose".into()))
    }

    /// Its arrays, and the rest of it.
    fn write(&self, params: &Valid<Self::Params>, arrays: &mut Arrays) -> Self::Header;

    /// Inverse of [`write`](Self::write); looks at everything, since files may be altered.
    fn read(header: Self::Header, params: &Valid<Self::Params>, parts: &mut Parts<'_>) -> Result<Self>;

    /// Rows of the fit that belong to it.
    fn rows(&self) -> Option<&GaussianArray> {
        None
    }

    /// Default parameters for a model without any.
    fn usual_params(&self) -> Self::Params {
        Self::Params::default()
    }
}

/// A model or transform with the parameters of its fit.
#[derive(Debug, PartialEq)]
pub struct FittedStep<M: Fitted> {
    /// The fitted object.
    pub model: M,
    /// With what.
    pub params: Valid<M::Params>,
}

// Derived it would be inlined for all kinds wherever a step is cloned.
impl<M: Fitted> Clone for FittedStep<M> {
    #[inline(never)]
    fn clone(&self) -> Self {
        Self { model: self.model.clone(), params: self.params.clone() }
    }
}

impl<M: Fitted> FittedStep<M> {
    /// Both.
    pub fn new(model: M, params: Valid<M::Params>) -> Self {
        // Listeners, flags and threads belong to a process.
        let Valid(mut params) = params;
        params.control_mut().into_iter().for_each(|control| *control = Control::new());
        Self { model, params: Valid(params) }
    }
}
