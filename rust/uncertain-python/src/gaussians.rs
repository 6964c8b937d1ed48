//! `Gaussians`: a shared, immutable `GaussianArray` of the core.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use uncertain::data::Covariances;
use uncertain::data::{Collapse, Names};
use uncertain::{Error, GaussianArray};

use crate::arrow_out::{self, OneColumn};
use crate::error::{BorderError, BorderResult, core_error, listing};
use crate::interrupt;
use crate::rows::{Rows, stored_array, wide_array};

/// n Gaussians in d dimensions; the public class `uncertain.GaussianArray` wraps it as `_core`.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct Gaussians {
    pub inner: Arc<GaussianArray>,
}

impl From<GaussianArray> for Gaussians {
    fn from(inner: GaussianArray) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

#[pymethods]
impl Gaussians {
    /// Checked Gaussians from rows; the other arguments are the numbers of at most one kind of covariance.
    ///
    /// std, var: 1 or d values per row; cov, precision: d * d (one row if `shared`); factor: d * r, with or without var.
    /// `names`: the columns behind "means", "covariances" and "diagonal" (beside a factor), for errors.
    #[new]
    #[pyo3(signature = (means, *, shared=false, names=None, **spread))]
    fn new(
        py: Python<'_>,
        means: &Rows,
        shared: bool,
        names: Option<HashMap<String, Vec<String>>>,
        spread: Option<HashMap<String, PyRef<'_, Rows>>>,
    ) -> BorderResult<Self> {
        let means = means.inner.clone();
        let mut given: Vec<(String, uncertain::data::Rows)> =
            spread.unwrap_or_default().into_iter().map(|(name, rows)| (name, rows.inner.clone())).collect();
        // Name of the covariances in errors; beside a factor, the variances have another name.
        given.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let kind = given.first().map_or("covariances", |(name, _)| name.as_str());
        let names = names.unwrap_or_default();
        let called =
            |part: &str, default: &str| names.get(part).map_or(default.to_string(), |columns| listing(columns));
        let core_names = Names {
            means: called("means", "means"),
            covariances: called("covariances", kind),
            diagonal: called("diagonal", "var"),
        };
        // A check, and for a precision an inverse, of every matrix.
        let (d, own) = (means.width(), given.iter().map(|(_, rows)| rows.n_rows() * rows.width()).sum::<usize>());
        let operations = if own > means.n_rows() * d { own as f64 * d as f64 } else { 0.0 };
        let made = interrupt::run_or_leave(py, operations, move || {
            let covariances = Covariances::from_arguments(given, means.width(), shared, &core_names)?;
            GaussianArray::new_named(means, covariances, &core_names)
        });
        let made = made.map_err(BorderError::Python)?;
        made.map(Self::from).map_err(|error| BorderError::with_columns(error, names.values()))
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.inner.covariances().kind().name()
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.inner.n_features()
    }

    /// Repairs while reading the data, for the user.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// (n, d) array of float64: a read-only view where the means are stored so in one piece, else a copy.
    #[getter]
    fn means<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        wide_array(slf.get().inner.means(), slf.as_any())
    }

    /// The type that the means are stored in.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.inner.means().element_type().name()
    }

    /// These rows stored as "float64" or, rounded, as "float32".
    fn stored_as(&self, py: Python<'_>, dtype: &str) -> BorderResult<Self> {
        let to = dtype.parse()?;
        Ok(py.detach(|| self.inner.stored_as(to))?.into())
    }

    /// Rows from `start` to `stop`, sharing the memory.
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
    fn hstack(py: Python<'_>, arrays: Vec<PyRef<'_, Self>>) -> BorderResult<Self> {
        let pieces: Vec<GaussianArray> = arrays.iter().map(|a| (*a.inner).clone()).collect();
        Ok(py.detach(|| GaussianArray::hstack(&pieces))?.into())
    }

    /// The rows of all arrays below each other.
    #[staticmethod]
    fn concat(py: Python<'_>, arrays: Vec<PyRef<'_, Self>>) -> BorderResult<Self> {
        let pieces: Vec<GaussianArray> = arrays.iter().map(|a| (*a.inner).clone()).collect();
        Ok(py.detach(|| GaussianArray::concat(&pieces))?.into())
    }

    /// Simpler covariances: "zero", "isotropic" or "diagonal".
    fn collapse(&self, py: Python<'_>, to: &str) -> BorderResult<Self> {
        let to: Collapse = to.parse()?;
        Ok(py.detach(|| self.inner.collapse(to))?.into())
    }

    /// `n` draws of every row as exact points, the draws of a row adjacent.
    fn sample(&self, py: Python<'_>, n: usize, seed: u64) -> BorderResult<Self> {
        let (own, d) = (self.inner.clone(), self.inner.n_features() as f64);
        let operations = self.inner.n_rows() as f64 * d * d * (n as f64 + d);
        let drawn = interrupt::run_or_leave(py, operations, move || own.sample(n, seed));
        Ok(drawn.map_err(BorderError::Python)??.into())
    }

    /// Dense covariance matrices, a new array of shape (n, d, d).
    pub(crate) fn covariances<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyAny>> {
        let (n, d) = (self.inner.n_rows(), self.inner.n_features());
        let own = self.inner.clone();
        let dense = interrupt::run_or_leave(py, (n * d * d) as f64, move || own.dense());
        let dense = dense.map_err(BorderError::Python)??;
        Ok(dense.into_pyarray(py).call_method1("reshape", ((n, d, d),))?)
    }

    /// The trace of every covariance matrix.
    pub(crate) fn trace<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyArray1<f64>>> {
        Ok(py.detach(|| self.inner.traces())?.into_pyarray(py))
    }

    /// The arguments of `uncertain.GaussianArray` that make an equal array, as float64 or as they are `stored`; views where
    /// possible.
    #[pyo3(signature = (*, stored=false))]
    fn parts<'py>(slf: &Bound<'py, Self>, stored: bool) -> PyResult<Bound<'py, PyDict>> {
        let to_numpy = |rows: &uncertain::data::Rows, owner: &Bound<'py, PyAny>| match stored {
            true => stored_array(rows, owner),
            false => wide_array(rows, owner).map(Bound::into_any),
        };
        let (py, array) = (slf.py(), &slf.get().inner);
        let (n, d) = (array.n_rows(), array.n_features());
        let parts = PyDict::new(py);
        parts.set_item("means", to_numpy(array.means(), slf.as_any())?)?;
        for field in array.arguments().map_err(core_error)? {
            let mut shape = field.shape.sizes(d);
            if !field.shared {
                shape.insert(0, n);
            }
            // A separate holder: matrices may have been written out just now.
            let rows = Bound::new(py, Rows::from(field.values))?;
            let view = to_numpy(&rows.get().inner, rows.as_any())?;
            parts.set_item(field.name, view.call_method1("reshape", (PyTuple::new(py, shape)?,))?)?;
        }
        Ok(parts)
    }

    /// The arrays that the covariances consist of as they are stored, by name, n rows or one; views where possible.
    fn fields<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(slf.py());
        for field in slf.get().inner.covariances().fields() {
            let rows = Bound::new(slf.py(), Rows::from(field.values))?;
            fields.set_item(field.name, stored_array(&rows.get().inner, rows.as_any())?)?;
        }
        Ok(fields)
    }

    /// Rows whose covariances consist of such `fields`, written out before and not checked again.
    #[staticmethod]
    fn from_fields(kind: &str, means: &Rows, fields: HashMap<String, PyRef<'_, Rows>>) -> BorderResult<Self> {
        let fields = fields.into_iter().map(|(name, rows)| (name, rows.inner.clone())).collect();
        Ok(GaussianArray::from_fields(kind.parse()?, means.inner.clone(), fields)?.into())
    }

    /// Bytes of a row.
    #[getter]
    fn row_bytes(&self) -> usize {
        self.inner.row_bytes()
    }

    /// The Arrow PyCapsule stream: columns mean and, by kind, std, var, cov or factor.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        arrow_out::stream(py, &self.inner, None)
    }

    /// Rows as one column of structs, whose field has this name and metadata.
    fn arrow_column<'py>(
        &self,
        py: Python<'py>,
        name: String,
        metadata: HashMap<String, String>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_out::stream(py, &self.inner, Some(OneColumn { name, metadata }))
    }
}

/// Numbers of rows or features from 0.
pub(crate) fn whole(numbers: PyReadonlyArray1<'_, i64>, what: &str) -> BorderResult<Vec<usize>> {
    let numbers = numbers.as_array().into_iter().map(|&i| usize::try_from(i)).collect::<Result<Vec<_>, _>>();
    Ok(numbers.map_err(|_| Error::Data(format!("negative {what} number")))?)
}
