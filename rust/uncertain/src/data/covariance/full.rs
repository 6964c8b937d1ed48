//! A matrix per row. Only the lower triangle is ever read: a pass streams half of a square
//! layout's bytes in use and, in the packed layout, half of its memory.

use super::matrices::check_full;
use super::storage::{Field, FieldShape, Fields, Storage};
use super::triangle::{packed_len, select_triangle};
use super::{BlockVerbs, Covariances, Direction, Structure};
use crate::data::Rows;
use crate::data::validate::{Names, Rule};
use crate::error::Result;
use crate::simd::{self, Element, of_type};

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
    fn structure(&self) -> Structure<'_> {
        Structure::Dense
    }

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
                    let c = coef[k as usize];
                    of_type!(self.values.stored_row(first + k as usize).stored(), s => for i in 0..d {
                        let target = &mut sum[packed_len(i)..packed_len(i) + i + 1];
                        target.iter_mut().zip(&s[i * d..]).for_each(|(t, s)| *t += c * s.wide());
                    });
                }
            }
        }
    }

    fn trace(&self, row: usize, d: usize) -> f64 {
        (0..d).map(|i| self.values.at(row, self.layout.row_start(i, d) + i)).sum()
    }

    fn variances(&self, row: usize, out: &mut [f64]) {
        let d = out.len();
        (0..d).for_each(|i| out[i] = self.values.at(row, self.layout.row_start(i, d) + i));
    }

    fn triangle(&self, row: usize, d: usize, out: &mut [f64]) {
        let s = self.values.row(row);
        for i in 0..d {
            out[packed_len(i)..packed_len(i + 1)].copy_from_slice(&s[self.layout.row_start(i, d)..][..=i]);
        }
    }
}

impl Storage for Full {
    fn fields(&self) -> Vec<Field> {
        let shape = match self.layout {
            Layout::Square => FieldShape::Square,
            Layout::Packed => FieldShape::Packed,
        };
        vec![Field::new("cov", &self.values, shape, Rule::Finite)]
    }

    fn from_fields(fields: &mut Fields<'_>, d: usize) -> Option<Self> {
        let values = fields("cov")?;
        let layout = if values.width() == d * d { Layout::Square } else { Layout::Packed };
        Some(Self { values, layout })
    }

    fn map_rows(&self, change: &dyn Fn(&Rows) -> Rows) -> Self {
        Self { values: change(&self.values), layout: self.layout }
    }

    fn scaled(&self, factor: &[f64]) -> Result<Covariances> {
        let (d, layout) = (factor.len(), self.layout);
        let values = self.values.mapped(packed_len(d), |s, out| {
            for i in 0..d {
                let line = &s[layout.row_start(i, d)..][..=i];
                let out = &mut out[packed_len(i)..packed_len(i + 1)];
                (0..=i).for_each(|j| out[j] = factor[i] * line[j] * factor[j]);
            }
        })?;
        Ok(Self { values, layout: Layout::Packed }.into())
    }

    fn columns(&self, columns: &[usize], d: usize) -> Self {
        let places = select_triangle(columns, |i, j| self.layout.row_start(i.max(j), d) + i.min(j));
        Self { values: self.values.columns(&places, 1), layout: Layout::Packed }
    }

    fn checked(self, d: usize, names: &Names) -> Result<(Self, Vec<String>)> {
        let (values, warnings) = check_full(self.values, self.layout, d, &names.covariances)?;
        Ok((Self { values, layout: self.layout }, warnings))
    }

    /// Squares stay in place.
    fn joined(&self, others: &[&Covariances]) -> Option<Result<Covariances>> {
        let mut pieces = vec![self.values.clone()];
        for other in others {
            match other {
                Covariances::Full(k) if k.layout == self.layout => pieces.push(k.values.clone()),
                _ => return None,
            }
        }
        let joined = Rows::concat(pieces, self.values.width());
        Some(joined.map(|values| Self { values, layout: self.layout }.into()))
    }
}
