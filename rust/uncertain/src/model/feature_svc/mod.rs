//! Kernel support vector classification in linear time: the C-SVM of [`kernel_svc`](crate::kernel_svc) on
//! features whose inner products approximate the expected Gaussian kernel.
//!
//! ```text
//! min  1/2 |w|^2 + sum_i C c_i max(0, 1 - y_i (w'z_i + b)),    z_i'z_j about kappa_ij
//! ```
//! Features are computed in blocks, anew in every pass: the n x D matrix is never held, whatever n. Memory beside the
//! rows is that of the interior-point method, some hundred bytes per row and some D x D matrices
//! ([`Model::memory`] says how much), and a pass costs n D^2. Several classes are fitted one against one, like
//! the exact kernel, so that with more features the model goes over into that of `kernel_svc`.
//!
//! ```
//! use uncertain::feature_svc;
//! use uncertain::ndarray::arr1;
//! use uncertain::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let rows = GaussianArray::from_std(arr1(&[0.0, 0.5, 3.0, 3.5, 6.0]), arr1(&[0.1, 0.5, 0.1, 0.5, 0.2]))?;
//! let data = Dataset::classification(&rows, [0, 0, 1, 1, 0])?;
//! let model = feature_svc::Params::new().c(10.0).n_components(200).fit(&data)?;
//! assert_eq!(model.predict(&rows)?, arr1(&[0, 0, 1, 1, 0]));
//! assert!(model.fits[0].gap <= 1e-6);
//! # Ok(())
//! # }
//! ```

mod fit;
mod fitted;
mod memory;
mod params;
mod state;
#[cfg(test)]
mod tests;

pub use fitted::Model;
pub use params::{Params, ValidParams};
