//! Adaptive Huber regression for Python: rows and targets in, arrays out. `python/uncertain/huber.py` is the
//! user and keeps the arrays; nothing fitted lives here.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use uncertain::huber::{Graph, Kernel, Operator, Outcome, Params, Part, Sparse, View, predict};
use uncertain::{Error, parallel};

use crate::error::BorderResult;
use crate::gaussians::Gaussians;
use crate::{interrupt, threads};

type Floats<'py> = Bound<'py, PyArray1<f64>>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Threshold tried and reached, labels left and dropped, objective, Newton steps, attempts.
type Step = (f64, f64, usize, usize, f64, usize, usize);
/// Intercept, thresholds, removed rows and their residuals, history, objective, steps, ending.
type Told<'py> = (f64, Floats<'py>, Bound<'py, PyArray1<i64>>, Floats<'py>, Vec<Step>, f64, usize, &'static str);
/// Starts, columns and values of sparse rows.
type Csr<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

/// Gamma of each view's kernel, w of each view, one report per output, number of labels.
type Fitted<'py> = (Vec<Option<f64>>, Vec<Matrix<'py>>, Vec<Told<'py>>, usize);

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

fn told(py: Python<'_>, outcome: Outcome) -> Told<'_> {
    let removed: Vec<i64> = outcome.removed.iter().map(|row| i64::try_from(*row).unwrap_or(i64::MAX)).collect();
    let history = outcome
        .history
        .iter()
        .map(|step| (step.tried, step.threshold, step.labels, step.dropped, step.objective, step.steps, step.attempts));
    (
        outcome.intercept,
        outcome.thresholds.into_pyarray(py),
        removed.into_pyarray(py),
        outcome.removed_residuals.into_pyarray(py),
        history.collect(),
        outcome.objective,
        outcome.steps,
        outcome.ending.name(),
    )
}

/// (gamma of each view's kernel, w of each view as (n, outputs), one report per output, number of labels).
#[pyfunction]
#[pyo3(signature = (rows, targets, weights, views, *, alpha, manifold_alpha, between_alpha, delta, max_refinements,
                    threshold, fit_intercept, normalized, max_bytes, n_jobs, report))]
pub fn fit_huber<'py>(
    py: Python<'py>,
    rows: &Gaussians,
    targets: PyReadonlyArray2<'py, f64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    views: Vec<PyRef<'py, HuberView>>,
    alpha: f64,
    manifold_alpha: f64,
    between_alpha: f64,
    delta: f64,
    max_refinements: usize,
    threshold: Option<f64>,
    fit_intercept: bool,
    normalized: bool,
    max_bytes: Option<u64>,
    n_jobs: Option<i64>,
    report: Option<Py<PyAny>>,
) -> BorderResult<Fitted<'py>> {
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
        max_bytes,
        threads: threads::resolve(n_jobs)?,
    };
    let params = params.check()?;
    let targets: Vec<Vec<f64>> = targets.as_array().rows().into_iter().map(|row| row.to_vec()).collect();
    let weights = weights.map(|weights| weights.as_array().to_vec());
    let data = &rows.inner;
    let model = interrupt::run(py, report, |control| params.fit(data, &targets, weights.as_deref(), control))?;
    let gammas = model.parts.iter().map(|part| part.kernel.gamma()).collect();
    let coef = model.parts.into_iter().map(|part| PyArray2::from_owned_array(py, part.coef)).collect();
    let outcomes = model.outcomes.into_iter().map(|outcome| told(py, outcome)).collect();
    Ok((gammas, coef, outcomes, model.n_labelled))
}

/// Predictions (n, outputs) for new rows from w of each view and the rows of the fit.
#[pyfunction]
#[pyo3(signature = (new, rows, views, coef, intercepts, *, n_jobs))]
pub fn apply_huber<'py>(
    py: Python<'py>,
    new: &Gaussians,
    rows: &Gaussians,
    views: Vec<PyRef<'py, HuberView>>,
    coef: Vec<PyReadonlyArray2<'py, f64>>,
    intercepts: Vec<f64>,
    n_jobs: Option<i64>,
) -> BorderResult<Matrix<'py>> {
    let part = |(view, coef): (&PyRef<'py, HuberView>, &PyReadonlyArray2<'py, f64>)| Part {
        columns: view.inner.columns.clone(),
        kernel: view.inner.kernel,
        weight: view.inner.weight,
        coef: coef.as_array().to_owned(),
    };
    let parts: Vec<Part> = views.iter().zip(&coef).map(part).collect();
    let threads = threads::resolve(n_jobs)?;
    let (new, rows) = (&new.inner, &rows.inner);
    let values = interrupt::run(py, None, |control| {
        parallel::install(threads, || predict(&parts, &intercepts, new, rows, control))?
    })?;
    Ok(PyArray2::from_owned_array(py, values))
}
