//! Scores of a linear model on Gaussian rows: f_i ~ N(w'x_i + b, w'S_i w).

use crate::data::GaussianArray;
use crate::data::covariance::BlockVerbs;
use crate::error::{Error, Result};
use crate::simd::{self, Power};
use crate::with_kind;
use crate::{memory, parallel};

/// Rows whose covariance products are remembered at a time; only their quadratic forms are kept.
const BLOCK: usize = 64;

/// Are the scores, row by row so many, numbers? Else the first row whose score is more than one can hold.
pub(crate) fn check_finite<'a>(
    scores: impl IntoIterator<Item = &'a f64, IntoIter: Clone>,
    per_row: usize,
) -> Result<()> {
    let scores = scores.into_iter();
    // All of them, without a branch for each: which one is asked when there is one.
    if scores.clone().fold(true, |finite, score| finite & score.is_finite()) {
        return Ok(());
    }
    match scores.enumerate().find(|(_, score)| !score.is_finite()) {
        None => Ok(()),
        Some((at, score)) => Err(Error::Row {
            row: at / per_row,
            why: format!(
                "its score, or the deviation of it, is more than a number can hold ({score}); look at its units"
            ),
        }),
    }
}

/// The scores, if they are numbers.
pub(super) fn finite(scores: Vec<f64>) -> Result<Vec<f64>> {
    check_finite(&scores, 1).map(|()| scores)
}

/// The mean score w'x_i + b of every row.
pub(crate) fn means(data: &GaussianArray, w: &[f64], b: f64) -> Result<Vec<f64>> {
    let mut scores = memory::zeros(data.n_rows(), 1)?;
    parallel::fill_light(&mut scores, 1, w.len(), |rows, scores| {
        simd::dots(data.means(), rows.start, w, Power::One, scores);
        scores.iter_mut().for_each(|score| *score += b);
        Ok(())
    })?;
    Ok(scores)
}

/// The standard deviation sqrt(w'S_i w) of every row's score.
pub(crate) fn stds(data: &GaussianArray, w: &[f64]) -> Result<Vec<f64>> {
    let along = data.covariances().along(w);
    let mut stds = memory::zeros(data.n_rows(), 1)?;
    parallel::fill_light(&mut stds, 1, data.row_bytes() / size_of::<f64>(), |rows, stds| {
        with_kind!(data.covariances(), kind => {
            let mut memo = vec![0.0; BLOCK * kind.memo_width(w.len())];
            for (k, block) in stds.chunks_mut(BLOCK).enumerate() {
                let memo = &mut memo[..block.len() * kind.memo_width(w.len())];
                kind.quads(rows.start + k * BLOCK, &along, memo, block);
            }
        });
        stds.iter_mut().for_each(|v| *v = v.max(0.0).sqrt());
        Ok(())
    })?;
    Ok(stds)
}

/// Mean score and standard deviation of some rows.
pub(super) fn row_scores(data: &GaussianArray, rows: &[usize], w: &[f64], b: f64) -> Result<Vec<(f64, f64)>> {
    let along = data.covariances().along(w);
    let parts = parallel::map_parts(rows.len(), |range| {
        with_kind!(data.covariances(), kind => {
            let mut memo = vec![0.0; kind.memo_width(w.len())];
            let score = |&i: &usize| {
                let (mut mean, mut variance) = ([0.0], [0.0]);
                simd::dots(data.means(), i, w, Power::One, &mut mean);
                kind.quads(i, &along, &mut memo, &mut variance);
                (mean[0] + b, variance[0].max(0.0).sqrt())
            };
            rows[range].iter().map(score).collect::<Vec<_>>()
        })
    })?;
    Ok(parts.concat())
}

#[cfg(test)]
mod tests {
    use super::super::{LinearClassifier, LinearRegressor};
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::model::FitReport;
    use crate::solver::{Solution, Status};

    /// Rows whose scores overflow, cancel to no number, or have deviations that overflow.
    #[test]
    fn scores_are_finite_or_refused() {
        let weights = vec![2.0, 3.0];
        let solution =
            Solution { w: weights.clone(), b: 0.5, objective: 0.0, gap: 0.0, iterations: 1, status: Status::Converged };
        let classifier = LinearClassifier::from_solutions(2, std::slice::from_ref(&solution), None);
        let regressor = LinearRegressor { coef: weights, intercept: 0.5, fit: FitReport::from(&solution) };
        for (x, std, fine) in [
            ([1e300, -1e300], 1.0, true),
            ([f64::MAX, 0.0], 1.0, false),
            ([f64::MAX, -f64::MAX], 1.0, false),
            ([0.0, 0.0], 1e150, true),
        ] {
            let covariances = Covariances::from_std(Rows::from_vec(vec![1.0, std], 1).unwrap());
            let means = Rows::from_vec(vec![0.0, 0.0, x[0], x[1]], 2).unwrap();
            let rows = GaussianArray::new(means, covariances).unwrap();
            let answers = [
                classifier.decision(&rows).map(drop),
                classifier.decision_distribution(&rows).map(drop),
                regressor.predict(&rows).map(drop),
                regressor.predict_distribution(&rows).map(drop),
            ];
            for answer in answers {
                match answer {
                    Ok(()) => assert!(fine, "{x:?}"),
                    Err(why) => assert!(!fine && why.to_string().starts_with("row 1"), "{x:?}: {why}"),
                }
            }
        }
    }
}
