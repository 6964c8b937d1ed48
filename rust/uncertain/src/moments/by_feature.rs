//! First and second moments of rows, feature by feature: what a scaler is made of.

use crate::data::{GaussianArray, Incomplete};
use crate::error::Result;
use crate::parallel;

/// Which moments.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Moments<'a> {
    /// sum c x
    First,
    /// sum c (x - center)^2. Around the mean: the difference of two large sums would lose the variance of a far-off feature.
    Second(&'a [f64]),
    /// sum c S_jj
    Inner,
}

/// One sum per feature over the rows that have it, counted by `weight`.
pub(crate) fn sums(rows: Incomplete<'_>, weight: &(impl Fn(usize) -> f64 + Sync), of: Moments<'_>) -> Result<Vec<f64>> {
    let (data, d) = (rows.gaussians(), rows.gaussians().n_features());
    weighted(data, weight, |x, row, out| {
        match of {
            Moments::First => out.copy_from_slice(x),
            Moments::Second(center) => (0..d).for_each(|j| out[j] = (x[j] - center[j]) * (x[j] - center[j])),
            Moments::Inner => data.covariances().variances(row, out),
        }
        (0..d).filter(|&j| rows.is_missing(row, j)).for_each(|j| out[j] = 0.0);
    })
}

/// The weighted sum over rows of what `term` writes for (mean of the row, its number).
fn weighted(
    data: &GaussianArray,
    weight: &(impl Fn(usize) -> f64 + Sync),
    term: impl Fn(&[f64], usize, &mut [f64]) + Sync,
) -> Result<Vec<f64>> {
    let d = data.n_features();
    let parts = parallel::map_parts(data.n_rows(), |part| {
        let (mut sum, mut one) = (vec![0.0; d], vec![0.0; d]);
        for (first, segment) in data.means().segments(part) {
            for (k, x) in segment.chunks_exact(d).enumerate() {
                term(x, first + k, &mut one);
                let c = weight(first + k);
                sum.iter_mut().zip(&one).for_each(|(s, x)| *s += c * x);
            }
        }
        sum
    })?;
    Ok(parts.into_iter().fold(vec![0.0; d], |mut total, part| {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
        total
    }))
}
