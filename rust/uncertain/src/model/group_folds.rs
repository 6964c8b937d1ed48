//! Folds of whole groups: rows of one object stay on one side of every split.
//!
//! Groups are dealt out one by one, each to the fold that has the smallest share of its classes so far; of equal
//! ones to the fold with the fewest rows. With n_fk rows of class k in fold f, N_k in all and g_k in the group,
//! that is the fold with the least sum_k n_fk g_k / N_k^2, the derivative of sum_fk (n_fk / N_k)^2. Large groups
//! come first (by powers of two: few small ones then fill the differences), and the seed decides the order among
//! groups of about one size.
//!
//! Rejected: scikit-learn's order by the spread of the class counts alone, in which groups of different sizes
//! have one order only, whatever the seed: repeats of the cross-validation would be the same splits again.

use std::cmp::Reverse;
use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::{Error, Result};

/// The fold of every row, so that rows of one group have one fold and classes are spread as evenly as groups allow.
///
/// `codes` are the classes of the rows, all below `n_classes` (zeros and 1 where there are none), and `groups` any
/// numbers that name their groups. The folds are numbered from 0; there are `folds` of them, or as many as the
/// class with the fewest groups has groups. Every class has rows in two folds at least, and in every fold if
/// each group has rows of one class only. The names of the groups do not matter, only which rows share them.
///
/// # Errors
/// Lengths that differ, fewer than two folds, a class with rows in fewer than two groups, groups of several
/// classes that leave all rows of a class in one fold.
pub fn group_folds(codes: &[u32], n_classes: usize, groups: &[u32], folds: usize, seed: u64) -> Result<Vec<u32>> {
    if groups.len() != codes.len() {
        return Err(Error::shape("groups", format!("{}, one per row", codes.len()), groups.len()));
    }
    if folds < 2 {
        return Err(Error::parameter("folds", folds, "at least 2"));
    }
    if let Some(row) = codes.iter().position(|&code| code as usize >= n_classes) {
        return Err(Error::Data(format!("row {row} has class code {}, but n_classes is {n_classes}", codes[row])));
    }
    let (places, counts) = count(codes, groups);
    let (mut totals, mut left) = (vec![0.0; n_classes], vec![0_usize; n_classes]);
    for &(class, rows) in counts.iter().flatten() {
        totals[class] += rows as f64;
        left[class] += 1;
    }
    if let Some(class) = left.iter().position(|&n| n < 2) {
        return Err(Error::Data(format!(
            "folds of whole groups need rows of every class in at least 2 groups, but class {class} has rows in {}; \
             add groups, or fit without groups or without probabilities",
            left[class]
        )));
    }
    let folds = left.iter().fold(folds, |least, &n| least.min(n));

    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    order.sort_by_key(|&group| Reverse(size(&counts[group]).ilog2()));
    let mut dealt = Dealt { rows: vec![vec![0.0; n_classes]; folds], sizes: vec![0; folds], totals, left };
    let mut fold_of = vec![0; counts.len()];
    for group in order {
        fold_of[group] = dealt.take(&counts[group]);
    }
    if let Some(class) = (0..n_classes).find(|&class| dealt.folds_with(class).nth(1).is_none()) {
        return Err(Error::Data(format!(
            "no split into folds was found that leaves rows of class {class} in two of them: its groups hold other \
             classes, too; add groups of this class, or fit without groups or without probabilities"
        )));
    }
    Ok(places.into_iter().map(|place| fold_of[place] as u32).collect())
}

/// A group's classes, each with its number of rows.
type Counts = Vec<(usize, usize)>;

fn size(counts: &Counts) -> usize {
    counts.iter().map(|&(_, rows)| rows).sum()
}

/// The place of each row's group in order of first appearance, and the counts of the groups.
fn count(codes: &[u32], groups: &[u32]) -> (Vec<usize>, Vec<Counts>) {
    let mut known = HashMap::new();
    let mut counts: Vec<Counts> = vec![];
    let places = codes.iter().zip(groups).map(|(&code, group)| {
        let place = *known.entry(*group).or_insert(counts.len());
        if place == counts.len() {
            counts.push(vec![]);
        }
        match counts[place].iter_mut().find(|(class, _)| *class == code as usize) {
            Some((_, rows)) => *rows += 1,
            None => counts[place].push((code as usize, 1)),
        }
        place
    });
    (places.collect(), counts)
}

/// Contents of the folds so far.
struct Dealt {
    /// Rows of each class in each fold.
    rows: Vec<Vec<f64>>,
    /// Rows in each fold.
    sizes: Vec<usize>,
    /// Rows of each class in all.
    totals: Vec<f64>,
    /// Groups of each class that are still to come.
    left: Vec<usize>,
}

impl Dealt {
    /// The fold that this group goes to.
    fn take(&mut self, group: &Counts) -> usize {
        group.iter().for_each(|&(class, _)| self.left[class] -= 1);
        let costs: Vec<(usize, f64, usize)> = (0..self.sizes.len()).map(|fold| self.cost(group, fold)).collect();
        let less = |a: &usize, b: &usize| {
            let (a, b) = (costs[*a], costs[*b]);
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        };
        let best = (0..costs.len()).min_by(less).unwrap_or(0);
        group.iter().for_each(|&(class, rows)| self.rows[best][class] += rows as f64);
        self.sizes[best] += size(group);
        best
    }

    /// Classes that would end up in this fold alone, the share of the group's classes that is there, and its rows.
    fn cost(&self, group: &Counts, fold: usize) -> (usize, f64, usize) {
        let alone = |class: usize| self.left[class] == 0 && self.folds_with(class).all(|other| other == fold);
        let lost = group.iter().filter(|(class, _)| alone(*class)).count();
        let share = |&(class, rows): &(usize, usize)| self.rows[fold][class] * rows as f64 / self.totals[class].powi(2);
        (lost, group.iter().map(share).sum(), self.sizes[fold])
    }

    fn folds_with(&self, class: usize) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(move |&fold| self.rows[fold][class] > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    fn deal_folds(folds: &[u32]) -> u32 {
        folds.iter().max().unwrap() + 1
    }

    /// Rows of `classes.len()` groups, mixed: (codes, groups).
    fn rows(classes: &[u32], sizes: &[usize], seed: u64) -> (Vec<u32>, Vec<u32>) {
        let mut rows: Vec<(u32, u32)> =
            (0..classes.len() as u32).flat_map(|g| vec![(classes[g as usize], g); sizes[g as usize]]).collect();
        rows.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        rows.into_iter().unzip()
    }

    fn assert_whole(folds: &[u32], groups: &[u32]) {
        let mut of_group = HashMap::new();
        for (fold, group) in folds.iter().zip(groups) {
            assert_eq!(of_group.entry(group).or_insert(fold), &fold, "group {group} is split");
        }
    }

    #[test]
    fn groups_of_one_class_are_stratified_balanced_and_whole() {
        let classes: Vec<u32> = (0..60).map(|g| [0, 0, 1, 0, 2][g % 5]).collect();
        let sizes: Vec<usize> = (0..60).map(|g| 1 + (7 * g) % 11).collect();
        let (codes, groups) = rows(&classes, &sizes, 1);
        for seed in 0..20 {
            let folds = group_folds(&codes, 3, &groups, 5, seed).unwrap();
            assert_whole(&folds, &groups);
            assert_eq!(deal_folds(&folds), 5);
            for class in 0..3 {
                let total = codes.iter().filter(|&&code| code == class).count() as f64;
                for fold in 0..5 {
                    let here = (0..codes.len()).filter(|&i| codes[i] == class && folds[i] == fold).count() as f64;
                    // A fifth, give or take a group of the largest size.
                    assert!(here > 0.0 && (here - total / 5.0).abs() <= 11.0, "{class} {fold}: {here} of {total}");
                }
            }
            for fold in 0..5 {
                let here = folds.iter().filter(|&&f| f == fold).count() as f64;
                assert!((here - codes.len() as f64 / 5.0).abs() <= 11.0, "{here} of {}", codes.len());
            }
        }
    }

    #[test]
    fn the_seed_decides_even_where_all_sizes_differ_and_names_do_not_matter() {
        let classes: Vec<u32> = (0..30).map(|g| g % 2).collect();
        let sizes: Vec<usize> = (1..=30).collect();
        let (codes, groups) = rows(&classes, &sizes, 2);
        let first = group_folds(&codes, 2, &groups, 5, 0).unwrap();
        assert_eq!(first, group_folds(&codes, 2, &groups, 5, 0).unwrap());
        let renamed: Vec<u32> = groups.iter().map(|g| u32::MAX - 7 * g).collect();
        assert_eq!(first, group_folds(&codes, 2, &renamed, 5, 0).unwrap());
        let mut others: Vec<_> = (0..20).map(|seed| group_folds(&codes, 2, &groups, 5, seed).unwrap()).collect();
        others.sort();
        others.dedup();
        assert_eq!(others.len(), 20);
    }

    #[test]
    fn groups_of_one_row_are_folds_of_rows() {
        let codes: Vec<u32> = (0..103).map(|i| u32::from(i % 10 == 0) + u32::from(i % 3 == 0)).collect();
        let groups: Vec<u32> = (0..103).collect();
        let folds = group_folds(&codes, 3, &groups, 5, 7).unwrap();
        assert_eq!(deal_folds(&folds), 4); // 4 rows of class 2
        for fold in 0..4 {
            let sizes = |class| (0..103).filter(|&i| folds[i] == fold && codes[i] == class).count();
            let n = [sizes(0), sizes(1), sizes(2)];
            assert!((15..=16).contains(&n[0]) && n[2] == 1 && (25..=26).contains(&(n[0] + n[1] + n[2])), "{n:?}");
        }
    }

    #[test]
    fn groups_of_several_classes_leave_every_class_in_two_folds() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        for seed in 0..200 {
            let n_groups = rng.random_range(8..20);
            let mut codes = vec![0, 0, 1, 1, 2, 2];
            // The rare class: one row in group 0, many in group 1, among rows of the others.
            let mut groups = vec![0, 1, 2, 3, 0, 1];
            codes.extend(vec![2; 30]);
            groups.extend(vec![1; 30]);
            for _ in 0..60 {
                codes.push(rng.random_range(0..2));
                groups.push(rng.random_range(0..n_groups));
            }
            let folds = group_folds(&codes, 3, &groups, 5, seed).unwrap();
            assert_whole(&folds, &groups);
            assert_eq!(deal_folds(&folds), 2); // two groups of class 2
            assert_ne!(folds[4], folds[5]);
        }
    }

    #[test]
    fn without_classes_the_rows_are_balanced() {
        let sizes: Vec<usize> = (0..40).map(|g| 1 + g % 6).collect();
        let (codes, groups) = rows(&[0; 40], &sizes, 5);
        let folds = group_folds(&codes, 1, &groups, 4, 1).unwrap();
        assert_whole(&folds, &groups);
        for fold in 0..4 {
            let here = folds.iter().filter(|&&f| f == fold).count();
            assert!(here.abs_diff(codes.len() / 4) <= 1, "{here} of {}", codes.len());
        }
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        let said = |codes: &[u32], n_classes, groups: &[u32], folds| {
            group_folds(codes, n_classes, groups, folds, 0).unwrap_err().to_string()
        };
        assert!(said(&[0, 1, 1], 2, &[5, 5], 5).contains("3, one per row"));
        assert!(said(&[0, 1, 0, 1], 2, &[0, 1, 2, 1], 5).contains("class 1 has rows in 1;"));
        assert!(said(&[0, 1, 0, 3], 2, &[0, 1, 2, 1], 5).contains("row 3 has class code 3"));
        assert!(said(&[0, 1], 2, &[0, 1], 1).contains("folds"));
        // Three pairs of classes on three groups: two folds always leave one group alone, and with it no class.
        let codes = [0, 1, 1, 2, 2, 0];
        assert!(group_folds(&codes, 3, &[0, 0, 1, 1, 2, 2], 5, 0).unwrap_err().to_string().contains("two of them"));
    }
}
