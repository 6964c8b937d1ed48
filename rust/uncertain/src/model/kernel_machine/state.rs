//! Support rows in files and other languages: rows, their kernel, and their numbers among the fitted rows (`support`).

use serde::{Deserialize, Serialize};

use super::{Basis, check_pairs, kernel_values};
use crate::data::MixtureArray;
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::Coupling;
use crate::number;
use crate::solver::smo::Dense;
use crate::state::{Arrays, Parts};

/// A [`Basis`] without its rows.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BasisHeader {
    #[serde(with = "number")]
    sigma: f64,
    coupling: Coupling,
}

impl From<&Basis> for BasisHeader {
    fn from(basis: &Basis) -> Self {
        Self { sigma: basis.sigma(), coupling: basis.coupling() }
    }
}

pub(in crate::model) fn write(basis: Option<&Basis>, support: &[u32], arrays: &mut Arrays) -> Option<BasisHeader> {
    let numbers: Vec<f64> = support.iter().map(|&row| f64::from(row)).collect();
    arrays.vector("support", &numbers);
    basis.map(BasisHeader::from)
}

pub(in crate::model) fn read(header: Option<BasisHeader>, parts: &mut Parts<'_>) -> Result<(Option<Basis>, Vec<u32>)> {
    let support = parts.row_numbers("support", u32::MAX as usize)?;
    let Some(header) = header else { return Ok((None, support)) };
    let rows = parts.rows()?;
    if rows.n_rows() != support.len() {
        return Err(Error::ModelFile(format!("{} support rows with {} numbers", rows.n_rows(), support.len())));
    }
    Ok((Some(Basis::new(rows, header.sigma, header.coupling)?), support))
}

/// The kernel matrix that a fit with kernel values gets in the place of rows.
pub(in crate::model) fn gram<T>(data: &MixtureArray, fit: impl FnOnce(&Dense<'_>) -> Result<T>) -> Result<T> {
    let values = kernel_values(data)?;
    let n = values.nrows();
    let Some(elements) = values.as_slice() else {
        return Err(Error::Internal("the kernel matrix is not contiguous".into()));
    };
    let kernel = Dense::new(elements, n)?;
    check_pairs(elements, n)?;
    fit(&kernel)
}
