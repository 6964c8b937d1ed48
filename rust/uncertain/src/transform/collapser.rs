//! [`GaussianCollapser`]: covariances made simpler on their way to an estimator, S -> 0, (tr S / d) I or diag S.
//!
//! Behind a denoiser this is regression calibration: a row becomes the posterior N(m, C) of its true value, and the
//! target belongs to that one value, not to every point of the posterior. A mean loss over N(m, C) would shrink the
//! coefficients once more, so the regression gets m alone. What C says about a prediction is asked of the rows
//! before this step. Source: R. J. Carroll, D. Ruppert, L. A. Stefanski, C. M. Crainiceanu, Measurement Error in
//! Nonlinear Models, 2nd edition 2006, chapter 4.

use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::data::{Collapse, GaussianArray, Incomplete};
use crate::error::Result;
use crate::readable::readable;
use crate::state::{About, Parameters, Predictor, Valid};

readable! {
    /// Throws away part of every row's covariance; means and gaps stay. Nothing is learned from the data.
    ///
    /// ```
    /// use uncertain::Collapse;
    /// use uncertain::ndarray::arr2;
    /// use uncertain::prelude::*;
    /// use uncertain::transform::GaussianCollapser;
    ///
    /// # fn main() -> Result<()> {
    /// let rows = GaussianArray::from_var(arr2(&[[0.0, 1.0]]), arr2(&[[1.0, 3.0]]))?;
    /// let collapsed = GaussianCollapser::new(Collapse::Isotropic).transform(&rows)?;
    /// assert_eq!(collapsed.variances()?, arr2(&[[2.0, 2.0]]));
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct GaussianCollapser {
        /// Form of the result.
        to: Collapse => Collapse,
    }
}

impl GaussianCollapser {
    /// Leaves this much of the covariances.
    #[must_use]
    pub fn new(to: Collapse) -> Self {
        Self { to }
    }

    /// These means with simpler covariances, see [`GaussianArray::collapse`].
    pub(crate) fn transform<'a>(&self, rows: impl Into<Incomplete<'a>>) -> Result<GaussianArray> {
        rows.into().collapse(self.to)
    }
}

impl Default for GaussianCollapser {
    fn default() -> Self {
        Self::new(Collapse::Zero)
    }
}

impl Parameters for GaussianCollapser {}

is_its_parameters!(GaussianCollapser);

impl Predictor for GaussianCollapser {
    fn about(&self) -> About {
        About::transform(None).keeping_gaps()
    }

    fn transform(&self, rows: Incomplete<'_>, _: &Control) -> Result<GaussianArray> {
        self.transform(rows)
    }
}
