//! Generalised linear laws between true values: y given the true features, which are read with known errors.
//!
//! ```text
//! y | z ~ p(y | eta, a),  eta = b + beta'z + offset,     x_i = z_i + e_i,  e_i ~ N(0, S_i),  z ~ sum_k pi_k N(mu_k, T_k)
//! ```
//! Two stages, each by maximum likelihood: the density of z from the readings alone
//! ([`deconvolution`]), then b, beta and a from the targets given the readings. Only eta matters to a
//! target, and given x_i it is a mixture of one-dimensional Gaussians, so that in any number of dimensions
//! ```text
//! log p(y_i | x_i) = log sum_k w_ik int p(y_i | eta, a) N(eta; b + o_i + beta'm_ik, beta'P_ik beta) d eta
//! ```
//! (`truths`, `integral`, `likelihood`). It is the integral of the likelihood: averaging its logarithm, as a loss
//! of the score's distribution does, would flatten the law a second time. Where all rows are exact it is the ordinary
//! generalised linear model. Standard errors count both stages (`errors`).
//!
//! Source: Carroll, Ruppert, Stefanski, Crainiceanu, Measurement Error in Nonlinear Models, 2nd ed., 2006, chapter 8.

mod bias;
pub(super) mod coordinates;
pub(super) mod crossed;
pub(super) mod density;
pub(super) mod errors;
mod family;
mod family_rows;
mod features;
mod fit;
mod integral;
pub(super) mod likelihood;
pub(super) mod newton;
mod predict;
pub(super) mod profile;
mod quadrature;
pub(super) mod remote;
pub(super) mod scaled_noise;
mod state;
pub(super) mod truths;

use crate::deconvolution::{self, Components, Mixture, Report};
use crate::error::{Error, Result};
use crate::named::named;
use crate::number;
use crate::params::{Valid, builder, check_not_negative};
use crate::readable::readable;
use crate::solver::Status;

pub use super::error_scale::ErrorScale;
pub use family::FamilyKind;
pub use fit::Observations;
pub(super) use predict::{predictors, variance_along};

/// Correction of the bias of maximum likelihood in few rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum BiasCorrection {
    /// Takes off the part that errors of the features add to the bias of the law between exact features, to first order.
    Errors,
}

named!(BiasCorrection, "bias_correction");

builder! {
    /// Parameters of a fit.
    pub struct Params {
        /// The distribution of a target given its linear predictor.
        family: FamilyKind = FamilyKind::Binomial,
        /// Penalty (alpha / 2) |beta|^2 beside the mean negative log-likelihood, beta per standard deviation of the true
        /// features; >= 0.
        #[serde(with = "number")]
        alpha: f64 = 0.0,
        /// Probability of intervals by the profile of the likelihood, in (0, 1); `None`: none.
        #[serde(with = "number::option")]
        profile: Option<f64> = None,
        /// Correction of the bias in few rows, where alpha = 0.
        bias_correction: Option<BiasCorrection> = Some(BiasCorrection::Errors),
        /// Which error bars are right up to a factor only? Those of the features, or none.
        error_scale: Option<ErrorScale> = None,
        /// Everything about the density of true features.
        em: deconvolution::Params = deconvolution::Params::default(),
    }
}

/// Parameters that have passed [`Params::check`].
pub type ValidParams = Valid<Params>;

impl Params {
    /// Parameters that can fit, or the first one that is out of range.
    ///
    /// # Errors
    /// [`Error::Parameter`]
    pub fn check(self) -> Result<ValidParams> {
        self.em.clone().check()?;
        check_not_negative("alpha", self.alpha)?;
        if let Some(level) = self.profile.filter(|level| !(*level > 0.0 && *level < 1.0)) {
            return Err(Error::parameter("profile", level, "a probability between 0 and 1"));
        }
        if let Some(scale) = self.error_scale {
            if scale != ErrorScale::Features {
                let why = "\"features\" or None: the target has no error bars, what scatters about the law is a part of its family";
                return Err(Error::parameter("error_scale", format!("{:?}", scale.name()), why));
            }
            if self.em.components != Components::Fixed(1) {
                let why = "1 where error_scale= is given: a spread of true values tells factors only if it is one";
                return Err(Error::parameter("n_components", self.em.components, why));
            }
        }
        Ok(Valid(self))
    }
}

readable! {
    /// Estimates in the order intercept (where the family has one), coefficients, further parameters.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Estimates {
        /// The estimates.
        values: Vec<f64> => &[f64],
        /// Their covariance matrix, row by row; 0 for a parameter at its bound, and everywhere where it is not known.
        covariance: Vec<f64> => &[f64],
    }
}

impl Estimates {
    /// Estimates of the law, and of `k` errors that rows share, which stand from `first` on.
    fn split(self, first: usize, k: usize) -> (Self, Option<ModeEstimates>) {
        if k == 0 {
            return (self, None);
        }
        let p = self.values.len();
        let law: Vec<usize> = (0..first).chain(first + k..p).collect();
        let modes: Vec<usize> = (first..first + k).collect();
        let pick = |at: &[usize]| -> Vec<f64> { at.iter().map(|&a| self.values[a]).collect() };
        let block = |rows: &[usize], columns: &[usize]| -> Vec<f64> {
            rows.iter()
                .flat_map(|&a| columns.iter().map(move |&b| (a, b)))
                .map(|(a, b)| self.covariance[a * p + b])
                .collect()
        };
        let own =
            ModeEstimates { values: pick(&modes), covariance: block(&modes, &modes), with_law: block(&modes, &law) };
        (Self { values: pick(&law), covariance: block(&law, &law) }, Some(own))
    }

    fn is_finite(&self) -> bool {
        self.values.iter().chain(&self.covariance).all(|x| x.is_finite())
    }

    /// Estimates whose variances are not known.
    fn unknown(&self) -> Self {
        Self { values: self.values.clone(), covariance: vec![0.0; self.covariance.len()] }
    }
}

/// Errors that rows share, as they are known after a fit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModeEstimates {
    /// a, k numbers.
    pub values: Vec<f64>,
    /// Their covariance, k x k.
    pub covariance: Vec<f64>,
    /// And that with the estimates of the law, k x p.
    pub with_law: Vec<f64>,
}

readable! {
    /// A fitted law.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Model {
        family: FamilyKind,
        n_classes: usize,
        /// The distribution of the true features.
        mixture: Mixture => &Mixture,
        /// The law between true values.
        law: Estimates => &Estimates,
        /// Estimates from the readings as if they were exact.
        naive: Estimates => &Estimates,
        /// Ends of the coefficients' intervals by the profile of the likelihood (d x 2), where asked for.
        profile: Option<Vec<f64>> => Option<&[f64]>,
        /// Errors that rows share, where some were given.
        modes: Option<ModeEstimates> => Option<&ModeEstimates>,
        /// Factors of the features' error bars with their standard errors, where they were asked for.
        feature_error_scale: Vec<(f64, f64)> => &[(f64, f64)],
        /// Sum of log p(y_i | x_i), errors that rows share integrated out.
        log_likelihood: f64 => f64,
        /// Steps of Newton's method.
        n_iter: usize => usize,
        /// How it ended.
        status: Status => Status,
        /// How the fit of the density went.
        report: Option<Report> => Option<&Report>,
    }
}

impl Model {
    fn first_coef(&self) -> usize {
        usize::from(self.family.has_intercept())
    }

    /// b, 0 where there are thresholds.
    #[must_use]
    pub fn intercept(&self) -> f64 {
        if self.family.has_intercept() { self.law.values[0] } else { 0.0 }
    }

    /// beta
    #[must_use]
    pub fn coef(&self) -> &[f64] {
        &self.law.values[self.first_coef()..self.first_coef() + self.mixture.n_features()]
    }

    /// Dispersion of counts and sizes, scale of logarithms of times, thresholds of ordered classes.
    #[must_use]
    pub fn extra(&self) -> &[f64] {
        &self.law.values[self.first_coef() + self.mixture.n_features()..]
    }
}
