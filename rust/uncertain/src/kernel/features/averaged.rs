//! Features of rows that are mixtures: averages of the features of their components, computed block by block.

use std::ops::Range;

use crate::data::{MixtureArray, RowSource, Workspace};
use crate::error::Result;

/// Components per call, as many as rows in the blocks of a pass.
const BLOCK: usize = 256;

/// Rows that are averages of computed rows.
#[derive(Debug)]
pub(crate) struct AveragedRows<'a> {
    components: Box<dyn RowSource + 'a>,
    mixtures: MixtureArray,
}

impl<'a> AveragedRows<'a> {
    /// `components` computes a row for every component.
    pub(super) fn new(components: Box<dyn RowSource + 'a>, mixtures: MixtureArray) -> Self {
        Self { components, mixtures }
    }
}

impl RowSource for AveragedRows<'_> {
    fn n_rows(&self) -> usize {
        self.mixtures.n_rows()
    }

    fn width(&self) -> usize {
        self.components.width()
    }

    fn fill(&self, rows: Range<usize>, workspace: &mut Workspace, out: &mut [f64]) -> Result<()> {
        if self.mixtures.is_gaussian() {
            return self.components.fill(rows, workspace, out);
        }
        let width = self.width();
        let (offsets, weights) = (self.mixtures.offsets(), self.mixtures.weights());
        let (mut first, last) = (offsets[rows.start], offsets[rows.end]);
        let mut values = vec![0.0; BLOCK.min(last - first) * width];
        let mut row = rows.start;
        out.fill(0.0);
        while first < last {
            let next = last.min(first + BLOCK);
            let block = &mut values[..(next - first) * width];
            self.components.fill(first..next, workspace, block)?;
            for (c, features) in (first..next).zip(block.chunks_exact(width)) {
                while c >= offsets[row + 1] {
                    row += 1;
                }
                let sum = &mut out[(row - rows.start) * width..][..width];
                sum.iter_mut().zip(features).for_each(|(sum, x)| *sum += weights[c] * x);
            }
            first = next;
        }
        Ok(())
    }

    fn take(&self, rows: &[usize]) -> Result<Box<dyn RowSource + '_>> {
        let numbers: Vec<usize> = rows.iter().flat_map(|&row| self.mixtures.row(row)).collect();
        Ok(Box::new(AveragedRows { components: self.components.take(&numbers)?, mixtures: self.mixtures.take(rows)? }))
    }
}
