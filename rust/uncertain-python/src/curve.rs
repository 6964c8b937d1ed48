//! Curves that are functions of Python, called in batches on the thread that called. Functional fits stay on that thread;
//! structural ones, which integrate between two calls, run on a worker.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use uncertain::curve::{self, Curve, InitialParameters, Outputs, Params, Truth};
use uncertain::data::{Modes, Weights};
use uncertain::deconvolution::Mixture;
use uncertain::{Control, Dataset};

use crate::error::BorderResult;
use crate::events::Messenger;
use crate::fitted::RowsArgument;
use crate::interrupt;
use crate::threads::{self, Jobs};

type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// Calls `curve(x, parameters)`, and `jac(x, parameters)` where there is one: a pair of derivatives, by the parameters and
/// by x, of which each may be None. Arrays come flat, in the order of rows.
struct PythonCurve {
    messenger: Messenger,
    functions: Arc<Functions>,
    /// Last result of `jac`: a fit asks for both derivatives at the same points, one after the other.
    last: Mutex<Option<Answer>>,
}

/// Points and parameters, and the derivatives there by the parameters and by x.
struct Answer {
    x: Vec<f64>,
    parameters: Vec<f64>,
    derivatives: [Option<Vec<f64>>; 2],
}

struct Functions {
    curve: Py<PyAny>,
    jac: Option<Py<PyAny>>,
}

impl PythonCurve {
    fn new(messenger: Messenger, curve: Py<PyAny>, jac: Option<Py<PyAny>>) -> Self {
        Self { messenger, functions: Arc::new(Functions { curve, jac }), last: Mutex::default() }
    }

    fn derivatives(&self, part: usize, x: &[f64], d: usize, parameters: &[f64]) -> uncertain::Result<Option<Vec<f64>>> {
        if self.functions.jac.is_none() {
            return Ok(None);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = &*last {
            // Derivatives by x are there everywhere or nowhere.
            if answer.derivatives[part].is_none() || (answer.x == x && answer.parameters == parameters) {
                return Ok(answer.derivatives[part].clone());
            }
        }
        let (functions, points, own) = (self.functions.clone(), x.to_vec(), parameters.to_vec());
        let derivatives = self.messenger.call(move |py| {
            let Some(jac) = &functions.jac else { return Ok([None, None]) };
            let both = called(py, jac, &points, d, &own)?;
            let one = |part: usize| -> PyResult<Option<Vec<f64>>> {
                let answer = both.get_item(part)?;
                if answer.is_none() { Ok(None) } else { Ok(Some(flat(&answer)?)) }
            };
            Ok([one(0)?, one(1)?])
        })?;
        let answer = last.insert(Answer { x: x.to_vec(), parameters: parameters.to_vec(), derivatives });
        Ok(answer.derivatives[part].clone())
    }
}

fn called<'py>(
    py: Python<'py>,
    function: &Py<PyAny>,
    x: &[f64],
    d: usize,
    parameters: &[f64],
) -> PyResult<Bound<'py, PyAny>> {
    let points = PyArray1::from_slice(py, x).reshape([x.len() / d, d])?;
    function.bind(py).call1((points, PyArray1::from_slice(py, parameters)))
}

fn flat(values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let values: PyReadonlyArray1<'_, f64> = values.extract()?;
    Ok(values.as_array().to_vec())
}

impl Curve for PythonCurve {
    fn values(&self, x: &[f64], d: usize, parameters: &[f64]) -> uncertain::Result<Vec<f64>> {
        let (functions, x, parameters) = (self.functions.clone(), x.to_vec(), parameters.to_vec());
        self.messenger.call(move |py| flat(&called(py, &functions.curve, &x, d, &parameters)?))
    }

    fn by_parameters(&self, x: &[f64], d: usize, parameters: &[f64]) -> uncertain::Result<Option<Vec<f64>>> {
        self.derivatives(0, x, d, parameters)
    }

    fn by_x(&self, x: &[f64], d: usize, parameters: &[f64]) -> uncertain::Result<Option<Vec<f64>>> {
        self.derivatives(1, x, d, parameters)
    }
}

fn numbers(values: PyReadonlyArrayDyn<'_, f64>) -> Vec<f64> {
    values.as_array().iter().copied().collect()
}

/// Fit a curve: what is known of it by name.
#[pyfunction]
#[pyo3(signature = (params, curve, jac, start, lower, upper, fixed, names, rows, targets, *, covariances=None, crossed=None,
                    weights=None, groups=None, modes=None, n_jobs=None, report=None))]
pub(crate) fn fit_curve<'py>(
    py: Python<'py>,
    params: &str,
    curve: Py<PyAny>,
    jac: Option<Py<PyAny>>,
    start: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    fixed: Vec<bool>,
    names: Vec<String>,
    rows: RowsArgument<'_>,
    targets: PyReadonlyArray2<'_, f64>,
    covariances: Option<PyReadonlyArrayDyn<'_, f64>>,
    crossed: Option<PyReadonlyArrayDyn<'_, f64>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    groups: Option<PyReadonlyArray1<'_, u32>>,
    modes: Option<PyReadonlyArray2<'_, f64>>,
    n_jobs: Jobs<'_>,
    report: Option<Py<PyAny>>,
) -> BorderResult<Bound<'py, PyDict>> {
    let params: Params = uncertain::state::from_named(params)?;
    let (params, threads) = (params.check()?, threads::resolve(n_jobs)?);
    let outputs = Outputs {
        n_outputs: targets.as_array().ncols(),
        values: targets.as_array().iter().copied().collect(),
        covariances: covariances.map(numbers),
        crossed: crossed.map(numbers),
        weights: weights.map(|w| Weights::new(w.as_array().to_vec())).transpose()?,
        groups: groups.map(|g| g.as_array().to_vec()),
        modes: modes.map_or_else(Modes::default, |modes| Modes {
            k: modes.as_array().ncols(),
            of_targets: modes.as_array().iter().copied().collect(),
            of_features: vec![],
        }),
    };
    let start = InitialParameters { values: start, lower, upper, fixed, names };
    let data = Dataset::try_from(rows)?;
    let functional = params.params().truth == Truth::Functional;
    let work = move |control: &Control, messenger| {
        let curve = PythonCurve::new(messenger, curve, jac);
        curve::fit(&params, &curve, &start, &data, &outputs, &control.clone().with_threads(threads))
    };
    let fit = if functional {
        interrupt::run_here(py, report, work)?
    } else {
        interrupt::run_asking(py, report, None, work)?
    };
    let found = PyDict::new(py);
    let (p, k) = (fit.parameters.len(), fit.modes.len());
    found.set_item("params", fit.parameters.into_pyarray(py))?;
    found.set_item("covariance", fit.covariance.into_pyarray(py).reshape([p, p])?)?;
    found.set_item("profile", fit.profile.into_pyarray(py))?;
    found.set_item("scatter", fit.scatter.into_pyarray(py))?;
    found.set_item("scatter_std", fit.scatter_std.into_pyarray(py))?;
    found.set_item("loglikelihood", fit.loglikelihood)?;
    found.set_item("residual_variance", fit.residual_variance)?;
    found.set_item("integration_error", fit.integration_error)?;
    found.set_item("degrees", fit.degrees)?;
    found.set_item("noise", fit.noise)?;
    found.set_item("error_scale", fit.error_scale)?;
    found.set_item("feature_error_scale", fit.feature_error_scale)?;
    found.set_item("modes", fit.modes.into_pyarray(py))?;
    found.set_item("modes_covariance", fit.modes_covariance.into_pyarray(py).reshape([k, k])?)?;
    found.set_item("outlier_probability", fit.outlier_probability.into_pyarray(py))?;
    found.set_item("n_iter", fit.n_iter)?;
    found.set_item("status", fit.status.name())?;
    if let Some(mixture) = fit.mixture {
        let (k, d) = (mixture.n_components(), mixture.n_features());
        let triangles = mixture.covariances().len() / k;
        found.set_item("weights", mixture.weights().to_vec().into_pyarray(py))?;
        found.set_item("means", mixture.means().to_vec().into_pyarray(py).reshape([k, d])?)?;
        found.set_item("covariances", mixture.covariances().to_vec().into_pyarray(py).reshape([k, triangles])?)?;
    }
    Ok(found)
}

/// Mean and standard deviation of the curve at rows, (n, q) each; with the density of true values (weights, means, packed
/// covariances) of a structural fit, and factors of the features' error bars.
#[pyfunction]
#[pyo3(signature = (curve, jac, params, n_outputs, rows, density=None, factors=vec![]))]
pub(crate) fn curve_moments<'py>(
    py: Python<'py>,
    curve: Py<PyAny>,
    jac: Option<Py<PyAny>>,
    params: Vec<f64>,
    n_outputs: usize,
    rows: RowsArgument<'_>,
    density: Option<(Vec<f64>, PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, f64>)>,
    factors: Vec<f64>,
) -> BorderResult<(Matrix<'py>, Matrix<'py>)> {
    let mixture = density.map(|(weights, means, covariances)| {
        let d = means.as_array().ncols();
        let flat = |matrix: PyReadonlyArray2<'_, f64>| matrix.as_array().iter().copied().collect();
        Mixture::from_packed(weights, flat(means), flat(covariances), d)
    });
    let (mixture, data) = (mixture.transpose()?, Dataset::try_from(rows)?);
    let n = data.n_rows();
    let (means, stds) = interrupt::run_asking(py, None, None, move |control, messenger| {
        let curve = PythonCurve::new(messenger, curve, jac);
        curve::moments(&curve, &params, n_outputs, &data, mixture.as_ref(), &factors, control)
    })?;
    let matrix = |values: Vec<f64>| -> PyResult<Matrix<'py>> { values.into_pyarray(py).reshape([n, n_outputs]) };
    Ok((matrix(means)?, matrix(stds)?))
}
