//! The data: rows that are Gaussians, N(x_i, S_i), and the kinds of covariance they may carry.

pub mod covariance;
mod gaussian_array;
mod rows;

pub use covariance::{Covariances, Kind, Unit};
pub use gaussian_array::GaussianArray;
pub use rows::{Rows, SharedBuffer};
