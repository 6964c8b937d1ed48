//! No covariance: the rows are exact points.

use super::storage::{Field, Fields, Storage};
use super::{BlockVerbs, Covariances, Direction, Structure};
use crate::data::Rows;
use crate::error::Result;

/// S_i = 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zero;

impl BlockVerbs for Zero {
    const EXACT: bool = true;

    fn structure(&self) -> Structure<'_> {
        Structure::Zero
    }

    fn memo_width(&self, _: usize) -> usize {
        0
    }

    fn quads(&self, _: usize, _: &Direction, _: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    fn add_images(&self, _: usize, _: &[u32], _: &[f64], _: &Direction, _: &[f64], _: &mut [f64]) {}

    fn images(&self, _: usize, _: usize, _: &Direction, _: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    fn add_to(&self, _: usize, _: &[u32], _: &[f64], _: usize, _: &mut [f64]) {}

    fn trace(&self, _: usize, _: usize) -> f64 {
        0.0
    }

    fn variances(&self, _: usize, out: &mut [f64]) {
        out.fill(0.0);
    }
}

impl From<Zero> for Covariances {
    fn from(_: Zero) -> Self {
        Self::Zero
    }
}

impl Storage for Zero {
    fn fields(&self) -> Vec<Field> {
        vec![]
    }

    fn from_fields(_: &mut Fields<'_>, _: usize) -> Option<Self> {
        Some(Self)
    }

    fn map_rows(&self, _: &dyn Fn(&Rows) -> Rows) -> Self {
        Self
    }

    fn scaled(&self, _: &[f64]) -> Result<Covariances> {
        Ok(Covariances::Zero)
    }

    fn columns(&self, _: &[usize], _: usize) -> Self {
        Self
    }
}
