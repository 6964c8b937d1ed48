//! Regression on rows that are Gaussians: SVM-GSU's idea with a loss of the residual.
//!
//! ```text
//! J(w, b) = alpha/2 |w|^2 + sum_i c_i E L(y_i + e_i - (w'x + b)),   x ~ N(x_i, S_i),  e_i ~ N(0, t_i^2),  sum c_i = 1
//! ```
//!
//! with L the epsilon-insensitive, Huber or (half) squared loss: the residual is Gaussian with mean
//! r = y - w'x_i - b and variance w'S_i w + t_i^2, so every expectation is closed ([`crate::loss`]). Exact rows give
//! support vector, Huber and ridge regression. The intercept is not penalised.
//!
//! Targets are centred and scaled to unit variance for the solver, whose smoothing is in such units, and
//! (w, b, J) scaled back: with y = y0 + k y', J is k J' for alpha' = k alpha and epsilon' = epsilon / k (k^2 J' for
//! alpha' = alpha and delta' = delta / k with the losses that are square near zero). The relative gap is the same.
//!
//! ```
//! use uncertain::gsu_regression;
//! use uncertain::losses::LossKind;
//! use uncertain::ndarray::arr1;
//! use uncertain::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let rows = GaussianArray::from_std(arr1(&[0.0, 1.0, 2.0, 3.0]), arr1(&[0.1; 4]))?;
//! let data = Dataset::regression(&rows, [1.0, 3.0, 5.0, 7.0])?;
//! let model = gsu_regression::Params::new().loss(LossKind::Huber { delta: 1.0 }).alpha(1e-6).fit(&data)?;
//! let (mean, std) = model.predict_distribution(&rows)?;
//! assert!((mean[3] - 7.0).abs() < 0.1);
//! assert!((std[3] - 0.1 * model.coef[0].abs()).abs() < 1e-12);
//! # Ok(())
//! # }
//! ```

mod fit;
mod params;
mod path;
mod state;
#[cfg(test)]
mod tests;
mod tube;

pub use params::{Params, ValidParams};
