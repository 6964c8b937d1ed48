//! A minimax probability machine with its parameters: the tensors of [`linear`] and `worst_case_accuracy`
//! (hyperplanes).

use serde::{Deserialize, Serialize};

use super::{TakeTensor, Tensors, linear};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::minimax::{Model, Params, ValidParams};
use crate::model::Calibration;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    linear: linear::Header,
    params: ParamsHeader,
}

/// All parameters except the number of threads, which belongs to a machine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParamsHeader {
    ridge: f64,
    tol: f64,
    max_iter: usize,
    probability: bool,
    folds: usize,
    seed: u64,
}

pub(super) fn write(model: &Model, params: &ValidParams) -> (Header, Tensors) {
    let (linear, mut tensors) = linear::write(&model.linear);
    tensors.push(("worst_case_accuracy", Tensor::vector(&model.worst_case_accuracy)));
    let &Params { ridge, tol, max_iter, calibration, seed, threads: _ } = params.params();
    let Calibration { probability, folds } = calibration;
    (Header { linear, params: ParamsHeader { ridge, tol, max_iter, probability, folds, seed } }, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Model, ValidParams)> {
    let ParamsHeader { ridge, tol, max_iter, probability, folds, seed } = header.params;
    let calibration = Calibration { probability, folds };
    let params = Params { ridge, tol, max_iter, calibration, seed, threads: None };
    let params = params.check().map_err(|e| Error::ModelFile(e.to_string()))?;
    let hyperplanes = header.linear.hyperplanes;
    let linear = linear::read(header.linear, take)?;
    Ok((Model { linear, worst_case_accuracy: take("worst_case_accuracy", &[hyperplanes])? }, params))
}
