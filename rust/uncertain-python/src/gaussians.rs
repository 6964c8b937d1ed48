//! `Gaussians`: a shared, immutable `GaussianArray` of the core.

use std::sync::Arc;

use numpy::PyArray2;
use pyo3::prelude::*;
use uncertain::GaussianArray;

use crate::error::BorderResult;
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
    /// Exact points.
    #[staticmethod]
    fn points(py: Python<'_>, means: &Rows) -> BorderResult<Self> {
        let means = means.inner.clone();
        Ok(py.detach(|| GaussianArray::points(means))?.into())
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

    /// (n, d) array: a read-only view where the means lie in one piece, else a copy.
    #[getter]
    fn means<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        to_numpy(slf.get().inner.means(), slf.as_any())
    }
}
