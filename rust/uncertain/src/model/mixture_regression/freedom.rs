//! Degrees of freedom of the scatter as a part of what is maximised, for profiles of the likelihood.
//!
//! ```text
//! L = sum c_i log N(u_i) - (p / 2) log sum c_i w_i(s^2),    p = d + 1
//! ```
//! whose derivative by s^2 is the equation that the scatter of a [`Law`] solves; 1 / w_i, the variance of the reading of y
//! given that of x, changes with s^2 alone, from where the law was found. Without noise L falls by n - p, not n, times
//! the logarithm of the growth of the residual sum of squares.

use crate::control::Control;
use crate::data::Incomplete;
use crate::deconvolution::Mixture;
use crate::deconvolution::with_target::{Residuals, Weight};
use crate::error::Result;
use crate::model::mixture_regression::information::Information;
use crate::model::mixture_regression::law::Law;
use crate::model::mixture_regression::readings::Total;

pub(super) struct Freedom<'a> {
    residuals: Residuals,
    weight: Weight<'a>,
    /// p, in rows of average weight.
    degrees: f64,
    /// s^2 of the residuals.
    variance: f64,
}

impl<'a> Freedom<'a> {
    /// Of rows whose component is `joint`.
    pub(super) fn new(
        joint: &Mixture,
        rows: Incomplete<'_>,
        weight: Weight<'a>,
        total: Total,
        control: &Control,
    ) -> Result<Self> {
        Ok(Self {
            residuals: Residuals::new(joint, rows, weight, control)?,
            weight,
            degrees: total.degrees(joint.n_features()),
            variance: Law::from_joint(joint)?.scatter.powi(2),
        })
    }

    /// (p / 2) log sum c w of a component; its derivatives go off those in `information`.
    pub(super) fn counted(&self, joint: &Mixture, information: Option<&mut Information>) -> Result<f64> {
        let change = Law::from_joint(joint)?.scatter.powi(2) - self.variance;
        let [log, first, second] = self.residuals.precisions(change, self.weight);
        let half = 0.5 * self.degrees;
        if let Some(information) = information {
            let of_scatter = joint.n_features();
            information.gradient[of_scatter] += half * first;
            information.add_own(of_scatter, half * (2.0 * second - first * first));
        }
        Ok(half * log)
    }
}
