//! Scores of a linear model on Gaussian rows: f_i ~ N(w'x_i + b, w'S_i w).

use crate::data::GaussianArray;
use crate::data::covariance::BlockVerbs;
use crate::error::Result;
use crate::parallel;
use crate::simd::{self, Power};
use crate::with_kind;

/// Rows whose covariance products are remembered at a time; only their quadratic forms are kept.
const BLOCK: usize = 64;

/// The mean score w'x_i + b of every row.
pub(crate) fn means(data: &GaussianArray, w: &[f64], b: f64) -> Result<Vec<f64>> {
    let parts = parallel::map_parts(data.n_rows(), |rows| {
        let mut scores = vec![0.0; rows.len()];
        simd::dots(data.means(), rows.start, w, Power::One, &mut scores);
        scores.iter_mut().for_each(|score| *score += b);
        scores
    })?;
    Ok(parts.concat())
}

/// The standard deviation sqrt(w'S_i w) of every row's score.
pub(crate) fn stds(data: &GaussianArray, w: &[f64]) -> Result<Vec<f64>> {
    let along = data.covariances().along(w);
    let parts = parallel::map_parts(data.n_rows(), |rows| {
        let mut stds = vec![0.0; rows.len()];
        with_kind!(data.covariances(), kind => {
            let mut memo = vec![0.0; BLOCK * kind.memo_width(w.len())];
            for (k, block) in stds.chunks_mut(BLOCK).enumerate() {
                let memo = &mut memo[..block.len() * kind.memo_width(w.len())];
                kind.quads(rows.start + k * BLOCK, &along, memo, block);
            }
        });
        stds.iter_mut().for_each(|v| *v = v.max(0.0).sqrt());
        stds
    })?;
    Ok(parts.concat())
}
