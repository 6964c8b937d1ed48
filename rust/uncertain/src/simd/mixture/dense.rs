//! Rows with covariances of their own: M = T + S of every row inverted, eight rows at a time.

use super::invert::{Invert, memory_len};
use super::{Component, Form, Shape, log_product, triangle};
use crate::simd::lanes::{Lanes, Pack, each, fma};

pub(super) struct Dense {
    shape: Shape,
    memory: Vec<Pack>,
    pivots: Vec<Pack>,
}

impl Dense {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, memory: vec![Pack::ZERO; memory_len(shape.d)], pivots: vec![Pack::ZERO; shape.d] }
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
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
        Invert { shape: self.shape, component, row, memory, pivots, state: z }.run();
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
        let last = &mut sums[triangle(d)..];
        for i in 0..d {
            last[i].0 = each(|l| fma::<FMA>(q[l], a[i].0[l], last[i].0[l]));
        }
        last[d].0 = each(|l| last[d].0[l] + q[l]);
    }
}

/// log(2 pi) / 2
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;
