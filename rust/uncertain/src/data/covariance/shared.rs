//! One matrix for all rows: a known instrument error. Everything about it is computed once a pass.

use std::sync::Arc;

use super::{BlockVerbs, Direction, packed_index};

/// S_i = S.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// The lower triangle of S, packed.
    pub packed: Arc<[f64]>,
}

impl Shared {
    /// (S w, w'S w)
    pub(super) fn image(&self, w: &[f64]) -> (Vec<f64>, f64) {
        let d = w.len();
        let image: Vec<f64> = (0..d).map(|i| (0..d).map(|j| self.packed[packed_index(i, j)] * w[j]).sum()).collect();
        let quad = image.iter().zip(w).map(|(a, b)| a * b).sum::<f64>();
        (image, quad.max(0.0))
    }
}

fn prepared(along: &Direction) -> (&[f64], f64) {
    along.shared.as_ref().map_or((&[], 0.0), |(image, quad)| (image, *quad))
}

impl BlockVerbs for Shared {
    fn memo_width(&self, _: usize) -> usize {
        0
    }

    fn quads(&self, _: usize, along: &Direction, _: &mut [f64], out: &mut [f64]) {
        out.fill(prepared(along).1);
    }

    fn add_images(&self, _: usize, picks: &[u32], coef: &[f64], along: &Direction, _: &[f64], sum: &mut [f64]) {
        let c: f64 = picks.iter().map(|&k| coef[k as usize]).sum();
        sum.iter_mut().zip(prepared(along).0).for_each(|(s, image)| *s += c * image);
    }

    fn images(&self, _: usize, n: usize, along: &Direction, _: &[f64], out: &mut [f64]) {
        for image in out.chunks_exact_mut(along.w.len()).take(n) {
            image.copy_from_slice(prepared(along).0);
        }
    }

    fn add_to(&self, _: usize, picks: &[u32], coef: &[f64], _: usize, sum: &mut [f64]) {
        let c: f64 = picks.iter().map(|&k| coef[k as usize]).sum();
        sum.iter_mut().zip(self.packed.iter()).for_each(|(m, s)| *m += c * s);
    }

    fn trace(&self, _: usize, d: usize) -> f64 {
        (0..d).map(|i| self.packed[packed_index(i, i)]).sum()
    }
}
