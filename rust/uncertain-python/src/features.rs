//! Features of the kernel between Gaussians, and the classifier on them, for Python: arrays in, arrays out.
//! `python/uncertain/kernel_features.py` and `kernel_svm.py` are the users; nothing fitted lives here.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use uncertain::feature_svc::{Model, Params};
use uncertain::kernel::features::{Approximation, FeatureMap, Nystroem, RandomFeatures};
use uncertain::model::platt::Sigmoid;
use uncertain::probabilistic_kernel::Coupling;
use uncertain::{Error, Labels, parallel};

use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::kernel_svm::{Reports, reports};
use crate::{interrupt, threads};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Map, coefficients, intercepts, sigmoids, reports, bytes.
type Svc<'py> = (Bound<'py, PyAny>, Matrix<'py>, Floats<'py>, Option<Matrix<'py>>, Reports<'py>, u64);

/// A map as Python keeps it: (frequencies, noise), or (landmarks, sigma, coupling, basis).
#[derive(FromPyObject)]
pub enum MapIn<'py> {
    Nystroem(PyRef<'py, Gaussians>, f64, String, PyReadonlyArray2<'py, f64>),
    Random(PyReadonlyArray2<'py, f64>, Option<PyReadonlyArray2<'py, f64>>),
}

impl MapIn<'_> {
    fn map(&self) -> Result<FeatureMap, Error> {
        Ok(match self {
            Self::Random(frequencies, noise) => {
                let (frequencies, noise) = (frequencies.as_array(), noise.as_ref().map(|e| e.as_array()));
                let noise = noise.map(|e| e.iter().copied().collect());
                let values = frequencies.iter().copied().collect();
                FeatureMap::Random(RandomFeatures::from_parts(frequencies.ncols(), values, noise)?)
            }
            Self::Nystroem(landmarks, sigma, coupling, basis) => {
                let (landmarks, basis) = ((*landmarks.inner).clone(), basis.as_array().to_owned());
                FeatureMap::Nystroem(Nystroem::from_parts(landmarks, *sigma, coupling.parse()?, basis)?)
            }
        })
    }
}

fn described(py: Python<'_>, map: FeatureMap) -> PyResult<Bound<'_, PyAny>> {
    let tuple = match map {
        FeatureMap::Random(map) => {
            let shape = [map.n_components(), map.n_features()];
            let matrix = |values: &[f64]| values.to_vec().into_pyarray(py).reshape(shape);
            (matrix(map.frequencies())?, map.noise().map(matrix).transpose()?).into_pyobject(py)?.into_any()
        }
        FeatureMap::Nystroem(map) => {
            let landmarks = Bound::new(py, Gaussians::from(map.landmarks().clone()))?;
            let basis = PyArray2::from_owned_array(py, map.basis().clone());
            (landmarks, map.sigma(), map.coupling().name(), basis).into_pyobject(py)?.into_any()
        }
    };
    Ok(tuple)
}

/// A map drawn for rows like these.
#[pyfunction]
#[pyo3(signature = (data, *, approximation, n_components, sigma, coupling, seed, n_jobs))]
pub fn draw_features<'py>(
    py: Python<'py>,
    data: &Gaussians,
    approximation: &str,
    n_components: i64,
    sigma: f64,
    coupling: &str,
    seed: u64,
    n_jobs: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let approximation: Approximation = approximation.parse().map_err(core_error)?;
    let coupling: Coupling = coupling.parse().map_err(core_error)?;
    let (size, threads) = (count(n_components), threads::resolve(n_jobs)?);
    let data = &data.inner;
    let map = interrupt::run(py, None, |control| match approximation {
        Approximation::Random => {
            Ok(FeatureMap::Random(RandomFeatures::new(data.n_features(), size, sigma, coupling, seed)?))
        }
        Approximation::Nystroem => parallel::install(threads, || {
            Ok(FeatureMap::Nystroem(Nystroem::fit(data, size, sigma, coupling, seed, control)?))
        })?,
    })?;
    described(py, map)
}

/// The features of rows, (n, D).
#[pyfunction]
#[pyo3(signature = (map, data, n_jobs))]
pub fn apply_features<'py>(
    py: Python<'py>,
    map: MapIn<'py>,
    data: &Gaussians,
    n_jobs: Option<i64>,
) -> PyResult<Matrix<'py>> {
    let (map, data, threads) = (map.map().map_err(core_error)?, &data.inner, threads::resolve(n_jobs)?);
    let values = interrupt::run(py, None, |control| parallel::install(threads, || map.transform(data, control))?)?;
    Ok(PyArray2::from_owned_array(py, values))
}

/// (map, coefficients, intercepts, (a, b) of the sigmoids or None, reports, bytes) of a C-SVM on features.
#[pyfunction]
#[pyo3(signature = (data, codes, n_classes, weights, *, c, approximation, n_components, sigma, coupling, tol, max_iter,
                    probability, seed, n_jobs, report))]
pub fn fit_feature_svc<'py>(
    py: Python<'py>,
    data: &Gaussians,
    codes: PyReadonlyArray1<'py, u32>,
    n_classes: usize,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    c: f64,
    approximation: &str,
    n_components: i64,
    sigma: f64,
    coupling: &str,
    tol: f64,
    max_iter: Option<i64>,
    probability: bool,
    seed: u64,
    n_jobs: Option<i64>,
    report: Option<Py<PyAny>>,
) -> BorderResult<Svc<'py>> {
    let params = Params::new()
        .c(c)
        .approximation(approximation.parse()?)
        .n_components(count(n_components))
        .sigma(sigma)
        .coupling(coupling.parse()?)
        .tol(tol)
        .max_iter(max_iter.map(count))
        .probability(probability)
        .seed(seed)
        .threads(threads::resolve(n_jobs)?)
        .check()?;
    let mut labels = Labels::new(codes.as_array().to_vec(), n_classes)?;
    if let Some(weights) = weights {
        labels = labels.with_weights(weights.as_array().to_vec())?;
    }
    let model = interrupt::run(py, report, |control| params.fit(&data.inner, &labels, control))?;
    let fits = reports(py, &model.fits);
    let platt = model.platt.as_ref().map(|platt| {
        let values: Vec<f64> = platt.iter().flat_map(|s| [s.a, s.b]).collect();
        values.into_pyarray(py).reshape([platt.len(), 2])
    });
    let Model { map, coef, intercept, memory, .. } = model;
    let coef = PyArray2::from_owned_array(py, coef);
    Ok((described(py, map)?, coef, intercept.into_pyarray(py), platt.transpose()?, fits, memory))
}

/// Scores (n, 1) or (n, K), or with the sigmoids probabilities (n, K).
#[pyfunction]
#[pyo3(signature = (map, data, n_classes, coef, intercept, sigmoids, n_jobs))]
pub fn apply_feature_svc<'py>(
    py: Python<'py>,
    map: MapIn<'py>,
    data: &Gaussians,
    n_classes: usize,
    coef: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
    sigmoids: Option<PyReadonlyArray2<'py, f64>>,
    n_jobs: Option<i64>,
) -> BorderResult<Matrix<'py>> {
    let platt = sigmoids.map(|s| s.as_array().outer_iter().map(|s| Sigmoid { a: s[0], b: s[1] }).collect::<Vec<_>>());
    let wanted = platt.is_some();
    let (coef, intercept) = (coef.as_array().to_owned(), intercept.as_array().to_vec());
    let model = Model::from_parts(map.map()?, n_classes, coef, intercept, platt)?;
    let (data, threads) = (&data.inner, threads::resolve(n_jobs)?);
    let values = interrupt::run(py, None, |control| {
        parallel::install(threads, || match wanted {
            true => model.predict_proba(data, control),
            false => model.decision(data, control),
        })?
    })?;
    Ok(PyArray2::from_owned_array(py, values))
}

/// A negative count is as wrong as zero, and the core says so.
fn count(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
