//! Extreme deconvolution for Python: Gaussians in, the mixture as arrays out, and posteriors from them.
//! `python/uncertain/_denoiser.py` keeps the arrays; nothing fitted lives here.

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use uncertain::data::covariance::{packed_index, packed_len};
use uncertain::deconvolution::{Components, Fitted, Mixture, Params};
use uncertain::transform::GaussianDenoiser;
use uncertain::{Error, parallel};

use crate::error::{BorderResult, core_error};
use crate::gaussians::Gaussians;
use crate::{interrupt, threads};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
/// Shares (K,), means (K, d), covariances (K, d, d).
pub type MixtureOut<'py> = (Floats<'py>, Bound<'py, PyAny>, Bound<'py, PyAny>);
/// The mixture, the history of the log-likelihood, how it ended, held-out log-likelihoods if K was chosen.
type FittedOut<'py> = (MixtureOut<'py>, Floats<'py>, &'static str, Option<Floats<'py>>);

/// A mixture as Python keeps it: shares (K,), means (K, d), covariances (K, d, d).
#[derive(FromPyObject)]
pub struct MixtureIn<'py>(PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>, PyReadonlyArray3<'py, f64>);

impl MixtureIn<'_> {
    /// Checked and packed.
    pub fn mixture(&self) -> BorderResult<Mixture> {
        let (means, covariances) = (self.1.as_array(), self.2.as_array());
        let (k, d) = means.dim();
        if covariances.dim() != (k, d, d) {
            let got = format!("{:?}", covariances.dim());
            return Err(Error::shape("covariances of a mixture", format!("({k}, {d}, {d})"), got).into());
        }
        let mut packed = Vec::with_capacity(k * packed_len(d));
        for t in covariances.outer_iter() {
            packed.extend((0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|at| t[at]));
        }
        Ok(Mixture::new(self.0.as_array().to_vec(), means.iter().copied().collect(), packed, d)?)
    }
}

/// A mixture as arrays.
pub fn mixture_out<'py>(py: Python<'py>, mixture: &Mixture) -> PyResult<MixtureOut<'py>> {
    let (k, d) = (mixture.n_components(), mixture.n_features());
    let means = mixture.means().to_vec().into_pyarray(py).reshape([k, d])?.into_any();
    let element = |at: usize| mixture.covariance(at / (d * d))[packed_index(at / d % d, at % d)];
    let covariances: Vec<f64> = (0..k * d * d).map(element).collect();
    Ok((
        mixture.weights().to_vec().into_pyarray(py),
        means,
        covariances.into_pyarray(py).reshape([k, d, d])?.into_any(),
    ))
}

/// Parameters from Python; `n_components` None is automatic, up to `most`.
pub fn params(
    n_components: Option<i64>,
    most: i64,
    tol: f64,
    max_iter: i64,
    reg: f64,
    seed: u64,
    n_jobs: Option<i64>,
) -> PyResult<Params> {
    // A negative count is as wrong as zero, and the core says so.
    let count = |n: i64| usize::try_from(n).unwrap_or(0);
    let components = match n_components {
        Some(n) => Components::Fixed(count(n)),
        None => Components::Auto { most: count(most) },
    };
    let threads = threads::resolve(n_jobs)?;
    let params = Params { components, tol, max_iter: count(max_iter), reg, seed, threads };
    params.check().map_err(core_error)?;
    Ok(params)
}

pub fn fitted_out<'py>(py: Python<'py>, fitted: Fitted) -> PyResult<FittedOut<'py>> {
    let choice = fitted.choice.map(|choice| choice.log_likelihoods.into_pyarray(py));
    Ok((mixture_out(py, &fitted.mixture)?, fitted.history.into_pyarray(py), fitted.status.name(), choice))
}

/// The distribution behind noisy rows; `report(task, iteration, log-likelihood, nan)` hears of every step.
#[pyfunction]
#[pyo3(signature = (data, weights, *, n_components, max_components, tol, max_iter, reg_covar, seed, n_jobs, report))]
pub fn fit_denoiser<'py>(
    py: Python<'py>,
    data: &Gaussians,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_components: Option<i64>,
    max_components: i64,
    tol: f64,
    max_iter: i64,
    reg_covar: f64,
    seed: u64,
    n_jobs: Option<i64>,
    report: Option<Py<PyAny>>,
) -> PyResult<FittedOut<'py>> {
    let params = params(n_components, max_components, tol, max_iter, reg_covar, seed, n_jobs)?;
    let weights = weights.map(|w| w.as_array().to_vec());
    let data = data.inner.clone();
    let fitted = interrupt::run(py, report, |control| params.fit(&data, None, weights.as_deref(), control))?;
    fitted_out(py, fitted)
}

/// The posterior of every row's true value under this mixture.
#[pyfunction]
#[pyo3(signature = (data, mixture, n_jobs=None))]
pub fn denoise(
    py: Python<'_>,
    data: &Gaussians,
    mixture: MixtureIn<'_>,
    n_jobs: Option<i64>,
) -> BorderResult<Gaussians> {
    let denoiser = GaussianDenoiser::new(mixture.mixture()?);
    let (data, threads) = (data.inner.clone(), threads::resolve(n_jobs)?);
    let work = |control: &_| parallel::install(threads, || denoiser.transform(&data, control))?;
    Ok(interrupt::run(py, None, work)?.into())
}

/// log p of every row under this mixture, its own noise included.
#[pyfunction]
#[pyo3(signature = (data, mixture, n_jobs=None))]
pub fn mixture_log_likelihood<'py>(
    py: Python<'py>,
    data: &Gaussians,
    mixture: MixtureIn<'py>,
    n_jobs: Option<i64>,
) -> BorderResult<Floats<'py>> {
    let denoiser = GaussianDenoiser::new(mixture.mixture()?);
    let (data, threads) = (data.inner.clone(), threads::resolve(n_jobs)?);
    let work = |control: &_| parallel::install(threads, || denoiser.log_likelihood(&data, control))?;
    Ok(interrupt::run(py, None, work)?.into_pyarray(py))
}
