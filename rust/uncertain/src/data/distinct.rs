//! Rows in the order of their elements, and which of them are given twice.
//!
//! What depends on this order does not depend on that of the rows: their folds, the distances of a bandwidth. A row given
//! twice is one point for distances and has one fold, so that it is as good as one of weight two. Rows come by their
//! distances from the middle between smallest and largest means, for which order and signs of columns do not matter (those
//! of a map into feature space are arbitrary); rows as far as each other by their elements.

use std::cmp::Ordering;

use super::GaussianArray;
use super::covariance::packed_len;

/// Numbers of the first of each set of identical rows, in an order that is not that of the rows.
pub(crate) fn distinct(rows: &GaussianArray) -> Vec<usize> {
    sets(rows).iter().map(|set| set[0]).collect()
}

/// Distances that differ by a smaller part are one: another order of the rows leaves so many digits of scaled features.
const TIED: f64 = 1e-9;

/// Sets of identical rows (means and covariances), in an order that is not that of the rows.
pub(crate) fn sets(rows: &GaussianArray) -> Vec<Vec<usize>> {
    let (d, covariances) = (rows.n_features(), rows.covariances());
    let diagonal = covariances.structure().is_diagonal();
    let (columns, middle) = columns(rows);
    let off = |row: usize| rows.means().row(row).iter().zip(&middle).map(|(x, m)| (x - m).powi(2)).sum::<f64>().sqrt();
    let distances: Vec<f64> = (0..rows.n_rows()).map(off).collect();
    let variances = |row: usize| {
        let mut values = vec![0.0; d];
        covariances.variances(row, &mut values);
        values
    };
    let triangle = |row: usize| {
        let mut values = vec![0.0; if diagonal { 0 } else { packed_len(d) }];
        if !diagonal {
            covariances.triangle(row, d, &mut values);
        }
        values
    };
    let spreads = |a: usize, b: usize| match covariances.common() {
        Some(_) => Ordering::Equal,
        None => compared(&variances(a), &variances(b), &columns)
            .then_with(|| triangle(a).partial_cmp(&triangle(b)).unwrap_or(Ordering::Equal)),
    };
    let order = |&a: &usize, &b: &usize| {
        compared(&rows.means().row(a), &rows.means().row(b), &columns).then_with(|| spreads(a, b))
    };
    let mut numbers: Vec<usize> = (0..rows.n_rows()).collect();
    numbers.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
    for tied in numbers.chunk_by_mut(|&a, &b| distances[b] - distances[a] <= TIED * distances[b]) {
        tied.sort_by(order);
    }
    numbers.chunk_by(|a, b| order(a, b).is_eq()).map(<[usize]>::to_vec).collect()
}

/// Columns by the limits of their means, and the middle between these.
fn columns(rows: &GaussianArray) -> (Vec<usize>, Vec<f64>) {
    let mut limits = vec![(f64::INFINITY, f64::NEG_INFINITY); rows.n_features()];
    for row in 0..rows.n_rows() {
        let mean = rows.means().row(row);
        limits.iter_mut().zip(mean.iter()).for_each(|(of, x)| *of = (of.0.min(*x), of.1.max(*x)));
    }
    let mut columns: Vec<usize> = (0..limits.len()).collect();
    let rounded = |j: usize| (limits[j].0 as f32, limits[j].1 as f32);
    columns.sort_by(|&a, &b| rounded(a).partial_cmp(&rounded(b)).unwrap_or(Ordering::Equal));
    (columns, limits.iter().map(|(low, high)| 0.5 * low + 0.5 * high).collect())
}

/// The order of the first elements that differ; all are finite, and -0.0 is 0.0.
fn compared(a: &[f64], b: &[f64], columns: &[usize]) -> Ordering {
    let differ = columns.iter().map(|&j| a[j].partial_cmp(&b[j]).unwrap_or(Ordering::Equal));
    differ.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, Rows};

    #[test]
    fn copies_are_found_by_means_and_covariances() {
        let line = Rows::from_vec(vec![1.0, 0.0, 2.0, -0.0, 1.0, 3.0], 1).unwrap();
        assert_eq!(distinct(&GaussianArray::exact(line).unwrap()), [0, 2, 1, 5]);
        let means = || Rows::from_vec(vec![1.0; 6], 2).unwrap();
        for width in [1, 2] {
            let std = Rows::from_vec((0..3 * width).map(|i| [0.1, 0.2, 0.1][i / width]).collect(), width).unwrap();
            let rows = GaussianArray::new(means(), Covariances::from_std(std)).unwrap();
            assert_eq!(distinct(&rows), [0, 1]);
            assert_eq!(distinct(&rows.to_full().unwrap()), [0, 1]);
        }
    }
}
