//! Fits of any kind of [`Step`], by the name of its kind.

use super::*;
use crate::control::Control;
use crate::data::{Dataset, GaussianArray};
use crate::error::{Error, Result};
use crate::state::{Fitted, FittedStep, PenaltyPath, RemoteRows, for_fit, names};

#[doc(hidden)]
impl Step {
    /// Fit this kind, with parameters from JSON text by the names that users write.
    ///
    /// # Errors
    /// An unknown kind or parameter, and those of the fit.
    pub fn fit(kind: &str, params: &str, data: &Dataset, control: &Control) -> Result<Self> {
        of_kind!(kind, Model => {
            let params = checked::<Model>(params)?;
            let fit = |data: &Dataset| <Model as Fitted>::fit(&params, data, control);
            Ok(Self::new(for_fit(Model::OF_MIXTURES, data, fit)?, params))
        })
    }

    /// Fit a transform, and what it makes of the rows of the fit, which are no mixtures.
    ///
    /// # Errors
    /// A kind that is no transform, and those of [`fit`](Self::fit).
    pub fn fit_transform(kind: &str, params: &str, data: &Dataset, control: &Control) -> Result<(Self, GaussianArray)> {
        of_kind!(kind, Model => {
            let params = checked::<Model>(params)?;
            let (model, moved) = <Model as Fitted>::fit_transform(&params, data, control)?;
            Ok((Self::new(model, params), moved))
        })
    }

    /// [`fit`](Self::fit) to rows held by other processes.
    ///
    /// # Errors
    /// A kind that is not made of sums over the rows, and those of [`fit`](Self::fit).
    pub fn fit_remote(kind: &str, params: &str, remote: &RemoteRows<'_>, control: &Control) -> Result<Self> {
        of_kind!(kind, Model => {
            let params = checked::<Model>(params)?;
            Ok(Self::new(Model::fit_remote(&params, remote, control)?, params))
        })
    }

    /// Held-out losses of this kind along a path of penalties, the strongest first.
    ///
    /// # Errors
    /// A kind without a penalty to choose, and those of [`fit`](Self::fit).
    pub fn path(kind: &str, params: &str, penalties: &[f64], data: &Dataset, control: &Control) -> Result<PenaltyPath> {
        of_kind!(kind, Model => {
            let params = checked::<Model>(params)?;
            for_fit(Model::OF_MIXTURES, data, |data| Model::path(&params, penalties, data, control))
        })
    }

    /// Go on from `before` (`None`: from nothing) with more rows.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and for another kind before.
    pub fn partial_fit(
        kind: &str,
        params: &str,
        before: Option<&Self>,
        data: &Dataset,
        control: &Control,
    ) -> Result<Self> {
        if let Some(before) = before.filter(|before| before.kind() != kind) {
            return Err(Error::Data(format!("a model of kind {} cannot go on as {kind}", before.kind())));
        }
        of_kind!(kind, Model => {
            let params = checked::<Model>(params)?;
            let before = before.and_then(<FittedStep<Model> as StepModel>::from_step).map(|with| &with.model);
            let fit = |data: &Dataset| Model::partial_fit(&params, before, data, control);
            Ok(Self::new(for_fit(Model::OF_MIXTURES, data, fit)?, params))
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
        of_kind!(kind, Model => checked::<Model>(params).map(drop))
    }
}
