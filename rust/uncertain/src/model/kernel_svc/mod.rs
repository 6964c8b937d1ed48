//! Kernel support vector classification: C-SVM on any kernel matrix, one-vs-one for several classes.
//!
//! ```text
//! min  1/2 |w|^2 + sum_i C c_i max(0, 1 - y_i (w'phi(x_i) + b)),   c_i = weight of row i
//! ```
//! Weights scale C, as in scikit-learn, and are not normalised: a row of weight 2 is as good as the row
//! twice. Numbers, their order and their signs are scikit-learn's (`SVC`): for two classes positive
//! scores mean class 1; for more, pair (i, j), i < j, is positive for class i.
//!
//! A model knows its support rows only by their numbers. Whoever has the rows computes the kernel
//! between new rows and the support rows; that serves precomputed and user-defined kernels alike.
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
//! let model = Params::new().c(10.0).check()?.fit(&Dense::new(&kernel, 4)?, &labels, &Control::new())?;
//! assert_eq!(model.support, [1, 2]);
//!
//! // The kernel between a new row, 0.5, and the support rows -1 and 1.
//! let new = ndarray::array![[-0.5, 0.5]];
//! assert!((model.decision(new.view())?[[0, 0]] - 0.5).abs() < 1e-3);
//! assert_eq!(model.predict(new.view())?, [1]);
//! # Ok(())
//! # }
//! ```

mod coupling;
mod fit;
mod fitted;
mod params;
#[cfg(test)]
mod tests;

pub(crate) use coupling::couple;
pub use fitted::Model;
pub(crate) use fitted::pairs;
pub use params::{Params, ValidParams};
