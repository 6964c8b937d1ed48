//! Kernel support vector classification of Gaussians, or on any kernel; one-vs-one for several classes.
//!
//! ```text
//! min  1/2 |w|^2 + sum_i C c_i max(0, 1 - y_i (w'phi_i + b)),   c_i = weight of row i
//! ```
//! with phi_i'phi_j the RBF kernel averaged over the noise of rows i and j
//! ([`probabilistic_kernel`](crate::kernel::probabilistic_rbf); Chen, Georgiou, Tannenbaum, Probabilistic Kernel Support
//! Vector Machines). New rows have noise, too.
//!
//! Weights scale C, as in scikit-learn, and are not normalised: a row of weight 2 is as good as the row
//! twice. Numbers, their order and their signs are scikit-learn's (`SVC`): for two classes positive
//! scores mean class 1; for more, pair (i, j), i < j, is positive for class i.
//!
//! ```
//! use uncertain::kernel_svc;
//! use uncertain::ndarray::arr1;
//! use uncertain::prelude::*;
//!
//! # fn main() -> Result<()> {
//! // Two rows in the middle, four around them, each with an error bar.
//! let means = arr1(&[0.0, 0.5, -3.0, -2.5, 3.0, 3.5]);
//! let rows = GaussianArray::from_std(means, arr1(&[0.1, 0.5, 0.1, 0.5, 0.1, 0.5]))?;
//! let data = Dataset::classification(&rows, [1, 1, 0, 0, 0, 0])?;
//!
//! let model = kernel_svc::Params::new().c(10.0).sigma(1.0).fit(&data)?;
//! assert_eq!(model.predict(&rows)?, arr1(&[1, 1, 0, 0, 0, 0]));
//! assert!(model.expansion.fits[0].gap < 1e-6); // certified
//!
//! // Row 1, the less certain one of its class, has the score with the wider distribution.
//! let (_, stds) = model.decision_distribution(&rows)?;
//! assert!(stds[[1, 0]] > stds[[0, 0]]);
//! # Ok(())
//! # }
//! ```
//!
//! [`ValidParams::fit_kernel`] takes any kernel matrix and leaves an [`SvcExpansion`], which takes kernel values:
//!
//! ```
//! use uncertain::kernel_svc::{KernelOrigin, Params};
//! use uncertain::ndarray::{Array2, arr1, arr2};
//! use uncertain::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let x = arr1(&[-2.0, -1.0, 1.0, 3.0]);
//! let values = Array2::from_shape_fn((4, 4), |(i, j)| x[i] * x[j]);
//! let data = Dataset::classification(GaussianArray::exact(values)?, [0, 0, 1, 1])?;
//! let machine = Params::new().c(10.0).kernel(KernelOrigin::Precomputed).fit(&data)?;
//! assert_eq!(machine.expansion.support, [1, 2]);
//!
//! // The kernel between a new row, 0.5, and the support rows -1 and 1.
//! let new = GaussianArray::exact(arr2(&[[-0.5, 0.5]]))?;
//! assert!((machine.decision_function(&new)?[[0, 0]] - 0.5).abs() < 1e-3);
//! # Ok(())
//! # }
//! ```

mod expansion;
mod fit;
mod fitted;
mod params;
mod path;
mod state;
#[cfg(test)]
mod tests;

pub use crate::model::kernel_machine::{Basis, KernelOrigin};
pub use expansion::SvcExpansion;
pub use fitted::Model;
pub use params::{Params, ValidParams};
