//! Kernel support vector classification of Gaussians, or on any kernel; one-vs-one for several classes.
//!
//! ```text
//! min  1/2 |w|^2 + sum_i C c_i max(0, 1 - y_i (w'phi_i + b)),   c_i = weight of row i
//! ```
//! with phi_i'phi_j the RBF kernel averaged over the noise of rows i and j
//! ([`probabilistic_kernel`](crate::probabilistic_kernel); Chen, Georgiou, Tannenbaum, Probabilistic Kernel Support
//! Vector Machines). New rows have noise, too.
//!
//! Weights scale C, as in scikit-learn, and are not normalised: a row of weight 2 is as good as the row
//! twice. Numbers, their order and their signs are scikit-learn's (`SVC`): for two classes positive
//! scores mean class 1; for more, pair (i, j), i < j, is positive for class i.
//!
//! ```
//! use uncertain::{Control, Covariances, GaussianArray, Labels, Rows, kernel_svc};
//!
//! # fn main() -> uncertain::Result<()> {
//! // Two rows in the middle, four around them, each with an error bar.
//! let means = Rows::from_vec(vec![0.0, 0.5, -3.0, -2.5, 3.0, 3.5], 1)?;
//! let errors = Rows::from_vec(vec![0.1, 0.5, 0.1, 0.5, 0.1, 0.5], 1)?;
//! let data = GaussianArray::new(means, Covariances::from_std(errors))?;
//! let labels = Labels::new(vec![1, 1, 0, 0, 0, 0], 2)?;
//!
//! let params = kernel_svc::Params::new().c(10.0).sigma(1.0).check()?;
//! let model = params.fit(&data, &labels, &Control::new())?;
//! assert_eq!(model.predict(&data)?, [1, 1, 0, 0, 0, 0]);
//! assert!(model.expansion.fits[0].gap < 1e-6); // certified
//!
//! // Row 1, the less certain one of its class, has the score with the wider distribution.
//! let (_, stds) = model.decision_distribution(&data, &Control::new())?;
//! assert!(stds[[1, 0]] > stds[[0, 0]]);
//! # Ok(())
//! # }
//! ```
//!
//! [`ValidParams::fit_kernel`] takes any kernel matrix and leaves an [`SvcExpansion`], which takes kernel values:
//!
//! ```
//! use uncertain::kernel_svc::Params;
//! use uncertain::solver::smo::Dense;
//! use uncertain::{Control, Labels};
//!
//! # fn main() -> uncertain::Result<()> {
//! let x = [-2.0, -1.0, 1.0, 3.0];
//! let kernel: Vec<f64> = x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect();
//! let labels = Labels::new(vec![0, 0, 1, 1], 2)?;
//! let machine = Params::new().c(10.0).check()?.fit_kernel(&Dense::new(&kernel, 4)?, &labels, &Control::new())?;
//! assert_eq!(machine.support, [1, 2]);
//!
//! // The kernel between a new row, 0.5, and the support rows -1 and 1.
//! let new = ndarray::array![[-0.5, 0.5]];
//! assert!((machine.decision(new.view())?[[0, 0]] - 0.5).abs() < 1e-3);
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

pub use expansion::SvcExpansion;
pub use fitted::Model;
pub use params::{Params, ValidParams};
