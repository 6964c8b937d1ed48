//! Groups of rows whose errors go together, in the standard errors of laws.
//!
//! Scores u_i of the rows of one group are one score; with the information H the covariance of the estimates is
//! ```text
//! V = H^{-1} M H^{-1},    M = G / (G - 1) sum over groups g of (sum over i in g of u_i)(...)'
//! ```
//! K.-Y. Liang, S. L. Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 73, 1986,
//! doi 10.1093/biomet/73.1.13. M is a sum over groups: of few of them it is far from its expectation and mostly too small
//! (A. C. Cameron, D. L. Miller, "A practitioner's guide to cluster-robust inference", Journal of Human Resources 50, 2015,
//! section VI), so that fewer than [`LEAST`] are refused.

use std::collections::HashMap;

use crate::data::covariance::{packed_index, packed_len};
use crate::error::{Error, Result};

/// Groups that a covariance by groups needs.
pub(in crate::model) const LEAST: usize = 10;

/// Refuse too few groups.
pub(in crate::model) fn check(groups: Option<&[u32]>) -> Result<()> {
    let Some(groups) = groups else { return Ok(()) };
    let count = places(groups).1;
    if count < LEAST {
        return Err(Error::Data(format!(
            "groups: standard errors by groups need at least {LEAST} of them, but the rows are of {count}: those of so few are \
             too small; leave groups= out (errors are then those of independent rows)"
        )));
    }
    Ok(())
}

/// Every row's group, numbered in order of appearance, and how many there are.
pub(in crate::model) fn places(groups: &[u32]) -> (Vec<usize>, usize) {
    let mut known = HashMap::new();
    let rows = groups.iter().map(|group| {
        let next = known.len();
        *known.entry(*group).or_insert(next)
    });
    let rows = rows.collect();
    (rows, known.len())
}

/// G / (G - 1)
pub(in crate::model) fn correction(count: usize) -> f64 {
    count as f64 / (count as f64 - 1.0).max(1.0)
}

/// M += c u u'
fn add_square(c: f64, u: &[f64], middle: &mut [f64]) {
    for i in 0..u.len() {
        (0..=i).for_each(|j| middle[packed_index(i, j)] += c * u[i] * u[j]);
    }
}

/// M of scores (n x p), a packed triangle; without groups every row is one.
pub(in crate::model) fn middle(scores: &[f64], p: usize, groups: Option<&[u32]>) -> Vec<f64> {
    let mut middle = vec![0.0; packed_len(p)];
    let Some(groups) = groups else {
        let by = correction(scores.len() / p);
        scores.chunks_exact(p).for_each(|score| add_square(by, score, &mut middle));
        return middle;
    };
    let (places, count) = places(groups);
    let mut sums = vec![0.0; count * p];
    for (place, score) in places.iter().zip(scores.chunks_exact(p)) {
        sums[place * p..(place + 1) * p].iter_mut().zip(score).for_each(|(sum, u)| *sum += u);
    }
    sums.chunks_exact(p).for_each(|sum| add_square(correction(count), sum, &mut middle));
    middle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_a_group_are_one() {
        // Groups 7: 1 + 2 - 4, 9: 3; of two numbers (u, 2 u).
        let scores: Vec<f64> = [1.0, 2.0, 3.0, -4.0].iter().flat_map(|u| [*u, 2.0 * u]).collect();
        let sum = 2.0 * (1.0 + 9.0);
        assert_eq!(middle(&scores, 2, Some(&[7, 7, 9, 7])), [sum, 2.0 * sum, 4.0 * sum]);
        let alone = 4.0 / 3.0 * 30.0;
        assert!((middle(&scores, 2, None)[0] - alone).abs() < 1e-12);
        assert_eq!(middle(&scores, 2, None), middle(&scores, 2, Some(&[3, 2, 1, 0])));
        let few: Vec<u32> = (0..30).map(|i| i % 9).collect();
        assert!(check(Some(&few)).unwrap_err().to_string().contains("at least 10 of them, but the rows are of 9"));
        assert!(check(Some(&(0..10).collect::<Vec<u32>>())).is_ok() && check(None).is_ok());
    }
}
