//! [`Weights`]: how much every row counts.

use std::borrow::Cow;
use std::ops::Deref;

use crate::data::GaussianArray;
use crate::data::distinct::sets;
use crate::error::{Error, Result};
use crate::readable::readable;

readable! {
    /// One number >= 0 per row, of any scale: only their ratios matter, unless a model says otherwise.
    ///
    /// A row of weight 0 is as good as absent, and a row of weight 2 is as good as the row twice. Where all rows count
    /// alike there are no weights: `None`.
    ///
    /// ```
    /// use uncertain::data::Weights;
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// let weights = Weights::new(vec![1.0, 0.0, 2.5])?;
    /// assert_eq!((weights[2], weights.total()), (2.5, 3.5));
    /// assert!(Weights::new(vec![0.0, -1.0]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct Weights {
        values: Vec<f64>,
        /// The sum of all.
        total: f64 => f64,
    }
}

impl Weights {
    /// Weights from numbers >= 0, of which one at least is positive.
    ///
    /// # Errors
    /// The first number that is not finite or negative; no positive one; a sum that overflows.
    pub fn new(values: Vec<f64>) -> Result<Self> {
        let what = || "sample_weight".to_owned();
        for (row, &value) in values.iter().enumerate() {
            if !value.is_finite() {
                return Err(Error::NotFinite { what: what(), row, column: 0, value });
            }
            if value < 0.0 {
                return Err(Error::Data(format!("sample_weight: row {row} is {value}; weights must be >= 0")));
            }
        }
        let total: f64 = values.iter().sum();
        if total == 0.0 {
            return Err(Error::Data("sample_weight: every weight is zero, so no row counts".into()));
        }
        if !total.is_finite() {
            return Err(Error::Data("sample_weight: the sum overflows; divide the weights by a constant".into()));
        }
        Ok(Self { values, total })
    }

    /// Weights of some of the rows, known to be numbers >= 0: all of them may be zero here.
    pub(crate) fn from_shares(values: Vec<f64>) -> Self {
        let total = values.iter().sum();
        Self { values, total }
    }

    /// Are there as many as rows?
    pub fn check_rows(&self, n_rows: usize) -> Result<()> {
        if self.len() == n_rows {
            return Ok(());
        }
        Err(Error::shape("sample_weight", format!("{n_rows} weights, one per row"), self.len()))
    }

    /// The weights of the rows with these numbers.
    ///
    /// # Errors
    /// All of them are zero. Panics when a number is out of range, as slices do.
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        Self::new(rows.iter().map(|&i| self.values[i]).collect())
    }

    /// The numbers of the rows of positive weight; `None` when those are all.
    #[must_use]
    pub fn positive_rows(&self) -> Option<Vec<usize>> {
        let absent = self.values.contains(&0.0);
        absent.then(|| (0..self.len()).filter(|&i| self.values[i] > 0.0).collect())
    }
}

/// Multiples of the smallest weight are whole numbers to this.
const WHOLE: f64 = 1e-4;

/// Rows that weights stand for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Worth {
    /// n.
    pub rows: f64,
    /// The weight of a row, where weights count repeated rows.
    pub unit: Option<f64>,
}

impl Worth {
    /// Of weights that are whole multiples of the smallest positive one, the sum of these multiples: weights 1 and 2 are a row
    /// and a row twice, and so are 3 and 6. Of others (sum w)^2 / sum w^2 (Kish).
    pub(crate) fn from_weights(weights: impl Iterator<Item = f64> + Clone) -> Self {
        let unit = weights.clone().filter(|w| *w > 0.0).fold(f64::INFINITY, f64::min);
        let counted = weights.clone().all(|w| (w / unit - (w / unit).round()).abs() <= WHOLE);
        let (sum, squares) = weights.fold((0.0, 0.0), |(sum, all), w| (sum + w / unit, all + (w / unit).powi(2)));
        Self { rows: if counted { f64::round(sum) } else { sum * sum / squares }, unit: counted.then_some(unit) }
    }

    /// Factor of the weights of `n` rows of this sum: for a sum of `rows` where they count, else of n.
    pub(crate) fn share(&self, n: usize, total: f64) -> f64 {
        self.unit.map_or(n as f64 / total, |unit| 1.0 / unit)
    }
}

impl Deref for Weights {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.values
    }
}

/// Labels or targets of the rows to fit, with weights.
pub(crate) trait Supervision: Clone {
    /// The weights, where rows count differently.
    fn weights(&self) -> Option<&Weights>;

    /// Supervision of the rows with these numbers, one of which has weight.
    fn take(&self, rows: &[usize]) -> Result<Self>;
}

/// By the type's methods of these names.
macro_rules! supervision {
    ($Known:ty) => {
        impl $crate::data::weights::Supervision for $Known {
            fn weights(&self) -> Option<&Weights> {
                self.weights()
            }

            fn take(&self, rows: &[usize]) -> Result<Self> {
                self.take(rows)
            }
        }
    };
}
pub(super) use supervision;

/// Rows of which some can be taken.
pub(crate) trait TakeRows: Clone {
    /// Their number.
    fn count(&self) -> usize;

    /// Bytes of one, on average.
    fn bytes(&self) -> usize;

    /// The rows with these numbers.
    fn pick(&self, rows: &[usize]) -> Result<Self>;

    /// [`sets`] of equal rows, in an order that is not that of the rows; of mixtures by their moments.
    fn sets(&self) -> Result<Vec<Vec<usize>>>;
}

impl TakeRows for GaussianArray {
    fn count(&self) -> usize {
        self.n_rows()
    }

    fn bytes(&self) -> usize {
        self.row_bytes()
    }

    fn pick(&self, rows: &[usize]) -> Result<Self> {
        self.take(rows)
    }

    fn sets(&self) -> Result<Vec<Vec<usize>>> {
        Ok(sets(self))
    }
}

/// The rows that count.
#[derive(Debug)]
pub(crate) struct Present<'a, S: Clone, D = GaussianArray> {
    pub data: D,
    pub known: Cow<'a, S>,
    /// Their numbers among all rows, where others were left out.
    kept: Option<Vec<usize>>,
    /// All rows.
    count: usize,
}

impl<'a, S: Supervision, D: TakeRows> Present<'a, S, D> {
    /// The rows of positive weight, the only ones that a fit is to see: nothing is copied when those are all.
    pub(crate) fn new(data: &D, known: &'a S) -> Result<Self> {
        let Some(kept) = known.weights().and_then(Weights::positive_rows) else {
            return Ok(Self { data: data.clone(), known: Cow::Borrowed(known), kept: None, count: data.count() });
        };
        Ok(Self {
            data: data.pick(&kept)?,
            known: Cow::Owned(known.take(&kept)?),
            kept: Some(kept),
            count: data.count(),
        })
    }

    /// The groups of these rows, from those of all.
    pub(crate) fn groups(&self, groups: Option<&[u32]>) -> Result<Option<Vec<u32>>> {
        let Some(groups) = groups else { return Ok(None) };
        if groups.len() != self.count {
            return Err(Error::shape("groups", format!("{}, one per row", self.count), groups.len()));
        }
        Ok(Some(self.kept.as_ref().map_or_else(|| groups.to_vec(), |kept| kept.iter().map(|&i| groups[i]).collect())))
    }

    /// The number of a row among all rows.
    pub(crate) fn number(&self, row: usize) -> usize {
        self.kept.as_ref().map_or(row, |kept| kept[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(values: &[f64]) -> String {
        Weights::new(values.to_vec()).expect_err("must be refused").to_string()
    }

    #[test]
    fn bad_weights_are_refused_with_their_row() {
        assert!(message(&[1.0, f64::NAN, 1.0]).contains("row 1"));
        assert!(message(&[1.0, 1.0, -2.0]).contains("row 2 is -2"));
        assert!(message(&[0.0; 3]).contains("every weight is zero"));
        assert!(message(&[]).contains("every weight is zero"));
        assert!(message(&[f64::MAX; 3]).contains("overflows"));
        let weights = Weights::new(vec![0.0, 3.0]).unwrap();
        assert!(weights.check_rows(3).unwrap_err().to_string().contains("3 weights"));
        assert!(weights.check_rows(2).is_ok() && weights.take(&[0]).is_err());
        assert_eq!(weights.positive_rows(), Some(vec![1]));
        assert_eq!(weights.take(&[1]).unwrap().positive_rows(), None);
    }
}
