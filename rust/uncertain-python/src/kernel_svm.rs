//! Kernel machines for Python: kernel matrix in, arrays out. `python/uncertain/kernel_svm.py` is the user
//! and keeps the arrays; nothing fitted lives here.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use uncertain::gsu::FitReport;
use uncertain::kernel_svc::{Model, Params};
use uncertain::solver::smo::{Dense, Options};
use uncertain::{Error, Labels, kernel_svr};

use crate::error::{BorderResult, core_error};
use crate::{interrupt, threads};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Objectives, certified gaps, iterations, status: one each per solve.
pub type Reports<'py> = (Floats<'py>, Floats<'py>, Bound<'py, PyArray1<i64>>, Vec<&'static str>);
type Support<'py> = Bound<'py, PyArray1<u32>>;
/// Support rows, their number per class, coefficients, intercepts, sigmoids, reports.
type Svc<'py> = (Support<'py>, Vec<usize>, Matrix<'py>, Floats<'py>, Option<Matrix<'py>>, Reports<'py>);

fn options(tol: f64, max_iter: i64, shrinking: bool, cache_size: f64) -> PyResult<Options> {
    let max_iter = match max_iter {
        -1 => None,
        n => Some(usize::try_from(n).unwrap_or(0)),
    };
    if !(cache_size > 0.0 && cache_size.is_finite()) {
        return Err(core_error(Error::parameter("cache_size", cache_size, "a finite number of MB > 0")));
    }
    Ok(Options { tol, max_iter, shrinking, cache_size: (cache_size * f64::from(1 << 20)) as usize })
}

pub fn reports<'py>(py: Python<'py>, fits: &[FitReport]) -> Reports<'py> {
    let floats = |of: fn(&FitReport) -> f64| fits.iter().map(of).collect::<Vec<f64>>().into_pyarray(py);
    let n_iter: Vec<i64> = fits.iter().map(|fit| i64::try_from(fit.n_iter).unwrap_or(i64::MAX)).collect();
    let status = fits.iter().map(|fit| fit.status.name()).collect();
    (floats(|fit| fit.objective), floats(|fit| fit.gap), n_iter.into_pyarray(py), status)
}

/// The elements of a C-contiguous n x n matrix.
fn square<'a>(gram: &'a PyReadonlyArray2<'_, f64>) -> PyResult<(&'a [f64], usize)> {
    match gram.as_slice() {
        Ok(values) => Ok((values, gram.shape()[0])),
        Err(_) => Err(core_error(Error::Internal("the kernel matrix is not contiguous".into()))),
    }
}

/// (support, rows per class, coefficients, intercepts, (a, b) of the sigmoids or None, reports) of a C-SVM.
#[pyfunction]
#[pyo3(signature = (gram, codes, n_classes, weights, *, c, tol, max_iter, shrinking, cache_size, probability, seed,
                    n_jobs, report))]
pub fn fit_kernel_svc<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    codes: PyReadonlyArray1<'py, u32>,
    n_classes: usize,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    c: f64,
    tol: f64,
    max_iter: i64,
    shrinking: bool,
    cache_size: f64,
    probability: bool,
    seed: u64,
    n_jobs: Option<i64>,
    report: Option<Py<PyAny>>,
) -> BorderResult<Svc<'py>> {
    let options = options(tol, max_iter, shrinking, cache_size)?;
    let params = Params { options, ..Params::new() }.c(c).probability(probability).seed(seed);
    let params = params.threads(threads::resolve(n_jobs)?).check()?;
    let mut labels = Labels::new(codes.as_array().to_vec(), n_classes)?;
    if let Some(weights) = weights {
        labels = labels.with_weights(weights.as_array().to_vec())?;
    }
    let (values, n) = square(&gram)?;
    let model = interrupt::run(py, report, |control| params.fit(&Dense::new(values, n)?, &labels, control))?;
    let fits = reports(py, &model.fits);
    let platt = model.sigmoids().map(|sigmoids| PyArray2::from_owned_array(py, sigmoids));
    let Model { support, n_support, dual_coef, intercept, .. } = model;
    let dual_coef = PyArray2::from_owned_array(py, dual_coef);
    Ok((support.into_pyarray(py), n_support, dual_coef, intercept.into_pyarray(py), platt, fits))
}

/// Scores (n, 1) or (n, K), or with the sigmoids probabilities (n, K), from the kernel between new rows and
/// support rows.
#[pyfunction]
#[pyo3(signature = (kernel, n_support, dual_coef, intercept, sigmoids))]
pub fn apply_kernel_svc<'py>(
    py: Python<'py>,
    kernel: PyReadonlyArray2<'py, f64>,
    n_support: Vec<usize>,
    dual_coef: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
    sigmoids: Option<PyReadonlyArray2<'py, f64>>,
) -> BorderResult<Matrix<'py>> {
    let (dual_coef, intercept) = (dual_coef.as_array().to_owned(), intercept.as_array().to_vec());
    let model = Model::from_parts(n_support, dual_coef, intercept, sigmoids.as_ref().map(|s| s.as_array()))?;
    let kernel = kernel.as_array();
    let wanted = sigmoids.is_some();
    let values = py.detach(|| if wanted { model.predict_proba(kernel) } else { model.decision(kernel) })?;
    Ok(PyArray2::from_owned_array(py, values))
}

/// (support, coefficients, intercept, reports) of an epsilon-SVR.
#[pyfunction]
#[pyo3(signature = (gram, targets, weights, *, c, epsilon, tol, max_iter, shrinking, cache_size, report))]
pub fn fit_kernel_svr<'py>(
    py: Python<'py>,
    gram: PyReadonlyArray2<'py, f64>,
    targets: PyReadonlyArray1<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    c: f64,
    epsilon: f64,
    tol: f64,
    max_iter: i64,
    shrinking: bool,
    cache_size: f64,
    report: Option<Py<PyAny>>,
) -> BorderResult<(Support<'py>, Floats<'py>, f64, Reports<'py>)> {
    let options = options(tol, max_iter, shrinking, cache_size)?;
    let params = kernel_svr::Params::new().c(c).epsilon(epsilon).options(options).check()?;
    let targets = targets.as_array().to_vec();
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let (values, n) = square(&gram)?;
    let model = interrupt::run(py, report, |control| {
        params.fit(&Dense::new(values, n)?, &targets, weights.as_deref(), control)
    })?;
    let fits = reports(py, std::slice::from_ref(&model.fit));
    Ok((model.support.into_pyarray(py), model.dual_coef.into_pyarray(py), model.intercept, fits))
}
