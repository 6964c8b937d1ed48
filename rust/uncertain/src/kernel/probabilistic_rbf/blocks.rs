//! Kernel values of a few rows at a time with rows that stay: what passes over a matrix need that is never held.

use std::ops::Range;

use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::Result;
use crate::kernel::probabilistic_rbf::RbfOptions;
use crate::kernel::probabilistic_rbf::form::Form;
use crate::kernel::probabilistic_rbf::prepare::Side;
use crate::kernel::probabilistic_rbf::tiles::{Worker, tile_size};
use crate::simd::LANES;

/// Rows of x against all rows of z, both brought to their common form once.
pub(crate) struct Blocks {
    form: Form,
    x: Side,
    z: Side,
}

impl Blocks {
    /// Rows with the same number of features, and options that are in range.
    pub(crate) fn new(x: &GaussianArray, z: &GaussianArray, options: &RbfOptions) -> Result<Self> {
        let form = Form::cheapest(x, Some(z), options.coupling);
        let side = |rows| Side::new(rows, &form, options.sigma, &Control::new());
        Ok(Self { x: side(x)?, z: side(z)?, form })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.x.n_rows
    }

    /// The same with some rows of x only.
    pub(crate) fn take(&self, rows: &[usize]) -> Self {
        let all: Vec<usize> = (0..self.z.n_rows).collect();
        Self { form: self.form, x: self.x.take(rows, &self.form), z: self.z.take(&all, &self.form) }
    }

    /// `rows.len()` x (rows of z) kernel values.
    pub(crate) fn fill(&self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let (m, size) = (self.z.n_rows, tile_size(&self.form));
        let mut worker = Worker::new(&self.x, &self.z, &self.form, false);
        let control = Control::new();
        for top in rows.clone().step_by(size) {
            let here = top..rows.end.min(top + size);
            for left in (0..m).step_by(size) {
                let columns = left..m.min(left + size);
                let padded = columns.len().next_multiple_of(LANES);
                let values = worker.tile(here.clone(), columns.clone(), &control)?;
                for (row, values) in here.clone().zip(values.chunks_exact(padded)) {
                    out[(row - rows.start) * m..][columns.clone()].copy_from_slice(&values[..columns.len()]);
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Blocks({} x {} rows)", self.x.n_rows, self.z.n_rows)
    }
}
