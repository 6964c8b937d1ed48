//! A regression with its parameters: tensors `coef` (features) and `intercept` (1).

use serde::{Deserialize, Serialize};

use super::report::Fit;
use super::{TakeTensor, Tensors};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::gsu_regression::{Params, ValidParams};
use crate::loss::LossKind;
use crate::model::linear::Regressor;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    n_features: usize,
    fit: Fit,
    loss: LossKind,
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
    seed: u64,
    fit_intercept: bool,
}

pub(super) fn write(model: &Regressor, params: &ValidParams) -> (Header, Tensors) {
    let Params { alpha, loss, solver, options, fit_intercept, threads: _ } = params.params();
    let header = Header {
        n_features: model.n_features(),
        fit: Fit::of(&model.fit),
        loss: *loss,
        params: ParamsHeader {
            alpha: *alpha,
            solver: solver.name().to_owned(),
            tol: options.tol,
            max_iter: options.max_iter,
            seed: options.seed,
            fit_intercept: *fit_intercept,
        },
    };
    (header, vec![("coef", Tensor::vector(&model.coef)), ("intercept", Tensor::vector(&[model.intercept]))])
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Regressor, ValidParams)> {
    let refused = |e: Error| Error::ModelFile(e.to_string());
    let own = header.params;
    let params = Params::new()
        .alpha(own.alpha)
        .loss(header.loss)
        .solver(own.solver.parse().map_err(refused)?)
        .tol(own.tol)
        .max_iter(own.max_iter)
        .seed(own.seed)
        .fit_intercept(own.fit_intercept)
        .check()
        .map_err(refused)?;
    if header.n_features == 0 {
        return Err(Error::ModelFile("a regression on no features".into()));
    }
    let model = Regressor {
        coef: take("coef", &[header.n_features])?,
        intercept: take("intercept", &[1])?[0],
        fit: header.fit.report()?,
    };
    Ok((model, params))
}
