//! From Gaussians to Gaussians: scaling, logarithmic scales, linear maps, subspaces of the covariances, simpler covariances, feature spaces
//! of kernels, and from measurements to posteriors.
//!
//! A transform moves means and covariances together.

/// A transform that is its parameters: a fit learns nothing.
macro_rules! is_its_parameters {
    ($Transform:ty) => {
        impl $crate::state::Fitted for $Transform {
            type Params = Self;
            type Header = ();

            fn fit(params: &Valid<Self>, _: &$crate::data::Dataset, _: &Control) -> Result<Self> {
                Ok(*params.params())
            }

            fn write(&self, _: &Valid<Self>, _: &mut $crate::state::Arrays) {}

            fn read((): (), params: &Valid<Self>, _: &mut $crate::state::Parts<'_>) -> Result<Self> {
                Ok(*params.params())
            }

            fn usual_params(&self) -> Self {
                *self
            }
        }
    };
}

mod collapser;
mod denoiser;
mod imputer;
mod kernel_map;
mod linear_map;
mod log_scaler;
mod remote;
mod scaler;
mod subspace;

pub use collapser::GaussianCollapser;
pub use denoiser::{DenoiserParams, GaussianDenoiser};
pub use imputer::{GaussianImputer, ImputerParams};
pub use kernel_map::{KernelMap, KernelMapOptions, Params as KernelMapParams, ValidParams as ValidKernelMapParams};
pub use linear_map::{LinearMap, Params as LinearMapParams};
pub use log_scaler::{GaussianLogScaler, Params as LogScalerParams};
pub use scaler::{GaussianScaler, Params as ScalerParams, Spread};
pub use subspace::{Project, SubspaceProjector};
