//! [`Training`]: whatever a fit may want to see, for code that fits any kind of model.

use crate::data::{GaussianArray, Incomplete, Labels, Modes, Targets, Weights};
use crate::error::{Error, Result};

/// A square matrix on the rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SquareMatrix {
    /// All elements, row by row.
    Dense {
        /// Rows, and columns.
        n: usize,
        /// n x n of them.
        values: Vec<f64>,
    },
    /// Compressed rows.
    Sparse {
        /// Where each row begins; one more for the end.
        starts: Vec<usize>,
        /// Columns.
        indices: Vec<u32>,
        /// Their values.
        values: Vec<f64>,
    },
}

/// Rows and what is known of them. Models take what they need and refuse what they cannot do without.
#[derive(Debug, Clone)]
pub struct Training<'a> {
    /// The rows, with gaps where the model takes them.
    pub rows: Incomplete<'a>,
    /// Their classes, with weights and groups.
    pub labels: Option<Labels>,
    /// Their numbers to predict, with variances and weights.
    pub targets: Option<Targets>,
    /// Offset of the linear predictor of each row.
    pub offsets: Option<Vec<f64>>,
    /// Errors that rows share.
    pub modes: Modes,
    /// Targets of which some are missing (NaN), a list for each output.
    pub outputs: Vec<Vec<f64>>,
    /// Classes that `outputs` of -1 and +1 stand for; 0: none.
    pub n_classes: usize,
    /// Weights of rows that have neither labels nor targets.
    pub weights: Option<Weights>,
    /// Their groups.
    pub groups: Option<Vec<u32>>,
    /// Graphs of the views, where they are the caller's.
    pub graphs: Vec<Option<SquareMatrix>>,
}

impl<'a> Training<'a> {
    /// Nothing but rows.
    pub fn new(rows: impl Into<Incomplete<'a>>) -> Self {
        Self {
            rows: rows.into(),
            labels: None,
            targets: None,
            offsets: None,
            modes: Modes::default(),
            outputs: vec![],
            n_classes: 0,
            weights: None,
            groups: None,
            graphs: vec![],
        }
    }

    /// The rows, without gaps.
    pub fn complete(&self) -> Result<&'a GaussianArray> {
        complete(self.rows)
    }

    /// The classes.
    pub fn labels(&self) -> Result<&Labels> {
        self.labels.as_ref().ok_or_else(|| Error::Data("a classifier needs the classes of the rows".into()))
    }

    /// The numbers to predict.
    pub fn targets(&self) -> Result<&Targets> {
        self.targets.as_ref().ok_or_else(|| Error::Data("a regression needs the targets of the rows".into()))
    }
}

/// Rows that must not have gaps.
pub(crate) fn complete<'a>(rows: Incomplete<'a>) -> Result<&'a GaussianArray> {
    unlimited(rows)?;
    if rows.mixtures().is_some() {
        return Err(Error::Data("rows that are mixtures came to what takes none; collapse them to Gaussians".into()));
    }
    match rows.missing() {
        None => Ok(rows.gaussians()),
        Some(_) => Err(Error::Data(
            "rows with missing features need an imputer, a denoiser or a discriminant, and the model has none before \
             they come to a step that does not take them"
                .into(),
        )),
    }
}

/// Refuses rows with limits.
pub(crate) fn unlimited(rows: Incomplete<'_>) -> Result<()> {
    match (0..rows.n_rows()).find(|&row| rows.is_limited(row)) {
        None => Ok(()),
        Some(row) => Err(Error::Data(format!(
            "row {row} has a limit: limits need a denoiser, a discriminant or a regression with a mixture, and the model has \
             none before they come to a step that does not take them"
        ))),
    }
}
