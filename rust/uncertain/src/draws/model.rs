//! A mixture of a row's draws: passes, steps and starts of EM.

use crate::data::covariance::{packed_index, packed_len};
use crate::linalg::Eigh;
use crate::simd::mixture::{DrawComponent, DrawSums, draw_sums_len};
use crate::simd::{LANES, Pack};

/// T in units of the draws' variances at least.
pub(super) const FLOOR: f64 = 1e-4;
/// Steps of EM that one jump stands for, at most.
const FARTHEST: f64 = 16.0;
/// Rounds of k-means.
const LLOYD: usize = 3;
/// Components of k-means have deviations of one over this, in units of the draws': a draw belongs to the nearest alone.
const SHARP: f64 = 1e3;

/// A mixture in the units of a row's draws.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) d: usize,
    pub(super) weights: Vec<f64>,
    pub(super) means: Vec<f64>,
    pub(super) covariances: Vec<f64>,
}

impl Model {
    pub(super) fn single(d: usize) -> Self {
        let unit = (0..d).flat_map(|i| (0..=i).map(move |j| f64::from(u8::from(i == j)))).collect();
        Self { d, weights: vec![1.0], means: vec![0.0; d], covariances: unit }
    }

    pub(super) fn k(&self) -> usize {
        self.weights.len()
    }

    /// Per component log pi - log |2 pi T| / 2, and the packed triangles of L^{-1}, T = L L'. `None`: one has no density.
    fn roots(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let (d, len) = (self.d, packed_len(self.d));
        let mut inverses = Vec::with_capacity(self.k() * len);
        let mut constants = Vec::with_capacity(self.k());
        for (weight, covariance) in self.weights.iter().zip(self.covariances.chunks_exact(len)) {
            let log_det = invert_root(covariance, d, &mut inverses)?;
            constants.push(weight.ln() - 0.5 * (log_det + d as f64 * std::f64::consts::TAU.ln()));
        }
        Some((constants, inverses))
    }

    /// A pass: per component the sums, and the sum of weight times log density. `None`: a component has no density.
    fn pass(&self, draws: &[Pack], sums: Option<&mut Vec<Pack>>, logs: Option<&mut [Pack]>) -> Option<f64> {
        let (constants, inverses) = self.roots()?;
        let total = pass(self.d, (&constants, &self.means, &inverses), draws, sums, logs);
        total.is_finite().then_some(total)
    }

    /// The mean log density of these draws.
    pub(super) fn score(&self, draws: &[Pack]) -> f64 {
        let weight: f64 = draws.chunks_exact(self.d + 1).flat_map(|pack| pack[self.d].0).sum();
        self.pass(draws, None, None).map_or(f64::NEG_INFINITY, |total| total / weight)
    }

    /// Steps of EM, at most so many, until one raises the mean log density by less than `tol`. EM creeps where components
    /// overlap: from three sums in turn SQUAREM jumps ahead, and back if that was too far. The mean log density that comes
    /// with it is the last one that was seen, a step before.
    pub(super) fn climbed(mut self, draws: &[Pack], most: usize, tol: f64) -> (f64, Self) {
        let (mut sums, mut before, mut plain) = (vec![], f64::NEG_INFINITY, None);
        let mut steps: Vec<Vec<f64>> = vec![];
        let weight: f64 = draws.chunks_exact(self.d + 1).flat_map(|pack| pack[self.d].0).sum();
        for _ in 0..most {
            let total = self.pass(draws, Some(&mut sums), None).map(|total| total / weight);
            let jumped: Option<Self> = plain.take();
            let Some(total) = total.filter(|total| jumped.is_none() || *total >= before) else {
                let Some(back) = jumped else { break };
                self = back;
                steps.clear();
                continue;
            };
            let own = summed(&sums);
            let Some(next) = self.step(&own) else { break };
            let gain = total - before;
            before = total;
            steps.push(own);
            self = next;
            if gain < tol {
                break;
            }
            if let [first, second, third] = steps.as_slice() {
                let ahead = squared_step(first, second, third);
                steps.clear();
                if let Some(far) = ahead.and_then(|sums| self.step(&sums)) {
                    plain = Some(std::mem::replace(&mut self, far));
                }
            }
        }
        (before, plain.unwrap_or(self))
    }

    /// The M step; `None` where a component has lost its draws.
    fn step(&self, flat: &[f64]) -> Option<Self> {
        let (d, len) = (self.d, draw_sums_len(self.d));
        let all: f64 = flat.chunks_exact(len).map(|own| own[0]).sum();
        let room = |width: usize| Vec::with_capacity(flat.len() / len * width);
        let mut next = Self { d, weights: room(1), means: room(d), covariances: room(packed_len(d)) };
        for own in flat.chunks_exact(len) {
            let (q, x, xx) = (own[0], &own[1..=d], &own[1 + d..]);
            if !(q > 1e-6 * all) {
                return None;
            }
            next.weights.push(q / all);
            next.means.extend(x.iter().map(|x| x / q));
            for i in 0..d {
                for j in 0..=i {
                    let floor = if i == j { FLOOR } else { 0.0 };
                    next.covariances.push(xx[packed_index(i, j)] / q - x[i] / q * (x[j] / q) + floor);
                }
            }
        }
        Some(next)
    }

    /// With one more component, on the least likely tenth of the draws.
    pub(super) fn with_worst(&self, draws: &[Pack]) -> Option<Self> {
        let d = self.d;
        let mut logs = vec![Pack::ZERO; draws.len() / (d + 1)];
        self.pass(draws, None, Some(&mut logs))?;
        let weights = draws.chunks_exact(d + 1).flat_map(|pack| pack[d].0);
        let logs = logs.iter().flat_map(|pack| pack.0).zip(weights).enumerate();
        let mut logs: Vec<(f64, usize)> =
            logs.filter(|(_, (_, weight))| *weight > 0.0).map(|(at, (log, _))| (log, at)).collect();
        let most = (logs.len() / 10).max(d + 1).min(logs.len());
        logs.select_nth_unstable_by(most - 1, |a, b| a.0.total_cmp(&b.0));
        let chosen: Vec<usize> = logs[..most].iter().map(|(_, at)| *at).collect();
        let added = moments(draws, d, &chosen)?;
        let mut next = self.clone();
        next.weights.iter_mut().for_each(|w| *w *= 0.9);
        next.weights.push(0.1);
        next.means.extend(added.means);
        next.covariances.extend(added.covariances);
        Some(next)
    }

    /// Clusters, of which there becomes one more: the one with the largest scatter is cut at its mean across its longest
    /// axis, and then every draw goes to the nearest mean a few times.
    pub(super) fn cut(&self, draws: &[Pack]) -> Option<Self> {
        let (d, len) = (self.d, packed_len(self.d));
        let trace = |own: &[f64]| (0..d).map(|j| own[packed_index(j, j)]).sum::<f64>();
        let scatters = self.weights.iter().zip(self.covariances.chunks_exact(len)).map(|(w, own)| w * trace(own));
        let (widest, _) = scatters.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (variance, axis) = longest(&self.covariances[widest * len..][..len], d)?;
        // The means of the halves of a normal distribution.
        let off = (variance * std::f64::consts::FRAC_2_PI).sqrt();
        let mut next = self.clone();
        next.means.extend((0..d).map(|j| self.means[widest * d + j] + off * axis[j]));
        (0..d).for_each(|j| next.means[widest * d + j] -= off * axis[j]);
        let k = self.k() + 1;
        let sharp: Vec<f64> =
            (0..d).flat_map(|i| (0..=i).map(move |j| if i == j { SHARP } else { 0.0 })).collect::<Vec<_>>().repeat(k);
        let (constants, mut sums) = (vec![0.0; k], vec![]);
        for _ in 0..=LLOYD {
            pass(d, (&constants, &next.means, &sharp), draws, Some(&mut sums), None);
            next = self.step(&summed(&sums))?;
        }
        Some(next)
    }
}

/// A pass with components of these constants, means and packed triangles of L^{-1}: their sums, the log densities of draws,
/// and the sum of weight times log density.
fn pass(
    d: usize,
    (constants, means, inverses): (&[f64], &[f64], &[f64]),
    draws: &[Pack],
    sums: Option<&mut Vec<Pack>>,
    logs: Option<&mut [Pack]>,
) -> f64 {
    let parts = constants.iter().zip(means.chunks_exact(d)).zip(inverses.chunks_exact(packed_len(d)));
    let components: Vec<DrawComponent<'_>> =
        parts.map(|((&constant, mean), inverse)| DrawComponent { constant, mean, inverse }).collect();
    let (mut shares, mut total) = (vec![Pack::ZERO; components.len()], [0.0; LANES]);
    let sums = sums.map(|sums| {
        sums.clear();
        sums.resize(components.len() * draw_sums_len(d), Pack::ZERO);
        sums.as_mut_slice()
    });
    DrawSums { d, components: &components, draws, shares: &mut shares, sums, logs, total: &mut total }.run();
    total.iter().sum()
}

/// Sums of all lanes.
fn summed(sums: &[Pack]) -> Vec<f64> {
    sums.iter().map(|pack| pack.0.iter().sum()).collect()
}

/// One component with the moments of some draws.
fn moments(draws: &[Pack], d: usize, numbers: &[usize]) -> Option<Model> {
    let mut sums = vec![Pack::ZERO; draw_sums_len(d)];
    for &at in numbers {
        let (pack, lane) = (&draws[at / LANES * (d + 1)..], at % LANES);
        let q = pack[d].0[lane];
        sums[0].0[0] += q;
        for i in 0..d {
            sums[1 + i].0[0] += q * pack[i].0[lane];
            (0..=i).for_each(|j| sums[1 + d + packed_index(i, j)].0[0] += q * pack[i].0[lane] * pack[j].0[lane]);
        }
    }
    Model::single(d).step(&summed(&sums))
}

/// SQUAREM (Varadhan and Roland, 2008) on the sums of three steps of EM: with r and v their first and second difference
/// s + 2 a r + a^2 v, a = |r| / |v| >= 1; a = 1 is the third. `None`: they do not move.
pub(super) fn squared_step(first: &[f64], second: &[f64], third: &[f64]) -> Option<Vec<f64>> {
    let r = |at: usize| second[at] - first[at];
    let v = |at: usize| third[at] - second[at] - r(at);
    let norm = |x: &dyn Fn(usize) -> f64| (0..first.len()).map(|at| x(at).powi(2)).sum::<f64>().sqrt();
    let a = (norm(&r) / norm(&v)).clamp(1.0, FARTHEST);
    a.is_finite().then(|| (0..first.len()).map(|at| first[at] + 2.0 * a * r(at) + a * a * v(at)).collect())
}

/// The largest variance, and its direction.
fn longest(covariance: &[f64], d: usize) -> Option<(f64, Vec<f64>)> {
    let mut eigh = Eigh::new(d);
    eigh.packed(covariance).ok()?;
    Some((*eigh.values.last()?, eigh.vectors[(d - 1) * d..].to_vec()))
}

/// The packed triangle of L^{-1} of T = L L', and log |T|; `None` where T is not positive definite.
fn invert_root(covariance: &[f64], d: usize, out: &mut Vec<f64>) -> Option<f64> {
    let first = out.len();
    out.extend_from_slice(covariance);
    let l = &mut out[first..];
    let mut log_det = 0.0;
    for i in 0..d {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| l[packed_index(i, k)] * l[packed_index(j, k)]).sum();
            let rest = l[packed_index(i, j)] - dot;
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                log_det += rest.ln();
                l[packed_index(i, i)] = rest.sqrt();
            } else {
                l[packed_index(i, j)] = rest / l[packed_index(j, j)];
            }
        }
    }
    // Row by row in the place of L, whose later columns are still there.
    for i in 0..d {
        let pivot = l[packed_index(i, i)].recip();
        for j in 0..i {
            let dot: f64 = (j..i).map(|k| l[packed_index(i, k)] * l[packed_index(k, j)]).sum();
            l[packed_index(i, j)] = -dot * pivot;
        }
        l[packed_index(i, i)] = pivot;
    }
    Some(log_det)
}
