//! Classes from one score per class (for two classes one score in all): the largest, and probabilities.

use ndarray::{Array2, ArrayView1, ArrayView2};

use crate::error::Result;
use crate::model::platt::Sigmoid;
use crate::parallel;

/// The class code of every row of scores: the sign of a single one, or the class of the largest.
pub(crate) fn classes(scores: ArrayView2<'_, f64>) -> Vec<u32> {
    match scores.ncols() {
        1 => scores.iter().map(|score| u32::from(*score > 0.0)).collect(),
        _ => scores.outer_iter().map(largest).collect(),
    }
}

/// The place of the largest; the first of equals, as in scikit-learn.
pub(super) fn largest(row: ArrayView1<'_, f64>) -> u32 {
    (1..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best }) as u32
}

/// P(class), n x K, rows summing to 1: the sigmoid of each score N(mean, std^2), averaged over it.
pub(super) fn probabilities(
    sigmoids: &[Sigmoid],
    means: ArrayView2<'_, f64>,
    stds: ArrayView2<'_, f64>,
) -> Result<Array2<f64>> {
    let mut positive = Array2::zeros(means.dim());
    for (k, sigmoid) in sigmoids.iter().enumerate() {
        let (means, stds) = (means.column(k), stds.column(k));
        let parts = parallel::map_parts(means.len(), |rows| {
            rows.map(|i| sigmoid.probability(means[i], stds[i])).collect::<Vec<_>>()
        })?;
        positive.column_mut(k).iter_mut().zip(parts.concat()).for_each(|(out, p)| *out = p);
    }
    Ok(if sigmoids.len() == 1 { both_classes(&positive) } else { normalised(positive) })
}

fn both_classes(positive: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn(
        (positive.nrows(), 2),
        |(i, k)| if k == 1 { positive[[i, 0]] } else { 1.0 - positive[[i, 0]] },
    )
}

fn normalised(mut positive: Array2<f64>) -> Array2<f64> {
    let n_classes = positive.ncols() as f64;
    for mut row in positive.outer_iter_mut() {
        let sum = row.sum();
        // Every class denied with certainty: nothing is known.
        row.mapv_inplace(|p| if sum > 0.0 { p / sum } else { 1.0 / n_classes });
    }
    positive
}
