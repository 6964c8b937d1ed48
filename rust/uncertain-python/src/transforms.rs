//! Scaling, subspaces and kernel maps of Gaussians.

use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use uncertain::kernel::{PointKernel, median_gamma};
use uncertain::transform::{GaussianScaler, KernelMap, KernelMapOptions, SubspaceProjector};
use uncertain::{Error, parallel};

use crate::deconvolution::{MissingIn, marks, with_gaps};
use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::{interrupt, supervision, threads};

type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// (mean, scale) of every feature; `spread`: "means" or "total".
#[pyfunction]
#[pyo3(signature = (data, missing, weights, spread))]
pub fn fit_scaler<'py>(
    py: Python<'py>,
    data: &Gaussians,
    missing: MissingIn<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    spread: &str,
) -> BorderResult<(Vector<'py>, Vector<'py>)> {
    let spread = spread.parse()?;
    let weights = supervision::weights(weights.as_ref())?;
    let marks = marks(&missing);
    let scaler = py.detach(|| GaussianScaler::fit(with_gaps(&data.inner, &marks)?, weights.as_ref(), spread))?;
    Ok((scaler.mean().to_vec().into_pyarray(py), scaler.scale().to_vec().into_pyarray(py)))
}

/// (x - mean) / scale with the covariances moved along, or back if `inverse`.
#[pyfunction]
pub fn scale(
    py: Python<'_>,
    data: &Gaussians,
    mean: PyReadonlyArray1<'_, f64>,
    scale: PyReadonlyArray1<'_, f64>,
    inverse: bool,
) -> BorderResult<Gaussians> {
    let scaler = GaussianScaler::new(mean.as_array().to_vec(), scale.as_array().to_vec())?;
    let moved =
        py.detach(|| if inverse { scaler.inverse_transform(&data.inner) } else { scaler.transform(&data.inner) });
    Ok(moved?.into())
}

/// Every covariance cut to the leading eigenpairs that hold more than the share `variance` of its trace;
/// `project`: "covariance" or "both".
#[pyfunction]
pub fn project_subspace(py: Python<'_>, data: &Gaussians, variance: f64, project: &str) -> PyResult<Gaussians> {
    let (data, project) = (data.inner.clone(), project.parse().map_err(core_error)?);
    let projector = SubspaceProjector::new(variance, project).map_err(core_error)?;
    Ok(interrupt::run(py, None, |control| projector.transform(&data, control))?.into())
}

type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Points, directions, factor, gamma, error.
pub type MapParts<'py> = (Matrix<'py>, Matrix<'py>, Matrix<'py>, Option<f64>, f64);

/// (points, directions, factor, gamma or None, error) of a kernel map; `gamma` None is the median heuristic.
#[pyfunction]
#[pyo3(signature = (data, *, kernel, gamma, degree, coef0, tol, max_rank, seed, n_jobs))]
pub fn fit_kernel_map<'py>(
    py: Python<'py>,
    data: &Gaussians,
    kernel: &str,
    gamma: Option<f64>,
    degree: i64,
    coef0: f64,
    tol: f64,
    max_rank: Option<i64>,
    seed: u64,
    n_jobs: Option<i64>,
) -> PyResult<MapParts<'py>> {
    let threads = threads::resolve(n_jobs)?;
    let count = |n: i64| usize::try_from(n).unwrap_or(0);
    let degree = u32::try_from(degree).unwrap_or(0);
    let options = KernelMapOptions { tol, max_rank: max_rank.map(count) };
    let map = interrupt::run(py, None, |control| {
        // A kernel without gamma ignores the number; one with it needs the data first.
        let with = |gamma| PointKernel::new(kernel, degree, gamma, coef0);
        let kernel = match (gamma, with(1.0)?.gamma()) {
            (None, Some(_)) => with(median_gamma(&data.inner, seed)?)?,
            (gamma, _) => with(gamma.unwrap_or(1.0))?,
        };
        parallel::install(threads, || KernelMap::fit(&data.inner, kernel, &options, control))?
    })?;
    parts_of_map(py, &map)
}

/// Points, directions, factor, gamma and error of a map.
pub fn parts_of_map<'py>(py: Python<'py>, map: &KernelMap) -> PyResult<MapParts<'py>> {
    let matrix = |values: &[f64]| {
        let shape = (map.rank(), values.len() / map.rank());
        Array2::from_shape_vec(shape, values.to_vec())
            .map(|a| PyArray2::from_owned_array(py, a))
            .map_err(|e| core_error(Error::Internal(format!("parts of a kernel map: {e}"))))
    };
    let (points, directions, factor) = (matrix(map.points())?, matrix(map.directions())?, matrix(map.lower())?);
    Ok((points, directions, factor, map.kernel().gamma(), map.error()))
}

/// The parts of a kernel map as Python keeps them.
#[derive(FromPyObject)]
pub struct MapIn<'py>(
    String,
    Option<f64>,
    i64,
    f64,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray2<'py, f64>,
    f64,
);

/// The map of these parts.
pub fn map_of_parts(parts: &MapIn<'_>) -> BorderResult<KernelMap> {
    let MapIn(kernel, gamma, degree, coef0, points, directions, factor, error) = parts;
    let kernel = PointKernel::new(kernel, u32::try_from(*degree).unwrap_or(0), gamma.unwrap_or(1.0), *coef0)?;
    let d = points.as_array().ncols();
    let values = |a: &PyReadonlyArray2<'_, f64>| a.as_array().iter().copied().collect::<Vec<f64>>();
    Ok(KernelMap::new(kernel, d, values(points), values(directions), values(factor), *error)?)
}

/// The rows in the feature space of a kernel map, which is (kernel, gamma, degree, coef0, points, directions,
/// factor, error).
#[pyfunction]
#[pyo3(signature = (data, map, n_jobs=None))]
pub fn map_kernel(py: Python<'_>, data: &Gaussians, map: MapIn<'_>, n_jobs: Option<i64>) -> BorderResult<Gaussians> {
    let threads = threads::resolve(n_jobs)?;
    let map = map_of_parts(&map)?;
    let mapped =
        interrupt::run(py, None, |control| parallel::install(threads, || map.transform(&data.inner, control))?)?;
    Ok(mapped.into())
}
