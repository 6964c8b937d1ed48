//! Where EM starts: means, variances beyond the noise, and the leading directions of shrunk rows.

use super::row::RowPosterior;
use super::{FactorAnalysis, drawn};
use crate::deconvolution::Observed;
use crate::error::Result;
use crate::linalg::{Eigh, gram_lower};

/// Rows whose directions are looked for, at most.
const START_ROWS: usize = 300;
/// The least part of D that a feature's variance starts with: near zero EM does not move.
const START: f64 = 0.05;

impl FactorAnalysis {
    /// The leading directions of rows that are shrunk feature by feature.
    pub(super) fn start(
        observed: &Observed<'_>,
        (scale, floor): (&[f64], &[f64]),
        r: usize,
        seed: u64,
    ) -> Result<Self> {
        let (d, n) = (scale.len(), observed.data.n_rows());
        let mut row = RowPosterior::new(d, r);
        let (mut sums, mut totals) = (vec![0.0; d], vec![0.0; d]);
        for i in 0..n {
            row.read(observed, i, None);
            for j in 0..d {
                let w = observed.weight(i) / (scale[j] + row.variances[j]);
                totals[j] += w;
                sums[j] += w * row.off[j];
            }
        }
        // A feature may be missing in all rows that were drawn.
        let mean: Vec<f64> = sums.iter().zip(&totals).map(|(s, t)| s / t.max(f64::MIN_POSITIVE)).collect();
        let (mut squares, mut totals) = (vec![0.0; d], vec![0.0; d]);
        for i in 0..n {
            row.read(observed, i, Some(&mean));
            for j in (0..d).filter(|&j| row.variances[j].is_finite()) {
                // Rows of little noise know the variance best.
                let w = observed.weight(i) * (scale[j] / (scale[j] + row.variances[j])).powi(2);
                totals[j] += w;
                squares[j] += w * (row.off[j] * row.off[j] - row.variances[j]);
            }
        }
        let variances: Vec<f64> =
            (0..d).map(|j| (squares[j] / totals[j].max(f64::MIN_POSITIVE)).max(START * scale[j])).collect();
        let picks = drawn(n, START_ROWS, seed);
        let count = picks.len();
        let mut shrunk = vec![0.0; count * d];
        let mut total = 0.0;
        for (&i, out) in picks.iter().zip(shrunk.chunks_exact_mut(d)) {
            row.read(observed, i, Some(&mean));
            let root = observed.weight(i).sqrt();
            total += observed.weight(i);
            for j in (0..d).filter(|&j| row.variances[j].is_finite()) {
                out[j] = root * variances[j] / (variances[j] + row.variances[j]) * row.off[j] / scale[j].sqrt();
            }
        }
        let mut gram = vec![0.0; count * count];
        gram_lower(&shrunk, d, &mut gram);
        let mut eigh = Eigh::new(count);
        eigh.square(&gram)?;
        let mut loadings = vec![0.0; d * r];
        for (p, (value, v)) in eigh.values.iter().zip(eigh.vectors.chunks_exact(count)).rev().take(r).enumerate() {
            if !(*value > 0.0) {
                break;
            }
            // Row k of `shrunk` has v_k sqrt(value) of the unit vector X'v / sqrt(value), whose variance is value / total.
            // Less than all of it: what is left belongs to the features.
            for (v, x) in v.iter().zip(shrunk.chunks_exact(d)) {
                (0..d).for_each(|j| loadings[j * r + p] += (0.5 / total).sqrt() * v * x[j] * scale[j].sqrt());
            }
        }
        let left = |(j, f): (usize, &[f64])| {
            (variances[j] - f.iter().map(|f| f * f).sum::<f64>()).max(0.1 * variances[j]).max(floor[j])
        };
        let specific = loadings.chunks_exact(r).enumerate().map(left).collect();
        Ok(Self { mean, loadings, specific })
    }
}
