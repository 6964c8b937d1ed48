//! Boosted trees behind error columns: what a learner of re-measured rows leaves behind.
//!
//! The trees are fitted elsewhere (scikit-learn's histogram gradient boosting) and come as flat arrays; here they are
//! kept and evaluated. A row becomes columns ([`ErrorColumns`]), the columns fall through every tree to a leaf, and
//! the score of class k is
//!
//! ```text
//! F_k = b_k + v_k1 + v_k2 + ...
//! ```
//!
//! with the baseline b and the leaves' values v, added in the order of the iterations, so that scores are the
//! learner's to the last bit. Prediction and probabilities follow by its link ([`Link`]).

mod columns;
mod forest;
mod link;
mod state;
mod tree;

use ndarray::Array2;

pub use columns::{Columns, ErrorColumns};
pub use forest::ResidualForest;
pub use link::Link;
pub use tree::{Tree, TreeArrays};

/// Parameters of a fit, which happens elsewhere.
pub use crate::state::NoParams as Params;

use crate::control::Control;
use crate::data::{Incomplete, MarkedRows};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::parallel;
use crate::readable::readable;

/// Numbers of columns that are filled before the trees look at them: they stay in the cache.
const BLOCK: usize = 1 << 14;

readable! {
    /// Trees, and what stands before and behind them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Model {
        /// Maker of their columns.
        columns: ErrorColumns => &ErrorColumns,
        baseline: Vec<f64>,
        trees: Vec<Tree>,
        link: Link,
        /// The smallest and the largest factor of errors that the trees have seen.
        factors: [f64; 2] => [f64; 2],
        /// Of a regression with a density.
        residuals: Option<ResidualForest> => Option<&ResidualForest>,
    }
}

impl Model {
    /// One tree per score in every iteration, the scores side by side; `factors` are the smallest and the largest factor
    /// that the errors of copies were changed by.
    ///
    /// # Errors
    /// [`Error::Data`] for parts that do not fit together.
    pub fn new(
        columns: ErrorColumns,
        baseline: Vec<f64>,
        trees: Vec<Tree>,
        link: Link,
        factors: [f64; 2],
    ) -> Result<Self> {
        let k = baseline.len();
        if link.n_classes(k).is_none() {
            return Err(Error::Data(format!("{k} scores do not go with the link {}", link.name())));
        }
        if !trees.len().is_multiple_of(k) {
            return Err(Error::Data(format!("{} trees are not whole iterations of {k}", trees.len())));
        }
        if let Some(j) = trees.iter().filter_map(Tree::largest_column).max().filter(|&j| j >= columns.n_columns()) {
            return Err(Error::Data(format!("a tree asks for column {j} of {}", columns.n_columns())));
        }
        if !(factors[0] > 0.0 && factors[0] <= factors[1] && factors[1].is_finite()) {
            return Err(Error::Data(format!("factors of errors from {} to {}", factors[0], factors[1])));
        }
        Ok(Self { columns, baseline, trees, link, factors, residuals: None })
    }

    /// A regression with a density; the forest also sees the prediction, behind the columns.
    ///
    /// # Errors
    /// [`Error::Data`] for classes, and for a forest of more columns.
    pub fn with_residuals(self, residuals: ResidualForest) -> Result<Self> {
        let (j, most) = (residuals.largest_column(), self.columns.n_columns());
        if self.n_classes() > 0 || j > most {
            return Err(Error::Data(format!("a forest of residuals that asks for column {j} of {most} and a number")));
        }
        Ok(Self { residuals: Some(residuals), ..self })
    }

    /// Features of the rows.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.columns.n_features()
    }

    /// Classes, 0 for a regression.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.link.n_classes(self.baseline.len()).unwrap_or_default()
    }

    /// F, n x 1 for numbers and two classes, else n x K.
    pub(crate) fn scores<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<Array2<f64>> {
        let rows = rows.into();
        let (moments, skewness) = match rows.mixtures() {
            Some(mixtures) => (Some(rows.moments()?), Some(mixtures.skewness()?)),
            None => (None, None),
        };
        let rows = moments.as_ref().map_or(rows, MarkedRows::view);
        let data = rows.gaussians();
        data.check_features(self.n_features())?;
        let (n, k, width) = (data.n_rows(), self.baseline.len(), self.columns.n_columns());
        let mut scores = zeros(n, k)?;
        let block = (BLOCK / width).max(1);
        parallel::fill_rows(&mut scores, k, |part, out| {
            let mut columns = zeros(block.min(part.len()), width)?;
            for (first, out) in part.step_by(block).zip(out.chunks_mut(block * k)) {
                control.check()?;
                for (i, (x, out)) in columns.chunks_exact_mut(width).zip(out.chunks_exact_mut(k)).enumerate() {
                    self.columns.write(&rows, skewness.as_deref(), first + i, x);
                    // Zero at first, as in scikit-learn: it makes +0 of -0.
                    out.iter_mut().zip(&self.baseline).for_each(|(score, b)| *score = 0.0 + b);
                }
                for (t, tree) in self.trees.iter().enumerate() {
                    for (x, out) in columns.chunks_exact(width).zip(out.chunks_exact_mut(k)) {
                        out[t % k] += tree.leaf(x);
                    }
                }
                if let Some(at) = out.iter().position(|score| !score.is_finite()) {
                    return Err(overflow(first + at / k));
                }
            }
            Ok(())
        })?;
        Array2::from_shape_vec((n, k), scores).map_err(|e| Error::Internal(format!("scores of trees: {e}")))
    }

    /// The predicted numbers of a regression, n.
    pub(crate) fn predict<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<Vec<f64>> {
        if self.n_classes() > 0 {
            return Err(Error::Data("these trees tell classes apart".into()));
        }
        let mut predicted = self.scores(rows, control)?.into_raw_vec_and_offset().0;
        self.link.mean(&mut predicted);
        match predicted.iter().position(|y| !y.is_finite()) {
            Some(row) => Err(overflow(row)),
            None => Ok(predicted),
        }
    }

    /// P(class | row), n x K.
    pub(crate) fn predict_proba<'a>(&self, rows: impl Into<Incomplete<'a>>, control: &Control) -> Result<Array2<f64>> {
        if self.n_classes() == 0 {
            return Err(Error::Data("these trees predict numbers".into()));
        }
        Ok(self.link.probabilities(self.scores(rows, control)?))
    }
}

fn overflow(row: usize) -> Error {
    Error::Data(format!("row {row}: the values of its leaves add up to more than a number can hold"))
}
