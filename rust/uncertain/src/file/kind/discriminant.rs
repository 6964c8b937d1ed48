//! A Gaussian discriminant: tensors `weights` (C K), `means` (C K x d), `covariances` (C K packed triangles), components class
//! by class with their shares of all rows; `history`; with given priors `priors` (C).

use serde::{Deserialize, Serialize};

use super::{TakeTensor, Tensors, mixture};
use crate::deconvolution::{self, Components, Report};
use crate::discriminant::{Model, Params, ValidParams};
use crate::error::{Error, Result};
use crate::file::container::Tensor;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    mixture: mixture::Header,
    n_classes: usize,
    fit: Fit,
    params: ParamsHeader,
}

/// The log-likelihoods are a tensor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fit {
    steps: usize,
    n_iter: usize,
    status: String,
}

/// All parameters except the number of threads, which belongs to a machine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParamsHeader {
    shared: bool,
    priors: bool,
    n_components: usize,
    tol: f64,
    max_iter: usize,
    accelerate: bool,
    reg: f64,
    seed: u64,
}

pub(super) fn write(model: &Model, params: &ValidParams, report: &Report) -> (Header, Tensors) {
    let Params { shared, priors, em } = params.params();
    let deconvolution::Params { components, tol, max_iter, accelerate, reg, seed, threads: _ } = em;
    let (mixture, mut tensors) = mixture::write(model.mixture());
    tensors.push(("history", Tensor::vector(&report.history)));
    if let Some(priors) = priors {
        tensors.push(("priors", Tensor::vector(priors)));
    }
    let header = Header {
        mixture,
        n_classes: model.n_classes(),
        fit: Fit { steps: report.history.len(), n_iter: report.n_iter, status: report.status.name().to_owned() },
        params: ParamsHeader {
            shared: *shared,
            priors: priors.is_some(),
            n_components: match components {
                Components::Fixed(k) => *k,
                Components::Auto { .. } => 0,
            },
            tol: *tol,
            max_iter: *max_iter,
            accelerate: *accelerate,
            reg: *reg,
            seed: *seed,
        },
    };
    (header, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Model, ValidParams, Report)> {
    let refused = |e: Error| Error::ModelFile(e.to_string());
    let Header { mixture, n_classes, fit, params } = header;
    let mixture = mixture::read(&mixture, take)?;
    if n_classes.checked_mul(params.n_components) != Some(mixture.n_components()) {
        return Err(Error::ModelFile(format!(
            "{} components cannot be {} for each of {n_classes} classes",
            mixture.n_components(),
            params.n_components
        )));
    }
    let model = Model::new(mixture, n_classes).map_err(refused)?;
    let status = fit.status.parse().map_err(refused)?;
    let report = Report { history: take("history", &[fit.steps])?, n_iter: fit.n_iter, status };
    let em = deconvolution::Params {
        components: Components::Fixed(params.n_components),
        tol: params.tol,
        max_iter: params.max_iter,
        accelerate: params.accelerate,
        reg: params.reg,
        seed: params.seed,
        threads: None,
    };
    let priors = if params.priors { Some(take("priors", &[n_classes])?) } else { None };
    let params = Params { shared: params.shared, priors, em }.check().map_err(refused)?;
    Ok((model, params, report))
}
