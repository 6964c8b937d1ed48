//! [`Dataset`]: the rows of a fit and all that is known of them, for models of any kind.

use std::borrow::Borrow;

use ndarray::{Array2, ArrayBase, Data, Ix2, Ix3};

use crate::data::{GaussianArray, Incomplete, Labels, MarkedRows, Modes, Targets, Weights};
use crate::error::{Error, Result};

/// A square matrix on the rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SquareMatrix {
    /// All elements, n x n.
    Dense(Array2<f64>),
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

/// Rows with their classes or targets, weights and groups. Models take what they need and refuse what they cannot do without.
///
/// Vectors come as arrays, slices or `Vec`, matrices as arrays of any layout; all are copied once. Rows are shared, not copied:
/// cloning is cheap.
///
/// ```
/// use uncertain::ndarray::{arr1, arr2};
/// use uncertain::{Dataset, GaussianArray};
///
/// # fn main() -> uncertain::Result<()> {
/// let rows = GaussianArray::from_std(arr2(&[[1.0, 2.0], [3.0, 0.0], [5.0, 6.0]]), arr1(&[0.1, 0.2, 0.1]))?;
/// let data = Dataset::classification(&rows, [0, 1, 1])?.with_weights([1.0, 2.0, 0.5])?.with_groups([7, 7, 3])?;
/// let gaps = arr2(&[[false, false], [false, true], [false, false]]); // the second number of row 1 was not measured
/// let data = data.with_gaps(&gaps)?;
/// assert_eq!((data.n_rows(), data.n_classes()), (3, 2));
/// assert!(Dataset::regression(&rows, [1.0, f64::NAN, 2.0]).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Dataset {
    pub(crate) rows: MarkedRows,
    /// Classes, with weights and groups.
    pub(crate) labels: Option<Labels>,
    /// Numbers to predict, with variances and weights.
    pub(crate) targets: Option<Targets>,
    /// Term of each row's linear predictor with coefficient 1.
    pub(crate) offsets: Option<Vec<f64>>,
    /// Errors that rows share.
    pub(crate) modes: Modes,
    /// Targets of which some are missing (NaN), a list for each output.
    pub(crate) outputs: Vec<Vec<f64>>,
    /// Classes that `outputs` of -1 and +1 stand for; 0: none.
    pub(crate) n_classes: usize,
    /// Weights of rows that have neither labels nor targets.
    pub(crate) weights: Option<Weights>,
    /// Their groups, and those of rows with targets.
    pub(crate) groups: Option<Vec<u32>>,
    /// Graphs of the views, where they are the caller's.
    pub(crate) graphs: Vec<Option<SquareMatrix>>,
}

impl Dataset {
    /// Rows alone, for transforms and densities: Gaussians or mixtures, owned or borrowed (they share their memory).
    pub fn new(rows: impl Into<MarkedRows>) -> Self {
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

    /// Rows with the class of each, a code 0, 1, ...; there are as many classes as the largest code says.
    ///
    /// # Errors
    /// Another number of codes than of rows; fewer than two classes.
    pub fn classification(rows: impl Into<MarkedRows>, codes: impl IntoIterator<Item: Borrow<u32>>) -> Result<Self> {
        let codes: Vec<u32> = codes.into_iter().map(|code| *code.borrow()).collect();
        let n_classes = codes.iter().max().map_or(0, |largest| *largest as usize + 1);
        Self::new(rows).with_labels(&Labels::new(codes, n_classes)?)
    }

    /// Rows with the number to predict for each.
    ///
    /// # Errors
    /// Another number of targets than of rows; a target that is not finite.
    pub fn regression(rows: impl Into<MarkedRows>, targets: impl IntoIterator<Item: Borrow<f64>>) -> Result<Self> {
        Self::new(rows).with_targets(&Targets::new(numbers(targets))?)
    }

    /// Rows with numbers to predict of which some are missing (NaN), n x outputs.
    ///
    /// For `n_classes` >= 2 they are those of a classifier: one column for two classes, else one for each, of +1 for rows of the
    /// class and -1 for the others; for 0 those of a regression.
    ///
    /// # Errors
    /// Another number of rows.
    pub fn partial<S: Data<Elem = f64>>(
        rows: impl Into<MarkedRows>,
        outputs: &ArrayBase<S, Ix2>,
        n_classes: usize,
    ) -> Result<Self> {
        Self::new(rows).with_outputs(outputs, n_classes)
    }

    /// [`partial`](Self::partial) of rows that have something already.
    ///
    /// # Errors
    /// The same.
    #[doc(hidden)]
    pub fn with_outputs<S: Data<Elem = f64>>(self, outputs: &ArrayBase<S, Ix2>, n_classes: usize) -> Result<Self> {
        self.check_length("outputs", outputs.nrows())?;
        let outputs = outputs.columns().into_iter().map(|column| column.to_vec()).collect();
        Ok(Self { outputs, n_classes, ..self })
    }

    /// Adds the classes of the rows.
    ///
    /// # Errors
    /// Labels of another number of rows.
    #[doc(hidden)]
    pub fn with_labels(self, labels: &Labels) -> Result<Self> {
        labels.check_rows(self.n_rows())?;
        Ok(Self { labels: Some(labels.clone()), ..self })
    }

    /// Adds the targets of the rows.
    ///
    /// # Errors
    /// Targets of another number of rows.
    #[doc(hidden)]
    pub fn with_targets(self, targets: &Targets) -> Result<Self> {
        targets.check_rows(self.n_rows())?;
        Ok(Self { targets: Some(targets.clone()), ..self })
    }

    /// Sets the number of classes, of which some may be absent here.
    ///
    /// # Errors
    /// A code that is no class; rows without classes.
    pub fn with_classes(self, n_classes: usize) -> Result<Self> {
        let labels = self.labels.clone().map(|labels| labels.with_classes(n_classes)).transpose()?;
        Ok(Self { labels, n_classes: if self.outputs.is_empty() { 0 } else { n_classes }, ..self })
    }

    /// Adds weights: one number >= 0 per row, of any scale.
    ///
    /// # Errors
    /// Another number of weights than of rows; a negative weight, or none that is positive.
    pub fn with_weights(mut self, weights: impl IntoIterator<Item: Borrow<f64>>) -> Result<Self> {
        let weights = numbers(weights);
        if let Some(labels) = self.labels.take() {
            return Ok(Self { labels: Some(labels.with_weights(weights)?), ..self });
        }
        if let Some(targets) = self.targets.take() {
            return Ok(Self { targets: Some(targets.with_weights(weights)?), ..self });
        }
        let weights = Weights::new(weights)?;
        weights.check_rows(self.n_rows())?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// Adds the object that each row belongs to: any numbers. Rows of one object are held out together.
    ///
    /// # Errors
    /// Another number of groups than of rows.
    pub fn with_groups(mut self, groups: impl IntoIterator<Item: Borrow<u32>>) -> Result<Self> {
        let groups: Vec<u32> = groups.into_iter().map(|group| *group.borrow()).collect();
        self.check_length("groups", groups.len())?;
        match self.labels.take() {
            Some(labels) => Ok(Self { labels: Some(labels.with_groups(groups)?), ..self }),
            None => Ok(Self { groups: Some(groups), ..self }),
        }
    }

    /// Adds gaps: a mask, n x d, that is true where a feature is missing; its number in the rows means nothing.
    ///
    /// # Errors
    /// A mask of another size.
    pub fn with_gaps<S: Data<Elem = bool>>(self, gaps: &ArrayBase<S, Ix2>) -> Result<Self> {
        let rows = self.rows.with_gaps(gaps)?;
        Ok(Self { rows, ..self })
    }

    /// Marks gaps that are limits, n x d: -1 where the reading is below the number in the rows, +1 where it is
    /// above, else 0.
    ///
    /// # Errors
    /// Limits of another size, or where there is no gap.
    pub fn with_limits<S: Data<Elem = i8>>(self, limits: &ArrayBase<S, Ix2>) -> Result<Self> {
        let rows = self.rows.with_limits(limits)?;
        Ok(Self { rows, ..self })
    }

    /// Adds the variance of each target's error.
    ///
    /// # Errors
    /// Another number of variances than of rows; a variance that is negative or not finite; rows without targets.
    pub fn with_target_variances(self, variances: impl IntoIterator<Item: Borrow<f64>>) -> Result<Self> {
        self.changed(|targets| targets.with_variances(numbers(variances)))
    }

    /// Adds covariances of the targets' errors with those of the features, n x d.
    ///
    /// # Errors
    /// Covariances of another size, or not finite; rows without targets.
    pub fn with_feature_covariances<S: Data<Elem = f64>>(self, covariances: &ArrayBase<S, Ix2>) -> Result<Self> {
        let values = covariances.iter().copied().collect();
        self.changed(|targets| targets.with_feature_covariances(values, covariances.ncols()))
    }

    /// Marks targets that are limits: -1 where the reading is below the number, +1 where it is above, else 0.
    ///
    /// # Errors
    /// Another number of limits than of rows; rows without targets.
    pub fn with_target_limits(self, limits: impl IntoIterator<Item: Borrow<i8>>) -> Result<Self> {
        let limits = limits.into_iter().map(|limit| *limit.borrow()).collect();
        self.changed(|targets| targets.with_limits(limits))
    }

    /// Adds offsets: a number for the linear predictor of each row.
    ///
    /// # Errors
    /// Another number of offsets than of rows.
    pub fn with_offsets(self, offsets: impl IntoIterator<Item: Borrow<f64>>) -> Result<Self> {
        let offsets = numbers(offsets);
        self.check_length("offsets", offsets.len())?;
        Ok(Self { offsets: Some(offsets), ..self })
    }

    /// Adds errors that rows share: k standard normal numbers a, of which row i has the error M_i a in its target
    /// (`of_targets`, n x k) and N_i a in its features (`of_features`, n x d x k).
    ///
    /// # Errors
    /// Sizes that do not fit; numbers that are not finite.
    pub fn with_shared_errors<S, T>(
        self,
        of_targets: &ArrayBase<S, Ix2>,
        of_features: Option<&ArrayBase<T, Ix3>>,
    ) -> Result<Self>
    where
        S: Data<Elem = f64>,
        T: Data<Elem = f64>,
    {
        let modes = Modes {
            k: of_targets.ncols(),
            of_targets: of_targets.iter().copied().collect(),
            of_features: of_features.map_or_else(Vec::new, |modes| modes.iter().copied().collect()),
        };
        modes.check(self.n_rows(), self.n_features())?;
        Ok(Self { modes, ..self })
    }

    /// Adds the caller's graphs, one for each view that has one.
    #[must_use]
    pub fn with_graphs(self, graphs: Vec<Option<SquareMatrix>>) -> Self {
        Self { graphs, ..self }
    }

    /// The rows with these numbers and what is known of them, copied; graphs are left behind.
    ///
    /// # Errors
    /// A row that does not exist; only weights of 0.
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        if let Some(row) = rows.iter().find(|row| **row >= self.n_rows()) {
            return Err(Error::Data(format!("row {row} does not exist: there are {} rows", self.n_rows())));
        }
        let picked = |values: &Vec<f64>| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        Ok(Self {
            rows: self.rows().take(rows)?,
            labels: self.labels.as_ref().map(|labels| labels.take(rows)).transpose()?,
            targets: self.targets.as_ref().map(|targets| targets.take(rows)).transpose()?,
            offsets: self.offsets.as_ref().map(picked),
            modes: if self.modes.k == 0 { Modes::default() } else { self.modes.take(rows) },
            outputs: self.outputs.iter().map(picked).collect(),
            n_classes: self.n_classes,
            weights: self.weights.as_ref().map(|weights| weights.take(rows)).transpose()?,
            groups: self.groups.as_ref().map(|groups| rows.iter().map(|&row| groups[row]).collect()),
            graphs: vec![],
        })
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows().n_rows()
    }

    /// Number of features d.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.rows().gaussians().n_features()
    }

    /// Number of classes; 0 where there are none.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.labels.as_ref().map_or(self.n_classes, Labels::n_classes)
    }

    /// Number of Gaussians: of rows, or of all their components.
    #[doc(hidden)]
    #[must_use]
    pub fn n_gaussians(&self) -> usize {
        self.rows().gaussians().n_rows()
    }

    /// Are rows mixtures of several Gaussians?
    #[doc(hidden)]
    #[must_use]
    pub fn has_mixtures(&self) -> bool {
        self.rows().mixtures().is_some()
    }

    /// The rows with their gaps.
    pub(crate) fn rows(&self) -> Incomplete<'_> {
        self.rows.view()
    }

    /// The rows, without gaps.
    pub(crate) fn complete(&self) -> Result<&GaussianArray> {
        self.rows().complete()
    }

    /// The classes.
    pub(crate) fn labels(&self) -> Result<&Labels> {
        self.labels.as_ref().ok_or_else(|| Error::Data("a classifier needs the classes of the rows".into()))
    }

    /// The numbers to predict.
    pub(crate) fn targets(&self) -> Result<&Targets> {
        self.targets.as_ref().ok_or_else(|| Error::Data("a regression needs the targets of the rows".into()))
    }

    fn changed(mut self, change: impl FnOnce(Targets) -> Result<Targets>) -> Result<Self> {
        let none = || {
            Error::Data(
                "there are no targets that this could be known of: make the data with Dataset::regression".into(),
            )
        };
        let targets = self.targets.take().ok_or_else(none)?;
        Ok(Self { targets: Some(change(targets)?), ..self })
    }

    fn check_length(&self, what: &str, length: usize) -> Result<()> {
        if length == self.n_rows() {
            return Ok(());
        }
        Err(Error::shape(what, format!("{}, one per row", self.n_rows()), length))
    }
}

impl<'a> From<&'a Dataset> for Incomplete<'a> {
    fn from(data: &'a Dataset) -> Self {
        data.rows()
    }
}

/// All of some numbers, borrowed or not.
fn numbers(values: impl IntoIterator<Item: Borrow<f64>>) -> Vec<f64> {
    values.into_iter().map(|value| *value.borrow()).collect()
}
