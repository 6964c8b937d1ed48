//! Model files for Python: the parts of a fitted pipeline in, bytes out, and back.
//! `python/uncertain/_file.py` is its user.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use uncertain::Error;
use uncertain::deconvolution::Mixture;
use uncertain::file::{self, Class, Saved, Step};
use uncertain::gsu::Params;
use uncertain::kernel::PointKernel;
use uncertain::probabilistic_kernel::{Bandwidth, Coupling};
use uncertain::solver::smo::Options;
use uncertain::transform::{GaussianDenoiser, GaussianImputer, GaussianScaler, SubspaceProjector};

use crate::deconvolution::{DiscriminantIn, MixtureIn, discriminant_of_step, mixture_out, step_of_discriminant};
use crate::error::BorderResult;
use crate::gsu::{GsuModel, GsuParams};
use crate::huber::{self, HuberModel, HuberParams};
use crate::kernel_svm::{FeatureSvc, FeatureSvcParams, KernelSvc, KernelSvcParams, KernelSvr, KernelSvrParams};
use crate::regression::{RegressionIn, parts_of_step, step_of_parts};
use crate::robust::{MinimaxParams, RobustParams, parts_of_minimax, parts_of_robust};
use crate::transforms::{MapIn, map_of_parts, parts_of_map};

/// A step as Python writes it: (model, parameters), (model, accuracies, parameters), (mean, scale), (variance, project),
/// the parts of a kernel map, a regression or a discriminant, or ("denoiser" or "imputer", shares, means, covariances).
#[derive(FromPyObject)]
pub enum StepIn<'py> {
    Gsu(PyRef<'py, GsuModel>, PyRef<'py, GsuParams>),
    Robust(PyRef<'py, GsuModel>, PyRef<'py, RobustParams>),
    Minimax(PyRef<'py, GsuModel>, PyReadonlyArray1<'py, f64>, PyRef<'py, MinimaxParams>),
    KernelSvc(PyRef<'py, KernelSvc>, PyRef<'py, KernelSvcParams>),
    FeatureSvc(PyRef<'py, FeatureSvc>, PyRef<'py, FeatureSvcParams>),
    KernelSvr(PyRef<'py, KernelSvr>, PyRef<'py, KernelSvrParams>),
    Huber(PyRef<'py, HuberModel>, PyRef<'py, HuberParams>),
    Scaler(PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>),
    Subspace(f64, String),
    #[pyo3(transparent)]
    KernelMap(MapIn<'py>),
    Mixture(String, PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>, PyReadonlyArray3<'py, f64>),
    #[pyo3(transparent)]
    Regression(RegressionIn<'py>),
    #[pyo3(transparent)]
    Discriminant(DiscriminantIn<'py>),
}

/// A class label; the order matters, because Python's `True` is an integer too.
#[derive(FromPyObject, IntoPyObject)]
pub enum Label {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

type Parts<'py> = (Vec<Bound<'py, PyAny>>, Vec<Label>, Vec<String>, String);

/// The bytes of a model file.
#[pyfunction]
pub fn model_to_bytes<'py>(
    py: Python<'py>,
    steps: Vec<StepIn<'_>>,
    classes: Vec<Label>,
    features: Vec<String>,
    columns: String,
) -> BorderResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &file::save_to_bytes(&saved(steps, classes, features, columns)?)?))
}

/// Write a model file; it appears complete or not at all.
#[pyfunction]
pub fn write_model(
    path: PathBuf,
    steps: Vec<StepIn<'_>>,
    classes: Vec<Label>,
    features: Vec<String>,
    columns: String,
) -> BorderResult<()> {
    Ok(file::write(path, &saved(steps, classes, features, columns)?)?)
}

/// (steps, classes, features, columns) of the bytes of a model file; steps are (kind, ...).
#[pyfunction]
pub fn model_from_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> BorderResult<Parts<'py>> {
    parts(py, py.detach(|| file::load_from_bytes(bytes))?)
}

/// The same of a file.
#[pyfunction]
pub fn read_model(py: Python<'_>, path: PathBuf) -> BorderResult<Parts<'_>> {
    parts(py, py.detach(|| file::read(path))?)
}

fn saved(steps: Vec<StepIn<'_>>, classes: Vec<Label>, features: Vec<String>, columns: String) -> BorderResult<Saved> {
    let steps = steps.into_iter().map(step).collect::<BorderResult<_>>()?;
    let mut saved = Saved::new(steps, classes.into_iter().map(class).collect());
    (saved.features, saved.columns) = (features, columns);
    Ok(saved)
}

fn step(step: StepIn<'_>) -> BorderResult<Step> {
    Ok(match step {
        StepIn::Gsu(model, params) => Step::gsu(model.inner.as_ref().clone(), params.inner.clone()),
        StepIn::Robust(model, params) => Step::robust(model.inner.linear.clone(), params.inner.clone()),
        StepIn::Minimax(model, accuracy, params) => {
            Step::minimax(model.inner.linear.clone(), accuracy.as_array().to_vec(), params.inner.clone())
        }
        StepIn::KernelSvc(model, params) => Step::kernel_svc(model.model()?.clone(), params.inner.clone()),
        StepIn::FeatureSvc(model, params) => Step::feature_svc((*model.inner).clone(), params.inner.clone()),
        StepIn::KernelSvr(model, params) => Step::kernel_svr(model.model()?.clone(), params.inner.clone()),
        StepIn::Huber(model, params) => Step::huber((*model.inner).clone(), params.inner.clone()),
        StepIn::Scaler(mean, scale) => {
            Step::Scaler(GaussianScaler::new(mean.as_array().to_vec(), scale.as_array().to_vec())?)
        }
        StepIn::Regression(parts) => step_of_parts(parts)?,
        StepIn::Discriminant(parts) => step_of_discriminant(parts)?,
        StepIn::KernelMap(parts) => Step::KernelMap(Box::new(map_of_parts(&parts)?)),
        StepIn::Mixture(kind, weights, means, covariances) => {
            let mixture = MixtureIn(weights, means, covariances).mixture()?;
            match kind.as_str() {
                "denoiser" => Step::Denoiser(GaussianDenoiser::new(mixture)),
                "imputer" => Step::Imputer(GaussianImputer::new(mixture)),
                other => return Err(Error::parameter("step", other, "\"denoiser\" or \"imputer\"").into()),
            }
        }
        StepIn::Subspace(variance, project) => Step::Subspace(SubspaceProjector::new(variance, project.parse()?)?),
    })
}

fn class(label: Label) -> Class {
    match label {
        Label::Bool(value) => Class::Bool(value),
        Label::Int(value) => Class::Int(value),
        Label::Float(value) => Class::Float(value),
        Label::Text(value) => Class::Text(value),
    }
}

fn label(class: Class) -> Label {
    match class {
        Class::Bool(value) => Label::Bool(value),
        Class::Int(value) => Label::Int(value),
        Class::Float(value) => Label::Float(value),
        Class::Text(value) => Label::Text(value),
    }
}

fn parts(py: Python<'_>, saved: Saved) -> BorderResult<Parts<'_>> {
    let steps = saved.steps.into_iter().map(|step| described(py, step)).collect::<PyResult<_>>()?;
    Ok((steps, saved.classes.into_iter().map(label).collect(), saved.features, saved.columns))
}

fn described(py: Python<'_>, step: Step) -> PyResult<Bound<'_, PyAny>> {
    let tuple = match step {
        Step::Robust { model, params } => return parts_of_robust(py, *model, params.params()),
        Step::Minimax { model, params } => return parts_of_minimax(py, *model, params.params()),
        Step::Regression { model, params } => return parts_of_step(py, *model, params.params()),
        Step::Discriminant { model, params, report } => return discriminant_of_step(py, &model, &params, *report),
        Step::Huber { machine, params } => {
            let arguments = huber::arguments(py, params.params(), machine.n_classes() > 0)?;
            ("huber", Bound::new(py, HuberModel::from(*machine))?, arguments).into_pyobject(py)?
        }
        Step::Scaler(scaler) => {
            let (mean, scale) = (scaler.mean().to_vec(), scaler.scale().to_vec());
            ("scaler", mean.into_pyarray(py), scale.into_pyarray(py)).into_pyobject(py)?
        }
        Step::Subspace(projector) => {
            ("subspace", projector.variance(), projector.project().name()).into_pyobject(py)?
        }
        Step::KernelMap(map) => {
            let (degree, coef0) = match map.kernel() {
                PointKernel::Polynomial { degree, coef0, .. } => (Some(degree), Some(coef0)),
                _ => (None, None),
            };
            ("kernel map", map.kernel().name(), degree, coef0, parts_of_map(py, &map)?).into_pyobject(py)?
        }
        Step::Denoiser(denoiser) => described_mixture(py, "denoiser", denoiser.mixture())?,
        Step::Imputer(imputer) => described_mixture(py, "imputer", imputer.mixture())?,
        Step::Gsu { model, params } => {
            ("gsu", Bound::new(py, GsuModel::from(*model))?, arguments(py, params.params())?).into_pyobject(py)?
        }
        Step::KernelSvc { model, params } => {
            let params = params.params();
            let arguments = kernel_arguments(py, params.c, params.sigma, params.coupling, &params.options)?;
            arguments.set_item("probability", params.calibration.probability)?;
            ("kernel-svc", Bound::new(py, KernelSvc::from(*model))?, arguments).into_pyobject(py)?
        }
        Step::FeatureSvc { model, params } => {
            let params = params.params();
            let options = Options { tol: params.options.tol, max_iter: params.options.max_iter, ..Options::default() };
            let arguments = kernel_arguments(py, params.c, params.sigma, params.coupling, &options)?;
            arguments.del_item("shrinking")?;
            arguments.set_item("n_components", params.n_components)?;
            arguments.set_item("approximation", params.approximation.name())?;
            arguments.set_item("probability", params.calibration.probability)?;
            ("feature-svc", Bound::new(py, FeatureSvc::from(*model))?, arguments).into_pyobject(py)?
        }
        Step::KernelSvr { model, params } => {
            let params = params.params();
            let arguments = kernel_arguments(py, params.c, params.sigma, params.coupling, &params.options)?;
            arguments.set_item("epsilon", params.epsilon)?;
            ("kernel-svr", Bound::new(py, KernelSvr::from(*model))?, arguments).into_pyobject(py)?
        }
    };
    Ok(tuple.into_any())
}

fn described_mixture<'py>(py: Python<'py>, kind: &str, mixture: &Mixture) -> PyResult<Bound<'py, PyTuple>> {
    let (weights, means, covariances) = mixture_out(py, mixture)?;
    (kind, weights, means, covariances).into_pyobject(py)
}

/// The parameters as arguments of `GSUClassifier`.
fn arguments<'py>(py: Python<'py>, params: &Params) -> PyResult<Bound<'py, PyDict>> {
    let arguments = PyDict::new(py);
    arguments.set_item("alpha", params.alpha)?;
    arguments.set_item("solver", params.solver.name())?;
    arguments.set_item("tol", params.options.tol)?;
    arguments.set_item("max_iter", params.options.max_iter)?;
    arguments.set_item("batch_size", params.options.batch_size)?;
    arguments.set_item("averaging", params.options.averaging)?;
    arguments.set_item("projection", params.options.projection)?;
    arguments.set_item("fit_intercept", params.fit_intercept)?;
    arguments.set_item("probability", params.calibration.probability)?;
    Ok(arguments)
}

/// The parameters that both kernel machines have, as arguments of their Python classes.
fn kernel_arguments<'py>(
    py: Python<'py>,
    c: f64,
    sigma: Bandwidth,
    coupling: Coupling,
    options: &Options,
) -> PyResult<Bound<'py, PyDict>> {
    let arguments = PyDict::new(py);
    arguments.set_item("C", c)?;
    match sigma {
        Bandwidth::Fixed(sigma) => arguments.set_item("sigma", sigma)?,
        Bandwidth::Median => arguments.set_item("sigma", "median")?,
    }
    arguments.set_item("coupling", coupling.name())?;
    arguments.set_item("tol", options.tol)?;
    let max_iter = options.max_iter.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
    arguments.set_item("max_iter", max_iter)?;
    arguments.set_item("shrinking", options.shrinking)?;
    Ok(arguments)
}
