//! A robust SVM with its parameters: the tensors of [`linear`]. The rows' radii and the history of the fit stay
//! behind: predictions need neither.

use serde::{Deserialize, Serialize};

use super::{TakeTensor, Tensors, linear};
use crate::error::{Error, Result};
use crate::model::linear::Classifier;
use crate::robust::{Params, Solver, ValidParams};
use crate::solver::HAS_CLARABEL;

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
    c: f64,
    method: String,
    radius: f64,
    confidence: Option<f64>,
    bound: String,
    polish: bool,
    solver: String,
    tol: f64,
    max_iter: Option<usize>,
    seed: u64,
    fit_intercept: bool,
    probability: bool,
    folds: usize,
}

pub(super) fn write(model: &Classifier, params: &ValidParams) -> (Header, Tensors) {
    let (linear, tensors) = linear::write(model);
    (Header { linear, params: describe(params.params()) }, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Classifier, ValidParams)> {
    let params = checked(header.params).map_err(|e| Error::ModelFile(e.to_string()))?;
    Ok((linear::read(header.linear, take)?, params))
}

fn describe(params: &Params) -> ParamsHeader {
    ParamsHeader {
        c: params.c,
        method: params.method.name().to_owned(),
        radius: params.radius,
        confidence: params.confidence,
        bound: params.bound.name().to_owned(),
        polish: params.polish,
        solver: params.solver.name().to_owned(),
        tol: params.options.tol,
        max_iter: params.options.max_iter,
        seed: params.options.seed,
        fit_intercept: params.fit_intercept,
        probability: params.calibration.probability,
        folds: params.calibration.folds,
    }
}

fn checked(header: ParamsHeader) -> Result<ValidParams> {
    // A build without Clarabel can use its models all the same.
    let solver = header.solver.parse().map(|solver| if HAS_CLARABEL { solver } else { Solver::Auto })?;
    Params::new()
        .c(header.c)
        .method(header.method.parse()?)
        .radius(header.radius)
        .confidence(header.confidence, header.bound.parse()?)
        .polish(header.polish)
        .solver(solver)
        .tol(header.tol)
        .max_iter(header.max_iter)
        .seed(header.seed)
        .fit_intercept(header.fit_intercept)
        .probability(header.probability)
        .folds(header.folds)
        .check()
}
