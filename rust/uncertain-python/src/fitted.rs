//! `Fitted`: whatever was fitted, for Python. One class and one `fit` for all models and transforms of the core.
//!
//! Parameters come as JSON text by the names that users write; attributes go back as arrays, and as JSON text what is
//! no array. Both are defined in the core ([`Step`]), so that a new model needs nothing here.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use ndarray::Array2;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
    PyReadonlyArrayDyn, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use uncertain::data::{Incomplete, Labels, Targets};
use uncertain::file;
use uncertain::state::{Folding, Predictor, RemoteRows, Tensor};
use uncertain::step::Step;
use uncertain::{Control, Dataset, Error, SquareMatrix, parallel};

use crate::error::{BorderError, BorderResult};
use crate::gaussians::Gaussians;
use crate::interrupt;
use crate::mixtures::{AnyRows, Mixtures};
use crate::numpy_in::shared_codes;
use crate::threads::{self, Jobs};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
type Vector<'py> = Option<PyReadonlyArray1<'py, f64>>;
type Codes<'py> = Option<PyReadonlyArray1<'py, u32>>;

/// Rows, with marks of their missing features (n, d) where there are any, and of limits among these.
#[derive(FromPyObject)]
pub(crate) enum RowsArgument<'py> {
    All(AnyRows<'py>),
    Marked(AnyRows<'py>, Option<PyReadonlyArray2<'py, bool>>),
    Limited(AnyRows<'py>, Option<PyReadonlyArray2<'py, bool>>, Option<PyReadonlyArray2<'py, i8>>),
}

impl RowsArgument<'_> {
    /// Are they mixtures?
    fn are_mixtures(&self) -> bool {
        let (Self::All(rows) | Self::Marked(rows, _) | Self::Limited(rows, _, _)) = self;
        matches!(rows, AnyRows::Mixtures(_))
    }
}

/// Owned rows, so that the GIL can go.
impl TryFrom<RowsArgument<'_>> for Dataset {
    type Error = BorderError;

    fn try_from(given: RowsArgument<'_>) -> BorderResult<Self> {
        let (rows, marks, limits) = match given {
            RowsArgument::All(rows) => (rows, None, None),
            RowsArgument::Marked(rows, marks) => (rows, marks, None),
            RowsArgument::Limited(rows, marks, limits) => (rows, marks, limits),
        };
        let mut data = match rows {
            AnyRows::Gaussians(rows) => Self::new(&*rows.inner),
            AnyRows::Mixtures(rows) => Self::new(&*rows.inner),
        };
        if let Some(marks) = marks {
            data = data.with_gaps(&marks.as_array())?;
        }
        if let Some(limits) = limits {
            data = data.with_limits(&limits.as_array())?;
        }
        Ok(data)
    }
}

/// A square matrix: dense, or compressed rows (starts, columns, values).
#[derive(FromPyObject)]
pub enum Graph<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Sparse(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>),
}

impl From<Graph<'_>> for SquareMatrix {
    fn from(graph: Graph<'_>) -> Self {
        match graph {
            Graph::Dense(values) => Self::Dense(values.as_array().to_owned()),
            Graph::Sparse(starts, indices, values) => Self::Sparse {
                starts: starts.as_array().iter().map(|&x| usize::try_from(x).unwrap_or(usize::MAX)).collect(),
                indices: indices.as_array().iter().map(|&x| u32::try_from(x).unwrap_or(u32::MAX)).collect(),
                values: values.as_array().to_vec(),
            },
        }
    }
}

/// A fitted model or transform.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct Fitted {
    pub inner: Arc<Step>,
    n_numbers: OnceLock<usize>,
}

impl From<Step> for Fitted {
    fn from(step: Step) -> Self {
        Self { inner: Arc::new(step), n_numbers: OnceLock::new() }
    }
}

/// Classes or targets of the rows of a fit, with weights and groups.
fn supervised(
    data: Dataset,
    classes: (Codes<'_>, usize),
    targets: Vector<'_>,
    variances: Vector<'_>,
    weights: Vector<'_>,
    groups: Codes<'_>,
) -> BorderResult<Dataset> {
    let mut data = data;
    if let (Some(codes), n_classes) = classes {
        data = data.with_labels(&Labels::from_shared(shared_codes(&codes), n_classes)?)?;
    }
    if let Some(targets) = targets {
        data = data.with_targets(&Targets::new(targets.as_array().to_vec())?)?;
    }
    if let Some(variances) = variances {
        data = data.with_target_variances(variances.as_array())?;
    }
    if let Some(weights) = weights {
        data = data.with_weights(weights.as_array())?;
    }
    if let Some(groups) = groups {
        data = data.with_groups(groups.as_array())?;
    }
    Ok(data)
}

/// Fit a model or transform of this kind.
///
/// `codes` are classes 0 .. n_classes, `targets` numbers with their `variances` and covariances with the features
/// (`crossed`, (n, d)), -1 and +1 for those that are `limits` below and above which they lie, `offsets` of a linear predictor, `modes` (n, k) and `modes_of_features` (n, d, k) of errors that rows share, `outputs` (outputs, n) numbers of which
/// some are NaN; `report(task, iteration, objective, gap)` hears of every iteration. With `online` it is one pass over
/// these rows that goes on from `before`.
#[pyfunction]
#[pyo3(signature = (kind, params, rows, *, codes=None, n_classes=0, targets=None, variances=None, outputs=None,
                    crossed=None, limits=None, offsets=None, modes=None, modes_of_features=None, weights=None, groups=None, graphs=None, n_jobs=None, report=None, online=false,
                    before=None, answer=None, whole=false))]
pub(crate) fn fit(
    py: Python<'_>,
    kind: &str,
    params: &str,
    rows: RowsArgument<'_>,
    codes: Codes<'_>,
    n_classes: usize,
    targets: Vector<'_>,
    variances: Vector<'_>,
    outputs: Option<PyReadonlyArray2<'_, f64>>,
    crossed: Option<PyReadonlyArray2<'_, f64>>,
    limits: Option<PyReadonlyArray1<'_, i8>>,
    offsets: Vector<'_>,
    modes: Option<PyReadonlyArray2<'_, f64>>,
    modes_of_features: Option<PyReadonlyArray3<'_, f64>>,
    weights: Vector<'_>,
    groups: Codes<'_>,
    graphs: Option<Vec<Option<Graph<'_>>>>,
    n_jobs: Jobs<'_>,
    report: Option<Py<PyAny>>,
    online: bool,
    before: Option<&Fitted>,
    answer: Option<Py<PyAny>>,
    whole: bool,
) -> BorderResult<Fitted> {
    let threads = threads::resolve(n_jobs)?;
    let mut data = supervised(rows.try_into()?, (codes, n_classes), targets, variances, weights, groups)?;
    if let Some(crossed) = crossed {
        data = data.with_feature_covariances(&crossed.as_array())?;
    }
    if let Some(limits) = limits {
        data = data.with_target_limits(limits.as_array())?;
    }
    if let Some(offsets) = offsets {
        data = data.with_offsets(offsets.as_array())?;
    }
    if let Some(modes) = modes {
        let of_features = modes_of_features.as_ref().map(|modes| modes.as_array());
        data = data.with_shared_errors(&modes.as_array(), of_features.as_ref())?;
    }
    if let Some(outputs) = outputs {
        data = data.with_outputs(&outputs.as_array().t(), n_classes)?;
    }
    let graphs = graphs.unwrap_or_default().into_iter().map(|graph| graph.map(SquareMatrix::from)).collect();
    let data = data.with_graphs(graphs);
    let before = before.map(|fitted| fitted.inner.clone());
    let (kind, params, remote) = (kind.to_owned(), params.to_owned(), answer.is_some());
    let step = interrupt::run_asking(py, report, answer, move |control, messenger| {
        let control = &control.clone().with_threads(threads);
        if remote {
            Step::fit_remote(&kind, &params, &RemoteRows { rows: &messenger, sample: &data, whole }, control)
        } else if online {
            Step::partial_fit(&kind, &params, before.as_deref(), &data, control)
        } else {
            Step::fit(&kind, &params, &data, control)
        }
    })?;
    Ok(step.into())
}

/// Fit a transform of this kind, and move the rows of the fit.
#[pyfunction]
#[pyo3(signature = (kind, params, rows, *, n_jobs=None, report=None))]
pub(crate) fn fit_transform(
    py: Python<'_>,
    kind: &str,
    params: &str,
    rows: RowsArgument<'_>,
    n_jobs: Jobs<'_>,
    report: Option<Py<PyAny>>,
) -> BorderResult<(Fitted, Gaussians)> {
    let threads = threads::resolve(n_jobs)?;
    if rows.are_mixtures() {
        return Err(Error::Data(
            "rows that are mixtures of several Gaussians are not taken here: collapse(\"gaussian\") makes one Gaussian of \
             each, with the mean and the covariance of its mixture"
                .into(),
        )
        .into());
    }
    let (kind, params, data) = (kind.to_owned(), params.to_owned(), Dataset::try_from(rows)?);
    let (step, moved) = interrupt::run(py, report, move |control| {
        Step::fit_transform(&kind, &params, &data, &control.clone().with_threads(threads))
    })?;
    Ok((step.into(), moved.into()))
}

/// Held-out losses along a path of penalties, the strongest first: (losses by penalty and fold, their means, standard
/// errors of the difference from the best, number of the one to take).
#[pyfunction]
#[pyo3(signature = (kind, params, rows, penalties, *, codes=None, n_classes=0, targets=None, variances=None,
                    weights=None, groups=None, n_jobs=None, report=None))]
pub(crate) fn penalty_path<'py>(
    py: Python<'py>,
    kind: &str,
    params: &str,
    rows: RowsArgument<'_>,
    penalties: Vec<f64>,
    codes: Codes<'py>,
    n_classes: usize,
    targets: Vector<'py>,
    variances: Vector<'py>,
    weights: Vector<'py>,
    groups: Codes<'py>,
    n_jobs: Jobs<'_>,
    report: Option<Py<PyAny>>,
) -> BorderResult<(Matrix<'py>, Floats<'py>, Floats<'py>, usize)> {
    let threads = threads::resolve(n_jobs)?;
    let data = supervised(rows.try_into()?, (codes, n_classes), targets, variances, weights, groups)?;
    let (kind, params) = (kind.to_owned(), params.to_owned());
    let path = interrupt::run(py, report, move |control| {
        Step::path(&kind, &params, &penalties, &data, &control.clone().with_threads(threads))
    })?;
    let (losses, means, errors) = (path.losses, path.means, path.errors);
    Ok((losses.into_pyarray(py), means.into_pyarray(py), errors.into_pyarray(py), path.chosen))
}

/// The names of the parameters of a kind.
#[pyfunction]
pub(crate) fn parameter_names(kind: &str) -> BorderResult<Vec<String>> {
    Ok(Step::parameter_names(kind)?)
}

/// An error if a parameter is unknown or out of range.
#[pyfunction]
pub(crate) fn check_parameters(kind: &str, params: &str) -> BorderResult<()> {
    Ok(Step::check_parameters(kind, params)?)
}

#[pymethods]
impl Fitted {
    /// From the bytes of [`Self::__reduce__`].
    #[new]
    fn new(bytes: &[u8]) -> BorderResult<Self> {
        Ok(file::step_from_bytes(bytes)?.into())
    }

    /// From parameters, and what `header` and `arrays` say, of a kind without rows.
    #[staticmethod]
    fn from_arrays(
        kind: &str,
        params: &str,
        header: &str,
        arrays: HashMap<String, PyReadonlyArrayDyn<'_, f64>>,
    ) -> BorderResult<Self> {
        let tensor = |array: PyReadonlyArrayDyn<'_, f64>| Tensor {
            shape: array.shape().to_vec(),
            values: array.as_array().iter().copied().collect(),
        };
        let arrays = arrays.into_iter().map(|(name, array)| (name, tensor(array))).collect();
        Ok(Step::from_arrays(kind, params, header, arrays)?.into())
    }

    /// Pickled as a model file of this step alone.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> BorderResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        let bytes = file::step_to_bytes(&slf.get().inner)?;
        Ok((slf.get_type(), (PyBytes::new(slf.py(), &bytes),)))
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    /// Parameters of the fit: JSON text, by the names that users write.
    #[getter]
    fn parameters(&self) -> BorderResult<String> {
        Ok(self.inner.parameters()?)
    }

    /// The header, JSON text.
    #[getter]
    fn header(&self) -> BorderResult<String> {
        Ok(self.inner.arrays()?.0)
    }

    /// All arrays by name, new ones in every call.
    fn arrays<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyDict>> {
        let arrays = PyDict::new(py);
        for named in self.inner.arrays()?.1 {
            arrays.set_item(named.name, named.tensor.values.into_pyarray(py).reshape(named.tensor.shape)?)?;
        }
        Ok(arrays)
    }

    /// Rows of the fit that belong to it.
    #[getter]
    fn rows(&self) -> Option<Gaussians> {
        self.inner.rows().map(|rows| rows.clone().into())
    }

    /// Features of the rows; None when any number will do.
    #[getter]
    fn n_features(&self) -> Option<usize> {
        self.inner.predictor().about().n_features
    }

    /// Classes, 0 of a regression, None of a transform.
    #[getter]
    fn n_classes(&self) -> Option<usize> {
        self.inner.predictor().about().n_classes
    }

    /// The rows that a transform makes of these.
    #[pyo3(signature = (rows, n_jobs=None))]
    fn transform<'py>(&self, py: Python<'py>, rows: RowsArgument<'_>, n_jobs: Jobs<'_>) -> PyResult<Bound<'py, PyAny>> {
        if !rows.are_mixtures() {
            let moved = self.ask(py, rows, n_jobs, |model, rows, control| model.transform(rows, control))?;
            return Ok(Bound::new(py, Gaussians::from(moved))?.into_any());
        }
        let (threads, step, data) = (threads::resolve(n_jobs)?, self.inner.clone(), Dataset::try_from(rows)?);
        let (operations, were_gaussian) = (self.operations(&data), !data.has_mixtures());
        let moved = interrupt::run_or_stay(py, operations, move |control| {
            parallel::offer(threads, || Folding(step.predictor()).transform_mixtures((&data).into(), control))
        })?;
        // Some transforms make one row of all components.
        if moved.is_gaussian() && !were_gaussian {
            return Ok(Bound::new(py, Gaussians::from(moved.components().clone()))?.into_any());
        }
        Ok(Bound::new(py, Mixtures::from(moved))?.into_any())
    }

    /// Undo `transform`.
    fn inverse_transform<'py>(&self, py: Python<'py>, data: AnyRows<'_>) -> BorderResult<Bound<'py, PyAny>> {
        let step = self.inner.clone();
        Ok(match data {
            AnyRows::Gaussians(rows) => {
                let rows = rows.inner.clone();
                let moved = py.detach(|| step.predictor().inverse_transform(&rows))?;
                Bound::new(py, Gaussians::from(moved)).map(Bound::into_any)
            }
            AnyRows::Mixtures(rows) => {
                let rows = rows.inner.clone();
                let moved = py.detach(|| Folding(step.predictor()).inverse_mixtures(&rows))?;
                Bound::new(py, Mixtures::from(moved)).map(Bound::into_any)
            }
        }?)
    }

    /// Mean scores, (n, 1) or (n, K); predictions of a regression, (n, 1); features of a map.
    #[pyo3(signature = (rows, n_jobs=None))]
    fn decision<'py>(&self, py: Python<'py>, rows: RowsArgument<'_>, n_jobs: Jobs<'_>) -> PyResult<Matrix<'py>> {
        self.matrix(py, rows, n_jobs, |model, rows, control| model.decision(rows, control))
    }

    /// Means and standard deviations of the scores.
    #[pyo3(signature = (rows, n_jobs=None))]
    fn decision_distribution<'py>(
        &self,
        py: Python<'py>,
        rows: RowsArgument<'_>,
        n_jobs: Jobs<'_>,
    ) -> PyResult<(Matrix<'py>, Matrix<'py>)> {
        let (means, stds) =
            self.ask(py, rows, n_jobs, |model, rows, control| model.decision_distribution(rows, control))?;
        Ok((PyArray2::from_owned_array(py, means), PyArray2::from_owned_array(py, stds)))
    }

    /// Class probabilities, (n, K).
    #[pyo3(signature = (rows, n_jobs=None))]
    fn predict_proba<'py>(&self, py: Python<'py>, rows: RowsArgument<'_>, n_jobs: Jobs<'_>) -> PyResult<Matrix<'py>> {
        self.matrix(py, rows, n_jobs, |model, rows, control| model.predict_proba(rows, control))
    }

    /// Their logarithms, exact where the model knows them.
    #[pyo3(signature = (rows, n_jobs=None))]
    fn log_proba<'py>(&self, py: Python<'py>, rows: RowsArgument<'_>, n_jobs: Jobs<'_>) -> PyResult<Matrix<'py>> {
        self.matrix(py, rows, n_jobs, |model, rows, control| model.log_proba(rows, control))
    }

    /// Densities of the targets, mixtures of K normal distributions: weights, means, standard deviations, each (n, K).
    #[pyo3(signature = (rows, n_jobs=None))]
    fn densities<'py>(
        &self,
        py: Python<'py>,
        rows: RowsArgument<'_>,
        n_jobs: Jobs<'_>,
    ) -> PyResult<(Matrix<'py>, Matrix<'py>, Matrix<'py>)> {
        let found = self.ask(py, rows, n_jobs, |model, rows, control| model.densities(rows, control))?;
        let [weights, means, stds] = found.arrays();
        let matrix = |values| PyArray2::from_owned_array(py, values);
        Ok((matrix(weights), matrix(means), matrix(stds)))
    }

    /// Quantiles of these densities, (n, levels).
    #[pyo3(signature = (rows, levels, n_jobs=None))]
    fn quantiles<'py>(
        &self,
        py: Python<'py>,
        rows: RowsArgument<'_>,
        levels: Vec<f64>,
        n_jobs: Jobs<'_>,
    ) -> PyResult<Matrix<'py>> {
        self.matrix(py, rows, n_jobs, move |model, rows, control| model.densities(rows, control)?.quantiles(&levels))
    }

    /// log p of every row, its noise included.
    #[pyo3(signature = (rows, n_jobs=None))]
    fn log_likelihood<'py>(&self, py: Python<'py>, rows: RowsArgument<'_>, n_jobs: Jobs<'_>) -> PyResult<Floats<'py>> {
        let logs = self.ask(py, rows, n_jobs, |model, rows, control| model.log_likelihood(rows, control))?;
        Ok(logs.into_pyarray(py))
    }
}

impl Fitted {
    /// A question about rows, without the GIL.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        rows: RowsArgument<'_>,
        n_jobs: Jobs<'_>,
        question: impl Fn(&dyn Predictor, Incomplete<'_>, &Control) -> Result<T, Error> + Send + Sync + 'static,
    ) -> PyResult<T> {
        let (threads, step, data) = (threads::resolve(n_jobs)?, self.inner.clone(), Dataset::try_from(rows)?);
        interrupt::run_or_stay(py, self.operations(&data), move |control| {
            parallel::offer(threads, || question(&Folding(step.predictor()), (&data).into(), control))
        })
    }

    /// Of a question about these rows, roughly: each row meets every number of the model, in d dimensions.
    fn operations(&self, data: &Dataset) -> f64 {
        let (n, d) = (data.n_gaussians() as f64, data.n_features() as f64);
        n * d * (d * d + *self.n_numbers.get_or_init(|| self.inner.n_numbers()) as f64)
    }

    fn matrix<'py>(
        &self,
        py: Python<'py>,
        rows: RowsArgument<'_>,
        n_jobs: Jobs<'_>,
        question: impl Fn(&dyn Predictor, Incomplete<'_>, &Control) -> Result<Array2<f64>, Error> + Send + Sync + 'static,
    ) -> PyResult<Matrix<'py>> {
        Ok(PyArray2::from_owned_array(py, self.ask(py, rows, n_jobs, question)?))
    }
}
