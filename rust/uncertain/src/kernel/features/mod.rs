//! Features whose inner products approximate the expected Gaussian kernel: kernel methods in linear time.
//!
//! [`RandomFeatures`] turn a Gaussian row into an exact point z with z_i'z_j about kappa_ij, so that any linear method
//! on z is the kernel method: waves of random frequencies, unbiased for any rows, with an error of a kernel value of the
//! order of R^-1/2 for R frequencies, 2 R columns. (A low-rank factor of the exact kernel with exact rows is
//! [`KernelMap`](crate::transform::KernelMap)'s.)
//!
//! Rows are [prepared](RandomFeatures::prepare) once (symmetric roots of matrices) and computed in blocks after that, as
//! a [`RowSource`]: nothing ever holds all features unless asked to.

mod averaged;
mod random;
mod roots;
mod state;

pub(crate) use averaged::AveragedRows;
pub use random::{FeatureRows, RandomFeatures};
pub use state::{Features, Params, ValidParams};

use ndarray::Array2;

use crate::control::Control;
use crate::data::{GaussianArray, MixtureArray, RowSource, Workspace, source};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::parallel;

impl RandomFeatures {
    /// [`prepare`](Self::prepare) for mixtures.
    pub(crate) fn prepare_mixtures(&self, data: &MixtureArray) -> Result<AveragedRows<'_>> {
        Ok(AveragedRows::new(Box::new(self.prepare(data.components())?), data.clone()))
    }

    /// All features, n x [`n_columns`](Self::n_columns).
    ///
    /// ```
    /// use uncertain::Control;
    /// use uncertain::kernel::features::RandomFeatures;
    /// use uncertain::kernels::Coupling;
    /// use uncertain::ndarray::arr2;
    /// use uncertain::prelude::*;
    ///
    /// # fn main() -> Result<()> {
    /// let data = GaussianArray::from_std(arr2(&[[0.0], [1.0]]), arr2(&[[1.0], [2.0]]))?;
    /// let map = RandomFeatures::new(1, 20_000, 1.0, Coupling::Shared, 0)?;
    /// let z = map.transform(&data, &Control::new())?;
    /// // The exact kernel value is sqrt(1/2) exp(-1/4) = 0.5507.
    /// assert!((z.row(0).dot(&z.row(1)) - 0.5507).abs() < 0.02);
    /// # Ok(())
    /// # }
    /// ```
    pub fn transform(&self, data: &GaussianArray, control: &Control) -> Result<Array2<f64>> {
        self.transform_mixtures(&data.into(), control)
    }

    /// Features of mixtures: the weighted average of the features of the components, so that inner products are
    /// the double sums that kernels of mixtures are.
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

#[cfg(test)]
mod tests;
