//! [`Partition`]: some of the rows of a fit, with what is known of them, that answers requests.
//!
//! ```
//! use uncertain::partition::{Partition, SideColumns};
//! use uncertain::sums::{HEADER, Request, add_partitions, encode};
//! use uncertain::ndarray::arr1;
//! use uncertain::{Control, GaussianArray};
//!
//! # fn main() -> uncertain::Result<()> {
//! let requests = encode(&[Request::Moments { center: vec![] }])?;
//! let answer = |x: &[f64]| -> uncertain::Result<Vec<f64>> {
//!     let data = GaussianArray::exact(arr1(x))?;
//!     Partition::new(data, SideColumns::default())?.answer(&requests, None, &Control::new())
//! };
//! let sums = add_partitions(&requests, &[answer(&[1.0, 2.0])?, answer(&[6.0])?])?;
//! assert_eq!(sums[HEADER..], [2.0, 3.0, 9.0]); // two numbers: the weight of all rows, and sum x
//! # Ok(())
//! # }
//! ```

mod answers;
mod hash;

use crate::data::{GaussianArray, Incomplete, Targets, Weights};
use crate::deconvolution::with_target;
use crate::error::{Error, Result};
use crate::readable::readable;
use hash::Hash;

readable! {
    /// Rows of positive weight, with what a fit may want to know of them.
    #[derive(Debug, Clone)]
    pub struct Partition {
        /// The rows.
        data: GaussianArray,
        /// All columns but the weights.
        columns: SideColumns,
        weights: Option<Weights>,
        /// Of all numbers, with 52 bits: the same rows have the same.
        checksum: f64 => f64,
    }
}

/// Labels, targets and weights of the rows of a partition; every list has one element per row.
#[derive(Debug, Clone, Default)]
pub struct SideColumns {
    /// n x d marks of missing features.
    pub missing: Option<Vec<bool>>,
    /// Classes.
    pub codes: Option<Vec<u32>>,
    /// Numbers to predict.
    pub targets: Option<Vec<f64>>,
    /// Their variances.
    pub variances: Option<Vec<f64>>,
    /// Weights > 0.
    pub weights: Option<Vec<f64>>,
    /// Folds of a calibration.
    pub folds: Option<Vec<u32>>,
}

impl Partition {
    /// Rows with what is known of them.
    pub fn new(data: GaussianArray, columns: SideColumns) -> Result<Self> {
        let n = data.n_rows();
        if n == 0 {
            return Err(Error::Data("a partition without rows".into()));
        }
        let missing = match columns.missing {
            Some(marks) => Incomplete::new(&data, &marks)?.missing().is_some().then_some(marks),
            None => None,
        };
        let lengths = [
            ("labels", columns.codes.as_ref().map(Vec::len)),
            ("targets", columns.targets.as_ref().map(Vec::len)),
            ("variances of the targets", columns.variances.as_ref().map(Vec::len)),
            ("sample_weight", columns.weights.as_ref().map(Vec::len)),
            ("folds", columns.folds.as_ref().map(Vec::len)),
        ];
        if let Some((what, len)) = lengths.into_iter().find_map(|(what, len)| Some((what, len.filter(|l| *l != n)?))) {
            return Err(Error::shape(what, format!("{n}, one per row"), len));
        }
        let weights = columns.weights.map(Weights::new).transpose()?;
        if weights.as_ref().is_some_and(|weights| weights.contains(&0.0)) {
            return Err(Error::Data("rows of weight 0 must be left out of a partition".into()));
        }
        let columns = SideColumns { missing, weights: None, ..columns };
        let mut partition = Self { data, columns, weights, checksum: 0.0 };
        partition.checksum = partition.hash();
        Ok(partition)
    }

    /// The rows.
    pub fn rows(&self) -> Incomplete<'_> {
        Incomplete::from_parts(&self.data, self.columns.missing.as_deref(), None)
    }

    /// Their labels, targets and weights.
    pub fn columns(&self) -> SideColumns {
        SideColumns { weights: self.weights.as_ref().map(|w| w.to_vec()), ..self.columns.clone() }
    }

    /// Supervision of these rows behind a transform.
    pub fn moved(&self, data: GaussianArray, missing: Option<Vec<bool>>) -> Result<Self> {
        Self::new(data, SideColumns { missing, ..self.columns() })
    }

    /// These rows with their target as the last feature.
    pub fn with_target(&self) -> Result<Self> {
        let (data, missing) = with_target::Joint::new(self.rows(), &self.known_targets()?)?.into_parts();
        self.moved(data, missing)
    }

    /// The targets with their variances and weights.
    fn known_targets(&self) -> Result<Targets> {
        let mut targets = Targets::new(self.targets()?.to_vec())?;
        if let Some(variances) = &self.columns.variances {
            targets = targets.with_variances(variances.clone())?;
        }
        match &self.weights {
            None => Ok(targets),
            Some(weights) => targets.with_weights(weights.to_vec()),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.data.n_rows()
    }

    fn hash(&self) -> f64 {
        let mut hash = Hash::new();
        hash.add_gaussians(&self.data);
        let SideColumns { codes, folds, targets, variances, missing, weights: _ } = &self.columns;
        [codes, folds].into_iter().flatten().flatten().for_each(|code| hash.add(u64::from(*code)));
        [targets, variances].into_iter().flatten().for_each(|values| hash.add_floats(values));
        self.weights.iter().for_each(|weights| hash.add_floats(weights));
        missing.iter().flatten().for_each(|gone| hash.add(u64::from(*gone)));
        hash.finish()
    }

    fn targets(&self) -> Result<&[f64]> {
        self.columns.targets.as_deref().ok_or_else(|| Error::Data("the rows have no targets".into()))
    }
}
