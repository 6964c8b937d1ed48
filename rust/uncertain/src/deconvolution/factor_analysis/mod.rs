//! Extreme deconvolution with few directions: factor analysis of noisy rows.
//!
//! Few rows say little about d (d + 1) / 2 covariances, and a pass over n rows with different noise takes n d^3
//! operations. Here the true values vary together in r directions, and each feature by itself beside them:
//! ```text
//! z_i = mu + F y_i + e_i,   y_i ~ N(0, I_r),   e_i ~ N(0, diag(psi)),   so   T = F F' + diag(psi)
//! ```
//! (Bartholomew, Knott, Moustaki, "Latent Variable Models and Factor Analysis", 3rd edition, 2011, chapter 3: loadings F,
//! specific variances psi). With diagonal noise s_i, a = 1 / (s_i + psi) and the residual off = x_i - mu, Woodbury's identity needs r x r
//! matrices alone, so a row costs d r^2:
//! ```text
//! N = I + F' diag(a) F,    y = N^-1 F' (a off),    log |T + S_i| = log |N| - sum log a
//! E[z_i - mu] = F y + psi a (off - F y),    Cov z_i = K F N^-1 F' K + diag(psi k),    k = s_i a, K = diag(k)
//! ```
//! A missing feature is one of infinite noise: a = 0 and k = 1. EM's M step is the regression of z - mu on (y, 1); psi is
//! what it leaves, at least `reg` D. Steps are extrapolated as those of [`squarem`](super::squarem), in the coordinates mu, F, log psi.
//!
//! r follows from rows and work ([`directions`]); the decision of 2026-11-27 on few directions has what was measured.

mod climb;
mod row;
mod start;
mod step;
#[cfg(test)]
mod tests;

use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::data::weights::Worth;
use crate::deconvolution::{FittedMixture, Mixture, Observed, Params};
use crate::error::{Error, Result};
use crate::linalg::inverse_lower;
use crate::parallel;
use crate::simd::mixture::Noise;
use row::RowPosterior;

/// Features from which few rows get few directions.
const LEAST_FEATURES: usize = 20;
/// Rows x features^3 of a pass with a matrix per row, beyond which rows get few directions ...
const MATRICES: f64 = 2e9;
/// ... unless there are so many rows per feature: they know all covariances.
const MANY_ROWS: f64 = 200.0;
/// Rows per direction.
const ROWS: f64 = 12.0;
/// Rows x features x directions^2 of a pass.
const WORK: f64 = 3e7;
/// Rows that EM looks at, at most: drawn by the seed.
const MOST_ROWS: usize = 1_000;

/// How many directions the covariance of the true values gets; `None`: all, by a matrix per row.
///
/// `count` rows, which say as much as `rows` of equal weight.
fn directions(count: usize, rows: f64, d: usize) -> Option<usize> {
    let (n, features) = (count.min(MOST_ROWS) as f64, d as f64);
    let too_much = count as f64 * features.powi(3) > MATRICES && rows < MANY_ROWS * features;
    if d < LEAST_FEATURES || !(rows <= features || too_much) {
        return None;
    }
    let most = (rows / ROWS).min((WORK / (n * features)).sqrt()).min(features / 3.0);
    Some(most.max(1.0) as usize)
}

/// N(mu, F F' + diag(psi)).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FactorAnalysis {
    mean: Vec<f64>,
    /// F, d x r.
    loadings: Vec<f64>,
    /// psi.
    specific: Vec<f64>,
}

/// The fit of rows that get few directions; `None`: these do not.
pub(super) fn fit_few(
    params: &Params,
    observed: &Observed<'_>,
    control: &Control,
) -> Result<Option<(FactorAnalysis, FittedMixture)>> {
    let data = observed.data;
    let diagonal = observed.noise() == Noise::Diagonal && observed.limits.is_none() && observed.parts.is_none();
    let rows = Worth::from_weights((0..data.n_rows()).map(|i| observed.weight(i))).rows;
    let r = directions(data.n_rows(), rows, data.n_features()).filter(|_| diagonal);
    let Some(r) = r else { return Ok(None) };
    if data.n_rows() <= MOST_ROWS {
        return climb::climb(params, observed, r, rows, control).map(Some);
    }
    let kept = drawn(data.n_rows(), MOST_ROWS, params.seed);
    let weights = observed.weights.map(|w| w.take(&kept)).transpose()?;
    let some = observed.rows().take(&kept)?;
    let rows = rows * kept.len() as f64 / data.n_rows() as f64;
    climb::climb(params, &Observed::from_rows(some.view(), weights.as_ref()), r, rows, control).map(Some)
}

/// At most so many of n rows, in their order.
fn drawn(n: usize, most: usize, seed: u64) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    let mut rows = index::sample(&mut Xoshiro256PlusPlus::seed_from_u64(seed), n, most).into_vec();
    rows.sort_unstable();
    rows
}

impl FactorAnalysis {
    /// From parts; `None` where they do not fit together or are no numbers.
    pub(crate) fn new(mean: Vec<f64>, loadings: Vec<f64>, specific: Vec<f64>) -> Option<Self> {
        let d = mean.len();
        let finite = mean.iter().chain(&loadings).chain(&specific).all(|x| x.is_finite());
        let fits = d > 0 && specific.len() == d && !loadings.is_empty() && loadings.len().is_multiple_of(d);
        (finite && fits && specific.iter().all(|v| *v > 0.0)).then_some(Self { mean, loadings, specific })
    }

    pub(crate) fn loadings(&self) -> &[f64] {
        &self.loadings
    }

    pub(crate) fn specific(&self) -> &[f64] {
        &self.specific
    }

    fn d(&self) -> usize {
        self.mean.len()
    }

    /// Number of directions.
    pub(crate) fn rank(&self) -> usize {
        self.loadings.len() / self.d()
    }

    /// The distribution as a mixture of one.
    pub(crate) fn mixture(&self) -> Mixture {
        let (d, r) = (self.d(), self.rank());
        let mut covariances = Vec::with_capacity(packed_len(d));
        for (i, own) in self.loadings.chunks_exact(r).enumerate() {
            for (j, other) in self.loadings.chunks_exact(r).enumerate().take(i + 1) {
                let together: f64 = own.iter().zip(other).map(|(a, b)| a * b).sum();
                covariances.push(together + if i == j { self.specific[i] } else { 0.0 });
            }
        }
        Mixture::unchecked(vec![1.0], self.mean.clone(), covariances, d)
    }

    /// Is this the distribution of a mixture, up to rounding?
    pub(crate) fn equals(&self, mixture: &Mixture) -> bool {
        let (own, d) = (self.mixture(), self.d());
        let variance = |j: usize| own.covariances()[packed_index(j, j)];
        let near = |(p, q): (usize, usize)| {
            let at = packed_index(p, q);
            (own.covariances()[at] - mixture.covariances()[at]).abs() <= 1e-9 * (variance(p) * variance(q)).sqrt()
        };
        mixture.n_components() == 1
            && mixture.n_features() == d
            && own.means() == mixture.means()
            && (0..d).all(|p| (0..=p).all(|q| near((p, q))))
    }

    /// log p(x_i) of every row.
    pub(crate) fn log_densities(&self, observed: &Observed<'_>, control: &Control) -> Result<Vec<f64>> {
        let (d, r) = (self.d(), self.rank());
        let room = || RowPosterior::new(d, r);
        parallel::new_rows_with(observed.data.n_rows(), 1, room, |row, i, out| {
            control.check()?;
            row.look(self, observed, i)?;
            out[0] = row.log_density;
            Ok(())
        })
    }

    /// Of every row the posterior N(m, G G' + diag(v)): m (d numbers), v (d), G (d x r), one behind the other.
    pub(crate) fn posteriors(&self, observed: &Observed<'_>, control: &Control) -> Result<Vec<f64>> {
        let (d, r) = (self.d(), self.rank());
        let room = || RowPosterior::new(d, r);
        parallel::new_rows_with(observed.data.n_rows(), d * (2 + r), room, |row, i, out| {
            control.check()?;
            row.look(self, observed, i)?;
            // N^-1 = L^-T L^-1, so G = K F L^-T.
            let inverse = inverse_lower(&row.root, r);
            let (means, out) = out.split_at_mut(d);
            let (own, factors) = out.split_at_mut(d);
            for j in 0..d {
                let f = &self.loadings[j * r..][..r];
                let common: f64 = f.iter().zip(&row.y).map(|(f, y)| f * y).sum();
                means[j] = self.mean[j] + common + self.specific[j] * row.a[j] * (row.off[j] - common);
                let k = row.kept(j);
                own[j] = self.specific[j] * k;
                for (p, out) in factors[j * r..][..r].iter_mut().enumerate() {
                    *out = k * inverse[p * r..=p * r + p].iter().zip(f).map(|(l, f)| l * f).sum::<f64>();
                }
            }
            Ok(())
        })
    }
}

fn unusable() -> Error {
    Error::Data("the distribution of the true values cannot be computed; look at the units of the features".into())
}
