//! [`Pair`]: two classes of several, told apart by one score.

use crate::control::Control;
use crate::data::{Labels, Weights};
use crate::error::Result;
use crate::model::platt::Sigmoid;

/// Two classes, first < second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model) struct Pair {
    pub first: usize,
    pub second: usize,
    /// Of all classes.
    n_classes: usize,
}

/// The pairs of classes in order: (0, 1), (0, 2) .. (1, 2) ..
pub(in crate::model) fn pairs(n_classes: usize) -> impl Iterator<Item = Pair> {
    (0..n_classes).flat_map(move |first| (first + 1..n_classes).map(move |second| Pair { first, second, n_classes }))
}

/// The names of their fits; none where there is one pair only.
pub(in crate::model) fn tasks(n_classes: usize) -> impl Iterator<Item = String> {
    let count = pairs(n_classes).count();
    (1..=count).map(move |number| if count == 1 { String::new() } else { format!("pair {number} of {count}") })
}

impl Pair {
    /// Is the row of one of the two classes?
    pub(crate) fn holds(self, labels: &Labels, row: usize) -> bool {
        let code = labels.codes()[row] as usize;
        code == self.first || code == self.second
    }

    /// +1 or -1: of two classes the second is positive, of several pairs the first.
    pub(crate) fn target(self, labels: &Labels, row: usize) -> f64 {
        let positive = if self.n_classes == 2 { self.second } else { self.first };
        if labels.codes()[row] as usize == positive { 1.0 } else { -1.0 }
    }

    /// The sigmoid from rows of positive weight and their scores, which were held out of the fits behind these.
    pub(crate) fn sigmoid(self, labels: &Labels, held_out: &[(usize, f64)], control: &Control) -> Result<Sigmoid> {
        let scores: Vec<f64> = held_out.iter().map(|(_, score)| *score).collect();
        let targets: Vec<f64> = held_out.iter().map(|(row, _)| self.target(labels, *row)).collect();
        let weights = Weights::new(held_out.iter().map(|(row, _)| labels.weight(*row)).collect())?;
        Sigmoid::fit(&scores, &vec![0.0; scores.len()], &targets, Some(&weights), control)
    }
}
