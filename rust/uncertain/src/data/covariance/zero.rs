//! No covariance: the rows are exact points.

use super::{BlockVerbs, Direction};

/// S_i = 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zero;

impl BlockVerbs for Zero {
    const EXACT: bool = true;

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
}
