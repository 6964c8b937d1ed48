//! Adaptive Huber regression for Python: parameters in, fitted machines out. `python/uncertain/huber` is the user.

use std::sync::Arc;

use ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple, PyType};
use uncertain::file::{self, Class, Saved, Step};
use uncertain::huber::{Graph, Kernel, Machine, Operator, Outcome, Params, Sparse, ValidParams, View};
use uncertain::{Control, Error, parallel};

use crate::error::BorderResult;
use crate::gaussians::Gaussians;
use crate::{interrupt, supervision, threads};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Threshold tried and reached, labels left and dropped, objective, Newton steps, attempts.
type Refined = (f64, f64, usize, usize, f64, usize, usize);
/// Intercept, thresholds, removed rows and their residuals, history, objective, steps, ending.
type Told<'py> = (f64, Floats<'py>, Bound<'py, PyArray1<i64>>, Floats<'py>, Vec<Refined>, f64, usize, &'static str);
/// Starts, columns and values of sparse rows.
type Csr<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);
/// What a pickle calls, and with what.
type Reduced<'py> = (Bound<'py, PyType>, Bound<'py, PyTuple>);

/// One view: columns, kernel, weight, graph.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct HuberView {
    inner: View,
}

#[pymethods]
impl HuberView {
    /// `graph`: "none", "knn", "rbf", "weights" or "regularizer"; the last two with a matrix, dense or sparse.
    #[new]
    #[pyo3(signature = (*, columns, kernel, gamma, degree, coef0, coupling, weight, graph, n_neighbors, graph_gamma,
                        dense=None, sparse=None))]
    fn new(
        columns: Option<Vec<usize>>,
        kernel: &str,
        gamma: Option<f64>,
        degree: u32,
        coef0: f64,
        coupling: &str,
        weight: f64,
        graph: &str,
        n_neighbors: usize,
        graph_gamma: Option<f64>,
        dense: Option<PyReadonlyArray2<'_, f64>>,
        sparse: Option<Csr<'_>>,
    ) -> BorderResult<Self> {
        let kernel = match kernel {
            "linear" => Kernel::Linear,
            "quadratic" => Kernel::Quadratic,
            "polynomial" => Kernel::Polynomial { degree, gamma, coef0 },
            "rbf" | "probabilistic" => Kernel::Rbf { gamma, coupling: coupling.parse()? },
            "precomputed" => Kernel::Precomputed,
            other => {
                let names = "\"linear\", \"quadratic\", \"polynomial\", \"rbf\", \"probabilistic\" or \"precomputed\"";
                return Err(Error::parameter("kernel", format!("{other:?}"), names).into());
            }
        };
        let graph = match graph {
            "none" => Graph::None,
            "knn" => Graph::Neighbors { count: n_neighbors, gamma: graph_gamma },
            "rbf" => Graph::Full { gamma: graph_gamma },
            given => Graph::Given { matrix: operator(dense, sparse)?, regulariser: given == "regularizer" },
        };
        Ok(Self { inner: View { columns, kernel, weight, graph } })
    }
}

fn operator(dense: Option<PyReadonlyArray2<'_, f64>>, sparse: Option<Csr<'_>>) -> BorderResult<Operator> {
    if let Some((starts, indices, values)) = sparse {
        let index = |x: &i64| usize::try_from(*x).unwrap_or(usize::MAX);
        let starts: Vec<usize> = starts.as_array().iter().map(index).collect();
        let indices = indices.as_array().iter().map(|x| u32::try_from(*x).unwrap_or(u32::MAX)).collect();
        return Ok(Operator::Sparse(Sparse::new(starts, indices, values.as_array().to_vec())?));
    }
    match dense {
        Some(dense) => {
            let dense = dense.as_array();
            Ok(Operator::Dense { n: dense.nrows(), values: dense.iter().copied().collect() })
        }
        None => Err(Error::parameter("graph", "without a matrix", "a matrix, or a name").into()),
    }
}

fn told<'py>(py: Python<'py>, outcome: &Outcome) -> Told<'py> {
    let removed: Vec<i64> = outcome.removed.iter().map(|row| i64::try_from(*row).unwrap_or(i64::MAX)).collect();
    let history = outcome
        .history
        .iter()
        .map(|step| (step.tried, step.threshold, step.labels, step.dropped, step.objective, step.steps, step.attempts));
    (
        outcome.intercept,
        outcome.thresholds.clone().into_pyarray(py),
        removed.into_pyarray(py),
        outcome.removed_residuals.clone().into_pyarray(py),
        history.collect(),
        outcome.objective,
        outcome.steps,
        outcome.ending.name(),
    )
}

/// Checked parameters.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct HuberParams {
    pub inner: ValidParams,
}

#[pymethods]
impl HuberParams {
    #[new]
    #[pyo3(signature = (views, *, alpha, manifold_alpha, between_alpha, delta, max_refinements, threshold,
                        fit_intercept, normalized, probability, seed, max_bytes, n_jobs))]
    fn new(
        views: Vec<PyRef<'_, HuberView>>,
        alpha: f64,
        manifold_alpha: f64,
        between_alpha: f64,
        delta: f64,
        max_refinements: usize,
        threshold: Option<f64>,
        fit_intercept: bool,
        normalized: bool,
        probability: bool,
        seed: u64,
        max_bytes: Option<u64>,
        n_jobs: Option<i64>,
    ) -> BorderResult<Self> {
        let params = Params {
            alpha,
            manifold_alpha,
            between_alpha,
            delta,
            max_refinements,
            threshold,
            fit_intercept,
            normalized,
            views: views.iter().map(|view| view.inner.clone()).collect(),
            seed,
            max_bytes,
            threads: threads::resolve(n_jobs)?,
            ..Params::new().probability(probability)
        };
        Ok(Self { inner: params.check()? })
    }

    /// Fit to targets (outputs, n), NaN without a label; `n_classes` is 0 for a regression.
    #[pyo3(signature = (rows, targets, n_classes, weights=None, groups=None, report=None))]
    fn fit(
        &self,
        py: Python<'_>,
        rows: &Gaussians,
        targets: PyReadonlyArray2<'_, f64>,
        n_classes: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        groups: Option<PyReadonlyArray1<'_, u32>>,
        report: Option<Py<PyAny>>,
    ) -> BorderResult<HuberModel> {
        let targets: Vec<Vec<f64>> = targets.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
        let weights = supervision::weights(weights.as_ref())?;
        let groups = groups.map(|groups| groups.as_array().to_vec());
        let data = &*rows.inner;
        let machine = interrupt::run(py, report, |control| {
            let model = self.inner.fit_groups(data, &targets, weights.as_ref(), groups.as_deref(), control)?;
            Machine::new(model, Some(data.clone()), n_classes)
        })?;
        Ok(machine.into())
    }
}

/// A fitted regression or classifier with the rows of its fit.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct HuberModel {
    pub inner: Arc<Machine>,
}

impl From<Machine> for HuberModel {
    fn from(machine: Machine) -> Self {
        Self { inner: Arc::new(machine) }
    }
}

#[pymethods]
impl HuberModel {
    /// From the bytes of [`Self::__reduce__`].
    #[new]
    fn new(bytes: &[u8]) -> BorderResult<Self> {
        match file::load_from_bytes(bytes)?.steps.pop() {
            Some(Step::Huber { machine, .. }) => Ok((*machine).into()),
            _ => Err(Error::ModelFile("it holds another kind of model than a Huber regression".into()).into()),
        }
    }

    /// Pickled as a model file, with parameters that only count the views.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> BorderResult<Reduced<'py>> {
        let (py, machine) = (slf.py(), &slf.get().inner);
        let view = |part: &uncertain::huber::Part| View {
            columns: part.columns.clone(),
            kernel: part.kernel,
            weight: part.weight,
            graph: Graph::None,
        };
        let params = Params::new().views(machine.model().parts.iter().map(view).collect()).check()?;
        let classes = (0..machine.n_classes()).map(|k| Class::Int(k as i64)).collect();
        let saved = Saved::new(vec![Step::huber(Machine::clone(machine), params)], classes);
        let bytes = PyBytes::new(py, &file::save_to_bytes(&saved)?);
        Ok((slf.get_type(), PyTuple::new(py, [bytes])?))
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.n_features()
    }

    #[getter]
    fn n_classes(&self) -> usize {
        self.inner.n_classes()
    }

    #[getter]
    fn n_labels(&self) -> usize {
        self.inner.model().n_labelled
    }

    #[getter]
    fn has_probabilities(&self) -> bool {
        self.inner.model().platt.is_some()
    }

    /// Rows of the fit; None with a precomputed kernel.
    #[getter]
    fn rows(&self) -> Option<Gaussians> {
        self.inner.rows().map(|rows| rows.clone().into())
    }

    /// Scale of each view's kernel.
    #[getter]
    fn gammas(&self) -> Vec<Option<f64>> {
        self.inner.model().parts.iter().map(|part| part.kernel.gamma()).collect()
    }

    /// w of each view, (n, outputs).
    #[getter]
    fn coef<'py>(&self, py: Python<'py>) -> Vec<Matrix<'py>> {
        let parts = self.inner.model().parts.iter();
        parts.map(|part| PyArray2::from_owned_array(py, part.coef.clone())).collect()
    }

    /// How the refinements of each output went.
    #[getter]
    fn outcomes<'py>(&self, py: Python<'py>) -> Vec<Told<'py>> {
        self.inner.model().outcomes.iter().map(|outcome| told(py, outcome)).collect()
    }

    /// Values of the outputs, (n, outputs).
    #[pyo3(signature = (x, n_jobs=None))]
    fn decision<'py>(&self, py: Python<'py>, x: &Gaussians, n_jobs: Option<i64>) -> BorderResult<Matrix<'py>> {
        self.answer(py, n_jobs, |machine, control| machine.decision(&x.inner, control))
    }

    /// Means and standard deviations of the outputs, each (n, outputs).
    #[pyo3(signature = (x, n_jobs=None))]
    fn decision_distribution<'py>(
        &self,
        py: Python<'py>,
        x: &Gaussians,
        n_jobs: Option<i64>,
    ) -> BorderResult<(Matrix<'py>, Matrix<'py>)> {
        let (machine, x, threads) = (&*self.inner, &*x.inner, threads::resolve(n_jobs)?);
        let (means, stds) = interrupt::run(py, None, |control| {
            parallel::install(threads, || machine.decision_distribution(x, control))?
        })?;
        Ok((PyArray2::from_owned_array(py, means), PyArray2::from_owned_array(py, stds)))
    }

    /// Probabilities of the classes, (n, K).
    #[pyo3(signature = (x, n_jobs=None))]
    fn predict_proba<'py>(&self, py: Python<'py>, x: &Gaussians, n_jobs: Option<i64>) -> BorderResult<Matrix<'py>> {
        self.answer(py, n_jobs, |machine, control| machine.predict_proba(&x.inner, control))
    }
}

impl HuberModel {
    fn answer<'py>(
        &self,
        py: Python<'py>,
        n_jobs: Option<i64>,
        question: impl Fn(&Machine, &Control) -> uncertain::Result<Array2<f64>> + Send + Sync,
    ) -> BorderResult<Matrix<'py>> {
        let (machine, threads) = (&*self.inner, threads::resolve(n_jobs)?);
        let values = interrupt::run(py, None, |control| parallel::install(threads, || question(machine, control))?)?;
        Ok(PyArray2::from_owned_array(py, values))
    }
}

/// The parameters as arguments of the Python classes; one view is no list of views.
pub fn arguments<'py>(py: Python<'py>, params: &Params, classes: bool) -> PyResult<Bound<'py, PyDict>> {
    let arguments = PyDict::new(py);
    arguments.set_item("alpha", params.alpha)?;
    arguments.set_item("manifold_alpha", params.manifold_alpha)?;
    arguments.set_item("between_alpha", params.between_alpha)?;
    arguments.set_item("delta", params.delta)?;
    arguments.set_item("max_refinements", params.max_refinements)?;
    arguments.set_item("threshold", params.threshold)?;
    arguments.set_item("fit_intercept", params.fit_intercept)?;
    if classes {
        arguments.set_item("probability", params.calibration.probability)?;
    }
    let views = &params.views;
    let regulariser = |view: &View| matches!(view.graph, Graph::Given { regulariser: true, .. });
    let laplacian = match params.normalized {
        _ if views.iter().any(regulariser) => None,
        true => Some("normalized"),
        false => Some("unnormalized"),
    };
    arguments.set_item("laplacian", laplacian)?;
    let columns: Vec<_> = views.iter().map(|view| view.columns.clone()).collect();
    if columns.iter().any(Option::is_some) {
        arguments.set_item("views", columns)?;
        arguments.set_item("view_weights", views.iter().map(|view| view.weight).collect::<Vec<_>>())?;
    }
    set_per_view(&arguments, "kernel", views.iter().map(|view| view.kernel.name()).collect())?;
    set_per_view(&arguments, "gamma", views.iter().map(|view| view.kernel.gamma()).collect())?;
    set_per_view(&arguments, "graph", views.iter().map(|view| graph_name(&view.graph)).collect())?;
    for view in views {
        match view.kernel {
            Kernel::Polynomial { degree, coef0, .. } => {
                arguments.set_item("degree", degree)?;
                arguments.set_item("coef0", coef0)?;
            }
            Kernel::Rbf { coupling, .. } => arguments.set_item("coupling", coupling.name())?,
            Kernel::Linear | Kernel::Quadratic | Kernel::Precomputed => {}
        }
        if let Graph::Neighbors { count, .. } = view.graph {
            arguments.set_item("n_neighbors", count)?;
        }
        if let Graph::Neighbors { gamma, .. } | Graph::Full { gamma } = view.graph {
            arguments.set_item("graph_gamma", gamma)?;
        }
    }
    Ok(arguments)
}

fn set_per_view<'py, T: IntoPyObject<'py> + Clone>(
    arguments: &Bound<'py, PyDict>,
    name: &str,
    values: Vec<T>,
) -> PyResult<()> {
    match <[T; 1]>::try_from(values) {
        Ok([value]) => arguments.set_item(name, value),
        Err(values) => arguments.set_item(name, PyList::new(arguments.py(), values)?),
    }
}

/// A matrix stays behind: its name refuses to be fitted.
fn graph_name(graph: &Graph) -> Option<&'static str> {
    match graph {
        Graph::None => None,
        Graph::Neighbors { .. } => Some("knn"),
        Graph::Full { .. } => Some("rbf"),
        Graph::Given { .. } => Some("given"),
    }
}
