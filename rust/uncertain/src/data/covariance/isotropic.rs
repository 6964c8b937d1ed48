//! One number per row: S_i = s_i^2 I.

use super::storage::{Field, FieldShape, Fields, Storage};
use super::{BlockVerbs, Covariances, Diagonal, Direction, Structure, Unit, packed_index};
use crate::data::Rows;
use crate::error::Result;
use crate::simd::{self, Element, of_type};

/// S_i = s_i^2 I, given as s_i^2 or s_i.
#[derive(Debug, Clone, PartialEq)]
pub struct Isotropic {
    /// n x 1.
    pub values: Rows,
    /// Meaning of the values.
    pub unit: Unit,
}

impl Isotropic {
    /// The variance of one row.
    #[must_use]
    pub fn variance(&self, row: usize) -> f64 {
        self.unit.variance(self.values.at(row, 0))
    }

    fn sum(&self, first: usize, picks: &[u32], coef: &[f64]) -> f64 {
        let mut sum = 0.0;
        simd::picked_segments(&self.values, first, picks, |origin, values, picks| {
            of_type!(values, values => for &k in picks {
                sum += coef[k as usize] * self.unit.variance(values[k as usize - origin].wide());
            });
        });
        sum
    }
}

impl BlockVerbs for Isotropic {
    fn structure(&self) -> Structure<'_> {
        Structure::Isotropic
    }

    fn memo_width(&self, _: usize) -> usize {
        0
    }

    fn quads(&self, first: usize, along: &Direction, _: &mut [f64], out: &mut [f64]) {
        for (start, values) in self.values.stored_segments(first..first + out.len()) {
            let values = values.stored();
            let out = &mut out[start - first..][..values.len()];
            of_type!(values, values => match self.unit {
                Unit::Variance => out.iter_mut().zip(values).for_each(|(v, x)| *v = x.wide() * along.norm2),
                Unit::StandardDeviation => {
                    out.iter_mut().zip(values).for_each(|(v, x)| *v = x.wide() * x.wide() * along.norm2);
                }
            });
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

    fn multiples<'d>(&self, first: usize, along: &'d Direction, out: &mut [f64]) -> Option<&'d [f64]> {
        for (start, values) in self.values.stored_segments(first..first + out.len()) {
            of_type!(values.stored(), values => {
                let out = out[start - first..].iter_mut().zip(values);
                out.for_each(|(o, x)| *o = self.unit.variance(x.wide()));
            });
        }
        Some(&along.w)
    }

    fn add_to(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]) {
        let c = self.sum(first, picks, coef);
        (0..d).for_each(|j| sum[packed_index(j, j)] += c);
    }

    fn trace(&self, row: usize, d: usize) -> f64 {
        d as f64 * self.variance(row)
    }

    fn variances(&self, row: usize, out: &mut [f64]) {
        out.fill(self.variance(row));
    }
}

impl Storage for Isotropic {
    fn fields(&self) -> Vec<Field> {
        vec![Field::new(self.unit.name(), &self.values, FieldShape::One, self.unit.rule())]
    }

    fn from_fields(fields: &mut Fields<'_>, _: usize) -> Option<Self> {
        Unit::named(fields).map(|(values, unit)| Self { values, unit })
    }

    fn map_rows(&self, change: &dyn Fn(&Rows) -> Rows) -> Self {
        Self { values: change(&self.values), unit: self.unit }
    }

    /// Stays isotropic when all factors are equal, but for their signs.
    fn scaled(&self, factor: &[f64]) -> Result<Covariances> {
        let (c, d, unit) = (self.unit.scales(factor), factor.len(), self.unit);
        if factor.iter().all(|f| f.abs() == factor[0].abs()) {
            let values = self.values.mapped(1, |x, out| out[0] = x[0] * c[0])?;
            return Ok(Self { values, unit }.into());
        }
        let values = self.values.mapped(d, |x, out| (0..d).for_each(|j| out[j] = x[0] * c[j]))?;
        Ok(Diagonal { values, unit }.into())
    }

    fn columns(&self, _: &[usize], _: usize) -> Self {
        self.clone()
    }

    fn scalars(&self) -> Option<(&Rows, Unit)> {
        Some((&self.values, self.unit))
    }
}
