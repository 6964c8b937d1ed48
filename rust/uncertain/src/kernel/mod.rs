//! Kernels between Gaussians, for methods that see the data only through a Gram matrix.

pub mod probabilistic_rbf;
