//! Where a line starts: least absolute deviations of y from the posterior means of the features, which outliers of y do not
//! move far, and the widths of its residuals.

use crate::data::covariance::packed_index;
use crate::error::{Error, Result};
use crate::linalg::{cholesky, cholesky_solve};
use crate::model::noise::Noise;

use super::rows::LineRows;

/// Rounds of reweighting.
const ROUNDS: usize = 30;
/// The least s^2 where nothing else keeps a row from counting without bounds, as a part of the variance of y.
const LEAST: f64 = 1e-10;

/// Start, lower and upper bounds.
pub(super) fn start(rows: &LineRows, noise: Noise, scaled: bool) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
    let (d, n) = (rows.truths.d, rows.n());
    let mut law = vec![0.0; d + 1];
    let mut weights = rows.weights.clone();
    let mut residuals = vec![0.0; n];
    let mut unit = 0.0;
    for round in 0..ROUNDS {
        law = solved(rows, &weights)?;
        for (i, r) in residuals.iter_mut().enumerate() {
            let shift = rows.crossed.as_ref().map_or(0.0, |crossed| crossed.shift[i]);
            let mean = rows.truths.mean_under(0, i);
            *r = rows.y[i] - law[0] - shift - mean.iter().zip(&law[1..]).map(|(m, b)| m * b).sum::<f64>();
        }
        unit = median(residuals.iter().map(|r| r.abs()).collect());
        if noise == Noise::Normal || round + 1 == ROUNDS {
            break;
        }
        let floor = (0.1 * unit).max(f64::MIN_POSITIVE);
        weights.iter_mut().zip(&rows.weights).zip(&residuals).for_each(|((w, c), r)| *w = c / r.abs().max(floor));
    }
    let mean = rows.y.iter().sum::<f64>() / n as f64;
    let variance = rows.y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n as f64;
    let squares = residuals.iter().map(|r| r * r).sum::<f64>() / n as f64;
    let typical = if noise == Noise::Normal { squares } else { (1.4826 * unit).powi(2) }.max(LEAST * variance);
    let spread = |i: usize| {
        rows.truths.covariance_under(0, i).map_or(0.0, |p| {
            let beta = &law[1..];
            (0..d * d)
                .map(|at| beta[at / d] * p[packed_index((at / d).max(at % d), (at / d).min(at % d))] * beta[at % d])
                .sum()
        })
    };
    let known = (0..n).map(|i| rows.known[i] + spread(i)).sum::<f64>() / n as f64;
    // Without a floor a row without error would count without bounds.
    let least = rows.known.iter().copied().fold(f64::INFINITY, f64::min);
    let floor = LEAST * variance;
    let lower_of_scatter = if least > floor { 0.0 } else { floor.max(f64::MIN_POSITIVE) };
    let mut at = law;
    at.push((typical - known).max(0.1 * typical).max(lower_of_scatter));
    let mut lower = vec![f64::NEG_INFINITY; d + 1];
    lower.push(lower_of_scatter);
    let mut upper = vec![f64::INFINITY; d + 2];
    if scaled {
        at.push(1.0);
        lower.push(1e-6);
        upper.push(1e6);
    }
    let far: Vec<f64> = residuals.iter().map(|r| r * r).filter(|square| *square > 16.0 * typical).collect();
    let bad = far.iter().sum::<f64>() / far.len().max(1) as f64;
    for (value, low, high) in noise.start(typical, bad) {
        at.push(value);
        lower.push(low);
        upper.push(high);
    }
    at.extend(vec![0.0; rows.k]);
    lower.extend(vec![f64::NEG_INFINITY; rows.k]);
    upper.extend(vec![f64::INFINITY; rows.k]);
    Ok((at, lower, upper))
}

/// Weighted least squares.
fn solved(rows: &LineRows, weights: &[f64]) -> Result<Vec<f64>> {
    let p = rows.truths.d + 1;
    let (mut gram, mut right) = (vec![0.0; p * p], vec![0.0; p]);
    let mut x = vec![1.0; p];
    for i in 0..rows.n() {
        x[1..].copy_from_slice(rows.truths.mean_under(0, i));
        let y = rows.y[i] - rows.crossed.as_ref().map_or(0.0, |crossed| crossed.shift[i]);
        for a in 0..p {
            right[a] += weights[i] * x[a] * y;
            (0..p).for_each(|b| gram[a * p + b] += weights[i] * x[a] * x[b]);
        }
    }
    if !cholesky(&mut gram, p) {
        return Err(Error::Data("the rows do not determine the law; leave out a feature".into()));
    }
    cholesky_solve(&gram, p, &mut right);
    Ok(right)
}

fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
