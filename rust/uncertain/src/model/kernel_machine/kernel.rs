//! Where the kernel values of a machine come from.

use std::borrow::Cow;

use ndarray::{Array2, ArrayView2, CowArray, Ix2};

use crate::data::{Covariances, MixtureArray};
use crate::error::{Error, Result};
use crate::named::named;
use crate::parallel;

/// Kernel values may be rounded to single precision.
const SLACK: f64 = 1e-5;

/// The kernel of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum KernelOrigin {
    /// That between Gaussians, computed.
    #[default]
    Probabilistic,
    /// Any: what stands for rows are its values with the fitted rows, for predictions with the support rows.
    Precomputed,
}

named!(KernelOrigin, "kernel");

/// Rows of kernel values, which have no error bars.
pub(in crate::model) fn kernel_values(data: &MixtureArray) -> Result<CowArray<'_, f64, Ix2>> {
    let points = data.components();
    if !data.is_gaussian() || !matches!(points.covariances(), Covariances::Zero) {
        return Err(Error::Data("kernel = \"precomputed\": kernel values have no error bars".into()));
    }
    let shape = (points.n_rows(), points.n_features());
    let values = match points.means().contiguous() {
        Cow::Borrowed(values) => ArrayView2::from_shape(shape, values).map(CowArray::from),
        Cow::Owned(values) => Array2::from_shape_vec(shape, values).map(CowArray::from),
    };
    values.map_err(|e| Error::Internal(e.to_string()))
}

/// Could these n x n values be those of a kernel, as far as two rows tell: K_ii >= 0 and K_ij^2 <= K_ii K_jj?
///
/// With others the dual has no bound that certifies anything. A matrix that passes may still have a negative eigenvalue,
/// but what is no kernel at all (distances, similarities of any sign) does not pass.
pub(in crate::model) fn check_pairs(values: &[f64], n: usize) -> Result<()> {
    let refused = |i: usize, j: usize| {
        let (own, other, both) = (values[i * n + i], values[j * n + j], values[i * n + j]);
        let found = if i == j {
            format!("that of row {i} with itself is {own}")
        } else {
            format!("that of rows {i} and {j} is {both}, those of each with itself {own} and {other}")
        };
        Err(Error::Data(format!(
            "kernel = \"precomputed\": {found}; the matrix is not positive semi-definite, so it is none of kernel values"
        )))
    };
    if let Some(i) = (0..n).find(|&i| values[i * n + i] < 0.0) {
        return refused(i, i);
    }
    let roots: Vec<f64> = (0..n).map(|i| values[i * n + i].sqrt()).collect();
    // A row of zeros has rounded zeros with the others.
    let least = SLACK * SLACK * roots.iter().fold(0.0, |most: f64, root| most.max(root * root));
    let found = parallel::map_parts(n, |rows| {
        rows.flat_map(|i| (0..i).map(move |j| (i, j)))
            .find(|&(i, j)| values[i * n + j].abs() > (1.0 + SLACK) * roots[i] * roots[j] + least)
    })?;
    found.into_iter().flatten().next().map_or(Ok(()), |(i, j)| refused(i, j))
}
