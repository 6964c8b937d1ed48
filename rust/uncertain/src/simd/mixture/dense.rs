//! Rows with covariances of their own: M = T + S inverted by sweeps, eight at a time.
//!
//! Idea: sweeping the matrix [[M, r], [r', 0]] on its first d pivots leaves [[-M^{-1}, a], [a', -r'a]] in
//! the same triangle: inverse, solution and quadratic form come out of one loop of rank-1 updates, which
//! takes as many multiply-adds as factor, inverse of the factor and their product would, without their
//! three different loops. The pivots are those of the Cholesky factorisation, so their product is |M|.
//! M is symmetric and positive definite, so no pivoting is needed.
//!
//! Two pivots are swept at once, so that an element is loaded and stored once for two multiply-adds.

use std::sync::atomic::{Ordering, compiler_fence};

use super::{Component, Form, Noise, Shape, log_product, triangle};
use crate::simd::lanes::{Lanes, Pack, each, fma};

pub(super) struct Dense {
    shape: Shape,
    /// Two columns and the same divided by their pivots, d + 1 packs each.
    columns: Vec<Pack>,
    pivots: Vec<Pack>,
}

impl Dense {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, columns: vec![Pack::ZERO; 4 * (shape.d + 1)], pivots: vec![Pack::ZERO; shape.d] }
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// [[M, r], [r', 0]], with the rows and columns of missing features replaced by those of I.
    #[inline(always)]
    fn fill(&self, component: &Component, row: &[Pack], z: &mut [Pack]) {
        let Shape { d, noise, masked } = self.shape;
        let (x, own) = (&row[..d], &row[d + 1..]);
        let last = triangle(d);
        if noise == Noise::Full {
            for ((z, t), s) in z[..last].iter_mut().zip(&component.matrix).zip(own) {
                z.0 = each(|l| t + s.0[l]);
                // Costs nothing, and keeps the compiler from vectorising over elements instead of lanes.
                compiler_fence(Ordering::AcqRel);
            }
        } else {
            for (z, t) in z[..last].iter_mut().zip(&component.matrix) {
                z.0 = [*t; 8];
                compiler_fence(Ordering::AcqRel);
            }
            let mut at = 0;
            for (i, s) in own[..d].iter().enumerate() {
                at += i;
                z[at].0 = each(|l| z[at].0[l] + s.0[l]);
                at += 1;
                compiler_fence(Ordering::AcqRel);
            }
        }
        for i in 0..d {
            z[last + i].0 = each(|l| x[i].0[l] - component.mean[i]);
            compiler_fence(Ordering::AcqRel);
        }
        z[last + d] = Pack::ZERO;
        if masked {
            let mask = &row[row.len() - d..];
            for i in 0..d {
                let known = &mask[i].0;
                for j in 0..i {
                    let at = triangle(i) + j;
                    z[at].0 = each(|l| z[at].0[l] * known[l] * mask[j].0[l]);
                }
                let at = triangle(i) + i;
                z[at].0 = each(|l| if known[l] > 0.0 { z[at].0[l] } else { 1.0 });
                z[last + i].0 = each(|l| z[last + i].0[l] * known[l]);
            }
        }
    }

    /// Sweep on pivots k and k + 1, or on k alone if it is the last.
    #[inline(always)]
    fn sweep<const FMA: bool>(&mut self, z: &mut [Pack], k: usize) {
        let d = self.shape.d;
        let n = d + 1;
        let (first, second) = self.columns.split_at_mut(2 * n);
        let ((c1, s1), (c2, s2)) = (first.split_at_mut(n), second.split_at_mut(n));
        take_column(z, k, c1);
        let p1 = c1[k].0;
        self.pivots[k].0 = p1;
        let inverse1 = each(|l| 1.0 / p1[l]);
        (0..n).for_each(|i| s1[i].0 = each(|l| c1[i].0[l] * inverse1[l]));
        if k + 1 == d {
            for i in (0..n).filter(|&i| i != k) {
                let (s, line) = (s1[i].0, &mut z[triangle(i)..triangle(i + 1)]);
                for (z, c) in line.iter_mut().zip(&c1[..=i]) {
                    z.0 = each(|l| fma::<FMA>(-s[l], c.0[l], z.0[l]));
                }
            }
            put_column(z, k, s1);
            z[triangle(k) + k].0 = each(|l| -inverse1[l]);
            return;
        }
        // The second column and pivot as the first sweep would leave them.
        take_column(z, k + 1, c2);
        let over = s1[k + 1].0;
        for i in 0..n {
            c2[i].0 = each(|l| fma::<FMA>(-over[l], c1[i].0[l], c2[i].0[l]));
        }
        c2[k].0 = over;
        let p2 = c2[k + 1].0;
        self.pivots[k + 1].0 = p2;
        let inverse2 = each(|l| 1.0 / p2[l]);
        (0..n).for_each(|i| s2[i].0 = each(|l| c2[i].0[l] * inverse2[l]));
        for i in (0..n).filter(|&i| i != k && i != k + 1) {
            let (a, b) = (s1[i].0, s2[i].0);
            let line = &mut z[triangle(i)..triangle(i + 1)];
            for ((z, c), e) in line.iter_mut().zip(&c1[..=i]).zip(&c2[..=i]) {
                let x = each(|l| fma::<FMA>(-a[l], c.0[l], z.0[l]));
                z.0 = each(|l| fma::<FMA>(-b[l], e.0[l], x[l]));
            }
            s1[i].0 = each(|l| fma::<FMA>(-b[l], over[l], a[l]));
        }
        put_column(z, k, s1);
        put_column(z, k + 1, s2);
        z[triangle(k) + k].0 = each(|l| fma::<FMA>(-s2[k].0[l], over[l], -inverse1[l]));
        z[triangle(k + 1) + k].0 = s2[k].0;
        z[triangle(k + 1) + k + 1].0 = each(|l| -inverse2[l]);
    }
}

/// Column k of a symmetric matrix of which the lower triangle is stored.
#[inline(always)]
fn take_column(z: &[Pack], k: usize, column: &mut [Pack]) {
    let (above, below) = column.split_at_mut(k + 1);
    above.copy_from_slice(&z[triangle(k)..triangle(k + 1)]);
    let mut at = triangle(k + 1) + k;
    for (i, c) in below.iter_mut().enumerate() {
        *c = z[at];
        at += k + 2 + i;
    }
}

#[inline(always)]
fn put_column(z: &mut [Pack], k: usize, column: &[Pack]) {
    z[triangle(k)..triangle(k) + k].copy_from_slice(&column[..k]);
    let mut at = triangle(k + 1) + k;
    for (i, c) in column[k + 1..].iter().enumerate() {
        z[at] = *c;
        at += k + 2 + i;
    }
}

impl Form for Dense {
    fn state_len(&self) -> usize {
        self.shape.sums_len()
    }

    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, component: &Component, row: &[Pack], z: &mut [Pack]) -> Lanes {
        let d = self.shape.d;
        self.fill(component, row, z);
        for k in (0..d).step_by(2) {
            self.sweep::<FMA>(z, k);
        }
        let (log_det, minus_quad) = (log_product(&self.pivots), z[triangle(d) + d].0);
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
    fn add<const FMA: bool>(&self, q: &Lanes, _: &[Pack], z: &[Pack], sums: &mut [Pack]) {
        let d = self.shape.d;
        let a = &z[triangle(d)..][..d];
        for i in 0..d {
            let c = each(|l| q[l] * a[i].0[l]);
            let lines = triangle(i)..triangle(i + 1);
            for ((sum, z), a) in sums[lines.clone()].iter_mut().zip(&z[lines]).zip(a) {
                let x = each(|l| fma::<FMA>(q[l], z.0[l], sum.0[l]));
                sum.0 = each(|l| fma::<FMA>(c[l], a.0[l], x[l]));
            }
        }
        let last = &mut sums[triangle(d)..];
        for i in 0..d {
            last[i].0 = each(|l| fma::<FMA>(q[l], a[i].0[l], last[i].0[l]));
        }
        last[d].0 = each(|l| last[d].0[l] + q[l]);
    }
}

/// log(2 pi) / 2
pub(super) const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;
