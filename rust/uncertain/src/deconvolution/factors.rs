//! Coordinates in which the likelihood is smooth and unconstrained: for components that share no rows.
//!
//! EM moves T by T G T, where G is the likelihood's slope: along a direction whose T goes to its floor, as most do where
//! rows are hardly more than features, T then falls like 1/t, and extrapolations that are right for one direction are
//! wrong for the next. With
//!
//! ```text
//! T = L L' + F,    F = reg diag(D) the floor;    dl/dmu = n s,    dl/dL = n G L    (per row; s, G as in the sums of a pass)
//! ```
//!
//! every L is allowed, T is never below the floor, and the gradient costs nothing beside the sums that EM wants anyway
//! (Fisher's identity). From the same start L-BFGS reaches in 25 to 44 passes the likelihood at which EM with jumps stops
//! after 450 to 750 (64 rows of 44 features, in NumPy).
//! Features are in units of their scale. Several components in the same rows stay with EM: it alone keeps their shares
//! away from the border, and it finds its way among local maxima that other steps would not. So do fits whose scatter is
//! short of degrees of freedom: there T stays away from its floor, and on few rows the penalised likelihood is so flat
//! that steps which gain 1e-12 end at a T that is off by 2e-3.

use std::ops::Range;

use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::simd::mixture::Component;

/// Term added to L L', in units of the floor, so that it has a root.
const LIFT: f64 = 1e-3;

/// The coordinates of a mixture: per component its mean, then the rows of L (once, if all share T).
pub(super) struct Factors<'a> {
    pub floor: &'a [f64],
    pub tied: bool,
    /// The weight of all rows.
    pub total: f64,
    unit: Vec<f64>,
}

impl<'a> Factors<'a> {
    /// For these groups of components; `None` unless each has separate rows.
    pub(super) fn new(
        groups: &[Range<usize>],
        tied: bool,
        (floor, scale): (&'a [f64], &[f64]),
        total: f64,
    ) -> Option<Self> {
        let unit = scale.iter().map(|s| s.sqrt()).collect();
        groups.iter().all(|group| group.len() == 1).then_some(Self { floor, tied, total, unit })
    }

    fn d(&self) -> usize {
        self.unit.len()
    }

    /// Which of `k` components have a separate L.
    fn owners(&self, k: usize) -> Range<usize> {
        0..if self.tied { 1 } else { k }
    }

    pub(super) fn coordinates(&self, mixture: &Mixture) -> Option<Vec<f64>> {
        let (d, unit) = (self.d(), &self.unit);
        let mut u: Vec<f64> = mixture.means().iter().enumerate().map(|(p, m)| m / unit[p % d]).collect();
        for k in self.owners(mixture.n_components()) {
            let t = mixture.covariance(k);
            let mut l = vec![0.0; d * d];
            for i in 0..d {
                for j in 0..=i {
                    l[i * d + j] = t[packed_index(i, j)] / (unit[i] * unit[j]);
                }
                l[i * d + i] -= (1.0 - LIFT) * self.floor[k * d + i] / (unit[i] * unit[i]);
            }
            if !cholesky(&mut l, d) {
                return None;
            }
            (0..d).for_each(|i| u.extend(&l[i * d..=i * d + i]));
        }
        u.iter().all(|u| u.is_finite()).then_some(u)
    }

    /// Inverse of [`coordinates`](Self::coordinates), but for the lift; with the shares of `like`.
    pub(super) fn mixture(&self, u: &[f64], like: &Mixture) -> Mixture {
        let (d, unit, k) = (self.d(), &self.unit, like.n_components());
        let (means, factors) = u.split_at(k * d);
        let means = means.iter().enumerate().map(|(p, m)| m * unit[p % d]).collect();
        let mut covariances = Vec::with_capacity(like.covariances().len());
        for (l, floor) in factors.chunks_exact(packed_len(d)).zip(self.floor.chunks_exact(d)) {
            let row = |i: usize| &l[packed_len(i)..packed_len(i + 1)];
            for i in 0..d {
                for j in 0..=i {
                    let product: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                    let own = if i == j { floor[i] } else { 0.0 };
                    covariances.push(product * unit[i] * unit[j] + own);
                }
            }
        }
        if self.tied {
            covariances = covariances.repeat(k);
        }
        Mixture::unchecked(like.weights().to_vec(), means, covariances, d)
    }

    /// The slope of the mean log-likelihood per row in the coordinates `u`, from the sums of a pass at that mixture.
    pub(super) fn gradient(
        &self,
        u: &[f64],
        mixture: &Mixture,
        components: &[Component],
        sums: &[f64],
    ) -> Result<Vec<f64>> {
        let (d, unit, k) = (self.d(), &self.unit, mixture.n_components());
        let mut out = vec![0.0; u.len()];
        let (means, factors) = out.split_at_mut(k * d);
        let len = packed_len(d);
        for (c, sums) in sums.chunks_exact(packed_len(d + 1)).enumerate() {
            let (s, g) = plain(mixture, c, &components[c], sums)?;
            for j in 0..d {
                means[c * d + j] = s[j] / self.total * unit[j];
            }
            let at = if self.tied { 0 } else { c };
            let l = &u[k * d + at * len..][..len];
            // (D G D) L, lower triangle: element (i, j) sums over the rows of L from j on.
            for i in 0..d {
                for m in 0..d {
                    let gim = g[i * d + m] * unit[i] * unit[m] / self.total;
                    let upto = i.min(m);
                    let row = &mut factors[at * len + packed_len(i)..][..=upto];
                    row.iter_mut().zip(&l[packed_len(m)..][..=upto]).for_each(|(o, l)| *o += gim * l);
                }
            }
        }
        Ok(out)
    }
}

/// n s and n G (d x d) of a component in plain coordinates: where the pass used others, T = Q Q', they are Q's and Q'G Q,
/// and Q^-T = T^-1 Q.
fn plain(mixture: &Mixture, k: usize, component: &Component, sums: &[f64]) -> Result<(Vec<f64>, Vec<f64>)> {
    let d = mixture.n_features();
    let mut s: Vec<f64> = (0..d).map(|j| sums[packed_index(d, j)]).collect();
    let mut g: Vec<f64> = (0..d * d).map(|p| sums[packed_index(p / d, p % d)]).collect();
    let q = &component.scatter.back;
    if !q.is_empty() {
        let l = mixture.root(k)?;
        let back = |x: &mut [f64]| {
            let image: Vec<f64> = q.chunks_exact(d).map(|q| q.iter().zip(&*x).map(|(q, x)| q * x).sum()).collect();
            x.copy_from_slice(&image);
            cholesky_solve(&l, d, x);
        };
        back(&mut s);
        // From the left and, transposed, from the right.
        for _ in 0..2 {
            g.chunks_exact_mut(d).for_each(back);
            g = (0..d * d).map(|p| g[p % d * d + p / d]).collect();
        }
    }
    Ok((s, g))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::data::covariance::{Isotropic, LowRank};
    use crate::data::{Covariances, GaussianArray, Rows, Unit};
    use crate::deconvolution::Observed;
    use crate::testing::Numbers;

    /// The mean log-likelihood, one dense matrix per row, by its definition.
    fn likelihood(data: &GaussianArray, mixture: &Mixture) -> f64 {
        let d = data.n_features();
        let dense = data.dense().unwrap();
        let row = |i: usize| {
            let mut m: Vec<f64> =
                (0..d * d).map(|p| dense[i * d * d + p] + mixture.covariance(0)[packed_index(p / d, p % d)]).collect();
            assert!(cholesky(&mut m, d));
            let off: Vec<f64> = data.means().row(i).iter().zip(mixture.mean(0)).map(|(x, m)| x - m).collect();
            let mut a = off.clone();
            cholesky_solve(&m, d, &mut a);
            let log_det: f64 = (0..d).map(|j| m[j * d + j].ln()).sum();
            -0.5 * off.iter().zip(&a).map(|(o, a)| o * a).sum::<f64>() - log_det
        };
        (0..data.n_rows()).map(row).sum::<f64>() / data.n_rows() as f64
    }

    #[test]
    fn the_gradient_agrees_with_differences_of_the_likelihood_for_every_kind_of_pass() {
        let (n, d) = (30, 4);
        let mut numbers = Numbers::new(7);
        let mut take = |len: usize| (0..len).map(|_| numbers.normal()).collect::<Vec<f64>>();
        let means = Rows::from_vec(take(n * d), d).unwrap();
        let positive = |values: Vec<f64>| values.iter().map(|x| x.abs()).collect::<Vec<f64>>();
        let kinds = [
            Covariances::from_std(Rows::from_vec(positive(take(n * d)), d).unwrap()),
            Covariances::Isotropic(Isotropic {
                values: Rows::from_vec(positive(take(n)), 1).unwrap(),
                unit: Unit::Variance,
            }),
            Covariances::LowRank(LowRank { factor: Rows::from_vec(take(n * d), d).unwrap(), rank: 1, diagonal: None }),
            Covariances::Zero,
        ];
        let triangle = [1.0, 0.3, 2.0, -0.2, 0.1, 1.5, 0.4, 0.0, -0.3, 0.8];
        let mixture = Mixture::from_packed(vec![1.0], take(d), triangle.to_vec(), d).unwrap();
        let (floor, scale) = ([1e-3, 2e-3, 1e-3, 1e-3], [1.0, 2.0, 0.5, 1.0]);
        for covariances in kinds {
            let data = GaussianArray::new(means.clone(), covariances).unwrap();
            let factors = Factors::new(std::slice::from_ref(&(0..1)), false, (&floor, &scale), n as f64).unwrap();
            let u = factors.coordinates(&mixture).unwrap();
            let here = factors.mixture(&u, &mixture);
            let near = here.covariances().iter().zip(mixture.covariances());
            assert!(near.clone().all(|(a, b)| (a - b).abs() < 1e-5));
            let observed = Observed::new(&data, None, None);
            let components = observed.components(&here).unwrap();
            let source = observed.source(None, &Control::new()).unwrap();
            let sums = observed.sums(&source, &components, &Control::new()).unwrap().sums;
            let gradient = factors.gradient(&u, &here, &components, &sums).unwrap();
            let h = 1e-5;
            for p in 0..u.len() {
                let at = |step: f64| {
                    let mut moved = u.clone();
                    moved[p] += step;
                    likelihood(&data, &factors.mixture(&moved, &mixture))
                };
                let slope = (at(h) - at(-h)) / (2.0 * h);
                assert!((gradient[p] - slope).abs() < 1e-7 * (1.0 + slope.abs()), "{p}: {} {slope}", gradient[p]);
            }
        }
        assert!(Factors::new(std::slice::from_ref(&(0..2)), false, (&floor, &scale), 1.0).is_none());
    }
}
