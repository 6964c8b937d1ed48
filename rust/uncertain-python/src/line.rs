//! Lines between true values with outliers, shared errors or a factor of the error bars, for Python.

use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use uncertain::Targets;
use uncertain::line::{LeastSquares, Params, SharedErrors};
use uncertain::state::Parameters;

use crate::error::BorderResult;
use crate::fitted::{OwnedRows, RowsArgument, modes_from};
use crate::{interrupt, threads};

/// Fit a line: what is known of it by name.
#[pyfunction]
#[pyo3(signature = (params, rows, targets, *, variances=None, crossed=None, limits=None, modes=None, modes_of_features=None,
                    weights=None, groups=None, n_jobs=None, report=None))]
pub(crate) fn fit_line<'py>(
    py: Python<'py>,
    params: &str,
    rows: RowsArgument<'_>,
    targets: PyReadonlyArray1<'_, f64>,
    variances: Option<PyReadonlyArray1<'_, f64>>,
    crossed: Option<PyReadonlyArray2<'_, f64>>,
    limits: Option<PyReadonlyArray1<'_, i8>>,
    modes: Option<PyReadonlyArray2<'_, f64>>,
    modes_of_features: Option<PyReadonlyArray3<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<PyReadonlyArray1<'_, u32>>,
    n_jobs: threads::Jobs<'_>,
    report: Option<Py<PyAny>>,
) -> BorderResult<Bound<'py, PyDict>> {
    let mut params: Params = uncertain::state::from_named(params)?;
    params.set_threads(threads::resolve(n_jobs)?);
    let params = params.check()?;
    let mut known = Targets::new(targets.as_array().to_vec())?;
    if let Some(variances) = variances {
        known = known.with_variances(variances.as_array().to_vec())?;
    }
    if let Some(crossed) = crossed {
        let values = crossed.as_array().iter().copied().collect();
        known = known.with_feature_covariances(values, crossed.shape()[1])?;
    }
    if let Some(limits) = limits {
        known = known.with_limits(limits.as_array().to_vec())?;
    }
    if let Some(weights) = weights {
        known = known.with_weights(weights.as_array().to_vec())?;
    }
    let shared = SharedErrors {
        modes: modes_from(modes, modes_of_features),
        groups: groups.map(|groups| groups.as_array().to_vec()),
    };
    let held = OwnedRows::try_from(rows)?.without_mixtures()?;
    let fit = interrupt::run(py, report, move |control| params.fit(held.rows()?, &known, &shared, control))?;
    let found = PyDict::new(py);
    let (p, k) = (fit.law.len(), fit.modes.len());
    found.set_item("law", fit.law.into_pyarray(py))?;
    found.set_item("covariance", fit.covariance.into_pyarray(py).reshape([p, p])?)?;
    found.set_item("profile", fit.profile.into_pyarray(py))?;
    found.set_item("scatter", (fit.scatter, fit.scatter_std))?;
    found.set_item("error_scale", fit.error_scale)?;
    found.set_item("feature_error_scale", fit.feature_error_scale)?;
    found.set_item("noise", fit.noise)?;
    found.set_item("outlier_probability", fit.outlier_probability.into_pyarray(py))?;
    found.set_item("modes", fit.modes.into_pyarray(py))?;
    found.set_item("modes_covariance", fit.modes_covariance.into_pyarray(py).reshape([k, k])?)?;
    found.set_item("modes_law_covariance", fit.modes_law_covariance.into_pyarray(py).reshape([k, p])?)?;
    found.set_item("log_likelihood", fit.log_likelihood)?;
    let naive = fit.naive.unwrap_or(LeastSquares { values: vec![], std: vec![] });
    found.set_item("naive", naive.values.into_pyarray(py))?;
    found.set_item("naive_std", naive.std.into_pyarray(py))?;
    found.set_item("mean", fit.mixture.means().to_vec().into_pyarray(py))?;
    found.set_item("triangle", fit.mixture.covariances().to_vec().into_pyarray(py))?;
    found.set_item("history", fit.report.history.into_pyarray(py))?;
    found.set_item("density_status", fit.report.status.name())?;
    found.set_item("n_iter", fit.n_iter)?;
    found.set_item("status", fit.status.name())?;
    Ok(found)
}
