//! One number per row: S_i = s_i^2 I.

use super::{BlockVerbs, Direction, Unit, packed_index};
use crate::data::Rows;

/// S_i = s_i^2 I, given as s_i^2 or s_i.
#[derive(Debug, Clone, PartialEq)]
pub struct Isotropic {
    /// n x 1.
    pub values: Rows,
    /// What the values are.
    pub unit: Unit,
}

impl Isotropic {
    /// The variance of one row.
    #[must_use]
    pub fn variance(&self, row: usize) -> f64 {
        let value = self.values.row(row)[0];
        match self.unit {
            Unit::Variance => value,
            Unit::StandardDeviation => value * value,
        }
    }

    fn sum(&self, first: usize, picks: &[u32], coef: &[f64]) -> f64 {
        picks.iter().map(|&k| coef[k as usize] * self.variance(first + k as usize)).sum()
    }
}

impl BlockVerbs for Isotropic {
    fn memo_width(&self, _: usize) -> usize {
        0
    }

    fn quads(&self, first: usize, along: &Direction, _: &mut [f64], out: &mut [f64]) {
        for (start, values) in self.values.segments(first..first + out.len()) {
            let out = &mut out[start - first..][..values.len()];
            match self.unit {
                Unit::Variance => out.iter_mut().zip(values).for_each(|(v, x)| *v = x * along.norm2),
                Unit::StandardDeviation => out.iter_mut().zip(values).for_each(|(v, x)| *v = x * x * along.norm2),
            }
        }
    }

    fn add_images(&self, first: usize, picks: &[u32], coef: &[f64], along: &Direction, _: &[f64], sum: &mut [f64]) {
        let c = self.sum(first, picks, coef);
        sum.iter_mut().zip(&along.w).for_each(|(s, w)| *s += c * w);
    }

    fn images(&self, first: usize, n: usize, along: &Direction, _: &[f64], out: &mut [f64]) {
        let d = along.w.len();
        for (k, image) in out.chunks_exact_mut(d).take(n).enumerate() {
            let variance = self.variance(first + k);
            image.iter_mut().zip(&along.w).for_each(|(o, w)| *o = variance * w);
        }
    }

    fn add_to(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]) {
        let c = self.sum(first, picks, coef);
        (0..d).for_each(|j| sum[packed_index(j, j)] += c);
    }

    fn trace(&self, row: usize, d: usize) -> f64 {
        d as f64 * self.variance(row)
    }
}
