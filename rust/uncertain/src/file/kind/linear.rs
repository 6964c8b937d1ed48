//! The hyperplanes of a linear classifier, whatever fitted them: tensors `coef` (hyperplanes x features),
//! `intercept`, and `platt` (hyperplanes x 2, the sigmoids' a and b) when it has probabilities.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::report::{Fit, read_platt, write_platt};
use super::{TakeTensor, Tensors};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::model::linear::Classifier;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    pub n_features: usize,
    pub hyperplanes: usize,
    pub platt: bool,
    pub fits: Vec<Fit>,
}

pub(super) fn write(model: &Classifier) -> (Header, Tensors) {
    let (hyperplanes, n_features) = model.coef.dim();
    let coef = Tensor { shape: vec![hyperplanes, n_features], values: model.coef.iter().copied().collect() };
    let mut tensors = vec![("coef", coef), ("intercept", Tensor::vector(&model.intercept))];
    if let Some(sigmoids) = &model.platt {
        tensors.push(("platt", write_platt(sigmoids)));
    }
    let (platt, fits) = (model.platt.is_some(), model.fits.iter().map(Fit::of).collect());
    (Header { n_features, hyperplanes, platt, fits }, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<Classifier> {
    let (k, d) = (header.hyperplanes, header.n_features);
    if k == 0 || k == 2 || d == 0 {
        return Err(Error::ModelFile(format!("{k} hyperplanes in {d} dimensions make no classifier")));
    }
    if header.fits.len() != k {
        return Err(Error::ModelFile(format!("it has {} reports for {k} hyperplanes", header.fits.len())));
    }
    let coef = take("coef", &[k, d])?;
    Ok(Classifier {
        coef: Array2::from_shape_vec((k, d), coef).map_err(|e| Error::Internal(format!("checked shape: {e}")))?,
        intercept: take("intercept", &[k])?,
        fits: header.fits.into_iter().map(Fit::report).collect::<Result<_>>()?,
        platt: read_platt(header.platt, k, take)?,
    })
}
