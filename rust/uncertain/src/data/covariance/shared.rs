//! One matrix for all rows: a known instrument error. Everything about it is computed once a pass.

use std::sync::Arc;

use super::matrices::check_shared;
use super::storage::{Field, FieldShape, Fields, Storage};
use super::triangle::{packed_index, select_triangle};
use super::{BlockVerbs, Covariances, Direction, Structure};
use crate::data::Rows;
use crate::data::validate::{Names, Rule};
use crate::error::Result;

/// S_i = S.
#[derive(Debug, Clone, PartialEq)]
pub struct Shared {
    /// The lower triangle of S, packed.
    pub packed: Arc<[f64]>,
}

/// (S w, w'S w) of a packed triangle.
pub(super) fn image(packed: &[f64], w: &[f64]) -> (Vec<f64>, f64) {
    let d = w.len();
    let image: Vec<f64> = (0..d).map(|i| (0..d).map(|j| packed[packed_index(i, j)] * w[j]).sum()).collect();
    let quad = image.iter().zip(w).map(|(a, b)| a * b).sum::<f64>();
    (image, quad.max(0.0))
}

fn prepared(along: &Direction) -> (&[f64], f64) {
    along.shared.as_ref().map_or((&[], 0.0), |(image, quad)| (image, *quad))
}

impl BlockVerbs for Shared {
    fn structure(&self) -> Structure<'_> {
        Structure::Dense
    }

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

    fn multiples<'d>(&self, _: usize, along: &'d Direction, out: &mut [f64]) -> Option<&'d [f64]> {
        out.fill(1.0);
        Some(prepared(along).0)
    }

    fn add_to(&self, _: usize, picks: &[u32], coef: &[f64], _: usize, sum: &mut [f64]) {
        let c: f64 = picks.iter().map(|&k| coef[k as usize]).sum();
        sum.iter_mut().zip(self.packed.iter()).for_each(|(m, s)| *m += c * s);
    }

    fn trace(&self, _: usize, d: usize) -> f64 {
        (0..d).map(|i| self.packed[packed_index(i, i)]).sum()
    }

    fn variances(&self, _: usize, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = self.packed[packed_index(i, i)]);
    }

    fn common(&self) -> Option<&[f64]> {
        Some(&self.packed)
    }

    fn along(&self, w: &[f64]) -> Option<(Vec<f64>, f64)> {
        Some(image(&self.packed, w))
    }
}

impl Storage for Shared {
    fn fields(&self) -> Vec<Field> {
        let values = Rows::from_owned(self.packed.to_vec(), 1, self.packed.len());
        vec![Field { shared: true, ..Field::new("cov", &values, FieldShape::Packed, Rule::Finite) }]
    }

    fn from_fields(fields: &mut Fields<'_>, _: usize) -> Option<Self> {
        fields("cov").map(|values| Self { packed: values.to_vec().into() })
    }

    fn map_rows(&self, _: &dyn Fn(&Rows) -> Rows) -> Self {
        self.clone()
    }

    fn scaled(&self, factor: &[f64]) -> Result<Covariances> {
        let pairs = (0..factor.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let packed = self.packed.iter().zip(pairs).map(|(s, (i, j))| factor[i] * s * factor[j]).collect();
        Ok(Self { packed }.into())
    }

    fn columns(&self, columns: &[usize], _: usize) -> Self {
        Self { packed: select_triangle(columns, packed_index).into_iter().map(|place| self.packed[place]).collect() }
    }

    fn checked(self, d: usize, names: &Names) -> Result<(Self, Vec<String>)> {
        Ok(match check_shared(&self.packed, d, &names.covariances)? {
            Some((packed, warning)) => (Self { packed: packed.into() }, vec![warning]),
            None => (self, vec![]),
        })
    }

    /// Equal matrices stay one.
    fn joined(&self, others: &[&Covariances]) -> Option<Result<Covariances>> {
        others.iter().all(|other| other.common() == Some(&self.packed)).then(|| Ok(self.clone().into()))
    }
}
