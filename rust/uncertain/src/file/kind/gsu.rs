//! An SVM-GSU with its parameters: the tensors of [`linear`].

use serde::{Deserialize, Serialize};

use super::report::Fit;
use super::{TakeTensor, Tensors, linear};
use crate::error::{Error, Result};
use crate::gsu::{Model, Params, ValidParams};
use crate::loss::LossKind;
use crate::solver::Options;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    n_features: usize,
    hyperplanes: usize,
    platt: bool,
    steps: u64,
    fits: Vec<Fit>,
    params: ParamsHeader,
}

/// All parameters except the number of threads, which belongs to a machine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParamsHeader {
    alpha: f64,
    loss: LossKind,
    solver: String,
    tol: f64,
    max_iter: Option<usize>,
    batch_size: usize,
    averaging: bool,
    projection: bool,
    step_offset: Option<f64>,
    seed: u64,
    fit_intercept: bool,
    probability: bool,
    folds: usize,
}

pub(super) fn write(model: &Model, params: &ValidParams) -> (Header, Tensors) {
    let (linear::Header { n_features, hyperplanes, platt, fits }, tensors) = linear::write(&model.linear);
    (Header { n_features, hyperplanes, platt, steps: model.steps, fits, params: describe(params.params()) }, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Model, ValidParams)> {
    let Header { n_features, hyperplanes, platt, steps, fits, params } = header;
    let params = checked(params)?;
    let linear = linear::read(linear::Header { n_features, hyperplanes, platt, fits }, take)?;
    Ok((Model { linear, steps }, params))
}

fn describe(params: &Params) -> ParamsHeader {
    let Params { alpha, loss, solver, options, fit_intercept, calibration, threads: _ } = params;
    let &Options { tol, max_iter, batch_size, averaging, projection, step_offset, seed } = options;
    ParamsHeader {
        alpha: *alpha,
        loss: *loss,
        solver: solver.name().to_owned(),
        tol,
        max_iter,
        batch_size,
        averaging,
        projection,
        step_offset,
        seed,
        fit_intercept: *fit_intercept,
        probability: calibration.probability,
        folds: calibration.folds,
    }
}

fn checked(header: ParamsHeader) -> Result<ValidParams> {
    let params = |solver| {
        Params::new()
            .alpha(header.alpha)
            .loss(header.loss)
            .solver(solver)
            .tol(header.tol)
            .max_iter(header.max_iter)
            .batch_size(header.batch_size)
            .averaging(header.averaging)
            .projection(header.projection)
            .step_offset(header.step_offset)
            .seed(header.seed)
            .fit_intercept(header.fit_intercept)
            .probability(header.probability)
            .folds(header.folds)
            .check()
    };
    header.solver.parse().and_then(params).map_err(|e| Error::ModelFile(e.to_string()))
}
