//! One problem of two classes.

use crate::data::{GaussianArray, RowTargets, Weights};

/// Rows of two classes.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct TwoClasses<'a> {
    pub data: &'a GaussianArray,
    /// -1 or +1 per row.
    pub targets: RowTargets<'a>,
    /// `None` weighs all alike.
    pub weights: Option<&'a Weights>,
}

/// The classes on the positive side of a hyperplane: for two classes only the second.
pub(in crate::model) fn positive_classes(n_classes: usize) -> std::ops::Range<usize> {
    if n_classes == 2 { 1..2 } else { 0..n_classes }
}
