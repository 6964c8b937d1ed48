//! Rows held by other processes, and a sample of them here.

use crate::data::Dataset;
use crate::sums::RowSums;

/// Rows held elsewhere, which answer by sums, and some of them here.
#[derive(Clone, Copy)]
pub struct RemoteRows<'a> {
    /// All rows.
    pub rows: &'a dyn RowSums,
    /// A sample of them with what is known of it; it has rows of every class.
    pub sample: &'a Dataset,
    /// Is the sample all rows?
    pub whole: bool,
}
