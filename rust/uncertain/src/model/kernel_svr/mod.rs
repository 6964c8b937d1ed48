//! Kernel support vector regression (epsilon-SVR) of Gaussians, or on any kernel.
//!
//! ```text
//! min  1/2 |w|^2 + sum_i C c_i max(0, |t_i - w'phi_i - b| - epsilon),   c_i = weight of row i
//! ```
//! Kernel and weights are those of [`kernel_svc`](crate::kernel_svc).
//!
//! ```
//! use uncertain::kernel_svr;
//! use uncertain::ndarray::{Array1, arr1};
//! use uncertain::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let x: Array1<f64> = (0..20).map(|i| f64::from(i) / 5.0).collect();
//! let targets = x.mapv(f64::sin);
//! let rows = GaussianArray::from_std(x, arr1(&[0.05; 20]))?;
//!
//! let model = kernel_svr::Params::new().c(100.0).epsilon(0.01).fit(&Dataset::regression(rows, &targets)?)?;
//! let new = GaussianArray::exact(arr1(&[1.5]))?;
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

pub use crate::model::kernel_machine::{Basis, KernelOrigin};
pub use fitted::{Model, SvrExpansion};
pub use params::{Params, ValidParams};
