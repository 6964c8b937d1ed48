//! Kernels between Gaussians as arrays: Gram matrices for solvers, embeddings and precomputed machines.

use ndarray::Array2;

use crate::control::Control;
use crate::data::MixtureArray;
use crate::error::Result;
use crate::kernel::probabilistic_rbf::folded;

pub use crate::kernel::probabilistic_rbf::{Bandwidth, Coupling, RbfOptions, median_distance};
pub use crate::kernel::{PointKernel, median_gamma};

/// The expected Gaussian kernel between the n rows of `a` and the m rows of `b`, n x m, where one noise moves both rows of a
/// pair:
///
/// ```text
/// K_ij = E exp(-|x - z|^2 / (2 sigma^2)),   x = x_i + S_i^{1/2} e,   z = z_j + T_j^{1/2} e,   e ~ N(0, I)
///      = |I + U^2|^{-1/2} exp(-d'(I + U^2)^{-1} d / (2 sigma^2)),  U = (S_i^{1/2} - T_j^{1/2}) / sigma,  d = x_i - z_j
/// ```
///
/// Rows that are mixtures count with their components' weights. Another [`Coupling`] or less memory: [`RbfOptions::gram`].
///
/// # Errors
/// Different numbers of features; a sigma that is not positive and finite, or so small that x / sigma has no meaning; more
/// memory than there is.
///
/// ```
/// use uncertain::ndarray::arr2;
/// use uncertain::{GaussianArray, kernels};
///
/// # fn main() -> uncertain::Result<()> {
/// let rows = GaussianArray::from_std(arr2(&[[0.0], [1.0]]), arr2(&[[1.0], [2.0]]))?;
/// let gram = kernels::probabilistic_rbf(&rows, &rows, 1.0)?;
/// // U = 1 - 2, so K = (1 + 1)^{-1/2} exp(-1 / (2 (1 + 1)))
/// assert!((gram[[0, 1]] - 0.5_f64.sqrt() * (-0.25_f64).exp()).abs() < 1e-15);
/// assert_eq!(gram[[1, 1]], 1.0);
/// # Ok(())
/// # }
/// ```
pub fn probabilistic_rbf(a: impl Into<MixtureArray>, b: impl Into<MixtureArray>, sigma: f64) -> Result<Array2<f64>> {
    RbfOptions::new(sigma).gram(a, b)
}

impl RbfOptions {
    /// The kernel between the rows of `a` and those of `b`, n x m, on as many threads as
    /// [`default_threads`](crate::parallel::default_threads) says.
    ///
    /// # Errors
    /// As [`probabilistic_rbf`].
    pub fn gram(&self, a: impl Into<MixtureArray>, b: impl Into<MixtureArray>) -> Result<Array2<f64>> {
        folded(&a.into(), Some(&b.into()), self, &Control::new())
    }
}
