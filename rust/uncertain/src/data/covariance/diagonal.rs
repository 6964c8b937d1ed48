//! One variance per row and feature: the error columns of a catalogue.

use super::storage::{Field, FieldShape, Fields, Storage};
use super::{BlockVerbs, Covariances, Direction, Structure, Unit, packed_index};
use crate::data::Rows;
use crate::error::Result;
use crate::simd::{self, Element, of_type};

/// S_i = diag(s_ij^2), given as s_ij^2 or s_ij.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagonal {
    /// n x d.
    pub values: Rows,
    /// Meaning of the values.
    pub unit: Unit,
}

impl Diagonal {
    /// The variance of element j of a row.
    #[must_use]
    pub fn variance(&self, row: usize, j: usize) -> f64 {
        self.unit.variance(self.values.at(row, j))
    }

    /// sum[j] += sum over the picked rows of coef[k] s_kj^2
    fn add_variances(&self, first: usize, picks: &[u32], coef: &[f64], sum: &mut [f64]) {
        let power = match self.unit {
            Unit::Variance => simd::Power::One,
            Unit::StandardDeviation => simd::Power::Two,
        };
        simd::add_rows(&self.values, first, picks, coef, power, sum);
    }
}

impl BlockVerbs for Diagonal {
    fn structure(&self) -> Structure<'_> {
        Structure::Diagonal
    }

    fn memo_width(&self, _: usize) -> usize {
        0
    }

    fn quads(&self, first: usize, along: &Direction, _: &mut [f64], out: &mut [f64]) {
        let power = match self.unit {
            Unit::Variance => simd::Power::One,
            Unit::StandardDeviation => simd::Power::Two,
        };
        simd::dots(&self.values, first, &along.squares, power, out);
    }

    fn add_images(&self, first: usize, picks: &[u32], coef: &[f64], along: &Direction, _: &[f64], sum: &mut [f64]) {
        if let [pick] = *picks {
            // Of single rows, for which stochastic steps ask, the variances need no place.
            let c = coef[pick as usize];
            of_type!(self.values.stored_row(first + pick as usize).stored(), row => {
                for ((sum, x), w) in sum.iter_mut().zip(row).zip(&along.w) {
                    *sum += c * self.unit.variance(x.wide()) * w;
                }
            });
            return;
        }
        let mut variances = vec![0.0; sum.len()];
        self.add_variances(first, picks, coef, &mut variances);
        for j in 0..sum.len() {
            sum[j] += variances[j] * along.w[j];
        }
    }

    fn images(&self, first: usize, n: usize, along: &Direction, _: &[f64], out: &mut [f64]) {
        let d = along.w.len();
        for (start, values) in self.values.stored_segments(first..first + n) {
            of_type!(values.stored(), values => {
                let images = out[(start - first) * d..].chunks_exact_mut(d);
                for (image, values) in images.zip(values.chunks_exact(d)) {
                    let each = image.iter_mut().zip(values).zip(&along.w);
                    match self.unit {
                        Unit::Variance => each.for_each(|((o, x), w)| *o = x.wide() * w),
                        Unit::StandardDeviation => each.for_each(|((o, x), w)| *o = x.wide() * x.wide() * w),
                    }
                }
            });
        }
    }

    fn add_to(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]) {
        let mut variances = vec![0.0; d];
        self.add_variances(first, picks, coef, &mut variances);
        (0..d).for_each(|j| sum[packed_index(j, j)] += variances[j]);
    }

    fn trace(&self, row: usize, d: usize) -> f64 {
        (0..d).map(|j| self.variance(row, j)).sum()
    }

    fn variances(&self, row: usize, out: &mut [f64]) {
        of_type!(self.values.stored_row(row).stored(), values => {
            out.iter_mut().zip(values).for_each(|(o, x)| *o = self.unit.variance(x.wide()));
        });
    }
}

impl Storage for Diagonal {
    fn fields(&self) -> Vec<Field> {
        vec![Field::new(self.unit.name(), &self.values, FieldShape::PerFeature, self.unit.rule())]
    }

    fn from_fields(fields: &mut Fields<'_>, _: usize) -> Option<Self> {
        Unit::named(fields).map(|(values, unit)| Self { values, unit })
    }

    fn map_rows(&self, change: &dyn Fn(&Rows) -> Rows) -> Self {
        Self { values: change(&self.values), unit: self.unit }
    }

    fn scaled(&self, factor: &[f64]) -> Result<Covariances> {
        Ok(Self { values: self.values.times(&self.unit.scales(factor))?, unit: self.unit }.into())
    }

    fn columns(&self, columns: &[usize], _: usize) -> Self {
        Self { values: self.values.columns(columns, 1), unit: self.unit }
    }

    fn scalars(&self) -> Option<(&Rows, Unit)> {
        Some((&self.values, self.unit))
    }
}
