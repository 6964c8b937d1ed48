//! [`ResidualForest`]: what a regression of trees knows of its residuals, y - prediction, given the row.
//!
//! A row, its columns and then its prediction m, falls to one leaf of every tree. A leaf has the shares of its residuals
//! in each of K bins; the density of a target is the mixture of normal laws
//!
//! ```text
//! p(y | row) = sum_k w_k N(y; m + b_k, s_k^2),    w = the mean of the leaves' shares
//! ```
//!
//! Here it is kept and checked; Python asks it.

use ndarray::Array2;

use super::{Tree, TreeArrays};
use crate::error::{Error, Result};
use crate::state::{Arrays, Parts};

/// By how much shares may miss 1, which is rounding.
const ROUNDING: f64 = 1e-6;

/// Trees whose leaves are rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct ResidualForest {
    trees: Vec<Tree>,
    /// Of every leaf in the order of the trees, leaves x K.
    shares: Array2<f64>,
    /// b and s, each of K.
    bins: [Vec<f64>; 2],
}

impl ResidualForest {
    /// The value of a leaf is its row in `shares`; `bins` are b and s.
    ///
    /// # Errors
    /// [`Error::Data`] for nodes that are no trees, leaves without shares that sum to 1, and bins without a width.
    pub fn new(nodes: &TreeArrays, sizes: &[f64], shares: Array2<f64>, bins: [Vec<f64>; 2]) -> Result<Self> {
        let trees = nodes.trees(sizes)?;
        let wrong = |why: &str| Err(Error::Data(format!("the forest of residuals has {why}")));
        if trees.is_empty() || bins.iter().any(|numbers| numbers.len() != shares.ncols()) {
            return wrong("no trees, or bins that its leaves do not have");
        }
        let leaves = || nodes.value.iter().zip(&nodes.column).filter(|(_, column)| **column == -1.0);
        let numbered = leaves().count() == shares.nrows() && leaves().enumerate().all(|(k, (v, _))| *v == k as f64);
        let mut rows = shares.outer_iter();
        let whole = rows.all(|row| row.iter().all(|share| *share >= 0.0) && (row.sum() - 1.0).abs() <= ROUNDING);
        if !(numbered && whole) {
            return wrong("leaves without shares that sum to 1");
        }
        if !(bins[0].iter().all(|b| b.is_finite()) && bins[1].iter().all(|s| *s > 0.0 && s.is_finite())) {
            return wrong("bins without a finite mean and a width > 0");
        }
        Ok(Self { trees, shares, bins })
    }

    /// The largest column that it asks for.
    pub(super) fn largest_column(&self) -> usize {
        self.trees.iter().filter_map(Tree::largest_column).max().unwrap_or_default()
    }

    /// `None` where a file has none.
    pub(super) fn read(parts: &mut Parts<'_>) -> Result<Option<Self>> {
        let Some(shares) = parts.optional_matrix("residual_shares")? else { return Ok(None) };
        let mut array = |name| parts.vector(name);
        let sizes = array("residual_sizes")?;
        let nodes = TreeArrays {
            column: array("residual_column")?,
            value: array("residual_value")?,
            right: array("residual_right")?,
            missing_left: array("residual_missing_left")?,
        };
        let bins = [array("residual_means")?, array("residual_stds")?];
        Self::new(&nodes, &sizes, shares, bins).map(Some)
    }

    pub(super) fn write(&self, arrays: &mut Arrays) {
        let mut nodes = TreeArrays::default();
        let sizes: Vec<f64> = self.trees.iter().map(|tree| tree.write(&mut nodes)).collect();
        arrays.matrix("residual_shares", &self.shares);
        for (name, values) in [
            ("residual_sizes", &sizes),
            ("residual_column", &nodes.column),
            ("residual_value", &nodes.value),
            ("residual_right", &nodes.right),
            ("residual_missing_left", &nodes.missing_left),
            ("residual_means", &self.bins[0]),
            ("residual_stds", &self.bins[1]),
        ] {
            arrays.vector(name, values);
        }
    }
}
