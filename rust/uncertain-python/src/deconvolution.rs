//! Extreme deconvolution for Python: Gaussians in, the mixture as arrays out, and posteriors, gaps
//! or class probabilities from them. `_denoiser.py`, `_imputer.py` and `discriminant.py` keep the arrays; nothing
//! fitted lives here.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use uncertain::data::covariance::{packed_index, packed_len};
use uncertain::deconvolution::{Components, Fitted, Mixture, Params, Report, ValidParams};
use uncertain::file::Step;
use uncertain::transform::{GaussianDenoiser, GaussianImputer};
use uncertain::{Error, GaussianArray, Incomplete, discriminant, parallel};

use crate::error::BorderResult;
use crate::gaussians::Gaussians;
use crate::supervision::{labels, weights as weights_of};
use crate::{interrupt, threads};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Shares (K,), means (K, d), covariances (K, d, d).
pub type MixtureOut<'py> = (Floats<'py>, Bound<'py, PyAny>, Bound<'py, PyAny>);
/// The history of the log-likelihood, iterations, how it ended, held-out log-likelihoods if K was chosen.
type ReportOut<'py> = (Floats<'py>, usize, &'static str, Option<Floats<'py>>);
type FittedOut<'py> = (MixtureOut<'py>, ReportOut<'py>);

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

/// Parameters of EM as a Python dictionary; `n_components` None is automatic, up to `max_components`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct EmIn {
    n_components: Option<i64>,
    max_components: i64,
    tol: f64,
    max_iter: i64,
    acceleration: Option<String>,
    reg_covar: f64,
    seed: u64,
    n_jobs: Option<i64>,
}

impl EmIn {
    /// Checked.
    pub fn params(&self) -> BorderResult<ValidParams> {
        // A negative count is as wrong as zero, and the core says so.
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        let accelerate = match self.acceleration.as_deref() {
            None => false,
            Some("squarem") => true,
            Some(other) => return Err(Error::parameter("acceleration", other, "\"squarem\" or None").into()),
        };
        let params = Params {
            components: match self.n_components {
                Some(n) => Components::Fixed(count(n)),
                None => Components::Auto { most: count(self.max_components) },
            },
            tol: self.tol,
            max_iter: count(self.max_iter),
            accelerate,
            reg: self.reg_covar,
            seed: self.seed,
            threads: threads::resolve(self.n_jobs)?,
        };
        Ok(params.check()?)
    }
}

pub fn fitted_out(py: Python<'_>, fitted: Fitted) -> PyResult<FittedOut<'_>> {
    let choice = fitted.choice.map(|choice| choice.log_likelihoods.into_pyarray(py));
    let mixture = mixture_out(py, &fitted.mixture)?;
    Ok((mixture, (fitted.history.into_pyarray(py), fitted.n_iter, fitted.status.name(), choice)))
}

/// Marks of missing features (n, d); None when all are there.
pub type MissingIn<'py> = Option<PyReadonlyArray2<'py, bool>>;

/// Row by row.
pub fn marks(missing: &MissingIn<'_>) -> Option<Vec<bool>> {
    missing.as_ref().map(|marks| marks.as_array().iter().copied().collect())
}

/// Rows with their marks.
pub fn with_gaps<'a>(data: &'a GaussianArray, marks: &'a Option<Vec<bool>>) -> uncertain::Result<Incomplete<'a>> {
    marks.as_ref().map_or(Ok(data.into()), |marks| Incomplete::new(data, marks))
}

/// The distribution behind noisy rows; `report(task, iteration, log-likelihood, nan)` hears of every step.
#[pyfunction]
pub fn fit_denoiser<'py>(
    py: Python<'py>,
    data: &Gaussians,
    missing: MissingIn<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    em: EmIn,
    report: Option<Py<PyAny>>,
) -> BorderResult<FittedOut<'py>> {
    let params = em.params()?;
    let weights = weights_of(weights.as_ref())?;
    let (data, marks) = (data.inner.clone(), marks(&missing));
    let (_, fitted) = interrupt::run(py, report, |control| {
        GaussianDenoiser::fit(&params, with_gaps(&data, &marks)?, weights.as_ref(), control)
    })?;
    Ok(fitted_out(py, fitted)?)
}

/// The posterior of every row's true value under this mixture.
#[pyfunction]
#[pyo3(signature = (data, missing, mixture, n_jobs=None))]
pub fn denoise(
    py: Python<'_>,
    data: &Gaussians,
    missing: MissingIn<'_>,
    mixture: MixtureIn<'_>,
    n_jobs: Option<i64>,
) -> BorderResult<Gaussians> {
    let denoiser = GaussianDenoiser::new(mixture.mixture()?);
    let (data, marks, threads) = (data.inner.clone(), marks(&missing), threads::resolve(n_jobs)?);
    let work = |control: &_| parallel::install(threads, || denoiser.transform(with_gaps(&data, &marks)?, control))?;
    Ok(interrupt::run(py, None, work)?.into())
}

/// log p of every row under this mixture, its own noise included.
#[pyfunction]
#[pyo3(signature = (data, missing, mixture, n_jobs=None))]
pub fn mixture_log_likelihood<'py>(
    py: Python<'py>,
    data: &Gaussians,
    missing: MissingIn<'py>,
    mixture: MixtureIn<'py>,
    n_jobs: Option<i64>,
) -> BorderResult<Floats<'py>> {
    let denoiser = GaussianDenoiser::new(mixture.mixture()?);
    let (data, marks, threads) = (data.inner.clone(), marks(&missing), threads::resolve(n_jobs)?);
    let work =
        |control: &_| parallel::install(threads, || denoiser.log_likelihood(with_gaps(&data, &marks)?, control))?;
    Ok(interrupt::run(py, None, work)?.into_pyarray(py))
}

/// A Gaussian discriminant: the components of all classes with their shares of all rows, and how the fit went.
#[pyfunction]
pub fn fit_discriminant<'py>(
    py: Python<'py>,
    data: &Gaussians,
    missing: MissingIn<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    n_classes: usize,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    priors: Option<PyReadonlyArray1<'py, f64>>,
    shared: bool,
    em: EmIn,
    report: Option<Py<PyAny>>,
) -> BorderResult<FittedOut<'py>> {
    let priors = priors.map(|p| p.as_array().to_vec());
    let em = em.params()?.params().clone();
    let params = discriminant::Params { shared, priors, em }.check()?;
    let labels = labels(&codes, n_classes, weights.as_ref(), None)?;
    let (data, marks) = (data.inner.clone(), marks(&missing));
    let (_, fitted) = interrupt::run(py, report, |control| params.fit(with_gaps(&data, &marks)?, &labels, control))?;
    Ok(fitted_out(py, fitted)?)
}

/// log P(class | row), (n, C), from the components of all classes, class by class.
#[pyfunction]
#[pyo3(signature = (data, missing, mixture, n_classes, n_jobs=None))]
pub fn discriminant_log_proba<'py>(
    py: Python<'py>,
    data: &Gaussians,
    missing: MissingIn<'py>,
    mixture: MixtureIn<'py>,
    n_classes: usize,
    n_jobs: Option<i64>,
) -> BorderResult<Matrix<'py>> {
    let model = discriminant::Model::new(mixture.mixture()?, n_classes)?;
    let (data, marks, threads) = (data.inner.clone(), marks(&missing), threads::resolve(n_jobs)?);
    let work = |control: &_| parallel::install(threads, || model.log_proba(with_gaps(&data, &marks)?, control))?;
    Ok(PyArray2::from_owned_array(py, interrupt::run(py, None, work)?))
}

/// Mean and standard deviation of the score of an exact point in every row's Gaussian, (n, 1) or (n, C).
#[pyfunction]
#[pyo3(signature = (data, missing, mixture, n_classes, n_jobs=None))]
pub fn discriminant_distribution<'py>(
    py: Python<'py>,
    data: &Gaussians,
    missing: MissingIn<'py>,
    mixture: MixtureIn<'py>,
    n_classes: usize,
    n_jobs: Option<i64>,
) -> BorderResult<(Matrix<'py>, Matrix<'py>)> {
    let model = discriminant::Model::new(mixture.mixture()?, n_classes)?;
    let (data, marks, threads) = (data.inner.clone(), marks(&missing), threads::resolve(n_jobs)?);
    let work =
        |control: &_| parallel::install(threads, || model.decision_distribution(with_gaps(&data, &marks)?, control))?;
    let (means, stds) = interrupt::run(py, None, work)?;
    Ok((PyArray2::from_owned_array(py, means), PyArray2::from_owned_array(py, stds)))
}

/// A discriminant for a model file, as Python writes it: all components, classes, how the fit went, (shared covariance,
/// priors), parameters of EM.
#[derive(FromPyObject)]
pub struct DiscriminantIn<'py>(
    MixtureIn<'py>,
    usize,
    (PyReadonlyArray1<'py, f64>, usize, String),
    (bool, Option<PyReadonlyArray1<'py, f64>>),
    EmIn,
);

/// The step of a model file.
pub fn step_of_discriminant(parts: DiscriminantIn<'_>) -> BorderResult<Step> {
    let DiscriminantIn(mixture, n_classes, (history, n_iter, status), (shared, priors), em) = parts;
    let model = discriminant::Model::new(mixture.mixture()?, n_classes)?;
    let priors = priors.map(|p| p.as_array().to_vec());
    let em = em.params()?.params().clone();
    let params = discriminant::Params { shared, priors, em }.check()?;
    let report = Report { history: history.as_array().to_vec(), n_iter, status: status.parse()? };
    Ok(Step::discriminant(model, params, report))
}

/// ("discriminant", mixture, classes, how the fit went, arguments of `GaussianDiscriminant`) of such a step.
pub fn discriminant_of_step<'py>(
    py: Python<'py>,
    model: &discriminant::Model,
    params: &discriminant::ValidParams,
    report: Report,
) -> PyResult<Bound<'py, PyAny>> {
    let arguments = PyDict::new(py);
    let params = params.params();
    let em = &params.em;
    arguments.set_item("shared_covariance", params.shared)?;
    arguments.set_item("n_components", model.mixture().n_components() / model.n_classes())?;
    arguments.set_item("priors", params.priors.clone())?;
    arguments.set_item("tol", em.tol)?;
    arguments.set_item("max_iter", em.max_iter)?;
    arguments.set_item("acceleration", em.accelerate.then_some("squarem"))?;
    arguments.set_item("reg_covar", em.reg)?;
    let report = (report.history.into_pyarray(py), report.n_iter, report.status.name());
    let tuple = ("discriminant", mixture_out(py, model.mixture())?, model.n_classes(), report, arguments);
    Ok(tuple.into_pyobject(py)?.into_any())
}

/// The distribution of features of which some are missing; with `codes`, a mixture over the classes.
#[pyfunction]
pub fn fit_imputer<'py>(
    py: Python<'py>,
    data: &Gaussians,
    missing: PyReadonlyArray2<'py, bool>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    codes: Option<PyReadonlyArray1<'py, u32>>,
    n_classes: usize,
    em: EmIn,
    report: Option<Py<PyAny>>,
) -> BorderResult<FittedOut<'py>> {
    let params = em.params()?;
    let labels = codes.map(|codes| labels(&codes, n_classes, weights.as_ref(), None)).transpose()?;
    let weights = weights_of(weights.as_ref())?;
    let missing: Vec<bool> = missing.as_array().iter().copied().collect();
    let data = data.inner.clone();
    let (_, fitted) = interrupt::run(py, report, |control| {
        let rows = Incomplete::new(&data, &missing)?;
        match &labels {
            Some(labels) => GaussianImputer::fit_classes(&params, rows, labels, control),
            None => GaussianImputer::fit(&params, rows, weights.as_ref(), control),
        }
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
    let work =
        |control: &_| parallel::install(threads, || imputer.transform(Incomplete::new(&data, &missing)?, control))?;
    Ok(interrupt::run(py, None, work)?.into())
}
