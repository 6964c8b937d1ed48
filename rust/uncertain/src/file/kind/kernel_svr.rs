//! A kernel regressor with its parameters: its support rows (see `kernel.rs`) and the tensor `dual_coef`.

use serde::{Deserialize, Serialize};

use super::report::Fit;
use super::{TakeTensor, Tensors, kernel};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::kernel_svr::{Expansion, Model, Params, ValidParams};
use crate::solver::smo::Options;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    basis: kernel::BasisHeader,
    intercept: f64,
    fit: Fit,
    params: ParamsHeader,
}

/// All parameters except threads and memory, which belong to a machine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParamsHeader {
    c: f64,
    epsilon: f64,
    sigma: Option<f64>,
    coupling: String,
    tol: f64,
    max_iter: Option<usize>,
    shrinking: bool,
}

pub(super) fn write(model: &Model, params: &ValidParams) -> (Header, Tensors) {
    let machine = &model.expansion;
    let (basis, mut tensors) = kernel::write(&model.basis, &machine.support);
    tensors.push(("dual_coef", Tensor::vector(&machine.dual_coef)));
    let fit = Fit::of(&machine.fit);
    (Header { basis, intercept: machine.intercept, fit, params: describe(params.params()) }, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Model, ValidParams)> {
    let params = checked(header.params).map_err(|e| Error::ModelFile(e.to_string()))?;
    let m = header.basis.rows.n_rows;
    let (basis, support) = kernel::read(&header.basis, take)?;
    let dual_coef = take("dual_coef", &[m])?;
    let expansion = Expansion { support, dual_coef, intercept: header.intercept, fit: header.fit.report()? };
    Ok((Model { basis, expansion }, params))
}

fn describe(params: &Params) -> ParamsHeader {
    let &Params { c, epsilon, sigma, coupling, options, threads: _ } = params;
    let Options { tol, max_iter, shrinking, cache_size: _ } = options;
    let (sigma, coupling) = (kernel::fixed(sigma), coupling.name().to_owned());
    ParamsHeader { c, epsilon, sigma, coupling, tol, max_iter, shrinking }
}

fn checked(header: ParamsHeader) -> Result<ValidParams> {
    let ParamsHeader { tol, max_iter, shrinking, .. } = header;
    Params::new()
        .c(header.c)
        .epsilon(header.epsilon)
        .sigma(kernel::bandwidth(header.sigma))
        .coupling(header.coupling.parse()?)
        .options(Options { tol, max_iter, shrinking, ..Options::default() })
        .check()
}
