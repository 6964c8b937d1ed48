//! Where EM starts: the scale of the features, and k-means++ for noisy rows.
//!
//! Both look at no more than [`SAMPLE`] rows, drawn by the seed, and at variances only.
//!
//! Scale D_j: the variance of feature j over the half of the rows that know it best (smallest S_jj), so
//! that values with error bars that make them worthless do not set the scale.
//! k-means: distances (x_ij - c_j)^2 / (D_j + S_ijj), centres weighted accordingly. The first centres are drawn from the rows
//! in the order of their distances from the mean, not in that of the table. Every component starts with
//! the same diagonal T, one diagonal step of EM from D. T must not start too small: near zero EM moves
//! by T^2, that is not at all.

use rand::seq::SliceRandom;
use rand::seq::index;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Observed;
use crate::error::Result;
use crate::parallel;

/// Rows that the start looks at.
const SAMPLE: usize = 5_000;
const ROUNDS: usize = 20;

/// Rows with their variances and weights, as plain numbers.
pub(super) struct Sample {
    d: usize,
    x: Vec<f64>,
    /// Infinite where the feature is missing.
    variances: Vec<f64>,
    weights: Vec<f64>,
}

/// Scale of every feature.
pub(super) struct Scales {
    /// D: one positive number per feature.
    pub scale: Vec<f64>,
    /// The median variance of its noise.
    pub noise: Vec<f64>,
}

/// Shares, means and packed covariances of the components of one group.
pub(super) type Start = (Vec<f64>, Vec<f64>, Vec<f64>);

impl Sample {
    pub(super) fn new(observed: &Observed<'_>, rows: Option<&[usize]>, seed: u64) -> Self {
        let d = observed.n_features();
        let count = rows.map_or(observed.data.n_rows(), <[usize]>::len);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut picks: Vec<usize> =
            if count > SAMPLE { index::sample(&mut rng, count, SAMPLE).into_vec() } else { (0..count).collect() };
        picks.sort_unstable();
        let mut sample = Self { d, x: vec![], variances: vec![], weights: vec![] };
        let (mut x, mut variances) = (vec![0.0; d], vec![0.0; d]);
        for at in picks {
            let row = rows.map_or(at, |rows| rows[at]);
            if observed.weight(row) == 0.0 {
                continue;
            }
            observed.read(row, &mut x, &mut variances);
            for j in 0..d {
                let gone = observed.is_missing(row, j);
                sample.x.push(if gone { 0.0 } else { x[j] });
                sample.variances.push(if gone { f64::INFINITY } else { variances[j].max(0.0) });
            }
            sample.weights.push(observed.weight(row));
        }
        sample
    }

    fn n(&self) -> usize {
        self.weights.len()
    }

    /// Of every feature, in one look at each.
    pub(super) fn scales(&self) -> Result<Scales> {
        let found = parallel::map_jobs((0..self.d).collect(), |j| self.column_scale(j))?;
        let (scale, noise) = found.into_iter().unzip();
        Ok(Scales { scale, noise })
    }

    /// The scale of a feature, and the weighted median of its noise.
    fn column_scale(&self, j: usize) -> (f64, f64) {
        // Rows with the least noise first; of equal ones the first.
        let known =
            (0..self.n()).map(|i| (self.variances[i * self.d + j], i)).filter(|(variance, _)| variance.is_finite());
        let mut order: Vec<(f64, usize)> = known.collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let total: f64 = order.iter().map(|&(_, i)| self.weights[i]).sum();
        let mut sum = 0.0;
        let median = order.iter().find(|(_, i)| {
            sum += self.weights[*i];
            sum >= 0.5 * total
        });
        let limit = median.map_or(0.0, |&(variance, _)| variance);
        // The rows up to the median, and all that are as good.
        let best = &order[..order.partition_point(|&(variance, _)| variance <= limit)];
        let noise: f64 =
            order.iter().map(|&(variance, i)| self.weights[i] * variance).sum::<f64>() / total.max(f64::MIN_POSITIVE);
        let scale = [self.variance_over(best, j), self.variance_over(&order, j), noise]
            .into_iter()
            .find(|v| v.is_normal() && *v > 0.0)
            .unwrap_or(1.0);
        (scale, limit)
    }

    fn variance_over(&self, rows: &[(f64, usize)], j: usize) -> f64 {
        let known: Vec<(f64, f64)> = rows.iter().map(|&(_, i)| (self.weights[i], self.x[i * self.d + j])).collect();
        let total: f64 = known.iter().map(|(weight, _)| weight).sum();
        let mean = known.iter().map(|(weight, x)| weight * x).sum::<f64>() / total;
        let sum: f64 = known.iter().map(|(weight, x)| weight * (x - mean).powi(2)).sum();
        // Spread by rounding of a constant feature.
        let noise = (rows.len() as f64 * f64::EPSILON * mean).powi(2);
        if sum / total > noise { sum / total } else { 0.0 }
    }

    /// K components by k-means++ (`scale`: D).
    pub(super) fn components(&self, k: usize, scale: &[f64], seed: u64) -> Start {
        let (n, d) = (self.n(), self.d);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let precisions: Vec<f64> = (0..n * d).map(|p| 1.0 / (scale[p % d] + self.variances[p])).collect();
        let mut centres = if k == 1 { vec![0.0; d] } else { self.seeds(k, &precisions, &mut rng) };
        let mut owner = vec![0; n];
        for round in 0..ROUNDS {
            let before = owner.clone();
            for i in 0..n {
                owner[i] = self.nearest(i, &centres, &precisions).0;
            }
            if round > 0 && owner == before {
                break;
            }
            let (mut sums, mut totals) = (vec![0.0; k * d], vec![0.0; k * d]);
            for i in 0..n {
                for j in 0..d {
                    let w = self.weights[i] * precisions[i * d + j];
                    sums[owner[i] * d + j] += w * self.x[i * d + j];
                    totals[owner[i] * d + j] += w;
                }
            }
            for p in 0..k * d {
                if totals[p] > 0.0 {
                    centres[p] = sums[p] / totals[p];
                }
            }
        }
        let total: f64 = self.weights.iter().sum();
        let (mut shares, mut diagonal) = (vec![0.0; k], vec![0.0; d]);
        for i in 0..n {
            shares[owner[i]] += self.weights[i] / total;
            for j in 0..d {
                let u = scale[j] * precisions[i * d + j];
                let noise = if u > 0.0 { u * self.variances[i * d + j] } else { scale[j] };
                let off = u * (self.x[i * d + j] - centres[owner[i] * d + j]);
                diagonal[j] += self.weights[i] / total * (off * off + noise);
            }
        }
        // A centre that lost its rows gets a little to start with.
        shares.iter_mut().for_each(|s| *s = s.max(0.1 / k as f64));
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|s| *s /= sum);
        let mut covariance = vec![0.0; packed_len(d)];
        (0..d).for_each(|j| covariance[packed_index(j, j)] = diagonal[j].max(0.01 * scale[j]));
        (shares, centres, covariance.repeat(k))
    }

    /// K rows far from each other: each drawn with the square of its distance from those before.
    fn seeds(&self, k: usize, precisions: &[f64], rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let d = self.d;
        let mut centres = vec![];
        let mut distances = vec![1.0; self.n()];
        let mean: Vec<f64> = (0..d).map(|j| self.column_mean(j)).collect();
        let mut order: Vec<(f64, usize)> = (0..self.n()).map(|i| (self.nearest(i, &mean, precisions).1, i)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        for _ in 0..k {
            let pick = draw(&order, &distances, &self.weights, rng);
            // Where the row does not know itself, the mean of the others is as good.
            let row = (0..d).map(|j| {
                let known = self.variances[pick * d + j].is_finite();
                if known { self.x[pick * d + j] } else { mean[j] }
            });
            centres.extend(row.collect::<Vec<_>>());
            for (i, distance) in distances.iter_mut().enumerate() {
                *distance = self.nearest(i, &centres, precisions).1;
            }
        }
        centres
    }

    fn column_mean(&self, j: usize) -> f64 {
        let known = (0..self.n()).filter(|i| self.variances[i * self.d + j].is_finite());
        let (sum, total) =
            known.fold((0.0, 0.0), |(s, t), i| (s + self.weights[i] * self.x[i * self.d + j], t + self.weights[i]));
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// The nearest centre and its distance.
    fn nearest(&self, i: usize, centres: &[f64], precisions: &[f64]) -> (usize, f64) {
        let d = self.d;
        let (x, p) = (&self.x[i * d..(i + 1) * d], &precisions[i * d..(i + 1) * d]);
        let mut best = (0, f64::INFINITY);
        for (k, c) in centres.chunks_exact(d).enumerate() {
            let distance: f64 = (0..d).map(|j| p[j] * (x[j] - c[j]).powi(2)).sum();
            if distance < best.1 {
                best = (k, distance);
            }
        }
        best
    }
}

/// A row number with probability proportional to distance x weight; rows are looked at in this order.
fn draw(order: &[(f64, usize)], distances: &[f64], weights: &[f64], rng: &mut impl Rng) -> usize {
    let total: f64 = order.iter().map(|&(_, i)| distances[i] * weights[i]).sum();
    let mut left = rng.random::<f64>() * total;
    for &(_, i) in order {
        left -= distances[i] * weights[i];
        if left < 0.0 {
            return i;
        }
    }
    // All rows alike, or what rounding left over.
    order.last().map_or(0, |&(_, i)| i)
}

/// The numbers 0..n in random order.
pub(super) fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    order
}
