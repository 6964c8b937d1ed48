//! Model files for Python: the steps of a fitted pipeline in, bytes out, and back.
//! `python/uncertain/_model/file.py` is its user.

use std::path::PathBuf;

use numpy::{IntoPyArray, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use uncertain::file::{self, Class, Saved};
use uncertain::step::{Average, Step};

use crate::error::BorderResult;
use crate::fitted::Fitted;

/// A class label; the order matters, because Python's `True` is an integer too.
#[derive(FromPyObject, IntoPyObject)]
pub enum Label {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

impl From<Label> for Class {
    fn from(label: Label) -> Self {
        match label {
            Label::Bool(value) => Self::Bool(value),
            Label::Int(value) => Self::Int(value),
            Label::Float(value) => Self::Float(value),
            Label::Text(value) => Self::Text(value),
        }
    }
}

impl From<Class> for Label {
    fn from(class: Class) -> Self {
        match class {
            Class::Bool(value) => Self::Bool(value),
            Class::Int(value) => Self::Int(value),
            Class::Float(value) => Self::Float(value),
            Class::Text(value) => Self::Text(value),
        }
    }
}

/// Steps, classes, feature names, and JSON about columns.
type Parts = (Vec<Fitted>, Vec<Label>, Vec<String>, String);

/// The bytes of a model file.
#[pyfunction]
pub(crate) fn model_to_bytes<'py>(
    py: Python<'py>,
    steps: Vec<PyRef<'_, Fitted>>,
    classes: Vec<Label>,
    features: Vec<String>,
    columns: String,
) -> BorderResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &file::save_to_bytes(&saved(&steps, classes, features, columns))?))
}

/// Write a model file; it appears complete or not at all.
#[pyfunction]
pub(crate) fn write_model(
    path: PathBuf,
    steps: Vec<PyRef<'_, Fitted>>,
    classes: Vec<Label>,
    features: Vec<String>,
    columns: String,
) -> BorderResult<()> {
    Ok(file::write(path, &saved(&steps, classes, features, columns))?)
}

/// (steps, classes, features, columns) of the bytes of a model file.
#[pyfunction]
pub(crate) fn model_from_bytes(py: Python<'_>, bytes: &[u8]) -> BorderResult<Parts> {
    Ok(parts(py.detach(|| file::load_from_bytes(bytes))?))
}

/// Contents of a file.
#[pyfunction]
pub(crate) fn read_model(py: Python<'_>, path: PathBuf) -> BorderResult<Parts> {
    Ok(parts(py.detach(|| file::read(path))?))
}

/// Fitted pipelines that answer together, each a list of steps, with weights that sum to 1 at every level of noise (levels x
/// members), and the errors of typical rows.
#[pyfunction]
pub(crate) fn average(
    members: Vec<Vec<PyRef<'_, Fitted>>>,
    weights: PyReadonlyArray2<'_, f64>,
    sizes: Vec<f64>,
) -> BorderResult<Fitted> {
    let steps = |steps: &Vec<PyRef<'_, Fitted>>| steps.iter().map(|fitted| Step::clone(&fitted.inner)).collect();
    let members = members.iter().map(steps).collect();
    Ok(Step::from_model(Average::by_level(members, weights.as_array().to_owned(), sizes)?).into())
}

type Members<'py> = (Vec<Vec<Fitted>>, Bound<'py, PyArray2<f64>>, Vec<f64>);

/// Inverse of [`average`].
#[pyfunction]
pub(crate) fn members_of<'py>(py: Python<'py>, fitted: &Fitted) -> BorderResult<Members<'py>> {
    let Step::Average(with) = &*fitted.inner else {
        return Err(uncertain::Error::Data(format!("a {} has no members", fitted.inner.kind())).into());
    };
    let steps = |steps: &Vec<Step>| steps.iter().cloned().map(Fitted::from).collect();
    let weights = with.model.weights().clone().into_pyarray(py);
    Ok((with.model.members().iter().map(steps).collect(), weights, with.model.sizes().to_vec()))
}

fn saved(steps: &[PyRef<'_, Fitted>], classes: Vec<Label>, features: Vec<String>, columns: String) -> Saved {
    let steps = steps.iter().map(|fitted| Step::clone(&fitted.inner)).collect();
    let mut saved = Saved::new(steps, classes.into_iter().map(Class::from).collect());
    (saved.features, saved.columns) = (features, columns);
    saved
}

fn parts(saved: Saved) -> Parts {
    let Saved { steps, classes, features, columns, .. } = saved;
    let steps = steps.into_iter().map(Fitted::from).collect();
    (steps, classes.into_iter().map(Label::from).collect(), features, columns)
}
