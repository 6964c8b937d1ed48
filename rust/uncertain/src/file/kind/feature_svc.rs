//! A kernel classifier on features with its parameters: tensors `coef` (pairs x features), `intercept`, `platt` (pairs x
//! 2) when it has probabilities, and those of its map: `frequencies` and `noise` of random features, or the
//! landmarks (see `gaussians.rs`) and their `basis`.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::report::{Fit, read_platt, write_platt};
use super::{TakeTensor, Tensors, gaussians, kernel};
use crate::error::{Error, Result};
use crate::feature_svc::{Model, Params, ValidParams};
use crate::file::container::Tensor;
use crate::kernel::features::{FeatureMap, Nystroem, RandomFeatures};
use crate::model::Calibration;
use crate::solver::Options;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    n_classes: usize,
    sigma: f64,
    platt: bool,
    fits: Vec<Fit>,
    map: Map,
    params: ParamsHeader,
    memory: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Map {
    Random { n_components: usize, n_features: usize, noise: bool },
    Nystroem { landmarks: gaussians::Header, rank: usize, sigma: f64, coupling: String },
}

/// All parameters except the number of threads, which belongs to a machine.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParamsHeader {
    c: f64,
    approximation: String,
    n_components: usize,
    sigma: Option<f64>,
    coupling: String,
    tol: f64,
    max_iter: Option<usize>,
    probability: bool,
    folds: usize,
    seed: u64,
}

fn matrix(shape: [usize; 2], values: &[f64]) -> Tensor {
    Tensor { shape: shape.to_vec(), values: values.to_vec() }
}

fn elements(values: &Array2<f64>) -> Tensor {
    let (n, m) = values.dim();
    Tensor { shape: vec![n, m], values: values.iter().copied().collect() }
}

pub(super) fn write(model: &Model, params: &ValidParams) -> (Header, Tensors) {
    let (map, mut tensors) = match &model.map {
        FeatureMap::Random(random) => {
            let shape = [random.n_components(), random.n_features()];
            let mut tensors = vec![("frequencies", matrix(shape, random.frequencies()))];
            tensors.extend(random.noise().map(|noise| ("noise", matrix(shape, noise))));
            let [n_components, n_features] = shape;
            (Map::Random { n_components, n_features, noise: random.noise().is_some() }, tensors)
        }
        FeatureMap::Nystroem(map) => {
            let (landmarks, mut tensors) = gaussians::write(map.landmarks());
            tensors.push(("basis", elements(map.basis())));
            let coupling = map.coupling().name().to_owned();
            (Map::Nystroem { landmarks, rank: map.n_columns(), sigma: map.sigma(), coupling }, tensors)
        }
    };
    tensors.extend([("coef", elements(&model.coef)), ("intercept", Tensor::vector(&model.intercept))]);
    tensors.extend(model.platt.iter().map(|sigmoids| ("platt", write_platt(sigmoids))));
    let header = Header {
        n_classes: model.n_classes,
        sigma: model.sigma,
        platt: model.platt.is_some(),
        fits: model.fits.iter().map(Fit::of).collect(),
        map,
        params: describe(params.params()),
        memory: model.memory,
    };
    (header, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Model, ValidParams)> {
    let refuse = |e: Error| Error::ModelFile(e.to_string());
    let params = checked(header.params).map_err(refuse)?;
    let (k, pairs) = (header.n_classes, header.fits.len());
    if k < 2 || k > pairs + 1 || pairs != k * (k - 1) / 2 {
        return Err(Error::ModelFile(format!("{k} classes and {pairs} reports of pairs make no classifier")));
    }
    let map = read_map(header.map, take)?;
    let width = map.n_columns();
    let coef = array(take("coef", &[pairs, width])?, pairs, width)?;
    let intercept = take("intercept", &[pairs])?;
    let platt = read_platt(header.platt, pairs, take)?;
    let mut model = Model::from_parts(map, header.sigma, k, coef, intercept, platt).map_err(refuse)?;
    model.fits = header.fits.into_iter().map(Fit::report).collect::<Result<_>>()?;
    model.memory = header.memory;
    Ok((model, params))
}

fn read_map(map: Map, take: &mut TakeTensor<'_>) -> Result<FeatureMap> {
    let refuse = |e: Error| Error::ModelFile(e.to_string());
    match map {
        Map::Random { n_components, n_features, noise } => {
            let shape = [n_components, n_features];
            let frequencies = take("frequencies", &shape)?;
            let noise = noise.then(|| take("noise", &shape)).transpose()?;
            RandomFeatures::from_parts(n_features, frequencies, noise).map(FeatureMap::Random).map_err(refuse)
        }
        Map::Nystroem { landmarks, rank, sigma, coupling } => {
            let n = landmarks.n_rows;
            let rows = gaussians::read(&landmarks, take)?;
            let basis = array(take("basis", &[n, rank])?, n, rank)?;
            let map = coupling.parse().and_then(|coupling| Nystroem::from_parts(rows, sigma, coupling, basis));
            map.map(FeatureMap::Nystroem).map_err(refuse)
        }
    }
}

fn array(values: Vec<f64>, n: usize, m: usize) -> Result<Array2<f64>> {
    Array2::from_shape_vec((n, m), values).map_err(|e| Error::Internal(format!("checked shape: {e}")))
}

fn describe(params: &Params) -> ParamsHeader {
    let &Params {
        c,
        approximation,
        n_components,
        sigma,
        coupling,
        options,
        calibration: Calibration { probability, folds },
        threads: _,
    } = params;
    let Options { tol, max_iter, seed, .. } = options;
    let (approximation, coupling) = (approximation.name().to_owned(), coupling.name().to_owned());
    let sigma = kernel::fixed(sigma);
    ParamsHeader { c, approximation, n_components, sigma, coupling, tol, max_iter, probability, folds, seed }
}

fn checked(header: ParamsHeader) -> Result<ValidParams> {
    Params::new()
        .c(header.c)
        .approximation(header.approximation.parse()?)
        .n_components(header.n_components)
        .sigma(kernel::bandwidth(header.sigma))
        .coupling(header.coupling.parse()?)
        .tol(header.tol)
        .max_iter(header.max_iter)
        .probability(header.probability)
        .folds(header.folds)
        .seed(header.seed)
        .check()
}
