//! [`Given`]: rows with the targets of some of them, checked before any work.

use crate::data::{GaussianArray, Labels, Weights};
use crate::error::{Error, Result};

/// Rows to fit, some of which have labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Given<'a> {
    pub rows: &'a GaussianArray,
    /// For each output one number per row, NaN for unlabelled rows: the same ones in every output.
    targets: &'a [Vec<f64>],
    weights: Option<&'a Weights>,
    groups: Option<&'a [u32]>,
}

impl<'a> Given<'a> {
    pub(super) fn new(
        rows: &'a GaussianArray,
        targets: &'a [Vec<f64>],
        weights: Option<&'a Weights>,
        groups: Option<&'a [u32]>,
    ) -> Result<Self> {
        let n = rows.n_rows();
        let Some(first) = targets.first() else { return Err(Error::Data("there are no targets to fit".into())) };
        let lengths = targets.iter().map(|t| ("targets", t.len())).chain(groups.map(|g| ("groups", g.len())));
        if let Some((what, got)) = lengths.into_iter().find(|(_, len)| *len != n) {
            return Err(Error::shape(what, format!("{n}, one per row"), got));
        }
        weights.map_or(Ok(()), |weights| weights.check_rows(n))?;
        for target in targets {
            for (row, &value) in target.iter().enumerate() {
                if value.is_infinite() {
                    return Err(Error::NotFinite { what: "y".into(), row, column: 0, value });
                }
                if value.is_nan() != first[row].is_nan() {
                    return Err(Error::Data(format!("y: row {row} has some outputs only; a row has all or none")));
                }
            }
        }
        Ok(Self { rows, targets, weights, groups })
    }

    /// Number of outputs.
    pub(super) fn outputs(&self) -> usize {
        self.targets.len()
    }

    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    /// The rows of positive weight.
    pub(super) fn counted(&self) -> Vec<usize> {
        (0..self.rows.n_rows()).filter(|&i| self.weight(i) > 0.0).collect()
    }

    /// Rows with labels, and the others.
    pub(super) fn labelled(&self) -> Result<(Vec<usize>, Vec<usize>)> {
        let (labelled, rest): (Vec<usize>, Vec<usize>) =
            self.counted().into_iter().partition(|&i| !self.targets[0][i].is_nan());
        if labelled.is_empty() {
            return Err(Error::Data("y: no row (of positive weight) has a label".into()));
        }
        Ok((labelled, rest))
    }

    /// For each output the targets of these rows.
    pub(super) fn labelled_targets(&self, labelled: &[usize]) -> Vec<Vec<f64>> {
        self.targets.iter().map(|target| labelled.iter().map(|&i| target[i]).collect()).collect()
    }

    /// The classes of these rows, for targets of -1 and +1: by the sign of the one output, or the output that is +1.
    pub(super) fn classes(&self, labelled: &[usize]) -> Result<Labels> {
        let positive = |i: usize| self.targets.iter().position(|target| target[i] > 0.0);
        for &row in labelled {
            if let Some(y) = self.targets.iter().map(|target| target[row]).find(|y| y.abs() != 1.0) {
                return Err(Error::Data(format!("y: row {row} is {y}; probabilities need targets of -1 and +1")));
            }
        }
        let (codes, n_classes) = match self.outputs() {
            1 => (labelled.iter().map(|&i| u32::from(positive(i).is_some())).collect(), 2),
            n => (labelled.iter().map(|&i| positive(i).unwrap_or(0) as u32).collect(), n),
        };
        let labels = Labels::new(codes, n_classes)?;
        match self.groups {
            Some(groups) => labels.with_groups(labelled.iter().map(|&i| groups[i]).collect()),
            None => Ok(labels),
        }
    }
}
