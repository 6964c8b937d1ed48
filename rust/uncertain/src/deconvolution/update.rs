//! The M step: from the sums of a pass to new shares, means and covariances.

use std::ops::Range;

use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::params::LEAST;
use crate::deconvolution::start::Sample;
use crate::deconvolution::{Mixture, Params};
use crate::error::Result;
use crate::linalg::Eigh;
use crate::simd::mixture::Component;

/// The most of its noise that a component of few rows must have as T.
const MOST: f64 = 0.5;

/// The least T of every component: diagonals, one behind the other.
///
/// D, the scale of the features, times [`Params::reg`]. Without that, at least d / n of the typical noise too, n the rows of
/// a component: where the noise of few rows dominates, the likelihood is often largest at T = 0, and rows with smaller
/// noise would then be infinitely far from all classes. The spread of n rows is off by that part and more in the worst of
/// d directions. Rows without noise have no such floor.
pub(super) fn floor(
    params: &Params,
    (groups, rows_of, tied): (&[Range<usize>], &[f64], bool),
    sample: &Sample,
) -> Vec<f64> {
    let (scale, noise) = (sample.scale(), sample.noise());
    let d = scale.len() as f64;
    let all: f64 = rows_of.iter().sum();
    let of_group = |(group, rows): (&Range<usize>, &f64)| {
        let rows = if tied { all } else { rows / group.len() as f64 };
        let least = match params.reg {
            Some(reg) => scale.iter().map(|d| reg * d).collect::<Vec<f64>>(),
            None => {
                let part = (d / rows).min(MOST);
                scale.iter().zip(&noise).map(|(d, s)| (LEAST * d).max(part * s.min(*d))).collect()
            }
        };
        least.repeat(group.len())
    };
    groups.iter().zip(rows_of).flat_map(of_group).collect()
}

/// One component after the step, as if it had a T of its own.
struct Moved {
    /// Rows it stands for.
    count: f64,
    mean: Vec<f64>,
    /// d x d, the lower triangle counts.
    covariance: Vec<f64>,
}

/// The mixture after a pass with these sums; `groups` holds the components whose shares sum to 1, `spent` what their
/// scatter is short of ([`Task::spent`](super::Task::spent)).
pub(super) fn updated(
    mixture: &Mixture,
    components: &[Component],
    sums: &[f64],
    groups: &[Range<usize>],
    tied: bool,
    floor: &[f64],
    spent: &[f64],
) -> Result<Mixture> {
    let d = mixture.n_features();
    let len = packed_len(d + 1);
    let mut moved = Vec::with_capacity(components.len());
    for (k, sums) in sums.chunks_exact(len).enumerate() {
        let mut component = moved_component(mixture, k, &components[k], sums)?;
        if spent[k] > 0.0 {
            let factor = component.count / (component.count - spent[k]);
            component.covariance.iter_mut().for_each(|x| *x *= factor);
        }
        moved.push(component);
    }
    if tied {
        let total: f64 = moved.iter().map(|m| m.count).sum();
        let mut mean = vec![0.0; d * d];
        for m in &moved {
            mean.iter_mut().zip(&m.covariance).for_each(|(a, b)| *a += m.count / total * b);
        }
        let shared = floored(&mean, &floor[..d])?;
        moved.iter_mut().for_each(|m| m.covariance.clone_from(&shared));
    } else {
        for (m, floor) in moved.iter_mut().zip(floor.chunks_exact(d)) {
            m.covariance = floored(&m.covariance, floor)?;
        }
    }
    let mut weights = vec![0.0; moved.len()];
    for group in groups {
        let total: f64 = moved[group.clone()].iter().map(|m| m.count).sum();
        group.clone().for_each(|k| weights[k] = moved[k].count / total);
    }
    let means = moved.iter().flat_map(|m| &m.mean).copied().collect();
    let covariances =
        moved.iter().flat_map(|m| (0..d).flat_map(|i| &m.covariance[i * d..=i * d + i])).copied().collect();
    Ok(Mixture::unchecked(weights, means, covariances, d))
}

/// The mixture with every T cut at the floor.
pub(super) fn floored_all(mixture: &Mixture, floor: &[f64]) -> Result<Mixture> {
    let d = mixture.n_features();
    let mut covariances = Vec::with_capacity(mixture.covariances().len());
    for (k, floor) in floor.chunks_exact(d).enumerate() {
        let t: Vec<f64> = (0..d * d).map(|p| mixture.covariance(k)[packed_index(p / d, p % d)]).collect();
        let t = floored(&t, floor)?;
        covariances.extend((0..d).flat_map(|i| &t[i * d..=i * d + i]));
    }
    Ok(Mixture::unchecked(mixture.weights().to_vec(), mixture.means().to_vec(), covariances, d))
}

fn moved_component(mixture: &Mixture, k: usize, component: &Component, sums: &[f64]) -> Result<Moved> {
    let d = mixture.n_features();
    let count = sums[packed_index(d, d)];
    let mut q = if component.back.is_empty() { mixture.root(k)? } else { component.back.clone() };
    if !(count > 0.0) {
        // No row is left to it: it stays where it is, without a share.
        let covariance = (0..d * d).map(|p| mixture.covariance(k)[packed_index(p / d, p % d)]).collect();
        return Ok(Moved { count: 0.0, mean: mixture.mean(k).to_vec(), covariance });
    }
    let mut s: Vec<f64> = (0..d).map(|j| sums[packed_index(d, j)] / count).collect();
    let mut g: Vec<f64> = (0..d * d).map(|p| sums[packed_index(p / d, p % d)] / count).collect();
    if component.back.is_empty() {
        // The sums are in plain coordinates: s -> Q's, G -> Q'GQ.
        s = (0..d).map(|j| (0..d).map(|i| q[i * d + j] * s[i]).sum()).collect();
        g = product(&transposed(&q, d), &product(&g, &q, d), d);
    }
    for i in 0..d {
        for j in 0..d {
            g[i * d + j] += f64::from(u8::from(i == j)) - s[i] * s[j];
        }
    }
    let mut mean = mixture.mean(k).to_vec();
    for i in 0..d {
        mean[i] += (0..d).map(|j| q[i * d + j] * s[j]).sum::<f64>();
    }
    let left = product(&q, &g, d);
    q = transposed(&q, d);
    Ok(Moved { count, mean, covariance: product(&left, &q, d) })
}

/// T with its eigenvalues, in units of the floor, cut at 1 from below.
fn floored(t: &[f64], floor: &[f64]) -> Result<Vec<f64>> {
    let d = floor.len();
    let root: Vec<f64> = floor.iter().map(|f| f.sqrt()).collect();
    let scaled: Vec<f64> = (0..d * d).map(|p| t[p / d * d + p % d] / root[p / d] / root[p % d]).collect();
    let mut eigh = Eigh::new(d);
    eigh.square(&scaled)?;
    let mut out = vec![0.0; d * d];
    let cut = eigh.values[0] < 1.0;
    let packed = if cut { eigh.function(|x| x.max(1.0)) } else { vec![] };
    for i in 0..d {
        for j in 0..=i {
            let x = if cut { packed[packed_index(i, j)] * root[i] * root[j] } else { t[i * d + j] };
            (out[i * d + j], out[j * d + i]) = (x, x);
        }
    }
    Ok(out)
}

fn product(a: &[f64], b: &[f64], d: usize) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for (out, a) in out.chunks_exact_mut(d).zip(a.chunks_exact(d)) {
        for (a, b) in a.iter().zip(b.chunks_exact(d)) {
            out.iter_mut().zip(b).for_each(|(o, b)| *o += a * b);
        }
    }
    out
}

fn transposed(a: &[f64], d: usize) -> Vec<f64> {
    (0..d * d).map(|p| a[p % d * d + p / d]).collect()
}
