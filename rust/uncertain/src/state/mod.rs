//! What is fitted, the same for every model and transform: where it comes from, what it answers, and how it goes
//! into files and other languages.
//!
//! A model implements [`Fitted`] (fit from [`Training`], in and out as named arrays and a small serde header) and
//! [`Answers`] (what it says about new rows). With its parameters beside it ([`With`]) it is a step of a model
//! file and an object of other languages; both read the same arrays, so no attribute is described twice.
//! Everything about a kind that is not mathematics is in its one implementation and its line in
//! [`Step`](crate::file::Step).
//!
//! This module knows no model: models and transforms depend on it, files and borders on them.

mod arrays;
mod elsewhere;
mod gaussians;
pub(crate) mod number;
mod params;
mod penalty_path;
mod training;

use std::fmt::Debug;

use ndarray::Array2;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::control::Control;
use crate::data::{GaussianArray, Incomplete};
use crate::density::Densities;
use crate::error::{Error, Result};

pub(crate) use arrays::Take;
pub use arrays::{Arrays, Named, Parts, Tensor};
pub use elsewhere::{Elsewhere, Remote};
pub(crate) use gaussians::{Header as RowsHeader, read as read_rows, write as write_rows};
pub use params::{Parameters, Valid, from_named, names, to_named};
pub use penalty_path::PenaltyPath;
pub use training::{Square, Training};
pub(crate) use training::{complete, unlimited};

/// What it says about new rows. Gaps come only to what [takes](Self::takes_gaps) them.
pub trait Answers {
    /// Features of the rows; `None` when any number will do.
    fn n_features(&self) -> Option<usize>;

    /// Classes it tells apart, 0 for a regression; `None` for a transform.
    fn n_classes(&self) -> Option<usize> {
        None
    }

    /// Features of what a transform makes of `d` features.
    fn n_features_out(&self, d: usize) -> usize {
        d
    }

    /// Does it fill gaps, use them, or pass them on?
    fn takes_gaps(&self) -> bool {
        false
    }

    /// Does it use limits, or pass them on?
    fn takes_limits(&self) -> bool {
        self.keeps_gaps()
    }

    /// Are gaps and limits still there in what a transform makes of rows?
    fn keeps_gaps(&self) -> bool {
        false
    }

    /// The rows that a transform makes of these.
    fn transform(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<GaussianArray> {
        Err(Error::Data("this is not a transform".into()))
    }

    /// Undo [`transform`](Self::transform).
    fn inverse_transform(&self, _rows: &GaussianArray) -> Result<GaussianArray> {
        Err(Error::Data("this transform cannot be undone".into()))
    }

    /// Mean scores of classes, n x 1 or n x K; predictions of a regression, n x 1; features of a feature map.
    fn decision(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Array2<f64>> {
        Err(Error::Data("this has no scores".into()))
    }

    /// Means and standard deviations of the scores under each row's own uncertainty.
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

    /// What a regression knows of the true target of every row.
    fn densities(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Densities> {
        Err(Error::Data("this has no densities of targets".into()))
    }

    /// log p(row).
    fn log_likelihood(&self, _rows: Incomplete<'_>, _control: &Control) -> Result<Vec<f64>> {
        Err(Error::Data("this has no likelihood of rows".into()))
    }
}

/// A model or transform that was fitted.
pub trait Fitted: Clone + PartialEq + Debug + Send + Sync {
    /// With what.
    type Params: Parameters;
    /// What it is beside its arrays and rows.
    type Header: Serialize + DeserializeOwned;

    /// Fit.
    fn fit(params: &Valid<Self::Params>, training: &Training<'_>, control: &Control) -> Result<Self>;

    /// Fit to rows that lie elsewhere, by passes over them.
    fn fit_remote(_: &Valid<Self::Params>, _: &Remote<'_>, _: &Control) -> Result<Self> {
        Err(Error::Data("this is not made of sums over the rows, so all of them must be in one memory".into()))
    }

    /// Go on from `before` with more rows.
    fn partial_fit(
        _params: &Valid<Self::Params>,
        _before: Option<&Self>,
        _training: &Training<'_>,
        _control: &Control,
    ) -> Result<Self> {
        Err(Error::Data("this is not fitted in batches".into()))
    }

    /// Held-out losses along a path of penalties (the strongest first), and which one to take; the penalty of the
    /// parameters does not matter.
    fn path(_: &Valid<Self::Params>, _penalties: &[f64], _: &Training<'_>, _: &Control) -> Result<PenaltyPath> {
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

    /// What answers about new rows: itself, or its hyperplanes.
    fn answers(&self) -> &dyn Answers;

    /// Parameters for a model whose own are not known.
    fn usual_params(&self) -> Self::Params {
        Self::Params::default()
    }
}

/// A model or transform with the parameters of its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct With<M: Fitted> {
    /// What was fitted.
    pub model: M,
    /// With what.
    pub params: Valid<M::Params>,
}

impl<M: Fitted> With<M> {
    /// Both.
    pub fn new(model: M, params: Valid<M::Params>) -> Self {
        // Threads belong to a machine.
        let Valid(mut params) = params;
        params.set_threads(None);
        Self { model, params: Valid(params) }
    }
}
