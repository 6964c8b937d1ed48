//! A factor per row, S_i = F_i F_i' + diag(v_i): the few directions in which a row is uncertain.

use super::storage::{Field, FieldShape, Fields, Storage};
use super::{BlockVerbs, Covariances, Diagonal, Direction, Factor, Structure, Unit, packed_index};
use crate::data::Rows;
use crate::data::validate::Rule;
use crate::error::Result;
use crate::{linalg, simd};

/// S_i = F_i F_i' (+ diag(v_i)), F_i of d x rank, stored row-major.
#[derive(Debug, Clone, PartialEq)]
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

/// Features from which the picked rows' matrices are summed by one matrix product instead of element by element.
const BLOCKED: usize = 128;

impl LowRank {
    /// The factors' part of `add_to`: P'Q with the columns of all picked factors as rows of P and, times their
    /// coefficients, of Q.
    fn add_blocked(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]) {
        let r = self.rank;
        let mut p = vec![0.0; picks.len() * r * d];
        let mut q = vec![0.0; picks.len() * r * d];
        for ((p, q), &k) in p.chunks_exact_mut(r * d).zip(q.chunks_exact_mut(r * d)).zip(picks) {
            let c = coef[k as usize];
            for (j, f) in self.factor.row(first + k as usize).chunks_exact(r).enumerate() {
                for (column, f) in f.iter().enumerate() {
                    p[column * d + j] = *f;
                    q[column * d + j] = c * f;
                }
            }
        }
        let mut square = vec![0.0; d * d];
        linalg::gemm_tn_lower(&p, &q, picks.len() * r, d, &mut square);
        for (i, line) in square.chunks_exact(d).enumerate() {
            sum[packed_index(i, 0)..].iter_mut().zip(&line[..=i]).for_each(|(s, x)| *s += x);
        }
    }
}

impl BlockVerbs for LowRank {
    fn structure(&self) -> Structure<'_> {
        Structure::Factor(Factor { factor: &self.factor, rank: self.rank, diagonal: self.diagonal.as_ref() })
    }

    fn memo_width(&self, _: usize) -> usize {
        self.rank
    }

    fn quads(&self, first: usize, along: &Direction, memo: &mut [f64], out: &mut [f64]) {
        let r = self.rank;
        match self.diagonal_kind() {
            Some(diagonal) => diagonal.quads(first, along, &mut [], out),
            None => out.fill(0.0),
        }
        let memo = &mut memo[..out.len() * r];
        simd::factor_products(&self.factor, r, first, &along.w, memo);
        for (v, p) in out.iter_mut().zip(memo.chunks_exact(r)) {
            *v += p.iter().map(|p| p * p).sum::<f64>();
        }
    }

    fn add_images(&self, first: usize, picks: &[u32], coef: &[f64], along: &Direction, memo: &[f64], sum: &mut [f64]) {
        simd::add_factor_images(&self.factor, self.rank, first, picks, coef, memo, sum);
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
            simd::add_factor_images(&self.factor, r, first + k, &[0], &[1.0], p, image);
        }
    }

    fn add_to(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]) {
        let r = self.rank;
        if d >= BLOCKED {
            self.add_blocked(first, picks, coef, d, sum);
        }
        for &k in if d < BLOCKED { picks } else { &[] } {
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

    fn variances(&self, row: usize, out: &mut [f64]) {
        match &self.diagonal {
            Some(diagonal) => out.copy_from_slice(&diagonal.row(row)),
            None => out.fill(0.0),
        }
        for (o, f) in out.iter_mut().zip(self.factor.row(row).chunks_exact(self.rank)) {
            *o += f.iter().map(|f| f * f).sum::<f64>();
        }
    }
}

impl Storage for LowRank {
    fn fields(&self) -> Vec<Field> {
        let factor = Field::new("factor", &self.factor, FieldShape::Factor(self.rank), Rule::Factor);
        let diagonal = self.diagonal.iter().map(|v| Field::new("var", v, FieldShape::PerFeature, Rule::Variance));
        [factor].into_iter().chain(diagonal).collect()
    }

    fn from_fields(fields: &mut Fields<'_>, d: usize) -> Option<Self> {
        let factor = fields("factor")?;
        Some(Self { rank: factor.width() / d, factor, diagonal: fields("var") })
    }

    fn map_rows(&self, change: &dyn Fn(&Rows) -> Rows) -> Self {
        Self { factor: change(&self.factor), rank: self.rank, diagonal: self.diagonal.as_ref().map(change) }
    }

    /// Keeps its rank.
    fn scaled(&self, factor: &[f64]) -> Result<Covariances> {
        let of_elements: Vec<f64> = factor.iter().flat_map(|f| vec![*f; self.rank]).collect();
        let squares = Unit::Variance.scales(factor);
        let diagonal = self.diagonal.as_ref().map(|values| values.times(&squares)).transpose()?;
        Ok(Self { factor: self.factor.times(&of_elements)?, rank: self.rank, diagonal }.into())
    }

    fn columns(&self, columns: &[usize], _: usize) -> Self {
        Self {
            factor: self.factor.columns(columns, self.rank),
            rank: self.rank,
            diagonal: self.diagonal.as_ref().map(|values| values.columns(columns, 1)),
        }
    }

    fn scalars(&self) -> Option<(&Rows, Unit)> {
        self.diagonal.as_ref().map(|values| (values, Unit::Variance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::covariance::packed_len;
    use crate::testing::Numbers;

    #[test]
    fn sums_of_many_features_are_those_of_few() {
        let mut numbers = Numbers::new(2);
        for d in [BLOCKED - 1, BLOCKED, 2 * BLOCKED + 1] {
            let (n, rank) = (7, 3);
            let values: Vec<f64> = (0..n * d * rank).map(|_| numbers.normal()).collect();
            let factor = Rows::from_vec(values.clone(), d * rank).unwrap();
            let kind = LowRank { factor, rank, diagonal: None };
            let (picks, coef) = ([0, 2, 3], [2.0, f64::NAN, -0.5, 1.5]);
            let mut sum = vec![1.0; packed_len(d)];
            kind.add_to(2, &picks, &coef, d, &mut sum);
            for i in 0..d {
                for j in 0..=i {
                    let f = |row: usize, i: usize, k: usize| values[((2 + row) * d + i) * rank + k];
                    let of_row = |row: usize| (0..rank).map(|k| f(row, i, k) * f(row, j, k)).sum::<f64>();
                    let exact: f64 = 1.0 + picks.iter().map(|&k| coef[k as usize] * of_row(k as usize)).sum::<f64>();
                    assert!((sum[packed_index(i, j)] - exact).abs() < 1e-12, "{d}: ({i}, {j})");
                }
            }
        }
    }
}
