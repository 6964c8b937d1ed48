//! `Part`: a partition of the rows, which answers requests with sums.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use uncertain::partition::{Partition, SideColumns};
use uncertain::sums;

use crate::error::BorderResult;
use crate::gaussians::Gaussians;
use crate::interrupt;
use crate::threads::{self, Jobs};

type Floats<'py> = Bound<'py, PyArray1<f64>>;

/// A partition of the rows of a fit, with what is known of them.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct Part {
    inner: Arc<Partition>,
}

#[pymethods]
impl Part {
    #[new]
    #[pyo3(signature = (rows, *, missing=None, codes=None, targets=None, variances=None, weights=None, folds=None))]
    fn new(
        py: Python<'_>,
        rows: PyRef<'_, Gaussians>,
        missing: Option<PyReadonlyArray2<'_, bool>>,
        codes: Option<PyReadonlyArray1<'_, u32>>,
        targets: Option<PyReadonlyArray1<'_, f64>>,
        variances: Option<PyReadonlyArray1<'_, f64>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        folds: Option<PyReadonlyArray1<'_, u32>>,
    ) -> BorderResult<Self> {
        let numbers = |array: PyReadonlyArray1<'_, f64>| array.as_array().to_vec();
        let codes_of = |array: PyReadonlyArray1<'_, u32>| array.as_array().to_vec();
        let columns = SideColumns {
            missing: missing.map(|marks| marks.as_array().iter().copied().collect()),
            codes: codes.map(codes_of),
            targets: targets.map(numbers),
            variances: variances.map(numbers),
            weights: weights.map(numbers),
            folds: folds.map(codes_of),
        };
        let data = rows.inner.clone();
        let inner = py.detach(|| Partition::new((*data).clone(), columns))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    /// Of all numbers, with 52 bits.
    #[getter]
    fn checksum(&self) -> f64 {
        self.inner.checksum()
    }

    /// The rows.
    #[getter]
    fn rows(&self) -> Gaussians {
        self.inner.rows().gaussians().clone().into()
    }

    /// Marks of missing features, where there are any.
    #[getter]
    fn missing<'py>(&self, py: Python<'py>) -> BorderResult<Option<Bound<'py, PyAny>>> {
        let rows = self.inner.rows();
        let shape = (rows.gaussians().n_rows(), rows.gaussians().n_features());
        let marks = rows.missing().map(|marks| marks.to_vec().into_pyarray(py).reshape([shape.0, shape.1]));
        Ok(marks.transpose()?.map(Bound::into_any))
    }

    /// Classes, targets, their variances, weights and folds: what the constructor takes, where it is known.
    fn known<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyTuple>> {
        let SideColumns { codes, targets, variances, weights, folds, missing: _ } = self.inner.columns();
        let numbers = |values: Option<Vec<f64>>| values.map(|values| values.into_pyarray(py));
        let whole = |values: Option<Vec<u32>>| values.map(|values| values.into_pyarray(py));
        let all = (whole(codes), numbers(targets), numbers(variances), numbers(weights), whole(folds));
        Ok(all.into_pyobject(py)?)
    }

    /// Supervision of these rows behind a transform.
    #[pyo3(signature = (rows, missing=None))]
    fn moved(
        &self,
        py: Python<'_>,
        rows: PyRef<'_, Gaussians>,
        missing: Option<PyReadonlyArray2<'_, bool>>,
    ) -> BorderResult<Self> {
        let marks = missing.map(|marks| marks.as_array().iter().copied().collect());
        let data = rows.inner.clone();
        let inner = py.detach(|| self.inner.moved((*data).clone(), marks))?;
        Ok(Self { inner: Arc::new(inner) })
    }

    /// These rows with their target as the last feature.
    fn with_target(&self, py: Python<'_>) -> BorderResult<Self> {
        Ok(Self { inner: Arc::new(py.detach(|| self.inner.with_target())?) })
    }
}

/// One flat buffer of sums over the rows of a part: version, rows, checksum, then the answers to the requests of a fit.
#[pyfunction]
#[pyo3(signature = (part, requests, n_jobs=None))]
pub(crate) fn partial_sums<'py>(
    py: Python<'py>,
    part: &Part,
    requests: &[u8],
    n_jobs: Jobs<'_>,
) -> PyResult<Floats<'py>> {
    let (threads, requests) = (threads::resolve(n_jobs)?, requests.to_vec());
    let part = Arc::clone(&part.inner);
    let sums = interrupt::run(py, None, move |control| part.answer(&requests, threads, control))?;
    Ok(sums.into_pyarray(py))
}

/// The buffers of several parts as one, added in their order.
#[pyfunction]
pub(crate) fn merged_sums<'py>(
    py: Python<'py>,
    requests: &[u8],
    parts: Vec<PyReadonlyArray1<'py, f64>>,
) -> BorderResult<Floats<'py>> {
    let parts: Vec<Vec<f64>> = parts.iter().map(|part| part.as_array().to_vec()).collect();
    Ok(sums::add_partitions(requests, &parts)?.into_pyarray(py))
}
