//! Where a line starts: least squares of y on the posterior means of the features, by reweighting least absolute deviations where
//! outliers may be, and the widths of its residuals.

use crate::error::{Error, Result};
use crate::linalg::{Spd, dot};
use crate::model::noise::Noise;

use super::rows::LineRows;

/// Rounds of reweighting.
const ROUNDS: usize = 30;
/// Rounding of residuals, as a part of the range of y.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Added to the squares of features in units of their spread, where the rows do not determine the line.
const RIDGE: f64 = 1e-10;

/// The least residuals that are a unit, as a part of known errors.
const BESIDE: f64 = 1e-9;

pub(super) struct Start {
    /// Intercept and coefficients.
    pub law: Vec<f64>,
    /// Size of the residuals, in which the fit measures targets.
    pub unit: f64,
    /// That of residuals which are nothing but rounding.
    pub rounding: f64,
    /// The variance of residuals, and that of those far away, in these units.
    pub typical: f64,
    pub bad: f64,
}

/// From the rows; `open`: they do not determine the line.
pub(super) fn start(rows: &LineRows<'_>, noise: Noise, open: bool) -> Result<Start> {
    let n = rows.n();
    let mut weights = rows.weights.clone();
    // Near the targets: what large numbers have in common takes no digit.
    let centre = rows.y[0] + (0..n).map(|i| rows.y[i] - rows.y[0]).sum::<f64>() / n as f64;
    let mut round = 0;
    let (law, residuals, middle) = loop {
        let mut law = solved(rows, &weights, centre, open)?;
        let mut reader = rows.truths.reader();
        let mut mean = |i: usize| dot(&reader.at(i).mean(), &law[1..]) + law[0];
        let residuals: Vec<f64> = (0..n).map(|i| rows.target(i) - centre - mean(i)).collect();
        let middle = median(residuals.iter().map(|r| r.abs()).collect());
        round += 1;
        if noise == Noise::Normal || round == ROUNDS {
            law[0] += centre;
            break (law, residuals, middle);
        }
        let floor = (0.1 * middle).max(f64::MIN_POSITIVE);
        weights.iter_mut().zip(&rows.weights).zip(&residuals).for_each(|((w, c), r)| *w = c / r.abs().max(floor));
    };
    let range = rows.y.iter().map(|y| (y - centre).abs()).fold(0.0, f64::max);
    let size = if range > 0.0 { range } else { centre.abs() };
    let rounding = (ROUNDING * size).max(f64::MIN_POSITIVE.sqrt());
    let squares = residuals.iter().map(|r| r * r).sum::<f64>() / n as f64;
    let typical = if noise == Noise::Normal { squares } else { (1.4826 * middle).powi(2) };
    // Beside errors that are known, smaller residuals are no unit.
    let known = rows.known.iter().sum::<f64>() / n as f64;
    let unit = typical.sqrt().max(rounding).max(BESIDE * known.sqrt());
    let far: Vec<f64> = residuals.iter().map(|r| (r / unit).powi(2)).filter(|square| *square > 16.0).collect();
    let bad = far.iter().sum::<f64>() / far.len().max(1) as f64;
    Ok(Start { law, unit, rounding, typical: typical / (unit * unit), bad })
}

/// Weighted least squares of y - `centre`.
fn solved(rows: &LineRows<'_>, weights: &[f64], centre: f64, open: bool) -> Result<Vec<f64>> {
    let p = rows.truths.d + 1;
    let (mut gram, mut right) = (vec![0.0; p * p], vec![0.0; p]);
    let (mut x, mut reader) = (vec![1.0; p], rows.truths.reader());
    for i in 0..rows.n() {
        x[1..].copy_from_slice(&reader.at(i).mean());
        let y = rows.target(i) - centre;
        for a in 0..p {
            right[a] += weights[i] * x[a] * y;
            (0..p).for_each(|b| gram[a * p + b] += weights[i] * x[a] * x[b]);
        }
    }
    if open {
        (1..p).for_each(|a| gram[a * p + a] += RIDGE * gram[0]);
    }
    let open = || Error::Data("the rows do not determine the law; leave out a feature".into());
    Ok(Spd::new(gram, p).ok_or_else(open)?.solve(right))
}

fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}
