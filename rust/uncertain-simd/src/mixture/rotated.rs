//! Rows whose covariances differ by a factor only, S_i = s_i S: one basis makes every M diagonal.
//!
//! With P'T P = I and P'S P = diag(g): M^{-1} = P diag(e) P', e_j = 1 / (1 + s g_j), and |M| = |T| prod (1 + s g_j).
//! All sums are kept in that basis: y = P'r, a = e y, and M^{-1} has become the diagonal e.
//!
//! Components with one T share the basis: a row is turned once, around a point that they have in common, and a further
//! component costs d numbers in place of d^2.

use super::form::{Component, Form, Posterior, Scatter, Shape, add_last, triangle};
use super::log::log_product;
use crate::lanes::{LANES, Lanes, Pack, each, fma};

pub(super) struct Rotated {
    d: usize,
    /// x - origin
    residual: Vec<Pack>,
    /// The row and the scatter of what follows.
    seen: (*const Pack, *const Scatter),
    /// P'(x - origin)
    turned: Vec<Pack>,
    pivots: Vec<Pack>,
    /// e
    inverses: Vec<Pack>,
    log_det: Lanes,
}

impl Rotated {
    pub(super) fn new(shape: Shape) -> Self {
        let numbers = || vec![Pack::ZERO; shape.d];
        let seen = (std::ptr::null(), std::ptr::null());
        let (turned, pivots, inverses, residual) = (numbers(), numbers(), numbers(), numbers());
        Self { d: shape.d, residual, seen, turned, pivots, inverses, log_det: [0.0; LANES] }
    }

    /// The row in the basis of these components, once for all of them.
    #[inline(always)]
    fn turn<const FMA: bool>(&mut self, scatter: &Scatter, row: &[Pack]) {
        let d = self.d;
        let scale = row[d + 1].0;
        for i in 0..d {
            self.residual[i].0 = each(|l| row[i].0[l] - scatter.origin[i]);
        }
        let residual = &self.residual[..d];
        for (j, direction) in scatter.matrix.chunks_exact(d).enumerate() {
            let mut y = [0.0; LANES];
            for (p, r) in direction.iter().zip(residual) {
                y = each(|l| fma::<FMA>(*p, r.0[l], y[l]));
            }
            let pivot = each(|l| fma::<FMA>(scale[l], scatter.gains[j], 1.0));
            self.turned[j].0 = y;
            self.pivots[j].0 = pivot;
            self.inverses[j].0 = each(|l| 1.0 / pivot[l]);
        }
        self.log_det = log_product::<FMA>(&self.pivots);
        self.seen = (row.as_ptr(), scatter);
    }
}

impl Form for Rotated {
    /// a, then e.
    fn state_len(&self) -> usize {
        2 * self.d
    }

    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, component: &Component, row: &[Pack], state: &mut [Pack]) -> Lanes {
        let scatter: &Scatter = &component.scatter;
        if self.seen != (row.as_ptr(), std::ptr::from_ref(scatter)) {
            self.turn::<FMA>(scatter, row);
        }
        let d = self.d;
        let (a, e) = state.split_at_mut(d);
        e.copy_from_slice(&self.inverses);
        let mut quad = [0.0; LANES];
        for j in 0..d {
            let y = each(|l| self.turned[j].0[l] - component.centre[j]);
            a[j].0 = each(|l| e[j].0[l] * y[l]);
            quad = each(|l| fma::<FMA>(a[j].0[l], y[l], quad[l]));
        }
        each(|l| component.offset - 0.5 * (quad[l] + self.log_det[l]))
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
            for (q, a) in component.scatter.back[i * d..(i + 1) * d].iter().zip(state) {
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
        let d = component.scatter.gains.len();
        let (scale, e, left) = (row[d + 1].0, &state[d..], &mut matrices[..d]);
        for j in 0..d {
            left[j].0 = each(|l| scale[l] * component.scatter.gains[j] * e[j].0[l]);
        }
        let q = |i: usize, j: usize| component.scatter.back[i * d + j];
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
