//! Exact rows that are computed when a pass needs them, block by block.
//!
//! A linear model on R features of n rows needs the n x R matrix only as something to pass over. A
//! [`RowSource`] makes its blocks anew in every pass, so that memory is bounded by the block, whatever n is.
//! The price is the arithmetic of the features, which for wide rows is small beside that of the pass.
//! Rejected: a memory-mapped file (slower than computing once the rows do not fit), single precision (halves
//! the memory, and bounds nothing).

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use super::{GaussianArray, Rows, SharedBuffer};
use crate::error::Result;

/// Rows of a fixed width that are computed on demand.
pub trait RowSource: Sync + Debug {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Numbers in a row.
    fn width(&self) -> usize;

    /// Write the rows of `rows` into `out` (`rows.len() * width` numbers). Called from many threads, each with
    /// a separate workspace; the numbers must not depend on how the rows are cut into blocks.
    fn fill(&self, rows: Range<usize>, workspace: &mut Workspace, out: &mut [f64]) -> Result<()>;

    /// The rows with these numbers.
    fn take(&self, rows: &[usize]) -> Result<Box<dyn RowSource + '_>>;
}

/// Memory that a thread keeps from block to block.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Buffers, for the source to use as it likes.
    pub buffers: [Vec<f64>; 4],
}

/// Bytes of a block of computed rows: long enough that products with it are worth their packing.
const BLOCK_BYTES: usize = 2 << 20;

/// Rows per block of computed rows.
pub(crate) fn block_rows(width: usize) -> usize {
    (BLOCK_BYTES / (8 * width)).clamp(16, 256)
}

/// The rows of a pass as one thread reads them: in place, or computed into a buffer that is used again.
pub(crate) struct Reader<'a> {
    data: &'a GaussianArray,
    source: Option<&'a dyn RowSource>,
    workspace: Workspace,
    buffer: Arc<Vec<f64>>,
    block: Rows,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(data: &'a GaussianArray, source: Option<&'a dyn RowSource>) -> Self {
        let block = data.means().slice(0..0);
        Self { data, source, workspace: Workspace::default(), buffer: Arc::default(), block }
    }

    /// Rows `first..first + n`, and the number of the first of them in what is returned.
    pub(crate) fn rows(&mut self, first: usize, n: usize) -> Result<(&Rows, usize)> {
        let Some(source) = self.source else { return Ok((self.data.means(), first)) };
        let width = source.width();
        // Dropping the last block makes the buffer ours alone again: `make_mut` never copies it.
        self.block = self.data.means().slice(0..0);
        let buffer = Arc::make_mut(&mut self.buffer);
        buffer.resize(n * width, 0.0);
        source.fill(first..first + n, &mut self.workspace, buffer)?;
        let buffer: Arc<Vec<f64>> = Arc::clone(&self.buffer);
        self.block = Rows::from_shared(SharedBuffer::F64(buffer), 0, n, width)?;
        Ok((&self.block, 0))
    }
}
