//! Rows with different covariances: M = T + S of every row inverted, eight rows at a time.

use super::form::{Component, Form, Noise, Posterior, Shape, add_last, triangle};
use super::invert::{Invert, memory_len};
use super::log::log_product;
use crate::lanes::{LANES, Lanes, Pack, each, fma};
use crate::vector::dispatch_wide;

pub(super) struct Dense {
    shape: Shape,
    memory: Vec<Pack>,
    pivots: Vec<Pack>,
}

impl Dense {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, memory: vec![Pack::ZERO; memory_len(shape.d)], pivots: vec![Pack::ZERO; shape.d] }
    }
}

impl Form for Dense {
    /// M^{-1}, then a and -r'a.
    fn state_len(&self) -> usize {
        self.shape.sums_len()
    }

    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, component: &Component, row: &[Pack], z: &mut [Pack]) -> Lanes {
        let d = self.shape.d;
        let (memory, pivots) = (self.memory.as_mut_slice(), self.pivots.as_mut_slice());
        dispatch_wide(Invert { shape: self.shape, component, row, memory, pivots, state: z });
        let (log_det, minus_quad) = (log_product::<FMA>(&self.pivots), z[triangle(d) + d].0);
        let log = each(|l| component.offset + 0.5 * (minus_quad[l] - log_det[l]));
        if !self.shape.masked {
            return log;
        }
        // The inverse of the 1 that stood for a missing feature is not part of M^{-1}; nor is its constant.
        let mask = &row[row.len() - d..];
        let mut missing = [0.0; 8];
        for i in 0..d {
            let at = triangle(i) + i;
            z[at].0 = each(|l| z[at].0[l] * mask[i].0[l]);
            missing = each(|l| missing[l] + (1.0 - mask[i].0[l]));
        }
        each(|l| fma::<FMA>(missing[l], HALF_LOG_TAU, log[l]))
    }

    #[inline(always)]
    fn add<const FMA: bool>(&self, q: &Lanes, z: &[Pack], sums: &mut [Pack]) {
        let d = self.shape.d;
        let a = &z[triangle(d)..][..d];
        for i in 0..d {
            let c = each(|l| q[l] * a[i].0[l]);
            let lines = triangle(i)..triangle(i + 1);
            for ((sum, z), a) in sums[lines.clone()].iter_mut().zip(&z[lines]).zip(a) {
                let x = each(|l| fma::<FMA>(-q[l], z.0[l], sum.0[l]));
                sum.0 = each(|l| fma::<FMA>(c[l], a.0[l], x[l]));
            }
        }
        add_last::<FMA>(q, a.iter(), &mut sums[triangle(d)..]);
    }
}

/// log(2 pi) / 2
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

impl Posterior for Dense {
    #[inline(always)]
    fn mean<const FMA: bool>(&self, component: &Component, state: &[Pack], out: &mut [Pack]) {
        let d = out.len();
        let a = &state[triangle(d)..][..d];
        for i in 0..d {
            let mut sum = [component.mean[i]; LANES];
            for j in 0..d {
                let t = component.scatter.matrix[at(i, j)];
                sum = each(|l| fma::<FMA>(t, a[j].0[l], sum[l]));
            }
            out[i].0 = sum;
        }
    }

    #[inline(always)]
    fn covariance<const FMA: bool>(
        &self,
        component: &Component,
        row: &[Pack],
        state: &[Pack],
        matrices: &mut [Pack],
        out: &mut [Pack],
    ) {
        let shape = self.shape;
        let d = shape.d;
        let (v, rest) = matrices.split_at_mut(d * d);
        let (u, rest) = rest.split_at_mut(d * d);
        let (tu, rest) = rest.split_at_mut(d * d);
        let sv = &mut rest[..d * d];
        let own = &row[d + 1..];
        for i in 0..d {
            for j in 0..d {
                let (mut vij, mut uij) = ([0.0; LANES], [0.0; LANES]);
                for c in 0..d {
                    let (inverse, t) = (&state[at(i, c)].0, component.scatter.matrix[at(c, j)]);
                    vij = each(|l| fma::<FMA>(inverse[l], t, vij[l]));
                    if shape.noise == Noise::Full {
                        let s = &own[at(c, j)].0;
                        uij = each(|l| fma::<FMA>(inverse[l], s[l], uij[l]));
                    }
                }
                if shape.noise == Noise::Diagonal {
                    let inverse = &state[at(i, j)].0;
                    uij = each(|l| inverse[l] * own[j].0[l]);
                }
                if shape.masked {
                    let mask = &row[row.len() - d..];
                    let unit = f64::from(u8::from(i == j));
                    uij = each(|l| match (mask[i].0[l] > 0.0, mask[j].0[l] > 0.0) {
                        (true, true) => uij[l],
                        (true, false) => -vij[l],
                        _ => unit,
                    });
                }
                v[i * d + j].0 = vij;
                u[i * d + j].0 = uij;
            }
        }
        for i in 0..d {
            for j in 0..d {
                let (mut t_u, mut s_v) = ([0.0; LANES], [0.0; LANES]);
                for c in 0..d {
                    let t = component.scatter.matrix[at(i, c)];
                    t_u = each(|l| fma::<FMA>(t, u[c * d + j].0[l], t_u[l]));
                    if shape.noise == Noise::Full {
                        let s = &own[at(i, c)].0;
                        s_v = each(|l| fma::<FMA>(s[l], v[c * d + j].0[l], s_v[l]));
                    }
                }
                if shape.noise == Noise::Diagonal {
                    s_v = each(|l| own[i].0[l] * v[i * d + j].0[l]);
                }
                tu[i * d + j].0 = t_u;
                sv[i * d + j].0 = s_v;
            }
        }
        for i in 0..d {
            for j in 0..=i {
                let mut sum = [0.0; LANES];
                for c in 0..d {
                    sum = each(|l| fma::<FMA>(u[c * d + i].0[l], tu[c * d + j].0[l], sum[l]));
                    sum = each(|l| fma::<FMA>(v[c * d + i].0[l], sv[c * d + j].0[l], sum[l]));
                }
                out[triangle(i) + j].0 = sum;
            }
        }
    }
}

/// Where element (i, j) of a symmetric matrix is in its packed lower triangle.
#[inline(always)]
fn at(i: usize, j: usize) -> usize {
    if i >= j { triangle(i) + j } else { triangle(j) + i }
}
