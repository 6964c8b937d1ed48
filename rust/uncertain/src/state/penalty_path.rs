//! [`PenaltyPath`]: how strong a penalty is to be, by the one-standard-error rule.
//!
//! Chosen is the strongest penalty whose held-out loss is within one standard error of the best one's (Breiman,
//! Friedman, Olshen, Stone, Classification and Regression Trees, 1984, section 3.4.3), and so are all between them.
//! Penalties share their folds, so the error is that of the difference from the best one over the folds: that of the
//! losses themselves is mostly the luck of the rows, the same for all penalties, and would accept much stronger ones.

use ndarray::{Array1, Array2, Axis};

use crate::data::Weights;
use crate::error::{Error, Result};

/// Held-out losses along a path, and what was chosen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PenaltyPath {
    /// Mean loss of every penalty in every fold, penalties x folds.
    pub losses: Array2<f64>,
    /// Mean over all rows.
    pub means: Array1<f64>,
    /// Standard error of the difference from the best mean.
    pub errors: Array1<f64>,
    /// The penalty of the least mean.
    pub best: usize,
    /// The strongest penalty within one standard error of it, as are those between.
    pub chosen: usize,
}

impl PenaltyPath {
    /// From the losses of rows that were held out (penalties, the strongest first, x rows) and their folds.
    pub(crate) fn new(of_rows: &Array2<f64>, folds: &[u32], weights: Option<&Weights>) -> Result<Self> {
        let (penalties, rows) = of_rows.dim();
        let count = folds.iter().max().map_or(0, |last| *last as usize + 1);
        let weight = |i: usize| weights.map_or(1.0, |c| c[i]);
        let mut totals = Array1::<f64>::zeros(count);
        (0..rows).for_each(|i| totals[folds[i] as usize] += weight(i));
        let mut losses = Array2::zeros((penalties, count));
        for ((k, i), loss) in of_rows.indexed_iter() {
            losses[[k, folds[i] as usize]] += weight(i) * loss;
        }
        let means = losses.sum_axis(Axis(1)) / totals.sum();
        losses /= &totals;
        let less = |a: &usize, b: &usize| means[*a].total_cmp(&means[*b]);
        let best = (0..penalties).min_by(less).ok_or_else(|| Error::Data("a path without penalties".into()))?;
        let errors = Array1::from_shape_fn(penalties, |k| {
            let off = &losses.row(k) - &losses.row(best);
            off.std(1.0) / (count as f64).sqrt()
        });
        let within = |k: usize| means[k] - means[best] <= errors[k];
        let chosen = (0..best).rev().take_while(|&k| within(k)).last().unwrap_or(best);
        Ok(Self { losses, means, errors, best, chosen })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_within_one_standard_error_of_the_difference() {
        // Two rows per fold. Penalty 2 is best; 1 differs by +1, 0, 0 in the folds (mean 1/3, error 1/3); 0 by 1 always.
        let rows = |by_fold: [f64; 3]| by_fold.into_iter().flat_map(|x| [x - 0.5, x + 0.5]).collect::<Vec<_>>();
        let all = [rows([11.0, 21.0, 31.0]), rows([11.0, 20.0, 30.0]), rows([10.0, 20.0, 30.0]), rows([11.0; 3])];
        let table = Array2::from_shape_vec((3, 6), all[..3].concat()).unwrap();
        let path = PenaltyPath::new(&table, &[0, 0, 1, 1, 2, 2], None).unwrap();
        assert_eq!((path.best, path.chosen), (2, 1));
        assert_eq!(path.means.to_vec(), [21.0, 61.0 / 3.0, 20.0]);
        assert!((path.errors[1] - 1.0 / 3.0).abs() < 1e-12 && path.errors[0] == 0.0 && path.errors[2] == 0.0);
        // Weights make the rows count: without the first fold penalties 1 and 2 are equal.
        let weights = Weights::new(vec![1e-9, 1e-9, 1.0, 1.0, 3.0, 3.0]).unwrap();
        let path = PenaltyPath::new(&table, &[0, 0, 1, 1, 2, 2], Some(&weights)).unwrap();
        assert!((path.means[2] - (2.0 * 20.0 + 6.0 * 30.0) / 8.0).abs() < 1e-6);
    }
}
