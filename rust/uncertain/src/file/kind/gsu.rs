//! An SVM-GSU with its parameters: tensors `coef` (hyperplanes x features), `intercept`, and `platt`
//! (hyperplanes x 2, the sigmoids' a and b) when it has probabilities.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::report::{Fit, read_platt, write_platt};
use super::{TakeTensor, Tensors};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::gsu::{Model, Params, ValidParams};
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
    let (hyperplanes, n_features) = model.coef.dim();
    let coef = Tensor { shape: vec![hyperplanes, n_features], values: model.coef.iter().copied().collect() };
    let mut tensors = vec![("coef", coef), ("intercept", Tensor::vector(&model.intercept))];
    if let Some(sigmoids) = &model.platt {
        tensors.push(("platt", write_platt(sigmoids)));
    }
    let header = Header {
        n_features,
        hyperplanes,
        platt: model.platt.is_some(),
        steps: model.steps,
        fits: model.fits.iter().map(Fit::of).collect(),
        params: describe(params.params()),
    };
    (header, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Model, ValidParams)> {
    let params = checked(header.params)?;
    let (k, d) = (header.hyperplanes, header.n_features);
    if k == 0 || k == 2 || d == 0 {
        return Err(Error::ModelFile(format!("{k} hyperplanes in {d} dimensions make no classifier")));
    }
    if header.fits.len() != k {
        return Err(Error::ModelFile(format!("it has {} reports for {k} hyperplanes", header.fits.len())));
    }
    let coef = take("coef", &[k, d])?;
    let model = Model {
        coef: Array2::from_shape_vec((k, d), coef).map_err(|e| Error::Internal(format!("checked shape: {e}")))?,
        intercept: take("intercept", &[k])?,
        fits: header.fits.into_iter().map(Fit::report).collect::<Result<_>>()?,
        platt: read_platt(header.platt, k, take)?,
        steps: header.steps,
    };
    Ok((model, params))
}

fn describe(params: &Params) -> ParamsHeader {
    let Params { alpha, solver, options, fit_intercept, probability, folds, threads: _ } = params;
    let &Options { tol, max_iter, batch_size, averaging, projection, step_offset, seed } = options;
    ParamsHeader {
        alpha: *alpha,
        solver: solver.name().to_owned(),
        tol,
        max_iter,
        batch_size,
        averaging,
        projection,
        step_offset,
        seed,
        fit_intercept: *fit_intercept,
        probability: *probability,
        folds: *folds,
    }
}

fn checked(header: ParamsHeader) -> Result<ValidParams> {
    let params = |solver| {
        Params::new()
            .alpha(header.alpha)
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
