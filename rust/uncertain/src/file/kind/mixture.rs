//! A denoiser or an imputer, which are their mixtures: tensors `weights` (K), `means` (K x d) and `covariances` (K packed triangles).

use serde::{Deserialize, Serialize};

use super::{TakeTensor, Tensors};
use crate::data::covariance::packed_len;
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::file::container::Tensor;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    n_features: usize,
    n_components: usize,
}

pub(super) fn write(mixture: &Mixture) -> (Header, Tensors) {
    let (k, d) = (mixture.n_components(), mixture.n_features());
    let matrix = |width: usize, values: &[f64]| Tensor { shape: vec![k, width], values: values.to_vec() };
    let tensors = vec![
        ("weights", Tensor::vector(mixture.weights())),
        ("means", matrix(d, mixture.means())),
        ("covariances", matrix(packed_len(d), mixture.covariances())),
    ];
    (Header { n_features: d, n_components: k }, tensors)
}

pub(super) fn read(header: &Header, take: &mut TakeTensor<'_>) -> Result<Mixture> {
    let (k, d) = (header.n_components, header.n_features);
    // Sizes a file cannot have are refused before they are multiplied.
    if k == 0 || d == 0 || d > 1 << 20 {
        return Err(Error::ModelFile(format!("{k} components in {d} dimensions make no mixture")));
    }
    let weights = take("weights", &[k])?;
    let means = take("means", &[k, d])?;
    let covariances = take("covariances", &[k, packed_len(d)])?;
    Mixture::new(weights, means, covariances, d).map_err(|e| Error::ModelFile(e.to_string()))
}
