//! [`Folds`]: the partition of rows behind cross-validated probabilities and paths of penalties.
//!
//! A row's fold depends on what is in the rows, not on their order, nor on the order or the names of columns and classes:
//! [`group_folds`] deals groups in the order of their content. Equal rows are a group, as one row of weight 2 would be, but
//! not where features take so few values that a set is a large part of all rows.

use std::collections::HashMap;

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
/// So many equal rows are held out together in any case.
const ALWAYS_TOGETHER: usize = 5;
/// Of more at most one in so many rows.
const LARGEST_PART: usize = 20;

impl Folds {
    /// At most `wanted` folds, fewer when a class has fewer rows or groups; the same for the same seed. `sets`: of equal
    /// rows, in the order of their content.
    pub(super) fn new(sets: &[Vec<usize>], labels: &Labels, wanted: usize, seed: u64) -> Result<Self> {
        let counts = labels.counts();
        if let (None, Some(class)) = (labels.groups(), counts.iter().position(|&n| n < 2)) {
            return Err(Error::Data(format!(
                "cross-validation (for probabilities, or a penalty that is \"auto\") needs at least 2 rows (of positive \
                 weight) of every class, but class {class} has {}; fit without it or add rows",
                counts[class]
            )));
        }
        let codes = labels.codes();
        let mut first = vec![usize::MAX; counts.len()];
        sets.iter().enumerate().flat_map(|(k, set)| set.iter().map(move |&row| (k, row))).for_each(|(k, row)| {
            let class = codes[row] as usize;
            first[class] = first[class].min(k);
        });
        // Classes by what is in them, not by their codes.
        let mut ranks: Vec<usize> = (0..counts.len()).collect();
        ranks.sort_by_key(|&class| (counts[class], first[class]));
        let rank_of = |class: u32| ranks.iter().position(|&other| other == class as usize).unwrap_or(0) as f64;
        let facts = |row: usize| (rank_of(codes[row]), labels.weight(row));
        let of_row = deal(sets, (codes, labels.n_classes()), labels.groups(), facts, wanted, seed)?;
        let count = of_row.iter().filter(|&&fold| fold != NONE).max().map_or(0, |last| last + 1);
        Ok(Self { of_row, count })
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

/// Rows of which no content is known.
pub(super) fn singles(n: usize) -> Vec<Vec<usize>> {
    (0..n).map(|row| vec![row]).collect()
}

/// The fold of every row, [`NONE`] without weight; `facts`: what to order equal rows by, and the weight.
pub(super) fn deal(
    sets: &[Vec<usize>],
    (codes, n_classes): (&[u32], usize),
    groups: Option<&[u32]>,
    facts: impl Fn(usize) -> (f64, f64),
    wanted: usize,
    seed: u64,
) -> Result<Vec<u32>> {
    let mut sets: Vec<Vec<usize>> =
        sets.iter().map(|set| set.iter().copied().filter(|&row| facts(row).1 > 0.0).collect()).collect();
    let order = |a: &usize, b: &usize| facts(*a).partial_cmp(&facts(*b)).unwrap_or(std::cmp::Ordering::Equal);
    sets.iter_mut().for_each(|set| set.sort_by(order));
    let most = ALWAYS_TOGETHER.max(sets.iter().map(Vec::len).sum::<usize>() / LARGEST_PART);
    let mut point: Vec<usize> = (sets.len()..sets.len() + codes.len()).collect();
    for (k, set) in sets.iter().enumerate().filter(|(_, set)| set.len() <= most) {
        set.iter().for_each(|&row| point[row] = k);
    }
    let dealt = |together: Vec<Vec<usize>>| {
        let (mut own, mut places) = (vec![], vec![]);
        for (k, rows) in (0..).zip(&together) {
            // A row given twice counts once, as one of weight 2 does.
            let mut once = rows.clone();
            once.dedup_by_key(|row| (point[*row], codes[*row]));
            own.extend(once.iter().map(|&row| codes[row]));
            places.extend(once.iter().map(|_| k));
        }
        let folds = group_folds(&own, n_classes, &places, wanted, seed)?;
        let mut of_row = vec![NONE; codes.len()];
        for (&k, fold) in places.iter().zip(folds) {
            together[k as usize].iter().for_each(|&row| of_row[row] = fold);
        }
        Ok(of_row)
    };
    match groups {
        Some(groups) => dealt(whole(&sets, groups)),
        None => {
            let alone = |set: Vec<usize>| set.into_iter().map(|row| vec![row]).collect::<Vec<_>>();
            let some = sets.iter().cloned().flat_map(|set| if set.len() > most { alone(set) } else { vec![set] });
            dealt(some.collect()).or_else(|_| dealt(sets.into_iter().flat_map(alone).collect()))
        }
    }
}

/// The rows of every group, those groups first whose rows are in the first sets.
fn whole(sets: &[Vec<usize>], groups: &[u32]) -> Vec<Vec<usize>> {
    let mut members: HashMap<u32, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (k, set) in sets.iter().enumerate() {
        for &row in set {
            let (places, rows) = members.entry(groups[row]).or_default();
            places.push(k);
            rows.push(row);
        }
    }
    let mut all: Vec<(Vec<usize>, Vec<usize>)> = members.into_values().collect();
    all.sort_unstable();
    all.into_iter().map(|(_, rows)| rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(codes: &[u32], n_classes: usize) -> Labels {
        Labels::new(codes.to_vec(), n_classes).unwrap()
    }

    fn new(labels: &Labels, wanted: usize, seed: u64) -> Result<Folds> {
        Folds::new(&singles(labels.len()), labels, wanted, seed)
    }

    #[test]
    fn every_fold_has_every_class_and_the_seed_decides() {
        let codes: Vec<u32> = (0..103).map(|i| u32::from(i % 10 == 0) + u32::from(i % 3 == 0)).collect();
        let labels = labels(&codes, 3);
        let folds = new(&labels, 5, 7).unwrap();
        assert_eq!(folds.count, 4); // 4 rows of class 2
        for fold in 0..folds.count {
            for class in 0..3 {
                assert!((0..103).any(|i| folds.of_row[i] == fold && codes[i] == class), "{fold} {class}");
            }
            let size = folds.of_row.iter().filter(|&&f| f == fold).count();
            assert!(size == 25 || size == 26);
        }
        assert_eq!(folds, new(&labels, 5, 7).unwrap());
        assert_ne!(folds, new(&labels, 5, 8).unwrap());
    }

    #[test]
    fn names_of_classes_do_not_matter() {
        let codes: Vec<u32> = (0..97).map(|i| (i / 2 + i * i) % 3).collect();
        let turned: Vec<u32> = codes.iter().map(|code| 2 - code).collect();
        assert_eq!(new(&labels(&codes, 3), 5, 7).unwrap(), new(&labels(&turned, 3), 5, 7).unwrap());
    }

    #[test]
    fn folds_are_of_what_is_in_the_rows() {
        // Rows 0 to 99 and rows 3 k again, in another order.
        let numbers: Vec<usize> = (0..134).map(|i| if i < 100 { (37 * i) % 100 } else { 3 * (i - 100) }).collect();
        let mut sets = vec![vec![]; 100];
        numbers.iter().enumerate().for_each(|(row, &number)| sets[number].push(row));
        let code = |number: usize| u32::from(number % 7 < 3);
        let twice = labels(&numbers.iter().map(|&number| code(number)).collect::<Vec<_>>(), 2);
        let folds = Folds::new(&sets, &twice, 5, 7).unwrap();
        assert!(sets.iter().all(|set| set.iter().all(|&row| folds.fold(row) == folds.fold(set[0]))));
        let groups =
            Folds::new(&sets, &twice.with_groups(numbers.iter().map(|&i| 200 - i as u32).collect()).unwrap(), 5, 7);
        assert_eq!(groups.unwrap(), folds);
        // Features that take two values: folds are not of two sets.
        let halves = [(0..50).collect::<Vec<usize>>(), (50..100).collect()];
        let folds = Folds::new(&halves, &labels(&(0..100).map(code).collect::<Vec<_>>(), 2), 5, 7).unwrap();
        assert_eq!((0..5).map(|k| folds.of_row.iter().filter(|&&f| f == k).count()).collect::<Vec<_>>(), [20; 5]);
    }

    #[test]
    fn rows_without_weight_change_nothing_and_small_classes_are_refused() {
        let few = labels(&[0, 0, 1, 1, 1], 2);
        assert_eq!(new(&few, 5, 0).unwrap().count, 2);
        let more = labels(&[0, 1, 0, 1, 1, 1], 2).with_weights(vec![1.0, 0.0, 1.0, 1.0, 1.0, 1.0]).unwrap();
        let mut of_row = new(&more, 5, 0).unwrap().of_row;
        assert_eq!(of_row.remove(1), NONE);
        assert_eq!(of_row, new(&few, 5, 0).unwrap().of_row);
        let error = new(&labels(&[0, 1, 1], 2), 5, 0).unwrap_err().to_string();
        assert!(error.contains("class 0 has 1"), "{error}");
    }

    #[test]
    fn groups_stay_together_and_rows_without_weight_change_nothing() {
        let codes: Vec<u32> = (0..40).map(|i| (i / 4) % 2).collect();
        let groups: Vec<u32> = (0..40).map(|i| i / 4).collect();
        let grouped = labels(&codes, 2).with_groups(groups.clone()).unwrap();
        let folds = new(&grouped, 5, 3).unwrap();
        assert_eq!(folds.count(), 5);
        assert!((0..40).all(|i| folds.fold(i).is_some() && folds.fold(i) == folds.fold(4 * (i / 4))));
        // A row without weight has no fold, even if it is alone with its class in its group.
        let (mut codes, mut groups) = (codes, groups);
        codes.insert(8, 1);
        groups.insert(8, 77);
        let mut weights = vec![1.0; 41];
        weights[8] = 0.0;
        let more = labels(&codes, 2).with_weights(weights).unwrap().with_groups(groups).unwrap();
        let mut of_row = new(&more, 5, 3).unwrap().of_row;
        assert_eq!(of_row.remove(8), NONE);
        assert_eq!(of_row, folds.of_row);
        let error = new(&labels(&[0, 0, 1, 1], 2).with_groups(vec![0, 1, 2, 2]).unwrap(), 5, 0).unwrap_err();
        assert!(error.to_string().contains("class 1 has rows in 1;"), "{error}");
    }
}
