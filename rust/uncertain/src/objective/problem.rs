//! [`Problem`]: what to fit.

use crate::data::{GaussianArray, RowTargets, Weights};
use crate::loss::Loss;

/// Problem to fit: rows, targets and the parameters of J.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The rows.
    pub data: &'a GaussianArray,
    /// One target per row, -1 or +1, or a real number where the loss takes one.
    pub targets: RowTargets<'a>,
    /// One weight per row, on any scale; `None` weighs all alike.
    pub weights: Option<&'a Weights>,
    /// Strength of the penalty alpha/2 |w|^2, > 0.
    pub alpha: f64,
    /// Fit b, or hold it at 0?
    pub fit_intercept: bool,
    /// The loss.
    pub loss: &'a dyn Loss,
}
