//! Rows whose covariances differ by a factor only, S_i = s_i S: one basis makes every M diagonal.
//!
//! With P'T P = I and P'S P = diag(g): M^{-1} = P diag(e) P', e_j = 1 / (1 + s g_j), and |M| = |T| prod (1 + s g_j).
//! All sums are kept in that basis: y = P'r, a = e y, and M^{-1} has become the diagonal e.

use super::form::{Component, Form, Posterior, Shape, add_last, triangle};
use super::log::log_product;
use crate::lanes::{LANES, Lanes, Pack, each, fma};

pub(super) struct Rotated {
    d: usize,
    /// r
    residual: Vec<Pack>,
    pivots: Vec<Pack>,
}

impl Rotated {
    pub(super) fn new(shape: Shape) -> Self {
        Self { d: shape.d, residual: vec![Pack::ZERO; shape.d], pivots: vec![Pack::ZERO; shape.d] }
    }
}

impl Form for Rotated {
    /// a, then e.
    fn state_len(&self) -> usize {
        2 * self.d
    }

    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, component: &Component, row: &[Pack], state: &mut [Pack]) -> Lanes {
        let d = self.d;
        let scale = row[d + 1].0;
        for i in 0..d {
            self.residual[i].0 = each(|l| row[i].0[l] - component.mean[i]);
        }
        let residual = &self.residual[..d];
        let (a, e) = state.split_at_mut(d);
        let mut quad = [0.0; 8];
        for (j, direction) in component.matrix.chunks_exact(d).enumerate() {
            let mut y = [0.0; 8];
            for (p, r) in direction.iter().zip(residual) {
                y = each(|l| fma::<FMA>(*p, r.0[l], y[l]));
            }
            let pivot = each(|l| fma::<FMA>(scale[l], component.gains[j], 1.0));
            self.pivots[j].0 = pivot;
            let inverse = each(|l| 1.0 / pivot[l]);
            e[j].0 = inverse;
            a[j].0 = each(|l| inverse[l] * y[l]);
            quad = each(|l| fma::<FMA>(a[j].0[l], y[l], quad[l]));
        }
        let log_det = log_product::<FMA>(&self.pivots);
        each(|l| component.offset - 0.5 * (quad[l] + log_det[l]))
    }

    #[inline(always)]
    fn add<const FMA: bool>(&self, q: &Lanes, state: &[Pack], sums: &mut [Pack]) {
        let d = self.d;
        let (a, e) = state.split_at(d);
        for i in 0..d {
            let c = each(|l| q[l] * a[i].0[l]);
            let line = &mut sums[triangle(i)..triangle(i + 1)];
            for (sum, a) in line.iter_mut().zip(a) {
                sum.0 = each(|l| fma::<FMA>(c[l], a.0[l], sum.0[l]));
            }
            line[i].0 = each(|l| fma::<FMA>(-q[l], e[i].0[l], line[i].0[l]));
        }
        add_last::<FMA>(q, a.iter(), &mut sums[triangle(d)..]);
    }
}

impl Posterior for Rotated {
    #[inline(always)]
    fn mean<const FMA: bool>(&self, component: &Component, state: &[Pack], out: &mut [Pack]) {
        let d = out.len();
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = [component.mean[i]; LANES];
            for (q, a) in component.back[i * d..(i + 1) * d].iter().zip(state) {
                sum = each(|l| fma::<FMA>(*q, a.0[l], sum[l]));
            }
            out.0 = sum;
        }
    }

    /// Q diag(1 - e) Q', where 1 - e = s g e.
    #[inline(always)]
    fn covariance<const FMA: bool>(
        &self,
        component: &Component,
        row: &[Pack],
        state: &[Pack],
        matrices: &mut [Pack],
        out: &mut [Pack],
    ) {
        let d = component.gains.len();
        let (scale, e, left) = (row[d + 1].0, &state[d..], &mut matrices[..d]);
        for j in 0..d {
            left[j].0 = each(|l| scale[l] * component.gains[j] * e[j].0[l]);
        }
        let q = |i: usize, j: usize| component.back[i * d + j];
        for i in 0..d {
            for j in 0..=i {
                let mut sum = [0.0; LANES];
                for (c, left) in left.iter().enumerate() {
                    let product = q(i, c) * q(j, c);
                    sum = each(|l| fma::<FMA>(product, left.0[l], sum[l]));
                }
                out[triangle(i) + j].0 = sum;
            }
        }
    }
}
