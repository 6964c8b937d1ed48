//! [`KernelSource`]: the kernel matrix of the rows to fit, whole or row by row.

use crate::control::Control;
use crate::data::MixtureArray;
use crate::error::Result;
use crate::kernel::probabilistic_rbf::{FoldedRows, GramRows, RbfOptions, default_max_bytes, folded, gram_bytes};
use crate::solver::smo::{Dense, KernelRows};

use super::shared_rows::SharedRows;

pub(crate) struct KernelSource<'a> {
    /// The rows to fit.
    pub data: &'a MixtureArray,
    /// Their kernel.
    pub kernel: &'a RbfOptions,
    /// Bytes for the matrix, or for the rows of it that are kept.
    pub cache_size: usize,
    /// Solves that will look at it.
    pub jobs: usize,
}

impl KernelSource<'_> {
    /// `work` with the kernel matrix, and the bytes it may take for other rows.
    pub(crate) fn open<T>(
        &self,
        control: &Control,
        work: impl FnOnce(&dyn KernelRows, usize) -> Result<T>,
    ) -> Result<T> {
        let &Self { data, kernel, cache_size, jobs } = self;
        // Of mixtures a block of the components' matrix is there at a time, and that of the rows.
        let (n, gaussian) = (data.n_rows() as u128, data.is_gaussian());
        let bytes = if gaussian { gram_bytes(data.components(), kernel.coupling) } else { 16 * n * n };
        if bytes <= u128::from(default_max_bytes()).min(cache_size as u128) {
            let matrix = folded(data, None, kernel, control)?;
            let values = matrix.as_slice().unwrap_or_default();
            return work(&Dense::new(values, data.n_rows())?, cache_size);
        }
        // Threads that solve have no time to share rows.
        let alone = jobs == 1;
        let (plain, sums);
        let rows: &dyn KernelRows = if gaussian {
            plain = GramRows::new(data.components(), kernel, alone, control)?;
            &plain
        } else {
            sums = FoldedRows::new(data, kernel, alone, control)?;
            &sums
        };
        if alone { work(rows, cache_size) } else { work(&SharedRows::new(rows, cache_size / 2), cache_size / 2) }
    }
}
