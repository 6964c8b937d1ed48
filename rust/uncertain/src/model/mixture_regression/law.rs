//! The law between true values under one component: a line with scatter.
//!
//! From mean and covariance of (x, y), y = beta'x + alpha + N(0, s^2):
//! ```text
//! beta = T_xx^{-1} T_xy,    alpha = mu_y - beta'mu_x,    s^2 = T_yy - T_yx T_xx^{-1} T_xy
//! ```

use crate::data::covariance::{packed_index, packed_len, unpack};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::{Spd, dot};
use crate::model::line::LineFit;

/// y = coef'x + intercept + N(0, scatter^2), between true values.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// beta, d numbers.
    pub coef: Vec<f64>,
    /// alpha
    pub intercept: f64,
    /// s >= 0
    pub scatter: f64,
    /// Where they are known.
    pub errors: Option<Errors>,
}

/// Standard errors of a [`Law`].
#[derive(Debug, Clone, PartialEq)]
pub struct Errors {
    /// Covariance of intercept and coefficients, (1 + d) x (1 + d); empty where it is not known.
    pub covariance: Vec<f64>,
    /// Of the d coefficients.
    pub coef: Vec<f64>,
    /// Of the intercept.
    pub intercept: f64,
    /// Of the scatter; none where that is 0.
    pub scatter: Option<f64>,
}

impl Law {
    /// With its errors, as far as they are known.
    pub(super) fn from_line(fit: &LineFit) -> Self {
        let p = fit.law.len();
        let std: Vec<f64> = (0..p).map(|a| fit.covariance[a * p + a].sqrt()).collect();
        let errors = std.iter().all(|s| s.is_finite()).then(|| Errors {
            covariance: fit.covariance.clone(),
            coef: std[1..].to_vec(),
            intercept: std[0],
            scatter: Some(fit.scatter_std).filter(|s| s.is_finite()),
        });
        Self { coef: fit.law[1..].to_vec(), intercept: fit.law[0], scatter: fit.scatter, errors }
    }

    /// Of one component, without errors.
    pub(super) fn from_joint(joint: &Mixture, component: usize) -> Result<Self> {
        let (d, t, mean) = (joint.n_features() - 1, joint.covariance(component), joint.mean(component));
        let singular = || Error::Data("the covariance of the features is singular; raise reg_covar".into());
        let features = Spd::new(unpack(&t[..packed_len(d)], d), d).ok_or_else(singular)?;
        let crossed = &t[packed_len(d)..packed_len(d) + d];
        let coef = features.solve(crossed.to_vec());
        let intercept = mean[d] - dot(&coef, &mean[..d]);
        let variance = t[packed_index(d, d)] - dot(&coef, crossed);
        Ok(Self { coef, intercept, scatter: variance.max(0.0).sqrt(), errors: None })
    }
}
