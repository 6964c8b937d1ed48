//! A kernel map: tensors `points` and `directions` (rank x features) and `lower` (rank x rank).

use serde::{Deserialize, Serialize};

use super::{TakeTensor, Tensors};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::kernel::PointKernel;
use crate::transform::KernelMap;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    n_features: usize,
    rank: usize,
    error: f64,
    kernel: Kernel,
}

/// The kernels a file may name, with their parameters.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
enum Kernel {
    Linear,
    Quadratic,
    Polynomial { degree: u32, gamma: f64, coef0: f64 },
    Rbf { gamma: f64 },
}

pub(super) fn write(map: &KernelMap) -> (Header, Tensors) {
    let (rank, d) = (map.rank(), map.n_features());
    let kernel = match map.kernel() {
        PointKernel::Linear => Kernel::Linear,
        PointKernel::Quadratic => Kernel::Quadratic,
        PointKernel::Polynomial { degree, gamma, coef0 } => Kernel::Polynomial { degree, gamma, coef0 },
        PointKernel::Rbf { gamma } => Kernel::Rbf { gamma },
    };
    let matrix = |columns: usize, values: &[f64]| Tensor { shape: vec![rank, columns], values: values.to_vec() };
    let tensors = vec![
        ("points", matrix(d, map.points())),
        ("directions", matrix(d, map.directions())),
        ("lower", matrix(rank, map.lower())),
    ];
    (Header { n_features: d, rank, error: map.error(), kernel }, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<KernelMap> {
    let kernel = match header.kernel {
        Kernel::Linear => PointKernel::Linear,
        Kernel::Quadratic => PointKernel::Quadratic,
        Kernel::Polynomial { degree, gamma, coef0 } => PointKernel::Polynomial { degree, gamma, coef0 },
        Kernel::Rbf { gamma } => PointKernel::Rbf { gamma },
    };
    let (d, rank) = (header.n_features, header.rank);
    let (points, directions) = (take("points", &[rank, d])?, take("directions", &[rank, d])?);
    let lower = take("lower", &[rank, rank])?;
    KernelMap::new(kernel, d, points, directions, lower, header.error).map_err(|e| Error::ModelFile(e.to_string()))
}
