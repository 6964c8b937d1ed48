//! `Rows` for Python: a matrix of float64 or float32 in NumPy or Arrow memory, on its way into `Gaussians`.

use numpy::ndarray::ArrayView2;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use uncertain::Error;
use uncertain::data::Stored;

use crate::arrow_in::{Column, Missing, interleave};
use crate::error::{BorderResult, core_error};
use crate::numpy_in::rows_from_numpy;

/// A row-major n x width matrix in one or several pieces of shared memory.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct Rows {
    pub inner: uncertain::data::Rows,
}

impl From<uncertain::data::Rows> for Rows {
    fn from(inner: uncertain::data::Rows) -> Self {
        Self { inner }
    }
}

#[pymethods]
impl Rows {
    /// A C-contiguous float64 or float32 array of any dimension, read in place as rows of `width` elements.
    #[staticmethod]
    fn from_numpy(array: &Bound<'_, PyAny>, n_rows: usize, width: usize) -> BorderResult<Self> {
        Ok(rows_from_numpy(array, n_rows, width)?.into())
    }

    /// Arrow columns: one column of lists or numbers, or several columns of numbers side by side.
    ///
    /// `missing`: "refuse" (nulls are errors), "refuse-error-bars" (nulls and NaN are), "zero-elements",
    /// "zero-rows", or "nan" (nulls become NaN).
    #[staticmethod]
    fn from_arrow(
        py: Python<'_>,
        columns: Vec<Bound<'_, PyAny>>,
        names: Vec<String>,
        missing: &str,
    ) -> BorderResult<Self> {
        let missing = match missing {
            "refuse" => Missing::Refuse,
            "refuse-error-bars" => Missing::RefuseErrorBars,
            "zero-elements" => Missing::ZeroElements,
            "zero-rows" => Missing::ZeroRows,
            "nan" => Missing::Nan,
            other => return Err(Error::parameter("missing", other, "a known policy").into()),
        };
        let imported = columns.iter().zip(names).map(|(column, name)| Column::import(column, name));
        let imported = imported.collect::<BorderResult<Vec<_>>>()?;
        let rows = py.detach(|| match imported.as_slice() {
            [column] => column.rows(missing),
            columns => interleave(columns, missing),
        });
        Ok(rows?.into())
    }

    #[getter]
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    #[getter]
    fn width(&self) -> usize {
        self.inner.width()
    }

    /// (n, width) array of float64: a read-only view where they are stored so in one piece, else a copy.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        wide_array(&slf.get().inner, slf.as_any())
    }
}

/// Give free memory back to the system, after large matrices were exchanged for others.
#[pyfunction]
pub(crate) fn give_memory_back(py: Python<'_>) {
    py.detach(uncertain::memory::give_back);
}

/// Fits keep at most so many bytes beside their rows to save time; the number before.
#[pyfunction]
pub(crate) fn keep_at_most(bytes: usize) -> usize {
    uncertain::memory::keep_at_most(bytes)
}

/// `rows` as an array of the type they are stored in; `owner` is the frozen Python object that holds them.
pub(crate) fn stored_array<'py>(
    rows: &uncertain::data::Rows,
    owner: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = (rows.n_rows(), rows.width());
    match rows.as_stored() {
        Some(Stored::F64(values)) => Ok(view(values, shape, owner)?.into_any()),
        Some(Stored::F32(values)) => Ok(view(values, shape, owner)?.into_any()),
        None => Ok(PyArray2::from_owned_array(owner.py(), rows.to_array()).into_any()),
    }
}

/// `rows` as float64: a view where they are stored so in one piece, else a copy.
pub(crate) fn wide_array<'py>(
    rows: &uncertain::data::Rows,
    owner: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    match rows.as_stored() {
        Some(Stored::F64(values)) => view(values, (rows.n_rows(), rows.width()), owner),
        _ => Ok(PyArray2::from_owned_array(owner.py(), rows.to_array())),
    }
}

fn view<'py, T: numpy::Element>(
    values: &[T],
    shape: (usize, usize),
    owner: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let view = ArrayView2::from_shape(shape, values).map_err(|e| core_error(Error::Internal(e.to_string())))?;
    // SAFETY: `owner` is frozen and holds `rows`, whose memory is never written or moved; the view
    // keeps `owner` alive and is made read-only before anybody sees it.
    let array = unsafe { PyArray2::borrow_from_array(&view, owner.clone()) };
    Ok(array.readwrite().make_nonwriteable().as_any().clone().cast_into()?)
}
