//! From Gaussians to Gaussians: scaling, linear maps, subspaces of the covariances, simpler covariances, feature spaces
//! of kernels, and from measurements to posteriors.
//!
//! A transform moves means and covariances together.

mod collapser;
mod denoiser;
mod elsewhere;
mod imputer;
mod kernel_map;
mod linear_map;
mod scaler;
mod subspace;

pub use collapser::GaussianCollapser;
pub use denoiser::GaussianDenoiser;
pub use imputer::GaussianImputer;
pub use kernel_map::{
    KernelMap, Options as KernelMapOptions, Params as KernelMapParams, ValidParams as ValidKernelMapParams,
};
pub use linear_map::{LinearMap, Params as LinearMapParams};
pub use scaler::{GaussianScaler, Params as ScalerParams, Spread};
pub use subspace::{Project, SubspaceProjector};
