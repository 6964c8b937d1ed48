//! [`KernelSource`]: the kernel matrix of the rows to fit, whole or row by row.

use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::Result;
use crate::probabilistic_kernel::{GramRows, RbfOptions, default_max_bytes, gram, gram_bytes};
use crate::solver::smo::{Dense, KernelRows};

use super::shared_rows::SharedRows;

pub(crate) struct KernelSource<'a> {
    /// The rows to fit.
    pub data: &'a GaussianArray,
    /// Their kernel.
    pub kernel: &'a RbfOptions,
    /// Bytes for the matrix, or for the rows of it that are kept.
    pub cache_size: usize,
    /// Solves that will look at it.
    pub jobs: usize,
}

impl KernelSource<'_> {
    /// `work` with the kernel matrix, and the bytes it may take for rows of its own.
    pub(crate) fn open<T>(
        &self,
        control: &Control,
        work: impl FnOnce(&dyn KernelRows, usize) -> Result<T>,
    ) -> Result<T> {
        let &Self { data, kernel, cache_size, jobs } = self;
        let fits = gram_bytes(data, kernel.coupling) <= u128::from(default_max_bytes()).min(cache_size as u128);
        if fits {
            let matrix = gram(data, None, kernel, control)?;
            let values = matrix.as_slice().unwrap_or_default();
            return work(&Dense::new(values, data.n_rows())?, cache_size);
        }
        // Threads that solve have no time to share rows.
        let rows = GramRows::new(data, kernel, jobs == 1, control)?;
        if jobs == 1 { work(&rows, cache_size) } else { work(&SharedRows::new(&rows, cache_size / 2), cache_size / 2) }
    }
}
