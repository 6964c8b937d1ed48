//! Features whose inner products approximate the expected Gaussian kernel: kernel methods in linear time.
//!
//! A [`FeatureMap`] turns a Gaussian row into an exact point z with z_i'z_j about kappa_ij, so that any linear
//! method on z is the kernel method. Two maps:
//!
//! - [`RandomFeatures`]: waves of random frequencies, unbiased for any rows; the error of a kernel value is of
//!   the order of R^-1/2 for R frequencies, 2 R columns.
//! - [`Nystroem`]: the exact kernel with m landmark rows; exact where the landmarks span the data.
//!
//! Rows are [prepared](FeatureMap::prepare) once (symmetric roots of matrices) and computed in
//! blocks after that, as a [`RowSource`]: nothing ever holds all features unless asked to.

mod averaged;
mod nystroem;
mod random;
mod roots;
mod state;

pub(crate) use averaged::AveragedRows;
pub use nystroem::Nystroem;
pub use random::RandomFeatures;
pub use state::{Features, Header, Params, ValidParams};

use std::ops::Range;

use ndarray::Array2;

use crate::control::Control;
use crate::data::{GaussianArray, MixtureArray, RowSource, Workspace, source};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::named::named;
use crate::parallel;

/// How the kernel is approximated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Approximation {
    /// [`RandomFeatures`].
    #[default]
    Random,
    /// [`Nystroem`].
    Nystroem,
}

named!(Approximation, "approximation");

/// A map from Gaussian rows to features.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FeatureMap {
    /// Waves of random frequencies.
    Random(RandomFeatures),
    /// Kernel values with landmark rows.
    Nystroem(Nystroem),
}

impl FeatureMap {
    /// Dimension of the rows.
    #[must_use]
    pub fn n_features(&self) -> usize {
        match self {
            Self::Random(map) => map.n_features(),
            Self::Nystroem(map) => map.n_features(),
        }
    }

    /// Number of features made of a row.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        match self {
            Self::Random(map) => map.n_columns(),
            Self::Nystroem(map) => map.n_columns(),
        }
    }

    /// Everything about these rows that a block of features needs and that is not cheap to compute again.
    ///
    /// # Errors
    /// For another number of features than the map's, and no memory.
    pub fn prepare(&self, data: &GaussianArray) -> Result<FeatureRows<'_>> {
        if data.n_features() != self.n_features() {
            let expected = format!("{} features, as the map was made for", self.n_features());
            return Err(Error::shape("data", expected, data.n_features()));
        }
        Ok(FeatureRows(match self {
            Self::Random(map) => Prepared::Random(map.prepare(data)?),
            Self::Nystroem(map) => Prepared::Nystroem(map.prepare(data)?),
        }))
    }

    /// [`prepare`](Self::prepare) for mixtures.
    pub(crate) fn prepare_mixtures(&self, data: &MixtureArray) -> Result<AveragedRows<'_>> {
        Ok(AveragedRows::new(Box::new(self.prepare(data.components())?), data.clone()))
    }

    /// All features, n x [`n_columns`](Self::n_columns).
    ///
    /// # Errors
    /// Those of [`prepare`](Self::prepare), phases that overflow, [`Error::Interrupted`].
    ///
    /// ```
    /// use uncertain::kernel::features::{FeatureMap, RandomFeatures};
    /// use uncertain::probabilistic_kernel::Coupling;
    /// use uncertain::{Control, Covariances, GaussianArray, Rows};
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// let means = Rows::from_vec(vec![0.0, 1.0], 1)?;
    /// let errors = Rows::from_vec(vec![1.0, 2.0], 1)?;
    /// let data = GaussianArray::new(means, Covariances::from_std(errors))?;
    /// let map = FeatureMap::Random(RandomFeatures::new(1, 20_000, 1.0, Coupling::Shared, 0)?);
    /// let z = map.transform(&data, &Control::new())?;
    /// // The exact kernel value is sqrt(1/2) exp(-1/4) = 0.5507.
    /// assert!((z.row(0).dot(&z.row(1)) - 0.5507).abs() < 0.02);
    /// # Ok(())
    /// # }
    /// ```
    pub fn transform(&self, data: &GaussianArray, control: &Control) -> Result<Array2<f64>> {
        self.transform_mixtures(&data.into(), control)
    }

    /// The same for mixtures: the weighted average of the features of the components, so that inner products are
    /// the double sums that kernels of mixtures are.
    ///
    /// # Errors
    /// Those of [`transform`](Self::transform).
    pub fn transform_mixtures(&self, data: &MixtureArray, control: &Control) -> Result<Array2<f64>> {
        let (n, width) = (data.n_rows(), self.n_columns());
        let mut out = zeros(n, width)?;
        let rows = self.prepare_mixtures(data)?;
        parallel::fill_rows(&mut out, width, |range, out| {
            let mut workspace = Workspace::default();
            let mut first = range.start;
            for block in out.chunks_mut(source::block_rows(width) * width) {
                control.check()?;
                let n = block.len() / width;
                rows.fill(first..first + n, &mut workspace, block)?;
                first += n;
            }
            Ok(())
        })?;
        Array2::from_shape_vec((n, width), out).map_err(|e| Error::Internal(format!("features: {e}")))
    }
}

/// Rows that a map has prepared: blocks of features on demand.
#[derive(Debug)]
pub struct FeatureRows<'a>(Prepared<'a>);

#[derive(Debug)]
enum Prepared<'a> {
    Random(random::Prepared<'a>),
    Nystroem(nystroem::Prepared<'a>),
}

impl RowSource for FeatureRows<'_> {
    fn n_rows(&self) -> usize {
        match &self.0 {
            Prepared::Random(rows) => rows.n_rows(),
            Prepared::Nystroem(rows) => rows.n_rows(),
        }
    }

    fn width(&self) -> usize {
        match &self.0 {
            Prepared::Random(rows) => rows.map.n_columns(),
            Prepared::Nystroem(rows) => rows.map.n_columns(),
        }
    }

    fn fill(&self, rows: Range<usize>, workspace: &mut Workspace, out: &mut [f64]) -> Result<()> {
        match &self.0 {
            Prepared::Random(prepared) => prepared.fill(rows, workspace, out),
            Prepared::Nystroem(prepared) => prepared.fill(rows, workspace, out),
        }
    }

    fn take(&self, rows: &[usize]) -> Result<Box<dyn RowSource + '_>> {
        Ok(Box::new(FeatureRows(match &self.0 {
            Prepared::Random(prepared) => Prepared::Random(prepared.take(rows)?),
            Prepared::Nystroem(prepared) => Prepared::Nystroem(prepared.take(rows)?),
        })))
    }
}

#[cfg(test)]
mod tests;
