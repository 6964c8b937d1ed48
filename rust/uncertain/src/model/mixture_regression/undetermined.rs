//! A direction in which true features do not differ, so that nothing tells how the target depends on it: features that are
//! combinations of one another, constants, nothing but noise, and more features than rows.

use crate::data::Incomplete;
use crate::data::covariance::packed_index;
use crate::deconvolution::Mixture;
use crate::deconvolution::with_target::Weight;
use crate::error::Result;
use crate::linalg::Eigh;

/// Variance of true values, in units of that of readings, below which there is none.
const LEAST: f64 = 1e-4;
/// The same in units of what EM holds variances above.
const FLOORS: f64 = 10.0;

/// Shares of the features in the direction in which true values vary least, in units of their readings' spread; `None`
/// where they vary. `floor` is what EM holds variances above.
pub(super) fn direction(
    joint: &Mixture,
    rows: Incomplete<'_>,
    weight: Weight<'_>,
    floor: f64,
) -> Result<Option<Vec<f64>>> {
    let (d, t) = (joint.n_features() - 1, joint.covariance(0));
    let spread: Vec<f64> = (0..d).map(|j| spread(rows, weight, j)).collect();
    if let Some(j) = (0..d).find(|&j| spread[j] == 0.0) {
        return Ok(Some((0..d).map(|k| f64::from(u8::from(k == j))).collect()));
    }
    let pairs = (0..d).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let scaled: Vec<f64> = pairs.map(|(i, j)| t[packed_index(i, j)] / spread[i] / spread[j]).collect();
    let mut eigh = Eigh::new(d);
    eigh.packed(&scaled)?;
    let least = eigh.vectors[..d].to_vec();
    let few = (0..rows.gaussians().n_rows()).filter(|&i| weight(i) > 0.0).count() <= d + 1;
    Ok((few || eigh.values[0] <= LEAST.max(FLOORS * floor)).then_some(least))
}

/// Standard deviation of a feature's readings; 0 of what differs by rounding.
fn spread(rows: Incomplete<'_>, weight: Weight<'_>, j: usize) -> f64 {
    let means = rows.gaussians().means();
    let read = || (0..rows.gaussians().n_rows()).filter(|&i| weight(i) > 0.0 && !rows.is_missing(i, j));
    let total: f64 = read().map(weight).sum();
    let centre = read().map(|i| weight(i) * means.at(i, j)).sum::<f64>() / total;
    let variance = read().map(|i| weight(i) * (means.at(i, j) - centre).powi(2)).sum::<f64>() / total;
    let spread = variance.sqrt();
    if spread > 1e-13 * centre.abs() { spread } else { 0.0 }
}
