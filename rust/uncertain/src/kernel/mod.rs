//! Kernels: between points ([`PointKernel`]) and between Gaussians ([`probabilistic_rbf`]).

pub mod features;
pub mod point;
pub mod probabilistic_rbf;
pub(crate) mod rows;

pub use point::{KernelName, PointKernel, median_gamma};
