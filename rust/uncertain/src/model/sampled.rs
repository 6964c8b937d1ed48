//! The rows that calibrate probabilities when there are very many.
//!
//! Two numbers per class are all that a sigmoid has to learn, and some hundred thousand scores of held-out rows
//! settle them to three digits; folds of all rows would cost five more fits for nothing. So beyond
//! [`CALIBRATED_ROWS`] rows the folds are those of a sample: scores of its rows under machines that were fitted to
//! the other rows of the sample. A machine that a fold of the sample fits is less sure than the one of all rows by
//! a share of d / 160,000, which a sigmoid does not notice.
//!
//! A row (with groups: every row of a group) is taken if a hash of (seed, its place by content, or group) lies below the class's
//! share; the share of a rare class is larger, and rows count by the inverse of theirs. So the sample depends on
//! neither threads nor the order in which groups come, and needs no memory for the rows that it leaves out.

use std::collections::HashMap;

use crate::data::Labels;
use crate::data::weights::TakeRows;
use crate::error::Result;

/// Up to so many rows all of them are calibrated on.
const CALIBRATED_ROWS: usize = 200_000;
/// Rows expected of a class at least, as far as it has them.
const LEAST_OF_A_CLASS: usize = 5_000;
/// The copy of the rows may take so many bytes, but may always have [`FEWEST_ROWS`].
const MOST_BYTES: usize = 512 << 20;
/// Even the widest rows are so many.
const FEWEST_ROWS: usize = 20_000;

/// Rows with labels, in place of all.
#[derive(Debug)]
pub(in crate::model) struct Sampled<D> {
    pub data: D,
    pub labels: Labels,
}

impl<D: TakeRows> Sampled<D> {
    /// A sample of rows that all have weight; `None` when there are few enough for all to take part.
    pub(in crate::model) fn draw(data: &D, labels: &Labels, seed: u64) -> Result<Option<Self>> {
        let most = (MOST_BYTES / data.bytes()).clamp(FEWEST_ROWS, CALIBRATED_ROWS);
        if labels.len() <= CALIBRATED_ROWS {
            return Ok(None);
        }
        let mut places = vec![0; labels.len()];
        if labels.groups().is_none() {
            data.sets()?.into_iter().flatten().enumerate().for_each(|(place, row)| places[row] = place);
        }
        let (rows, chances) = chosen(labels, &places, most, seed);
        let weights = rows.iter().zip(&chances).map(|(&i, chance)| labels.weight(i) / chance).collect();
        let mut some = Labels::new(rows.iter().map(|&i| labels.codes()[i]).collect(), labels.n_classes())?
            .with_weights(weights)?;
        if let Some(groups) = labels.groups() {
            some = some.with_groups(rows.iter().map(|&i| groups[i]).collect())?;
        }
        let parts = labels.parts().map(|parts| rows.iter().map(|&i| parts[i]).collect());
        Ok(Some(Self { data: data.pick(&rows)?, labels: some.with_parts(parts) }))
    }
}

/// Numbers of the rows in the sample, and the chance that each one had.
fn chosen(labels: &Labels, places: &[usize], most: usize, seed: u64) -> (Vec<usize>, Vec<f64>) {
    let n = labels.len();
    let chances: Vec<f64> = labels
        .counts()
        .iter()
        .map(|&count| (most as f64 / n as f64).max(LEAST_OF_A_CLASS as f64 / count.max(1) as f64).min(1.0))
        .collect();
    let chance = |i: usize| chances[labels.codes()[i] as usize];
    let Some(groups) = labels.groups() else {
        let rows: Vec<usize> = (0..n).filter(|&i| uniform(seed, places[i] as u64) < chance(i)).collect();
        let chances = rows.iter().map(|&i| chance(i)).collect();
        return (rows, chances);
    };
    // A group has the chance of its rarest class.
    let mut taken: HashMap<u32, f64> = HashMap::new();
    for (i, &group) in groups.iter().enumerate() {
        if uniform(seed, u64::from(group)) < chance(i) {
            let known = taken.entry(group).or_insert(0.0);
            *known = known.max(chance(i));
        }
    }
    (0..n).filter_map(|i| taken.get(&groups[i]).map(|chance| (i, chance))).unzip()
}

/// A number in [0, 1) that depends on both: the finaliser of splitmix64.
fn uniform(seed: u64, key: u64) -> f64 {
    let mut x = key.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(n: usize, rare: usize) -> Labels {
        Labels::new((0..n).map(|i| u32::from(i % (n / rare) == 0)).collect(), 2).unwrap()
    }

    #[test]
    fn shares_are_those_of_the_rows_and_rare_classes_are_kept() {
        let labels = labels(1_000_000, 10_000);
        let places: Vec<usize> = (0..1_000_000).collect();
        let chosen = |seed| chosen(&labels, &places, 100_000, seed);
        let (rows, chances) = chosen(3);
        let rare: Vec<usize> = (0..rows.len()).filter(|&k| labels.codes()[rows[k]] == 1).collect();
        // Binomial: 99,000 of 990,000 +- 300, and 5,000 of 10,000 +- 50; six standard deviations.
        assert!(rows.len().abs_diff(99_000 + 5_000) < 1_900, "{}", rows.len());
        assert!(rare.len().abs_diff(5_000) < 300, "{}", rare.len());
        assert!(rare.iter().all(|&k| chances[k] == 0.5));
        // Counted by the inverse of their chances, they stand for all rows.
        let total: f64 = chances.iter().map(|c| 1.0 / c).sum();
        assert!((total - 1e6).abs() < 2e4, "{total}");
        assert_eq!(chosen(3).0, rows);
        assert_ne!(chosen(4).0, rows);
    }

    #[test]
    fn groups_are_taken_whole() {
        let n = 400_000;
        let groups: Vec<u32> = (0..n as u32).map(|i| i / 4).collect();
        let labels = labels(n, 4_000).with_groups(groups.clone()).unwrap();
        let (rows, chances) = chosen(&labels, &[], 40_000, 0);
        let mut sizes: HashMap<u32, usize> = HashMap::new();
        rows.iter().for_each(|&i| *sizes.entry(groups[i]).or_default() += 1);
        assert!(sizes.values().all(|&size| size == 4));
        // All rows of the rare class are kept, and so are their groups.
        assert_eq!(rows.iter().filter(|&&i| labels.codes()[i] == 1).count(), 4_000);
        assert!(rows.iter().zip(&chances).all(|(&i, &c)| labels.codes()[i] == 0 || c == 1.0));
    }
}
