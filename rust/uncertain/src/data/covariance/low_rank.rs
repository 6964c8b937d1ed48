//! A factor per row, S_i = F_i F_i' + diag(v_i): the few directions in which a row is uncertain.

use super::{BlockVerbs, Diagonal, Direction, Unit, packed_index};
use crate::data::Rows;

/// S_i = F_i F_i' (+ diag(v_i)), F_i of d x rank, stored row-major.
#[derive(Debug, Clone)]
pub struct LowRank {
    /// n x (d rank): element (j, k) of F_i at j rank + k.
    pub factor: Rows,
    /// Columns of F_i.
    pub rank: usize,
    /// n x d variances beside the factor.
    pub diagonal: Option<Rows>,
}

impl LowRank {
    fn diagonal_kind(&self) -> Option<Diagonal> {
        self.diagonal.clone().map(|values| Diagonal { values, unit: Unit::Variance })
    }
}

impl BlockVerbs for LowRank {
    fn memo_width(&self, _: usize) -> usize {
        self.rank
    }

    fn quads(&self, first: usize, along: &Direction, memo: &mut [f64], out: &mut [f64]) {
        let r = self.rank;
        match self.diagonal_kind() {
            Some(diagonal) => diagonal.quads(first, along, &mut [], out),
            None => out.fill(0.0),
        }
        for k in 0..out.len() {
            // p = F'w
            let p = &mut memo[k * r..(k + 1) * r];
            p.fill(0.0);
            for (f, w) in self.factor.row(first + k).chunks_exact(r).zip(&along.w) {
                p.iter_mut().zip(f).for_each(|(p, f)| *p += f * w);
            }
            out[k] += p.iter().map(|p| p * p).sum::<f64>();
        }
    }

    fn add_images(&self, first: usize, picks: &[u32], coef: &[f64], along: &Direction, memo: &[f64], sum: &mut [f64]) {
        let r = self.rank;
        for &k in picks {
            let k = k as usize;
            let p = &memo[k * r..(k + 1) * r];
            for (f, s) in self.factor.row(first + k).chunks_exact(r).zip(sum.iter_mut()) {
                *s += coef[k] * f.iter().zip(p).map(|(f, p)| f * p).sum::<f64>();
            }
        }
        if let Some(diagonal) = self.diagonal_kind() {
            diagonal.add_images(first, picks, coef, along, &[], sum);
        }
    }

    fn images(&self, first: usize, n: usize, along: &Direction, memo: &[f64], out: &mut [f64]) {
        let (d, r) = (along.w.len(), self.rank);
        match self.diagonal_kind() {
            Some(diagonal) => diagonal.images(first, n, along, &[], out),
            None => out[..n * d].fill(0.0),
        }
        for (k, image) in out.chunks_exact_mut(d).take(n).enumerate() {
            let p = &memo[k * r..(k + 1) * r];
            for (f, o) in self.factor.row(first + k).chunks_exact(r).zip(image) {
                *o += f.iter().zip(p).map(|(f, p)| f * p).sum::<f64>();
            }
        }
    }

    fn add_to(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]) {
        let r = self.rank;
        for &k in picks {
            let c = coef[k as usize];
            let f = self.factor.row(first + k as usize);
            for i in 0..d {
                let fi = &f[i * r..(i + 1) * r];
                for j in 0..=i {
                    let dot: f64 = fi.iter().zip(&f[j * r..(j + 1) * r]).map(|(a, b)| a * b).sum();
                    sum[packed_index(i, j)] += c * dot;
                }
            }
        }
        if let Some(diagonal) = self.diagonal_kind() {
            diagonal.add_to(first, picks, coef, d, sum);
        }
    }

    fn trace(&self, row: usize, d: usize) -> f64 {
        let factor: f64 = self.factor.row(row).iter().map(|f| f * f).sum();
        debug_assert_eq!(self.factor.width(), d * self.rank);
        factor + self.diagonal.as_ref().map_or(0.0, |v| v.row(row).iter().sum())
    }
}
