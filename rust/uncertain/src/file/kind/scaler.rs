//! A scaler: tensors `mean` and `scale`, one number per feature.

use serde::{Deserialize, Serialize};

use super::{TakeTensor, Tensors};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::transform::GaussianScaler;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    n_features: usize,
}

pub(super) fn write(scaler: &GaussianScaler) -> (Header, Tensors) {
    let (mean, scale) = (Tensor::vector(scaler.mean()), Tensor::vector(scaler.scale()));
    (Header { n_features: scaler.mean().len() }, vec![("mean", mean), ("scale", scale)])
}

pub(super) fn read(header: &Header, take: &mut TakeTensor<'_>) -> Result<GaussianScaler> {
    let shape = [header.n_features];
    GaussianScaler::new(take("mean", &shape)?, take("scale", &shape)?).map_err(|e| Error::ModelFile(e.to_string()))
}
