//! `Mixtures`: a shared, immutable `MixtureArray` of the core, with the methods of `Gaussians`.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use uncertain::{GaussianArray, MixtureArray};

use crate::arrow_out::{self, OneColumn};
use crate::error::BorderResult;
use crate::gaussians::{Gaussians, whole};
use crate::interrupt;
use crate::rows::wide_array;

/// n mixtures of Gaussians in d dimensions; the public class `uncertain.MixtureArray` wraps it as `_core`.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct Mixtures {
    pub inner: Arc<MixtureArray>,
}

impl From<MixtureArray> for Mixtures {
    fn from(inner: MixtureArray) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

/// Gaussians or mixtures of them.
#[derive(FromPyObject)]
pub(crate) enum AnyRows<'py> {
    Gaussians(PyRef<'py, Gaussians>),
    Mixtures(PyRef<'py, Mixtures>),
}

impl From<AnyRows<'_>> for MixtureArray {
    fn from(rows: AnyRows<'_>) -> Self {
        match rows {
            AnyRows::Gaussians(rows) => (&*rows.inner).into(),
            AnyRows::Mixtures(rows) => (*rows.inner).clone(),
        }
    }
}

#[pymethods]
impl Mixtures {
    /// Components, row after row; where those of every row begin, and one more for the end; the weight of each.
    #[new]
    fn new(
        py: Python<'_>,
        components: &Gaussians,
        offsets: PyReadonlyArray1<'_, i64>,
        weights: PyReadonlyArray1<'_, f64>,
    ) -> BorderResult<Self> {
        let (offsets, weights) = (whole(offsets, "offset")?, weights.as_array().to_vec());
        let components = (*components.inner).clone();
        Ok(py.detach(|| MixtureArray::new(components, offsets, weights))?.into())
    }

    /// The kind of the components.
    #[getter]
    fn kind(&self) -> &'static str {
        self.inner.components().covariances().kind().name()
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.n_features()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.components().warnings().to_vec()
    }

    #[getter]
    fn components(&self) -> Gaussians {
        self.inner.components().clone().into()
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.inner.offsets().iter().map(|&at| at as i64).collect::<Vec<_>>().into_pyarray(py)
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.inner.weights().to_vec().into_pyarray(py)
    }

    /// The type that the means of the components are stored in.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.inner.components().means().element_type().name()
    }

    /// These rows stored as "float64" or, rounded, as "float32".
    fn stored_as(&self, py: Python<'_>, dtype: &str) -> BorderResult<Self> {
        let to = dtype.parse()?;
        Ok(py.detach(|| self.inner.stored_as(to))?.into())
    }

    /// (n, d) array of the means of the mixtures.
    #[getter]
    fn means<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let moments = Bound::new(py, self.collapse(py, "gaussian")?)?;
        wide_array(moments.get().inner.means(), moments.as_any())
    }

    /// Rows from `start` to `stop`; the components share the memory.
    fn slice(&self, start: usize, stop: usize) -> Self {
        self.inner.slice(start..stop).into()
    }

    /// The rows with these numbers, copied.
    fn take(&self, py: Python<'_>, rows: PyReadonlyArray1<'_, i64>) -> BorderResult<Self> {
        let numbers = whole(rows, "row")?;
        Ok(py.detach(|| self.inner.take(&numbers))?.into())
    }

    /// The features with these numbers alone.
    fn columns(&self, py: Python<'_>, columns: PyReadonlyArray1<'_, i64>) -> BorderResult<Self> {
        let numbers = whole(columns, "feature")?;
        Ok(py.detach(|| self.inner.columns(&numbers))?.into())
    }

    /// The features of all arrays beside each other, independent.
    #[staticmethod]
    fn hstack(py: Python<'_>, arrays: Vec<AnyRows<'_>>) -> BorderResult<Self> {
        let pieces: Vec<MixtureArray> = arrays.into_iter().map(MixtureArray::from).collect();
        Ok(py.detach(|| MixtureArray::hstack(&pieces))?.into())
    }

    /// The rows of all arrays below each other.
    #[staticmethod]
    fn concat(py: Python<'_>, arrays: Vec<AnyRows<'_>>) -> BorderResult<Self> {
        let pieces: Vec<MixtureArray> = arrays.into_iter().map(MixtureArray::from).collect();
        Ok(py.detach(|| MixtureArray::concat(&pieces))?.into())
    }

    /// One Gaussian per row, "gaussian" with all moments of second order, or simpler ones: "zero", "isotropic", "diagonal".
    fn collapse(&self, py: Python<'_>, to: &str) -> BorderResult<Gaussians> {
        let to = if to == "gaussian" { None } else { Some(to.parse()?) };
        let collapse = || -> uncertain::Result<GaussianArray> {
            let moments = self.inner.collapse()?;
            to.map_or(Ok(moments.clone()), |to| moments.collapse(to))
        };
        Ok(py.detach(collapse)?.into())
    }

    /// `n` draws of every row as exact points, the draws of a row adjacent.
    fn sample(&self, py: Python<'_>, n: usize, seed: u64) -> BorderResult<Gaussians> {
        let (own, d) = (self.inner.clone(), self.inner.n_features() as f64);
        let operations = self.inner.n_rows() as f64 * d * d * n as f64 * (1.0 + d);
        let drawn = interrupt::run_or_leave(py, operations, move || own.sample(n, seed));
        Ok(drawn.map_err(crate::error::BorderError::Python)??.into())
    }

    /// Dense covariance matrices of the mixtures, a new array of shape (n, d, d).
    fn covariances<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyAny>> {
        self.collapse(py, "gaussian")?.covariances(py)
    }

    /// The skewness of every feature's mixture, (n, d).
    fn skewness<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyArray2<f64>>> {
        let values = py.detach(|| self.inner.skewness())?;
        Ok(values.into_pyarray(py).reshape([self.inner.n_rows(), self.inner.n_features()])?)
    }

    /// The trace of every covariance matrix.
    fn trace<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyArray1<f64>>> {
        self.collapse(py, "gaussian")?.trace(py)
    }

    /// The Arrow PyCapsule stream: lists of weight, mean and, by kind, std, var, cov or factor.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        arrow_out::stream_mixtures(py, &self.inner, None)
    }

    /// Rows as one column of structs, whose field has this name and metadata.
    fn arrow_column<'py>(
        &self,
        py: Python<'py>,
        name: String,
        metadata: HashMap<String, String>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_out::stream_mixtures(py, &self.inner, Some(OneColumn { name, metadata }))
    }

    /// Bytes of a row, on average.
    #[getter]
    fn row_bytes(&self) -> usize {
        self.inner.row_bytes()
    }
}
