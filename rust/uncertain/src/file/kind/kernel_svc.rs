//! A kernel classifier with its parameters: its support rows (see `kernel.rs`), tensors `dual_coef`
//! ((K - 1) x support rows), `intercept`, and `platt` (pairs x 2) when it has probabilities.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::report::{Fit, read_platt, write_platt};
use super::{TakeTensor, Tensors, kernel};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::kernel_svc::{Expansion, Model, Params, ValidParams};
use crate::model::Calibration;
use crate::solver::smo::Options;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    basis: kernel::BasisHeader,
    n_support: Vec<usize>,
    platt: bool,
    fits: Vec<Fit>,
    params: ParamsHeader,
}

/// All parameters except threads and memory, which belong to a machine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParamsHeader {
    c: f64,
    sigma: Option<f64>,
    coupling: String,
    tol: f64,
    max_iter: Option<usize>,
    shrinking: bool,
    probability: bool,
    folds: usize,
    seed: u64,
}

pub(super) fn write(model: &Model, params: &ValidParams) -> (Header, Tensors) {
    let machine = &model.expansion;
    let (basis, mut tensors) = kernel::write(&model.basis, &machine.support);
    let (lines, m) = machine.dual_coef.dim();
    let dual_coef = Tensor { shape: vec![lines, m], values: machine.dual_coef.iter().copied().collect() };
    tensors.extend([("dual_coef", dual_coef), ("intercept", Tensor::vector(&machine.intercept))]);
    tensors.extend(machine.platt.iter().map(|sigmoids| ("platt", write_platt(sigmoids))));
    let header = Header {
        basis,
        n_support: machine.n_support.clone(),
        platt: machine.platt.is_some(),
        fits: machine.fits.iter().map(Fit::of).collect(),
        params: describe(params.params()),
    };
    (header, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Model, ValidParams)> {
    let refuse = |e: Error| Error::ModelFile(e.to_string());
    let params = checked(header.params).map_err(refuse)?;
    let (k, m) = (header.n_support.len(), header.basis.rows.n_rows);
    let sum = header.n_support.iter().try_fold(0_usize, |sum, &n| sum.checked_add(n));
    let pairs = header.fits.len();
    if k < 2 || sum != Some(m) || pairs != k * (k - 1) / 2 {
        return Err(Error::ModelFile(format!(
            "{k} classes, {m} support rows and {pairs} reports of pairs make no classifier"
        )));
    }
    let (basis, support) = kernel::read(&header.basis, take)?;
    let dual_coef = Array2::from_shape_vec((k - 1, m), take("dual_coef", &[k - 1, m])?)
        .map_err(|e| Error::Internal(format!("checked shape: {e}")))?;
    let intercept = take("intercept", &[pairs])?;
    let platt = read_platt(header.platt, pairs, take)?;
    let fits = header.fits.into_iter().map(Fit::report).collect::<Result<_>>()?;
    let expansion = Expansion { support, n_support: header.n_support, dual_coef, intercept, fits, platt };
    Ok((Model { basis, expansion }, params))
}

fn describe(params: &Params) -> ParamsHeader {
    let &Params { c, sigma, coupling, options, calibration: Calibration { probability, folds }, seed, threads: _ } =
        params;
    let Options { tol, max_iter, shrinking, cache_size: _ } = options;
    let (sigma, coupling) = (kernel::fixed(sigma), coupling.name().to_owned());
    ParamsHeader { c, sigma, coupling, tol, max_iter, shrinking, probability, folds, seed }
}

fn checked(header: ParamsHeader) -> Result<ValidParams> {
    Params::new()
        .c(header.c)
        .sigma(kernel::bandwidth(header.sigma))
        .coupling(header.coupling.parse()?)
        .tol(header.tol)
        .max_iter(header.max_iter)
        .shrinking(header.shrinking)
        .probability(header.probability)
        .folds(header.folds)
        .seed(header.seed)
        .check()
}
