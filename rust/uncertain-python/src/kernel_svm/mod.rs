//! Kernel machines for Python: parameters in, fitted machines out. `python/uncertain/kernel_svm.py` is the user.
//!
//! A machine of Gaussians holds its support rows and answers about Gaussians; one of another kernel (precomputed, or
//! a Python function) answers about kernel values. Both look the same from Python.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};
use uncertain::Error;
use uncertain::file::{self, Saved};
use uncertain::model::FitReport;
use uncertain::probabilistic_kernel::Bandwidth;
use uncertain::solver::smo::Options;

use crate::error::{BorderResult, core_error};

mod features;
mod machine;
mod svc;
mod svr;

use machine::{Input, Machine, mismatch};

pub use features::{FeatureSvc, FeatureSvcParams};
pub use svc::{KernelSvc, KernelSvcParams};
pub use svr::{KernelSvr, KernelSvrParams};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Objectives, certified gaps, iterations, status: one each per solve.
pub type Reports<'py> = (Floats<'py>, Floats<'py>, Bound<'py, PyArray1<i64>>, Vec<&'static str>);

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

fn bandwidth(sigma: Option<f64>) -> Bandwidth {
    sigma.map_or(Bandwidth::Median, Bandwidth::Fixed)
}

fn row_numbers<'py>(py: Python<'py>, support: &[u32]) -> Bound<'py, PyArray1<i64>> {
    support.iter().map(|&row| i64::from(row)).collect::<Vec<_>>().into_pyarray(py)
}

pub fn reports<'py>(py: Python<'py>, fits: &[FitReport]) -> Reports<'py> {
    let floats = |of: fn(&FitReport) -> f64| fits.iter().map(of).collect::<Vec<f64>>().into_pyarray(py);
    let n_iter: Vec<i64> = fits.iter().map(|fit| i64::try_from(fit.n_iter).unwrap_or(i64::MAX)).collect();
    let status = fits.iter().map(|fit| fit.status.name()).collect();
    (floats(|fit| fit.objective), floats(|fit| fit.gap), n_iter.into_pyarray(py), status)
}

/// What a pickle calls, and with what.
type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// The same numbers as a pickle: support rows are known by their numbers, so nothing but arrays.
fn values_only<'py>(of: &Bound<'py, PyAny>, state: Bound<'py, PyTuple>) -> PyResult<Reduced<'py>> {
    Ok((of.getattr("from_values")?, state))
}

fn fit_numbers(fits: &[FitReport]) -> Vec<(f64, f64, usize, &'static str)> {
    fits.iter().map(|fit| (fit.objective, fit.gap, fit.n_iter, fit.status.name())).collect()
}

fn fit_report((objective, gap, n_iter, status): (f64, f64, usize, String)) -> Result<FitReport, Error> {
    Ok(FitReport { objective, gap, n_iter, status: status.parse()? })
}

fn pickled<'py>(of: &Bound<'py, PyType>, saved: Saved) -> BorderResult<Reduced<'py>> {
    let bytes = PyBytes::new(of.py(), &file::save_to_bytes(&saved)?);
    Ok((of.clone().into_any(), PyTuple::new(of.py(), [bytes])?))
}
