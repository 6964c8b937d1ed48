//! A matrix per row. Only the lower triangle is ever read: a pass streams half of a square
//! layout's bytes in use and, in the packed layout, half of its memory.

use super::{BlockVerbs, Direction, packed_len};
use crate::data::Rows;
use crate::simd;

pub use uncertain_simd::Layout;

/// A full symmetric matrix per row.
#[derive(Debug, Clone, PartialEq)]
pub struct Full {
    /// n x [`Layout::width`].
    pub values: Rows,
    /// How a row is laid out.
    pub layout: Layout,
}

impl BlockVerbs for Full {
    fn memo_width(&self, d: usize) -> usize {
        d
    }

    fn quads(&self, first: usize, along: &Direction, memo: &mut [f64], out: &mut [f64]) {
        simd::symmetric_images(&self.values, self.layout, first, &along.w, memo);
        let d = along.w.len();
        for (v, image) in out.iter_mut().zip(memo.chunks_exact(d)) {
            // Rounding may leave -1e-17 for a singular S.
            *v = simd::dot(image, &along.w).max(0.0);
        }
    }

    fn add_images(&self, _: usize, picks: &[u32], coef: &[f64], along: &Direction, memo: &[f64], sum: &mut [f64]) {
        simd::add_slices(memo, along.w.len(), picks, coef, simd::Power::One, sum);
    }

    fn images(&self, _: usize, n: usize, along: &Direction, memo: &[f64], out: &mut [f64]) {
        let len = n * along.w.len();
        out[..len].copy_from_slice(&memo[..len]);
    }

    fn add_to(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]) {
        match self.layout {
            Layout::Packed => simd::add_rows(&self.values, first, picks, coef, simd::Power::One, sum),
            Layout::Square => {
                for &k in picks {
                    let (c, s) = (coef[k as usize], self.values.row(first + k as usize));
                    for i in 0..d {
                        let target = &mut sum[packed_len(i)..packed_len(i) + i + 1];
                        target.iter_mut().zip(&s[i * d..]).for_each(|(t, s)| *t += c * s);
                    }
                }
            }
        }
    }

    fn trace(&self, row: usize, d: usize) -> f64 {
        let s = self.values.row(row);
        (0..d).map(|i| s[self.layout.row_start(i, d) + i]).sum()
    }
}
