//! What kernel classifiers and regressors have in common: support rows with their kernel, and the tensor
//! `support` of their numbers among the fitted rows.

use serde::{Deserialize, Serialize};

use super::{TakeTensor, Tensors, gaussians};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::model::kernel_machine::Basis;
use crate::probabilistic_kernel::Bandwidth;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BasisHeader {
    pub rows: gaussians::Header,
    sigma: f64,
    coupling: String,
}

pub(super) fn write(basis: &Basis, support: &[u32]) -> (BasisHeader, Tensors) {
    let (rows, mut tensors) = gaussians::write(basis.rows());
    let support: Vec<f64> = support.iter().map(|&row| f64::from(row)).collect();
    tensors.push(("support", Tensor::vector(&support)));
    (BasisHeader { rows, sigma: basis.sigma(), coupling: basis.coupling().name().to_owned() }, tensors)
}

pub(super) fn read(header: &BasisHeader, take: &mut TakeTensor<'_>) -> Result<(Basis, Vec<u32>)> {
    let rows = gaussians::read(&header.rows, take)?;
    let basis = header.coupling.parse().and_then(|coupling| Basis::new(rows, header.sigma, coupling));
    let basis = basis.map_err(|e| Error::ModelFile(e.to_string()))?;
    let number = |x: &f64| {
        let row = *x as u32;
        if f64::from(row) == *x { Ok(row) } else { Err(Error::ModelFile(format!("{x} is not the number of a row"))) }
    };
    let support = take("support", &[header.rows.n_rows])?.iter().map(number).collect::<Result<_>>()?;
    Ok((basis, support))
}

/// A bandwidth in JSON: null is the median distance.
pub(super) fn bandwidth(sigma: Option<f64>) -> Bandwidth {
    sigma.map_or(Bandwidth::Median, Bandwidth::Fixed)
}

/// Inverse of [`bandwidth`].
pub(super) fn fixed(sigma: Bandwidth) -> Option<f64> {
    match sigma {
        Bandwidth::Fixed(sigma) => Some(sigma),
        Bandwidth::Median => None,
    }
}
