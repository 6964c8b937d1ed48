//! Features of the kernel between Gaussians for Python: arrays in, arrays out.
//! `python/uncertain/kernel_features.py` is the user; nothing fitted lives here.

use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use uncertain::kernel::features::{Approximation, FeatureMap, Nystroem, RandomFeatures};
use uncertain::probabilistic_kernel::Coupling;
use uncertain::{Error, parallel};

use crate::error::core_error;
use crate::gaussians::Gaussians;
use crate::{interrupt, threads};

type Matrix<'py> = Bound<'py, PyArray2<f64>>;

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

pub fn described(py: Python<'_>, map: FeatureMap) -> PyResult<Bound<'_, PyAny>> {
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

/// A negative count is as wrong as zero, and the core says so.
pub fn count(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
