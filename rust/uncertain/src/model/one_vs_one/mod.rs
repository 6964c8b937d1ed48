//! Several classes by a score for each pair of them: the pairs, and from their scores to those of the classes and to
//! probabilities.

mod coupling;
mod pair;

use ndarray::{Array2, ArrayView2};

use super::platt::Sigmoid;
use coupling::couple;
pub(super) use pair::{Pair, pairs, tasks};

/// For two classes the scores themselves, n x 1. Otherwise n x K: the pairs a class wins, plus less than 1/3 for
/// how clearly it wins them (scikit-learn's `decision_function_shape="ovr"`).
pub(super) fn votes(scores: Array2<f64>, n_classes: usize) -> Array2<f64> {
    if n_classes == 2 {
        return scores;
    }
    let mut out = Array2::zeros((scores.nrows(), n_classes));
    let mut sums = vec![0.0; n_classes];
    for (scores, mut out) in scores.outer_iter().zip(out.outer_iter_mut()) {
        sums.fill(0.0);
        for (&score, Pair { first: i, second: j, .. }) in scores.iter().zip(pairs(n_classes)) {
            sums[i] += score;
            sums[j] -= score;
            out[if score < 0.0 { j } else { i }] += 1.0;
        }
        out.iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum / (3.0 * (sum.abs() + 1.0)));
    }
    out
}

/// P(class | row), n x K: the sigmoid of the score, and for several classes the coupling of all pairs' sigmoids.
pub(super) fn probabilities(scores: ArrayView2<'_, f64>, sigmoids: &[Sigmoid], n_classes: usize) -> Array2<f64> {
    let mut out = Array2::zeros((scores.nrows(), n_classes));
    for (scores, mut out) in scores.outer_iter().zip(out.outer_iter_mut()) {
        let won: Vec<f64> = scores.iter().zip(sigmoids).map(|(&f, s)| s.probability(f, 0.0)).collect();
        let p = if n_classes == 2 { vec![1.0 - won[0], won[0]] } else { couple(&won, n_classes) };
        out.iter_mut().zip(p).for_each(|(out, p)| *out = p);
    }
    out
}
