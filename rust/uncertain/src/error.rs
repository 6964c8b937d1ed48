//! One error type for the crate: every variant says where, what value, and what to do.

/// Error, with the row, the column and the value where there are any.
///
/// `Data` and its kin are the caller's input; nothing has been computed when they are returned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number that is NaN or infinite.
    #[error("{what}: row {row}, element {column} is {value}; every number must be finite")]
    NotFinite {
        /// Array or column that was read ("means", "cov", or a column name).
        what: String,
        /// Row number, from 0.
        row: usize,
        /// Position inside the row, from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// A variance or standard deviation below zero.
    #[error("{what}: row {row}, element {column} is {value}; variances and standard deviations must be >= 0")]
    Negative {
        /// Array or column that was read.
        what: String,
        /// Row number, from 0.
        row: usize,
        /// Position inside the row, from 0.
        column: usize,
        /// The offending value.
        value: f64,
    },
    /// A covariance matrix that differs from its transpose.
    #[error(
        "{what}: the matrix of row {row} is not symmetric: element [{i}, {j}] is {upper} but [{j}, {i}] is {lower}; pass (S + S.T) / 2 if the difference is noise"
    )]
    NotSymmetric {
        /// Array or column that was read.
        what: String,
        /// Row number, from 0.
        row: usize,
        /// Row inside the matrix.
        i: usize,
        /// Column inside the matrix.
        j: usize,
        /// Element [i, j].
        upper: f64,
        /// Element [j, i].
        lower: f64,
    },
    /// A covariance matrix with a negative eigenvalue that rounding cannot explain.
    #[error(
        "{what}: the matrix of row {row} is not positive semi-definite: its smallest eigenvalue is {eigenvalue:e} (largest {largest:e}); check the units and the order of the elements"
    )]
    NotPositive {
        /// Array or column that was read.
        what: String,
        /// Row number, from 0.
        row: usize,
        /// The smallest eigenvalue.
        eigenvalue: f64,
        /// The largest eigenvalue.
        largest: f64,
    },
    /// Sizes that do not fit together.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// Array of the wrong size.
        what: String,
        /// The size that would fit.
        expected: String,
        /// The actual size.
        got: String,
    },
    /// Data on which no model can be fitted (one class only, no rows, all weights zero ...).
    #[error("{0}")]
    Data(String),
    /// A row that nothing can be computed for.
    #[error("row {row}: {why}")]
    Row {
        /// Row number, from 0.
        row: usize,
        /// The fault, and the remedy.
        why: String,
    },
    /// A parameter outside its range.
    #[error("{name} = {value}: must be {expected}")]
    Parameter {
        /// The parameter.
        name: String,
        /// The value it was set to.
        value: String,
        /// The values it may have.
        expected: String,
    },
    /// A model file that is truncated, altered or foreign.
    #[error("not a usable model file: {0}")]
    ModelFile(String),
    /// A file that could not be written.
    #[error("{path} cannot be written: {why}")]
    NotWritten {
        /// The file.
        path: String,
        /// The message of the system, and the remedy.
        why: String,
    },
    /// Stopped from outside (Ctrl-C) before the work was done.
    #[error("interrupted")]
    Interrupted,
    /// The system has no memory for something large; says how much was needed ([`memory`](crate::memory)).
    #[error("{0}")]
    OutOfMemory(String),
    /// A bug in this crate.
    #[error("internal error: {0}; please report it")]
    Internal(String),
}

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A [`Error::Shape`] from anything printable.
    pub fn shape(what: impl Into<String>, expected: impl ToString, got: impl ToString) -> Self {
        Self::Shape { what: what.into(), expected: expected.to_string(), got: got.to_string() }
    }

    /// Probabilities asked of a model that was fitted without.
    pub(crate) fn no_probabilities() -> Self {
        Self::Data("this model has no probabilities: fit it with probability = true".into())
    }

    /// Is it about numbers that nothing can be computed for? Where a search has gone too far, that is no error of the data.
    pub(crate) fn is_about_data(&self) -> bool {
        matches!(self, Self::Data(_) | Self::Row { .. })
    }

    /// The error about rows of which `row` tells the number.
    pub(crate) fn renumbered(self, row: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Row { row: part, why } => Self::Row { row: row(part), why },
            other => other,
        }
    }

    /// A [`Error::Parameter`] from anything printable.
    pub fn parameter(name: impl Into<String>, value: impl ToString, expected: impl ToString) -> Self {
        Self::Parameter { name: name.into(), value: value.to_string(), expected: expected.to_string() }
    }
}
