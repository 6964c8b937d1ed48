//! Scaling and subspaces of Gaussians.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use uncertain::transform::{GaussianScaler, SubspaceProjector};

use crate::error::BorderResult;
use crate::gaussians::Gaussians;
use crate::interrupt;

type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// (mean, scale) of every feature; `spread`: "means" or "total".
#[pyfunction]
#[pyo3(signature = (data, weights, spread))]
pub fn fit_scaler<'py>(
    py: Python<'py>,
    data: &Gaussians,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    spread: &str,
) -> BorderResult<(Vector<'py>, Vector<'py>)> {
    let spread = spread.parse()?;
    let weights = weights.map(|w| w.as_array().to_vec());
    let scaler = py.detach(|| GaussianScaler::fit(&data.inner, weights.as_deref(), spread))?;
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
    let (data, project) = (data.inner.clone(), project.parse().map_err(crate::error::core_error)?);
    let projector = SubspaceProjector::new(variance, project).map_err(crate::error::core_error)?;
    Ok(interrupt::run(py, None, |control| projector.transform(&data, control))?.into())
}
