//! The M step: from the sums of a pass to new shares, means and covariances.

use std::ops::Range;

use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::params::LEAST;
use crate::deconvolution::start::Scales;
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
    Scales { scale, noise }: &Scales,
) -> Vec<f64> {
    let d = scale.len() as f64;
    let all: f64 = rows_of.iter().sum();
    let of_group = |(group, rows): (&Range<usize>, &f64)| {
        let rows = if tied { all } else { rows / group.len() as f64 };
        let least = match params.reg {
            Some(reg) => scale.iter().map(|d| reg * d).collect::<Vec<f64>>(),
            None => {
                let part = (d / rows).min(MOST);
                scale.iter().zip(noise).map(|(d, s)| (LEAST * d).max(part * s.min(*d))).collect()
            }
        };
        least.repeat(group.len())
    };
    groups.iter().zip(rows_of).flat_map(of_group).collect()
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
    let each: Vec<ComponentSums> = sums.chunks_exact(packed_len(d + 1)).map(|sums| ComponentSums { d, sums }).collect();
    let count = |k: usize| each[k].count();
    // n - c in place of n.
    let divided = |k: usize| if spent[k] > 0.0 { count(k) / (count(k) - spent[k]) } else { 1.0 };
    let mut means = mixture.means().to_vec();
    let mut covariances = Vec::with_capacity(mixture.covariances().len());
    let mut push = |t: Vec<f64>, times: usize| {
        let packed: Vec<f64> = (0..d).flat_map(|i| &t[i * d..=i * d + i]).copied().collect();
        (0..times).for_each(|_| covariances.extend_from_slice(&packed));
    };
    let mut basis = Basis::new(mixture, 0, &components[0])?;
    for (k, sums) in each.iter().enumerate() {
        if k > 0 && !tied {
            basis = Basis::new(mixture, k, &components[k])?;
        }
        // A component that no row is left to stays where it is, without a share.
        let stays = !(sums.count() > 0.0);
        if !stays {
            basis.move_mean(&mut means[k * d..(k + 1) * d], sums);
        }
        if !tied {
            let mut t = if stays { square(mixture, k) } else { basis.scatter(&[(1.0, sums)]) };
            if !stays && spent[k] > 0.0 {
                t.iter_mut().for_each(|t| *t *= divided(k));
            }
            push(floored(&t, &floor[k * d..(k + 1) * d])?, 1);
        }
    }
    if tied {
        let total: f64 = (0..each.len()).map(count).sum();
        let seen: Vec<_> =
            (0..each.len()).filter(|&k| count(k) > 0.0).map(|k| (count(k) / total * divided(k), &each[k])).collect();
        push(floored(&basis.scatter(&seen), &floor[..d])?, each.len());
    }
    let mut weights = vec![0.0; each.len()];
    for group in groups {
        let total: f64 = group.clone().map(count).sum();
        group.clone().for_each(|k| weights[k] = count(k) / total);
    }
    Ok(Mixture::unchecked(weights, means, covariances, d))
}

/// The mixture with every T cut at the floor.
pub(super) fn floored_all(mixture: &Mixture, floor: &[f64]) -> Result<Mixture> {
    let d = mixture.n_features();
    let mut covariances: Vec<f64> = Vec::with_capacity(mixture.covariances().len());
    for (k, own) in floor.chunks_exact(d).enumerate() {
        if k > 0 && mixture.covariance(k) == mixture.covariance(k - 1) && *own == floor[(k - 1) * d..k * d] {
            covariances.extend_from_within(covariances.len() - packed_len(d)..);
            continue;
        }
        let t = floored(&square(mixture, k), own)?;
        covariances.extend((0..d).flat_map(|i| &t[i * d..=i * d + i]));
    }
    Ok(Mixture::unchecked(mixture.weights().to_vec(), mixture.means().to_vec(), covariances, d))
}

/// Sums of a pass for one component.
struct ComponentSums<'a> {
    d: usize,
    sums: &'a [f64],
}

impl ComponentSums<'_> {
    /// n
    fn count(&self) -> f64 {
        self.sums[packed_index(self.d, self.d)]
    }

    /// s
    fn slope(&self) -> Vec<f64> {
        (0..self.d).map(|j| self.sums[packed_index(self.d, j)] / self.count()).collect()
    }
}

/// T = Q Q', and whether sums are in its coordinates or in plain ones.
struct Basis {
    d: usize,
    q: Vec<f64>,
    transposed: Vec<f64>,
    plain: bool,
}

impl Basis {
    fn new(mixture: &Mixture, k: usize, component: &Component) -> Result<Self> {
        let (d, back) = (mixture.n_features(), &component.scatter.back);
        let q = if back.is_empty() { mixture.root(k)? } else { back.clone() };
        Ok(Self { d, transposed: transposed(&q, d), q, plain: back.is_empty() })
    }

    /// s, or Q's of a plain one.
    fn slope(&self, sums: &ComponentSums<'_>) -> Vec<f64> {
        let (d, s) = (self.d, sums.slope());
        if self.plain { (0..d).map(|j| (0..d).map(|i| self.q[i * d + j] * s[i]).sum()).collect() } else { s }
    }

    /// mu + Q s
    fn move_mean(&self, mean: &mut [f64], sums: &ComponentSums<'_>) {
        let s = self.slope(sums);
        for (mean, q) in mean.iter_mut().zip(self.q.chunks_exact(self.d)) {
            *mean += q.iter().zip(&s).map(|(q, s)| q * s).sum::<f64>();
        }
    }

    /// Q [ sum of w (G + I - s s') ] Q' of components with this T.
    fn scatter(&self, seen: &[(f64, &ComponentSums<'_>)]) -> Vec<f64> {
        let d = self.d;
        let mut g = vec![0.0; d * d];
        for (w, sums) in seen {
            let count = sums.count();
            g.iter_mut().enumerate().for_each(|(p, g)| *g += w * (sums.sums[packed_index(p / d, p % d)] / count));
        }
        if self.plain {
            g = product(&self.transposed, &product(&g, &self.q, d), d);
        }
        for (w, sums) in seen {
            let s = self.slope(sums);
            for (i, row) in g.chunks_exact_mut(d).enumerate() {
                row.iter_mut().enumerate().for_each(|(j, g)| *g += w * (f64::from(u8::from(i == j)) - s[i] * s[j]));
            }
        }
        product(&product(&self.q, &g, d), &self.transposed, d)
    }
}

/// T of a component, row-major.
fn square(mixture: &Mixture, k: usize) -> Vec<f64> {
    let (d, t) = (mixture.n_features(), mixture.covariance(k));
    (0..d * d).map(|p| t[packed_index(p / d, p % d)]).collect()
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
