//! [`LocalRows`]: rows in this machine's memory, or computed from them, and how passes go over them.
//!
//! Rows go through in blocks small enough to stay in the second-level cache, so that the sums of a block find it there
//! after its scores and losses. Blocks belong to parts that are fixed by the number of rows, and parts are added in
//! order: the result is the same for any number of threads.

use std::ops::Range;

use super::problem::Problem;
use crate::control::Control;
use crate::data::source::{self, Reader, RowSource};
use crate::data::{Covariances, Kind, Rows};
use crate::error::Result;
use crate::parallel;

/// Bytes of rows per block: a fraction of a second-level cache.
const BLOCK_BYTES: usize = 64 * 1024;

/// Bytes that the parts' matrices may take together.
const DENSE_BYTES: usize = 256 << 20;

/// Parts of a pass that sums matrices of d + 1 unknowns.
pub(crate) fn dense_parts(d: usize) -> usize {
    (DENSE_BYTES / (12 * (d + 1) * (d + 1))).clamp(2, 64)
}

/// The rows of a problem in this process.
#[derive(Debug)]
pub struct LocalRows<'a> {
    pub(super) problem: Problem<'a>,
    /// Rows in which the score is linear, where these are not the data.
    pub(super) source: Option<&'a dyn RowSource>,
    /// 1 / sum of the weights of all rows, wherever they are: c_i = weight_i * scale.
    pub(super) scale: f64,
}

/// Rows that go through a pass together.
pub(super) struct RowBlock<'b> {
    /// Number of the first row.
    pub first: usize,
    /// Number of rows.
    pub n: usize,
    pub means: &'b Rows,
    /// Where the first row is in `means`.
    pub at: usize,
}

impl RowBlock<'_> {
    /// This block's elements of something per row.
    pub(super) fn slice<'v, T>(&self, all: &'v [T]) -> &'v [T] {
        &all[self.first..self.first + self.n]
    }
}

impl<'a> LocalRows<'a> {
    /// A share of the rows of a problem whose weights add up to 1 / `scale` everywhere.
    pub(crate) fn share(problem: Problem<'a>, scale: f64) -> Self {
        Self { problem, source: None, scale }
    }

    /// The covariances of the rows that the score is linear in: computed rows are exact.
    pub(super) fn covariances(&self) -> &'a Covariances {
        if self.source.is_some() { &Covariances::Zero } else { self.problem.data.covariances() }
    }

    pub(super) fn is_exact(&self) -> bool {
        self.covariances().kind() == Kind::Zero
    }

    /// Number of columns d.
    pub(super) fn width(&self) -> usize {
        self.source.map_or(self.problem.data.n_features(), RowSource::width)
    }

    /// c_i, normalised to sum to one.
    #[inline]
    pub(super) fn weight(&self, row: usize) -> f64 {
        self.problem.weights.map_or(self.scale, |c| c[row] * self.scale)
    }

    /// Rows per block of a pass.
    pub(super) fn block_rows(&self) -> usize {
        let d = self.width();
        if self.source.is_some() { source::block_rows(d) } else { (BLOCK_BYTES / (16 * d)).clamp(16, 256) }
    }

    /// `work` on the blocks of `range`, in order.
    pub(super) fn blocks(
        &self,
        range: Range<usize>,
        control: &Control,
        mut work: impl FnMut(RowBlock<'_>),
    ) -> Result<()> {
        let mut reader = Reader::new(self.problem.data, self.source);
        for first in range.clone().step_by(self.block_rows()) {
            control.check()?;
            let n = self.block_rows().min(range.end - first);
            let (means, at) = reader.rows(first, n)?;
            work(RowBlock { first, n, means, at });
        }
        Ok(())
    }

    /// The answers of `work` for at most so many parts of the rows, added in their order.
    pub(super) fn add_parts(
        &self,
        most: usize,
        work: impl Fn(Range<usize>) -> Result<Vec<f64>> + Sync,
        add: impl Fn(&mut [f64], &[f64]),
    ) -> Result<Vec<f64>> {
        let mut total = vec![];
        for part in parallel::map_parts_at_most(self.problem.data.n_rows(), most, work)? {
            let part = part?;
            if total.is_empty() { total = part } else { add(&mut total, &part) }
        }
        Ok(total)
    }

    /// Results of `work` for every row, in their order.
    pub(super) fn each<T: Send>(
        &self,
        work: impl Fn(Range<usize>, &mut Vec<T>) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        let n_rows = self.problem.data.n_rows();
        let parts = parallel::map_parts(n_rows, |range| -> Result<Vec<T>> {
            let mut out = Vec::with_capacity(range.len());
            work(range, &mut out)?;
            Ok(out)
        })?;
        let mut all = Vec::with_capacity(n_rows);
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }
}
