//! Extreme deconvolution for Python: Gaussians in, the mixture as arrays out, and posteriors, gaps
//! or class probabilities from them. `_denoiser.py`, `_imputer.py` and `discriminant.py` keep the arrays; nothing
//! fitted lives here.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use uncertain::data::covariance::{packed_index, packed_len};
use uncertain::deconvolution::{Components, Fitted, Mixture, Params};
use uncertain::transform::{GaussianDenoiser, GaussianImputer};
use uncertain::{Error, Labels, discriminant, parallel};

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
pub struct MixtureIn<'py>(
    pub PyReadonlyArray1<'py, f64>,
    pub PyReadonlyArray2<'py, f64>,
    pub PyReadonlyArray3<'py, f64>,
);

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

/// Labels from codes, weights beside them.
fn labels(
    codes: &PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    weights: Option<&PyReadonlyArray1<'_, f64>>,
) -> BorderResult<Labels> {
    let labels = Labels::new(codes.as_array().to_vec(), n_classes)?;
    Ok(match weights {
        Some(weights) => labels.with_weights(weights.as_array().to_vec())?,
        None => labels,
    })
}

/// (the components of all classes with their shares of all rows, history, status) of a Gaussian discriminant.
#[pyfunction]
#[pyo3(signature = (data, codes, n_classes, weights, priors, *, shared, n_components, tol, max_iter, reg_covar, seed,
                    n_jobs, report))]
pub fn fit_discriminant<'py>(
    py: Python<'py>,
    data: &Gaussians,
    codes: PyReadonlyArray1<'py, u32>,
    n_classes: usize,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    priors: Option<PyReadonlyArray1<'py, f64>>,
    shared: bool,
    n_components: i64,
    tol: f64,
    max_iter: i64,
    reg_covar: f64,
    seed: u64,
    n_jobs: Option<i64>,
    report: Option<Py<PyAny>>,
) -> BorderResult<(MixtureOut<'py>, Floats<'py>, &'static str)> {
    let em = params(Some(n_components), 1, tol, max_iter, reg_covar, seed, n_jobs)?;
    let priors = priors.map(|p| p.as_array().to_vec());
    let params = discriminant::Params { shared, priors, em };
    let labels = labels(&codes, n_classes, weights.as_ref())?;
    let data = data.inner.clone();
    let (model, fitted) = interrupt::run(py, report, |control| params.fit(&data, &labels, control))?;
    Ok((mixture_out(py, model.mixture())?, fitted.history.into_pyarray(py), fitted.status.name()))
}

/// log P(class | row), (n, C), from the components of all classes, class by class.
#[pyfunction]
#[pyo3(signature = (data, mixture, n_classes, n_jobs=None))]
pub fn discriminant_log_proba<'py>(
    py: Python<'py>,
    data: &Gaussians,
    mixture: MixtureIn<'py>,
    n_classes: usize,
    n_jobs: Option<i64>,
) -> BorderResult<Bound<'py, PyArray2<f64>>> {
    let model = discriminant::Model::new(mixture.mixture()?, n_classes)?;
    let (data, threads) = (data.inner.clone(), threads::resolve(n_jobs)?);
    let work = |control: &_| parallel::install(threads, || model.log_proba(&data, control))?;
    Ok(PyArray2::from_owned_array(py, interrupt::run(py, None, work)?))
}

/// The distribution of features of which some are missing; with `codes`, a mixture over the classes.
#[pyfunction]
#[pyo3(signature = (data, missing, weights, codes, n_classes, *, n_components, max_components, tol, max_iter, reg_covar,
                    seed, n_jobs, report))]
pub fn fit_imputer<'py>(
    py: Python<'py>,
    data: &Gaussians,
    missing: PyReadonlyArray2<'py, bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    codes: Option<PyReadonlyArray1<'py, u32>>,
    n_classes: usize,
    n_components: Option<i64>,
    max_components: i64,
    tol: f64,
    max_iter: i64,
    reg_covar: f64,
    seed: u64,
    n_jobs: Option<i64>,
    report: Option<Py<PyAny>>,
) -> BorderResult<FittedOut<'py>> {
    let params = params(n_components, max_components, tol, max_iter, reg_covar, seed, n_jobs)?;
    let labels = codes.map(|codes| labels(&codes, n_classes, None)).transpose()?;
    let weights = weights.map(|w| w.as_array().to_vec());
    let missing: Vec<bool> = missing.as_array().iter().copied().collect();
    let data = data.inner.clone();
    let (_, fitted) = interrupt::run(py, report, |control| {
        GaussianImputer::fit(&params, &data, &missing, weights.as_deref(), labels.as_ref(), control)
    })?;
    Ok(fitted_out(py, fitted)?)
}

/// The rows with what is missing replaced by conditional Gaussians.
#[pyfunction]
#[pyo3(signature = (data, missing, mixture, n_jobs=None))]
pub fn impute(
    py: Python<'_>,
    data: &Gaussians,
    missing: PyReadonlyArray2<'_, bool>,
    mixture: MixtureIn<'_>,
    n_jobs: Option<i64>,
) -> BorderResult<Gaussians> {
    let imputer = GaussianImputer::new(mixture.mixture()?);
    let missing: Vec<bool> = missing.as_array().iter().copied().collect();
    let (data, threads) = (data.inner.clone(), threads::resolve(n_jobs)?);
    let work = |control: &_| parallel::install(threads, || imputer.transform(&data, &missing, control))?;
    Ok(interrupt::run(py, None, work)?.into())
}
