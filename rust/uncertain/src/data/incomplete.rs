//! [`Incomplete`]: Gaussian rows of which some features may be missing.
//!
//! A [`GaussianArray`] holds finite numbers only, and everything that computes with one relies on that. So gaps
//! are marks beside it, and what can work with them takes `impl Into<Incomplete>`: rows without gaps go in as
//! they are, `&data`. A missing feature is one of infinite variance; its number in the array is never looked at.

use crate::data::{GaussianArray, Weights};
use crate::error::{Error, Result};

/// Rows, and which of their features are missing.
///
/// ```
/// use uncertain::deconvolution::Params;
/// use uncertain::transform::GaussianDenoiser;
/// use uncertain::{Control, Covariances, GaussianArray, Incomplete, Rows};
///
/// # fn main() -> uncertain::Result<()> {
/// let means = Rows::from_vec(vec![0.0, 0.1, 1.0, 0.9, 2.0, 2.1, 3.0, 0.0], 2)?;
/// let data = GaussianArray::new(means, Covariances::from_std(Rows::from_vec(vec![0.1; 4], 1)?))?;
/// let missing = [false, false, false, false, false, false, false, true];
/// let rows = Incomplete::new(&data, &missing)?;
///
/// let (denoiser, _) = GaussianDenoiser::fit(&Params::new().check()?, rows, None, &Control::new())?;
/// let posterior = denoiser.transform(rows, &Control::new())?;
/// assert!((posterior.means().row(3)[1] - 3.0).abs() < 0.5);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Incomplete<'a> {
    gaussians: &'a GaussianArray,
    missing: Option<&'a [bool]>,
}

impl<'a> From<&'a GaussianArray> for Incomplete<'a> {
    /// Nothing is missing.
    fn from(gaussians: &'a GaussianArray) -> Self {
        Self { gaussians, missing: None }
    }
}

impl<'a> Incomplete<'a> {
    /// `missing`: n x d marks, row by row.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of marks.
    pub fn new(gaussians: &'a GaussianArray, missing: &'a [bool]) -> Result<Self> {
        let (n, d) = (gaussians.n_rows(), gaussians.n_features());
        if missing.len() != n * d {
            return Err(Error::shape("marks of missing features", format!("{n} x {d}"), missing.len()));
        }
        Ok(Self { gaussians, missing: missing.contains(&true).then_some(missing) })
    }

    /// From parts whose sizes fit.
    pub(crate) fn from_parts(gaussians: &'a GaussianArray, missing: Option<&'a [bool]>) -> Self {
        Self { gaussians, missing }
    }

    /// The rows; what they say about missing features means nothing.
    #[must_use]
    pub fn gaussians(&self) -> &'a GaussianArray {
        self.gaussians
    }

    /// The marks, n x d; `None` when nothing is missing.
    #[must_use]
    pub fn missing(&self) -> Option<&'a [bool]> {
        self.missing
    }

    /// Is this feature missing in this row?
    #[must_use]
    pub fn is_missing(&self, row: usize, feature: usize) -> bool {
        self.missing.is_some_and(|m| m[row * self.gaussians.n_features() + feature])
    }

    /// A feature that none of these rows has.
    #[must_use]
    pub fn unseen(&self, rows: impl Iterator<Item = usize> + Clone) -> Option<usize> {
        self.missing?;
        (0..self.gaussians.n_features()).find(|&j| rows.clone().all(|i| self.is_missing(i, j)))
    }

    /// The rows with these numbers, copied, and their marks.
    pub(crate) fn take(&self, rows: &[usize]) -> Result<(GaussianArray, Option<Vec<bool>>)> {
        let d = self.gaussians.n_features();
        let marks = |m: &[bool]| rows.iter().flat_map(|&i| &m[i * d..(i + 1) * d]).copied().collect();
        Ok((self.gaussians.take(rows)?, self.missing.map(marks)))
    }

    /// Refuses weights of another number of rows, and a feature that is missing in every row of positive weight:
    /// nothing can be learned about it.
    pub(crate) fn check_with(&self, weights: Option<&Weights>) -> Result<()> {
        weights.map_or(Ok(()), |w| w.check_rows(self.gaussians.n_rows()))?;
        let counts = |i: &usize| weights.is_none_or(|w| w[*i] > 0.0);
        match self.unseen((0..self.gaussians.n_rows()).filter(counts)) {
            Some(j) => Err(Error::Data(format!("feature {j} is missing in every row; leave it out"))),
            None => Ok(()),
        }
    }
}
