//! From Gaussians to Gaussians: scaling, and subspaces of the covariances.
//!
//! A transform moves means and covariances together; none of them invents uncertainty.

mod scaler;
mod subspace;

pub use scaler::{GaussianScaler, Spread};
pub use subspace::{Project, SubspaceProjector};

use crate::data::GaussianArray;
use crate::error::{Error, Result};

fn check_features(data: &GaussianArray, expected: usize) -> Result<()> {
    if data.n_features() == expected {
        Ok(())
    } else {
        let got = format!("{} features", data.n_features());
        Err(Error::shape("data", format!("{expected} features, as in the data this was fitted on"), got))
    }
}
