//! Kernel support vector regression (epsilon-SVR) of Gaussians, or on any kernel.
//!
//! ```text
//! min  1/2 |w|^2 + sum_i C c_i max(0, |t_i - w'phi_i - b| - epsilon),   c_i = weight of row i
//! ```
//! Kernel and weights are those of [`kernel_svc`](crate::kernel_svc).
//!
//! ```
//! use uncertain::{Control, Covariances, GaussianArray, Rows, Targets, kernel_svr};
//!
//! # fn main() -> uncertain::Result<()> {
//! let x: Vec<f64> = (0..20).map(|i| f64::from(i) / 5.0).collect();
//! let targets = Targets::new(x.iter().map(|x| x.sin()).collect())?;
//! let errors = Rows::from_vec(vec![0.05; 20], 1)?;
//! let data = GaussianArray::new(Rows::from_vec(x, 1)?, Covariances::from_std(errors))?;
//!
//! let params = kernel_svr::Params::new().c(100.0).epsilon(0.01).check()?;
//! let model = params.fit(&data, &targets, &Control::new())?;
//! let new = GaussianArray::points(Rows::from_vec(vec![1.5], 1)?)?;
//! assert!((model.predict(&new)?[0] - 1.5_f64.sin()).abs() < 0.02);
//! # Ok(())
//! # }
//! ```

mod fit;
mod fitted;
mod params;
mod path;
mod state;
#[cfg(test)]
mod tests;

pub use fitted::{Model, SvrExpansion};
pub use params::{Params, ValidParams};
