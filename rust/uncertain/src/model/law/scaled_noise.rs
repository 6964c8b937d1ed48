//! Factors of the features' error bars that were fitted with the density of true features: their part in standard errors
//! of a law.
//!
//! With W = (T + F S F)^-1, a = W (x - mu) and G = a a' - W of a row the score by log f_j is sum_l G_jl (F S F)_jl; T G T is that
//! of the density by T. Of the error x - z the target knows by c = W T beta, so that its conditional score has, in the
//! place of G, what G becomes given the target less G: -D_m (a c' + c a') + (D_m^2 + D_mm) c c'.

use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len, unpack};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::Spd;

/// Errors of all rows, which factors made.
pub(in crate::model) struct ScaledNoise {
    d: usize,
    /// F S F of each row, packed.
    triangles: Vec<f64>,
    /// T^-1, d x d.
    precision: Vec<f64>,
}

impl ScaledNoise {
    /// Of the rows with these numbers, in coordinates of this scale, where true features have the density N(mu, T).
    pub(in crate::model) fn new(
        rows: Incomplete<'_>,
        numbers: &[usize],
        scale: &[f64],
        density: &Mixture,
    ) -> Result<Self> {
        let (d, len) = (scale.len(), packed_len(scale.len()));
        let singular = || Error::Data("the covariance of the features is singular; raise reg_covar".into());
        let t = Spd::new(unpack(density.covariance(0), d), d).ok_or_else(singular)?;
        let mut triangles = vec![0.0; numbers.len() * len];
        for (own, &i) in triangles.chunks_exact_mut(len).zip(numbers) {
            rows.gaussians().covariances().triangle(i, d, own);
            for (a, b) in (0..d).flat_map(|a| (0..=a).map(move |b| (a, b))) {
                own[packed_index(a, b)] /= scale[a] * scale[b];
            }
        }
        Ok(Self { d, triangles, precision: t.inverse() })
    }

    /// Number of factors.
    pub(super) fn len(&self) -> usize {
        self.d
    }

    /// Scores of row i by log f: of its reading in `before`, from T G T (packed), and of its target given that in `given`, with
    /// m - mu in `to`, P beta in `along`, and the derivatives D of the target's log-likelihood by its mean.
    pub(super) fn scores(
        &self,
        i: usize,
        (turned, to): (&[f64], &[f64]),
        (beta, along): (&[f64], &[f64]),
        (d_m, d_mm): (f64, f64),
        before: &mut [f64],
        given: &mut [f64],
    ) {
        let (d, len) = (self.d, packed_len(self.d));
        let noise = &self.triangles[i * len..(i + 1) * len];
        let at = |triangle: &[f64], j: usize, k: usize| triangle[packed_index(j, k)];
        let solved = |x: &[f64]| -> Vec<f64> {
            (0..d).map(|j| (0..d).map(|k| self.precision[j * d + k] * x[k]).sum()).collect()
        };
        let (a, c) = (solved(to), solved(along));
        let c: Vec<f64> = beta.iter().zip(&c).map(|(b, own)| b - own).collect();
        let half: Vec<f64> = (0..d * d)
            .map(|place| (0..d).map(|k| at(turned, place / d, k) * self.precision[k * d + place % d]).sum())
            .collect();
        for j in 0..d {
            let g = |l: usize| (0..d).map(|k| self.precision[j * d + k] * half[k * d + l]).sum::<f64>();
            let change = |l: usize| (d_m * d_m + d_mm) * c[j] * c[l] - d_m * (a[j] * c[l] + c[j] * a[l]);
            before[j] = (0..d).map(|l| g(l) * at(noise, j, l)).sum();
            given[j] = (0..d).map(|l| change(l) * at(noise, j, l)).sum();
        }
    }
}
