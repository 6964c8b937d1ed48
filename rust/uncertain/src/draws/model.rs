//! A mixture of a row's draws: passes, steps and starts of EM.

use crate::data::covariance::{packed_index, packed_len};
use crate::linalg::{Eigh, inverse_lower};
use crate::simd::mixture::{DrawComponent, DrawSums, draw_sums_len};
use crate::simd::{LANES, Pack};

/// T in units of the draws' variances at least.
pub(super) const FLOOR: f64 = 1e-4;
/// Steps of EM that one jump stands for, at most.
const FARTHEST: f64 = 16.0;
/// Rounds of k-means.
const LLOYD: usize = 3;

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
    fn pass(&self, draws: &[Pack], sums: Option<&mut Vec<Pack>>) -> Option<f64> {
        let (d, len) = (self.d, packed_len(self.d));
        let (constants, inverses) = self.roots()?;
        let parts = constants.iter().zip(self.means.chunks_exact(d)).zip(inverses.chunks_exact(len));
        let components: Vec<DrawComponent<'_>> =
            parts.map(|((&constant, mean), inverse)| DrawComponent { constant, mean, inverse }).collect();
        let (mut shares, mut total) = (vec![Pack::ZERO; self.k()], [0.0; LANES]);
        let sums = sums.map(|sums| {
            sums.clear();
            sums.resize(self.k() * draw_sums_len(d), Pack::ZERO);
            sums.as_mut_slice()
        });
        DrawSums { d, components: &components, draws, shares: &mut shares, sums, total: &mut total }.run();
        let total: f64 = total.iter().sum();
        total.is_finite().then_some(total)
    }

    /// The mean log density of these draws.
    pub(super) fn score(&self, draws: &[Pack]) -> f64 {
        let weight: f64 = draws.chunks_exact(self.d + 1).flat_map(|pack| pack[self.d].0).sum();
        self.pass(draws, None).map_or(f64::NEG_INFINITY, |total| total / weight)
    }

    /// Steps of EM, at most so many, until one raises the mean log density by less than `tol`. EM creeps where components
    /// overlap: from three sums in turn SQUAREM jumps ahead, and back if that was too far.
    pub(super) fn climbed(mut self, draws: &[Pack], most: usize, tol: f64) -> Self {
        let (mut sums, mut before, mut plain) = (vec![], f64::NEG_INFINITY, None);
        let mut steps: Vec<Vec<f64>> = vec![];
        let weight: f64 = draws.chunks_exact(self.d + 1).flat_map(|pack| pack[self.d].0).sum();
        for _ in 0..most {
            let total = self.pass(draws, Some(&mut sums)).map(|total| total / weight);
            let jumped: Option<Self> = plain.take();
            let Some(total) = total.filter(|total| jumped.is_none() || *total >= before) else {
                let Some(back) = jumped else { break };
                self = back;
                steps.clear();
                continue;
            };
            let own: Vec<f64> = sums.iter().map(|pack| pack.0.iter().sum()).collect();
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
        plain.unwrap_or(self)
    }

    /// The M step; `None` where a component has lost its draws.
    fn step(&self, flat: &[f64]) -> Option<Self> {
        let (d, len) = (self.d, draw_sums_len(self.d));
        let all: f64 = flat.chunks_exact(len).map(|own| own[0]).sum();
        let mut next = Self { d, weights: vec![], means: vec![], covariances: vec![] };
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
        let (constants, inverses) = self.roots()?;
        let mut logs: Vec<(f64, usize)> = Vec::with_capacity(draws.len() / (d + 1) * LANES);
        for (at, pack) in draws.chunks_exact(d + 1).enumerate() {
            for lane in (0..LANES).filter(|lane| pack[d].0[*lane] > 0.0) {
                let x = |j: usize| pack[j].0[lane];
                logs.push((self.log_density(&constants, &inverses, x), at * LANES + lane));
            }
        }
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

    /// That of the likeliest component.
    fn log_density(&self, constants: &[f64], inverses: &[f64], x: impl Fn(usize) -> f64) -> f64 {
        let d = self.d;
        let components = constants.iter().zip(self.means.chunks_exact(d)).zip(inverses.chunks_exact(packed_len(d)));
        let log = |((constant, mean), inverse): ((&f64, &[f64]), &[f64])| {
            let z = |i: usize| (0..=i).map(|j| inverse[packed_index(i, j)] * (x(j) - mean[j])).sum::<f64>();
            constant - 0.5 * (0..d).map(|i| z(i).powi(2)).sum::<f64>()
        };
        components.map(log).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Clusters: the one with the largest scatter is cut at its mean across its longest axis, until there are k, and then
    /// every draw goes to the nearest mean a few times.
    pub(super) fn clusters(d: usize, k: usize, draws: &[Pack]) -> Option<Self> {
        let x = |at: usize, j: usize| draws[at / LANES * (d + 1) + j].0[at % LANES];
        let every: Vec<usize> = (0..draws.len() / (d + 1) * LANES).filter(|&at| x(at, d) > 0.0).collect();
        let mut all = vec![every.clone()];
        while all.len() < k {
            let scatter = |own: &Vec<usize>| -> f64 {
                moments(draws, d, own).map_or(0.0, |own_moments| {
                    let trace: f64 = (0..d).map(|j| own_moments.covariances[packed_index(j, j)]).sum();
                    trace * own.iter().map(|&at| x(at, d)).sum::<f64>()
                })
            };
            let (widest, _) = all.iter().map(scatter).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let own = all.swap_remove(widest);
            let Self { means, covariances, .. } = moments(draws, d, &own)?;
            let axis = longest(&covariances, d)?;
            let along = |&at: &usize| (0..d).map(|j| axis[j] * (x(at, j) - means[j])).sum::<f64>() > 0.0;
            let (above, below): (Vec<usize>, Vec<usize>) = own.into_iter().partition(along);
            all.extend([below, above]);
        }
        for _ in 0..LLOYD {
            let centres: Option<Vec<Vec<f64>>> = all.iter().map(|own| Some(moments(draws, d, own)?.means)).collect();
            let centres = centres?;
            let distance = |at: usize, centre: &Vec<f64>| (0..d).map(|j| (x(at, j) - centre[j]).powi(2)).sum::<f64>();
            all.iter_mut().for_each(Vec::clear);
            for &at in &every {
                let near = centres.iter().map(|centre| distance(at, centre)).enumerate();
                let (nearest, _) = near.min_by(|a, b| a.1.total_cmp(&b.1))?;
                all[nearest].push(at);
            }
        }
        let total: f64 = every.iter().map(|&at| x(at, d)).sum();
        let mut made = Self { d, weights: vec![], means: vec![], covariances: vec![] };
        for own in &all {
            let Self { means, covariances, .. } = moments(draws, d, own)?;
            made.weights.push(own.iter().map(|&at| x(at, d)).sum::<f64>() / total);
            made.means.extend(means);
            made.covariances.extend(covariances);
        }
        Some(made)
    }
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
    let flat: Vec<f64> = sums.iter().map(|pack| pack.0.iter().sum()).collect();
    Model::single(d).step(&flat)
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

/// The direction of the largest variance.
fn longest(covariance: &[f64], d: usize) -> Option<Vec<f64>> {
    let mut eigh = Eigh::new(d);
    eigh.packed(covariance).ok()?;
    Some(eigh.vectors[(d - 1) * d..].to_vec())
}

/// The packed triangle of L^{-1} of T = L L', and log |T|; `None` where T is not positive definite.
fn invert_root(covariance: &[f64], d: usize, out: &mut Vec<f64>) -> Option<f64> {
    let mut l = covariance.to_vec();
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
    let square: Vec<f64> =
        (0..d * d).map(|at| if at % d <= at / d { l[packed_index(at / d, at % d)] } else { 0.0 }).collect();
    let inverse = inverse_lower(&square, d);
    (0..d).for_each(|i| out.extend_from_slice(&inverse[i * d..=i * d + i]));
    Some(log_det)
}
