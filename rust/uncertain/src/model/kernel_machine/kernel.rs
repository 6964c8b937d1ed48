//! Where the kernel values of a machine come from.

use ndarray::ArrayView2;

use crate::data::{Covariances, GaussianArray};
use crate::error::{Error, Result};
use crate::named::named;

/// The kernel of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Kernel {
    /// That between Gaussians, computed.
    #[default]
    Probabilistic,
    /// Any: what stands for rows are its values with the fitted rows, for predictions with the support rows.
    Precomputed,
}

named!(Kernel, "kernel");

/// Rows of kernel values, which have no error bars.
pub(in crate::model) fn kernel_values(data: &GaussianArray) -> Result<ArrayView2<'_, f64>> {
    if !matches!(data.covariances(), Covariances::Zero) {
        return Err(Error::Data("kernel = \"precomputed\": kernel values have no error bars".into()));
    }
    let shape = (data.n_rows(), data.n_features());
    let values = data.means().as_slice().and_then(|values| ArrayView2::from_shape(shape, values).ok());
    values.ok_or_else(|| Error::Data("kernel = \"precomputed\": kernel values must lie in one piece of memory".into()))
}
