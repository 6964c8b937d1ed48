//! `Gaussians`: a shared, immutable `GaussianArray` of the core.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use uncertain::data::covariance::Layout;
use uncertain::data::{Collapse, Names};
use uncertain::{Covariances, Error, GaussianArray, Unit};

use crate::arrow_out;
use crate::error::{BorderError, BorderResult, listing};
use crate::rows::{Rows, to_numpy};

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
    /// Checked Gaussians from rows; at most one kind, except factor + var.
    ///
    /// std, var: 1 or d values per row; cov, precision: d * d (one row if `shared`); factor: d * r.
    /// `names`: the columns behind "means", "covariances" and "diagonal" (beside a factor), for errors.
    #[new]
    #[pyo3(signature = (means, *, std=None, var=None, cov=None, precision=None, factor=None, shared=false, names=None))]
    fn new(
        py: Python<'_>,
        means: &Rows,
        std: Option<&Rows>,
        var: Option<&Rows>,
        cov: Option<&Rows>,
        precision: Option<&Rows>,
        factor: Option<&Rows>,
        shared: bool,
        names: Option<HashMap<String, Vec<String>>>,
    ) -> BorderResult<Self> {
        let rows = |given: Option<&Rows>| given.map(|r| r.inner.clone());
        let (std, var, cov, precision, factor) = (rows(std), rows(var), rows(cov), rows(precision), rows(factor));
        let means = means.inner.clone();
        let given = [("std", &std), ("factor", &factor), ("var", &var), ("cov", &cov), ("precision", &precision)];
        let kind = given.iter().find(|(_, rows)| rows.is_some()).map_or("covariances", |(name, _)| *name);
        let names = names.unwrap_or_default();
        let called =
            |part: &str, default: &str| names.get(part).map_or(default.to_string(), |columns| listing(columns));
        let core_names = Names {
            means: called("means", "means"),
            covariances: called("covariances", kind),
            diagonal: called("diagonal", "var"),
        };
        let made = py.detach(|| {
            let names = &core_names;
            let covariances = match (std, var, cov, precision, factor) {
                (None, None, None, None, None) => Covariances::Zero,
                (Some(std), None, None, None, None) => Covariances::from_std(std),
                (None, Some(var), None, None, None) => Covariances::from_var(var),
                (None, None, Some(cov), None, None) if shared => Covariances::shared(&cov.to_vec(), names)?,
                (None, None, Some(cov), None, None) => Covariances::from_cov(cov, names)?,
                (None, None, None, Some(p), None) if shared => Covariances::shared_precision(&p.to_vec(), names)?,
                (None, None, None, Some(p), None) => Covariances::from_precision(&p, names)?,
                (None, var, None, None, Some(factor)) => {
                    let rank = factor.width() / means.width();
                    Covariances::from_factor(factor, rank, var, names)?
                }
                _ => return Err(Error::parameter("covariances", "several kinds", "of one kind")),
            };
            GaussianArray::new_named(means, covariances, names)
        });
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

    /// What was mended while reading the data, for the user.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.warnings().to_vec()
    }

    /// (n, d) array: a read-only view where the means lie in one piece, else a copy.
    #[getter]
    fn means<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        to_numpy(slf.get().inner.means(), slf.as_any())
    }

    /// Rows from `start` to `stop`, sharing the memory.
    fn slice(&self, start: usize, stop: usize) -> Self {
        self.inner.slice(start..stop).into()
    }

    /// The rows with these numbers, copied.
    fn take(&self, py: Python<'_>, rows: PyReadonlyArray1<'_, i64>) -> BorderResult<Self> {
        let numbers = rows.as_array().into_iter().map(|&i| usize::try_from(i));
        let numbers = numbers.collect::<Result<Vec<_>, _>>().map_err(|_| Error::Data("negative row number".into()))?;
        Ok(py.detach(|| self.inner.take(&numbers))?.into())
    }

    /// The rows of all arrays below each other.
    #[staticmethod]
    fn concat(py: Python<'_>, arrays: Vec<PyRef<'_, Self>>) -> BorderResult<Self> {
        let pieces: Vec<GaussianArray> = arrays.iter().map(|a| (*a.inner).clone()).collect();
        Ok(py.detach(|| GaussianArray::concat(&pieces))?.into())
    }

    /// Simpler covariances: "zero", "isotropic" or "diagonal".
    fn collapse(&self, py: Python<'_>, to: &str) -> BorderResult<Self> {
        let to = match to {
            "zero" => Collapse::Zero,
            "isotropic" => Collapse::Isotropic,
            "diagonal" => Collapse::Diagonal,
            other => return Err(Error::parameter("collapse", other, "zero, isotropic or diagonal").into()),
        };
        Ok(py.detach(|| self.inner.collapse(to))?.into())
    }

    /// `n` draws of every row as exact points, the draws of a row adjacent.
    fn sample(&self, py: Python<'_>, n: usize, seed: u64) -> BorderResult<Self> {
        Ok(py.detach(|| self.inner.sample(n, seed))?.into())
    }

    /// Dense covariance matrices, a new array of shape (n, d, d).
    fn covariances<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyAny>> {
        let (n, d) = (self.inner.n_rows(), self.inner.n_features());
        let dense = py.detach(|| self.inner.dense())?;
        Ok(dense.into_pyarray(py).call_method1("reshape", ((n, d, d),))?)
    }

    /// The trace of every covariance matrix.
    fn trace<'py>(&self, py: Python<'py>) -> BorderResult<Bound<'py, PyArray1<f64>>> {
        Ok(py.detach(|| self.inner.traces())?.into_pyarray(py))
    }

    /// The arguments of `uncertain.GaussianArray` that make an equal array; views where possible.
    fn parts<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let (py, array) = (slf.py(), &slf.get().inner);
        let (n, d) = (array.n_rows(), array.n_features());
        let view = |rows: &uncertain::Rows| to_numpy(rows, slf.as_any());
        let unit_name = |unit| if unit == Unit::Variance { "var" } else { "std" };
        let parts = PyDict::new(py);
        parts.set_item("means", view(array.means())?)?;
        match array.covariances() {
            Covariances::Zero => {}
            Covariances::Isotropic(k) => {
                parts.set_item(unit_name(k.unit), view(&k.values)?.call_method1("reshape", (n,))?)?;
            }
            Covariances::Diagonal(k) => parts.set_item(unit_name(k.unit), view(&k.values)?)?,
            Covariances::LowRank(k) => {
                parts.set_item("factor", view(&k.factor)?.call_method1("reshape", ((n, d, k.rank),))?)?;
                if let Some(diagonal) = &k.diagonal {
                    parts.set_item("var", view(diagonal)?)?;
                }
            }
            Covariances::Full(k) if k.layout == Layout::Square => {
                parts.set_item("cov", view(&k.values)?.call_method1("reshape", ((n, d, d),))?)?;
            }
            Covariances::Full(_) => parts.set_item("cov", slf.get().covariances(py)?)?,
            Covariances::Shared(k) => {
                let mut dense = vec![0.0; d * d];
                for (at, value) in dense.iter_mut().enumerate() {
                    *value = k.packed[uncertain::data::covariance::packed_index(at / d, at % d)];
                }
                parts.set_item("cov", dense.into_pyarray(py).reshape([d, d])?)?;
            }
        }
        Ok(parts)
    }

    /// The Arrow PyCapsule stream: columns mean and, by kind, std, var, cov or factor.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        arrow_out::stream(py, &self.inner, requested_schema)
    }
}
