//! [`Labels`]: the class, the weight and the group of every row.

use crate::data::RowTargets;
use crate::data::weights::{Weights, supervision};
use crate::error::{Error, Result};
use crate::readable::readable;
use crate::rows::SharedCodes;

readable! {
    /// The class of every row as a code `0..n_classes`, a weight if rows count differently, and a group if several rows
    /// belong to one object.
    ///
    /// [`Weights`] may be of any scale: models normalise them to mean 1, so that only their ratios matter.
    /// Groups matter where rows are held out, for calibrated probabilities: rows of one group are held out together.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Labels {
        /// The class code of every row.
        codes: SharedCodes => &[u32],
        /// Number of classes.
        n_classes: usize => usize,
        /// The weights as they were given.
        weights: Option<Weights> => Option<&Weights>,
        /// The group of every row, where they were given.
        groups: Option<Vec<u32>> => Option<&[u32]>,
        /// The row whose component each is, where rows are mixtures: those of one row follow each other.
        parts: Option<Vec<u32>> => Option<&[u32]>,
    }
}

impl Labels {
    /// Labels from class codes, all below `n_classes`.
    pub fn new(codes: Vec<u32>, n_classes: usize) -> Result<Self> {
        Self::from_shared(SharedCodes::new(codes), n_classes)
    }

    /// Labels from codes that are somebody else's memory.
    pub fn from_shared(codes: SharedCodes, n_classes: usize) -> Result<Self> {
        Self { codes, n_classes: 0, weights: None, groups: None, parts: None }.with_classes(n_classes)
    }

    /// Sets the number of classes.
    pub(crate) fn with_classes(self, n_classes: usize) -> Result<Self> {
        if n_classes < 2 {
            return Err(Error::Data(format!("a classifier needs at least 2 classes, got {n_classes}")));
        }
        match self.codes.iter().position(|&code| code as usize >= n_classes) {
            Some(row) => Err(Error::Data(format!(
                "labels: row {row} has class code {}, but there are only the classes 0 to {}",
                self.codes[row],
                n_classes - 1
            ))),
            None => Ok(Self { n_classes, ..self }),
        }
    }

    /// These labels with one weight >= 0 per row; at least one must be positive.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        let weights = Weights::new(weights)?;
        weights.check_rows(self.len())?;
        self.weights = Some(weights);
        Ok(self)
    }

    /// These labels with the group of every row, any number that rows of one object share.
    pub fn with_groups(mut self, groups: Vec<u32>) -> Result<Self> {
        if groups.len() != self.codes.len() {
            return Err(Error::shape("groups", format!("{}, one per row", self.codes.len()), groups.len()));
        }
        self.groups = Some(groups);
        Ok(self)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// No rows at all?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Weight of a row (1 without weights).
    #[must_use]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[row])
    }

    /// +1 for rows of `class`, -1 for the others.
    #[must_use]
    pub fn targets(&self, class: usize) -> RowTargets<'_> {
        RowTargets::Class { codes: &self.codes, class: class as u32 }
    }

    /// The labels of the rows with these numbers.
    ///
    /// # Errors
    /// All of them have weight 0. Panics when a number is out of range, as slices do.
    pub fn take(&self, rows: &[usize]) -> Result<Self> {
        let codes = self.codes();
        Ok(Self {
            codes: SharedCodes::new(rows.iter().map(|&i| codes[i]).collect::<Vec<u32>>()),
            n_classes: self.n_classes,
            weights: self.weights().map(|w| w.take(rows)).transpose()?,
            groups: self.groups().map(|g| rows.iter().map(|&i| g[i]).collect()),
            parts: self.parts().map(|p| rows.iter().map(|&i| p[i]).collect()),
        })
    }

    /// Labels of the components of mixtures, whose rows are `rows`, with their shares of a row. A row without a
    /// group is a group, for its components to be held out together.
    pub(crate) fn for_components(&self, rows: &[u32], shares: &[f64]) -> Result<Self> {
        let codes = self.codes();
        let weights = rows.iter().zip(shares).map(|(&i, v)| self.weight(i as usize) * v).collect();
        let groups = self.groups().map_or_else(|| rows.to_vec(), |g| rows.iter().map(|&i| g[i as usize]).collect());
        Ok(Self {
            codes: SharedCodes::new(rows.iter().map(|&i| codes[i as usize]).collect::<Vec<u32>>()),
            n_classes: self.n_classes,
            weights: Some(Weights::new(weights)?),
            groups: Some(groups),
            parts: Some(rows.to_vec()),
        })
    }

    /// With the parts of rows that these were taken from.
    pub(crate) fn with_parts(self, parts: Option<Vec<u32>>) -> Self {
        Self { parts, ..self }
    }

    /// Do the labels belong to `n_rows` rows?
    pub fn check_rows(&self, n_rows: usize) -> Result<()> {
        if self.len() == n_rows {
            Ok(())
        } else {
            Err(Error::shape("labels", format!("{n_rows}, one per row of data"), self.len()))
        }
    }

    /// The rows of positive weight of a class.
    pub(crate) fn class_rows(&self, class: usize) -> Vec<usize> {
        let codes = self.codes();
        (0..self.len()).filter(|&i| codes[i] as usize == class && self.weight(i) > 0.0).collect()
    }

    /// The weight of each class as a share of all weight.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_classes];
        self.codes.iter().enumerate().for_each(|(i, &class)| sums[class as usize] += self.weight(i));
        let total: f64 = sums.iter().sum();
        sums.iter().map(|sum| sum / total).collect()
    }

    /// Rows of positive weight in each class.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.n_classes];
        for (row, &code) in self.codes.iter().enumerate() {
            counts[code as usize] += usize::from(self.weight(row) > 0.0);
        }
        counts
    }

    /// Has every class at least one row of positive weight?
    pub fn check_every_class(&self) -> Result<()> {
        let counts = self.counts();
        let Some(missing) = counts.iter().position(|&n| n == 0) else { return Ok(()) };
        let present = counts.iter().filter(|&&n| n > 0).count();
        Err(Error::Data(match present {
            0 => "there are no rows to fit".to_owned(),
            1 => "all rows (of positive weight) are of one class; a classifier needs at least 2 classes".to_owned(),
            _ => format!("class {missing} has no row of positive weight; leave the class out or give it rows"),
        }))
    }
}

supervision!(Labels);

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.expect_err("must be refused").to_string()
    }

    #[test]
    fn bad_labels_are_refused_with_their_row() {
        assert!(message(Labels::new(vec![0, 0], 1)).contains("at least 2 classes"));
        assert!(message(Labels::new(vec![0, 1, 3], 3)).contains("row 2 has class code 3"));
        let labels = Labels::new(vec![0, 1, 1], 2).unwrap();
        assert!(message(labels.clone().with_weights(vec![1.0])).contains("3 weights"));
        assert!(message(labels.clone().with_groups(vec![1, 1])).contains("3, one per row"));
        assert!(message(labels.check_rows(4)).contains("expected 4"));
        assert!(labels.check_every_class().is_ok());
    }

    #[test]
    fn classes_without_weight_count_as_missing() {
        let labels = Labels::new(vec![0, 1, 1], 2).unwrap();
        let labels = labels.with_weights(vec![0.0, 1.0, 1.0]).unwrap();
        assert!(message(labels.check_every_class()).contains("one class"));
        let labels = Labels::new(vec![0, 1, 1], 3).unwrap();
        assert!(message(labels.check_every_class()).contains("class 2 has no row"));
        assert!(message(Labels::new(vec![], 2).unwrap().check_every_class()).contains("no rows"));
    }
}
