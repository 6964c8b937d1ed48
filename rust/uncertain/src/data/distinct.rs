//! Rows that are given twice: one point for everything that looks at distances, so that a row given twice is as good
//! as one of weight two.

use std::cmp::Ordering;

use super::GaussianArray;
use super::covariance::packed_len;

/// Numbers of the first of each group of identical rows (means and covariances), in the order of their elements, which
/// does not depend on the order of the rows.
pub(crate) fn distinct(rows: &GaussianArray) -> Vec<usize> {
    let (d, covariances) = (rows.n_features(), rows.covariances());
    let diagonal = covariances.structure().is_diagonal();
    let spread = |row: usize| {
        let mut spread = vec![0.0; if diagonal { d } else { packed_len(d) }];
        match diagonal {
            true => covariances.variances(row, &mut spread),
            false => covariances.triangle(row, d, &mut spread),
        }
        spread
    };
    let order = |&a: &usize, &b: &usize| {
        let means = compared(&rows.means().row(a), &rows.means().row(b));
        means.then_with(|| match covariances.common() {
            Some(_) => Ordering::Equal,
            None => compared(&spread(a), &spread(b)),
        })
    };
    let mut numbers: Vec<usize> = (0..rows.n_rows()).collect();
    numbers.sort_by(order);
    numbers.dedup_by(|a, b| order(a, b).is_eq());
    numbers
}

/// The order of the first elements that differ; all are finite, and -0.0 is 0.0.
fn compared(a: &[f64], b: &[f64]) -> Ordering {
    a.partial_cmp(b).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, Rows};

    #[test]
    fn copies_are_found_by_means_and_covariances() {
        let line = Rows::from_vec(vec![1.0, 0.0, 2.0, -0.0, 1.0, 3.0], 1).unwrap();
        assert_eq!(distinct(&GaussianArray::exact(line).unwrap()), [1, 0, 2, 5]);
        let means = || Rows::from_vec(vec![1.0; 6], 2).unwrap();
        for width in [1, 2] {
            let std = Rows::from_vec((0..3 * width).map(|i| [0.1, 0.2, 0.1][i / width]).collect(), width).unwrap();
            let rows = GaussianArray::new(means(), Covariances::from_std(std)).unwrap();
            assert_eq!(distinct(&rows), [0, 1]);
            assert_eq!(distinct(&rows.to_full().unwrap()), [0, 1]);
        }
    }
}
