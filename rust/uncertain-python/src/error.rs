//! Errors become Python exceptions here and nowhere else.
//!
//! [`BorderError`] is what can go wrong while reading foreign memory (nulls, ragged lists, wrong
//! types); [`uncertain::Error`] is what the core refuses. Both end in `uncertain.exceptions`.

use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use uncertain::Error;

/// The exceptions of `python/uncertain/exceptions.py`, imported when first raised.
pub(crate) mod exceptions {
    #![allow(missing_docs)]
    macro_rules! import {
        ($($name:ident)+) => {
            $(pyo3::import_exception!(uncertain.exceptions, $name);)+
        };
    }
    import! {
        UncertainError NotFiniteError NegativeVarianceError NotSymmetricError NotPositiveSemiDefiniteError
        ShapeError ParameterError ModelFileError MissingErrorBarsError NullError RaggedError ColumnError
        OutOfMemoryError
    }
}

/// Errors on this side of the core.
#[derive(Debug)]
pub enum BorderError {
    /// The core refused.
    Core(Error),
    /// Python refused.
    Python(PyErr),
    /// A number that cannot be used, in one of several scalar columns: its name says which.
    Scalar { error: Error, name: String },
    /// A missing value, in the whole row or in one of its elements.
    Null { what: String, row: usize, element: Option<usize> },
    /// An error bar that is null or NaN.
    MissingErrorBar { what: String, row: usize, element: Option<usize>, value: &'static str },
    /// A list whose length differs from that of the first row.
    Ragged { what: String, row: usize, length: usize, expected: usize },
    /// A column that its library cannot hand over, such as mixed Python objects.
    Export { what: String, error: PyErr },
    /// A column or array of a type that holds no real numbers.
    Type { what: String, found: String },
}

/// Result of a conversion.
pub(crate) type BorderResult<T> = Result<T, BorderError>;

impl BorderError {
    /// A core error about several scalar columns, read side by side, told as one about the column at fault.
    pub fn with_columns<'a>(error: Error, groups: impl IntoIterator<Item = &'a Vec<String>>) -> Self {
        let at = match &error {
            Error::NotFinite { what, column, .. } | Error::Negative { what, column, .. } => Some((what, *column)),
            _ => None,
        };
        let columns = at.and_then(|(what, column)| {
            let group = groups.into_iter().find(|g| g.len() > 1 && listing(g) == *what)?;
            group.get(column).cloned()
        });
        match columns {
            Some(name) => Self::Scalar { error, name },
            None => Self::Core(error),
        }
    }
}

/// Column names for a sentence.
pub(crate) fn listing(columns: &[String]) -> String {
    match columns {
        [first, .., last] if columns.len() > 4 => format!("{first} ... {last} ({} columns)", columns.len()),
        _ => columns.join(", "),
    }
}

impl From<Error> for BorderError {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<PyErr> for BorderError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<BorderError> for PyErr {
    fn from(error: BorderError) -> Self {
        match error {
            BorderError::Core(error) => core_error(error),
            BorderError::Python(error) => error,
            BorderError::Scalar { error, name } => match error {
                Error::NotFinite { row, value, .. } => exceptions::NotFiniteError::new_err(format!(
                    "{name}: row {row} is {value}; every number must be finite"
                )),
                Error::Negative { row, value, .. } => exceptions::NegativeVarianceError::new_err(format!(
                    "{name}: row {row} is {value}; variances and standard deviations must be >= 0"
                )),
                other => core_error(other),
            },
            BorderError::Null { what, row, element } => exceptions::NullError::new_err(match element {
                Some(element) => format!("{what}: row {row}, element {element} is null; fill or drop missing values"),
                None => format!("{what}: row {row} is null; fill or drop the rows with missing values"),
            }),
            BorderError::MissingErrorBar { what, row, element, value } => {
                let element = element.map_or(String::new(), |e| format!(", element {e}"));
                exceptions::MissingErrorBarsError::new_err(format!(
                    "{what}: row {row}{element} is {value}; a missing error bar is never taken as zero: pass on_missing=\"point\" to call such values exact, or drop the rows"
                ))
            }
            BorderError::Ragged { what, row, length, expected } => exceptions::RaggedError::new_err(format!(
                "{what}: row {row} has {length} elements but row 0 has {expected}; all rows must have one length"
            )),
            BorderError::Export { what, error } => Python::attach(|py| {
                // Ctrl-C and the like are nobody's data error.
                if !error.is_instance_of::<PyException>(py) {
                    return error;
                }
                let told = exceptions::ColumnError::new_err(format!(
                    "{what}: cannot be read as numbers or lists of them: {}",
                    error.value(py)
                ));
                told.set_cause(py, Some(error));
                told
            }),
            BorderError::Type { what, found } => exceptions::ColumnError::new_err(format!(
                "{what}: expected real numbers (float64, float32 or integers, plain or in lists), got {found}; cast the column first"
            )),
        }
    }
}

/// One arm per variant, so that a new one is mapped on purpose.
pub(crate) fn core_error(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::NotFinite { .. } => exceptions::NotFiniteError::new_err(message),
        Error::Negative { .. } => exceptions::NegativeVarianceError::new_err(message),
        Error::NotSymmetric { .. } => exceptions::NotSymmetricError::new_err(message),
        Error::NotPositive { .. } => exceptions::NotPositiveSemiDefiniteError::new_err(message),
        Error::Shape { .. } => exceptions::ShapeError::new_err(message),
        Error::Parameter { .. } => exceptions::ParameterError::new_err(message),
        Error::ModelFile(_) | Error::NotWritten { .. } => exceptions::ModelFileError::new_err(message),
        Error::Data(_) | Error::Row { .. } => exceptions::UncertainError::new_err(message),
        Error::OutOfMemory(_) => exceptions::OutOfMemoryError::new_err(message),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        Error::Internal(_) => PyRuntimeError::new_err(message),
        // `Error` is non-exhaustive for other crates; a variant without an arm here is a bug of the binding.
        _ => exceptions::UncertainError::new_err(message),
    }
}
