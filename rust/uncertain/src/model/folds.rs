//! [`Folds`]: the partition of rows behind cross-validated probabilities.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::Labels;
use crate::error::{Error, Result};
use crate::model::group_folds;

/// A partition of the rows of positive weight into folds with all classes in each, or of their groups.
#[derive(Debug, PartialEq)]
pub(crate) struct Folds {
    of_row: Vec<u32>,
    count: u32,
}

/// The fold of rows without weight, which are never scored.
const NONE: u32 = u32::MAX;

impl Folds {
    /// At most `wanted` folds, fewer when a class has fewer rows; the same for the same seed. With groups, as
    /// [`group_folds`].
    pub(super) fn new(labels: &Labels, wanted: usize, seed: u64) -> Result<Self> {
        if let Some(groups) = labels.groups() {
            return Self::deal_groups(labels, groups, wanted, seed);
        }
        let counts = labels.counts();
        if let Some(class) = counts.iter().position(|&n| n < 2) {
            return Err(Error::Data(format!(
                "cross-validation (for probabilities, or a penalty that is \"auto\") needs at least 2 rows (of positive \
                 weight) of every class, but class {class} has {}; fit without it or add rows",
                counts[class]
            )));
        }
        let count = counts.iter().fold(wanted, |least, &n| least.min(n)) as u32;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut of_row = vec![NONE; labels.len()];
        // Going on with the next fold from class to class keeps the folds within one row of each other; the classes come in
        // the order of their first rows, whatever they are called.
        let mut next = 0;
        let mut members: Vec<Vec<usize>> = (0..labels.n_classes()).map(|class| labels.class_rows(class)).collect();
        members.sort_unstable_by_key(|rows| rows[0]);
        for mut rows in members {
            rows.shuffle(&mut rng);
            for row in rows {
                of_row[row] = next;
                next = (next + 1) % count;
            }
        }
        Ok(Self { of_row, count })
    }

    fn deal_groups(labels: &Labels, groups: &[u32], wanted: usize, seed: u64) -> Result<Self> {
        let rows: Vec<usize> = (0..labels.len()).filter(|&i| labels.weight(i) > 0.0).collect();
        let (codes, groups): (Vec<u32>, Vec<u32>) = rows.iter().map(|&i| (labels.codes()[i], groups[i])).unzip();
        let folds = group_folds(&codes, labels.n_classes(), &groups, wanted, seed)?;
        let mut of_row = vec![NONE; labels.len()];
        rows.iter().zip(&folds).for_each(|(&row, &fold)| of_row[row] = fold);
        Ok(Self { of_row, count: folds.iter().max().map_or(0, |last| last + 1) })
    }

    /// Number of folds.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The name of a fit without this fold, which is part of `task`.
    pub(super) fn task(&self, task: &str, fold: u32) -> String {
        let name = format!("fold {} of {}", fold + 1, self.count);
        if task.is_empty() { name } else { format!("{task}, {name}") }
    }

    /// The fold of a row; `None` without weight.
    pub(super) fn fold(&self, row: usize) -> Option<u32> {
        Some(self.of_row[row]).filter(|&fold| fold != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(codes: &[u32], n_classes: usize) -> Labels {
        Labels::new(codes.to_vec(), n_classes).unwrap()
    }

    #[test]
    fn every_fold_has_every_class_and_the_seed_decides() {
        let codes: Vec<u32> = (0..103).map(|i| u32::from(i % 10 == 0) + u32::from(i % 3 == 0)).collect();
        let labels = labels(&codes, 3);
        let folds = Folds::new(&labels, 5, 7).unwrap();
        assert_eq!(folds.count, 4); // 4 rows of class 2
        for fold in 0..folds.count {
            for class in 0..3 {
                assert!((0..103).any(|i| folds.of_row[i] == fold && codes[i] == class), "{fold} {class}");
            }
            let size = folds.of_row.iter().filter(|&&f| f == fold).count();
            assert!(size == 25 || size == 26);
        }
        assert_eq!(folds, Folds::new(&labels, 5, 7).unwrap());
        assert_ne!(folds, Folds::new(&labels, 5, 8).unwrap());
    }

    #[test]
    fn names_of_classes_do_not_matter() {
        let codes: Vec<u32> = (0..97).map(|i| (i / 2 + i * i) % 3).collect();
        let turned: Vec<u32> = codes.iter().map(|code| 2 - code).collect();
        assert_eq!(Folds::new(&labels(&codes, 3), 5, 7).unwrap(), Folds::new(&labels(&turned, 3), 5, 7).unwrap());
    }

    #[test]
    fn rows_without_weight_change_nothing_and_small_classes_are_refused() {
        let few = labels(&[0, 0, 1, 1, 1], 2);
        assert_eq!(Folds::new(&few, 5, 0).unwrap().count, 2);
        let more = labels(&[0, 1, 0, 1, 1, 1], 2).with_weights(vec![1.0, 0.0, 1.0, 1.0, 1.0, 1.0]).unwrap();
        let mut of_row = Folds::new(&more, 5, 0).unwrap().of_row;
        assert_eq!(of_row.remove(1), NONE);
        assert_eq!(of_row, Folds::new(&few, 5, 0).unwrap().of_row);
        let error = Folds::new(&labels(&[0, 1, 1], 2), 5, 0).unwrap_err().to_string();
        assert!(error.contains("class 0 has 1"), "{error}");
    }

    #[test]
    fn groups_stay_together_and_rows_without_weight_change_nothing() {
        let codes: Vec<u32> = (0..40).map(|i| (i / 4) % 2).collect();
        let groups: Vec<u32> = (0..40).map(|i| i / 4).collect();
        let grouped = labels(&codes, 2).with_groups(groups.clone()).unwrap();
        let folds = Folds::new(&grouped, 5, 3).unwrap();
        assert_eq!(folds.count(), 5);
        assert!((0..40).all(|i| folds.fold(i).is_some() && folds.fold(i) == folds.fold(4 * (i / 4))));
        // A row without weight has no fold, even if it is alone with its class in its group.
        let (mut codes, mut groups) = (codes, groups);
        codes.insert(8, 1);
        groups.insert(8, 77);
        let mut weights = vec![1.0; 41];
        weights[8] = 0.0;
        let more = labels(&codes, 2).with_weights(weights).unwrap().with_groups(groups).unwrap();
        let mut of_row = Folds::new(&more, 5, 3).unwrap().of_row;
        assert_eq!(of_row.remove(8), NONE);
        assert_eq!(of_row, folds.of_row);
        let error = Folds::new(&labels(&[0, 0, 1, 1], 2).with_groups(vec![0, 1, 2, 2]).unwrap(), 5, 0).unwrap_err();
        assert!(error.to_string().contains("class 1 has rows in 1;"), "{error}");
    }
}
