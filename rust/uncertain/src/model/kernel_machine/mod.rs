//! Common parts of kernel classification and regression: where kernel values come from while fitting, and the
//! support rows with their kernel afterwards.
//!
//! Memory. The Gram matrix is computed as a whole when it fits `cache_size` (and half of the memory that is
//! available); else its rows are computed when SMO asks for them, and the ones used last are kept in
//! `cache_size` bytes. Several solves at once (pairs of classes, folds) share whole rows. Copies of rows, cut to
//! the variables that are still active, may take as much again. Which way was taken does not change a bit.

mod basis;
mod kernel;
mod path;
mod shared_rows;
mod source;
mod state;

pub use basis::Basis;
pub use kernel::KernelOrigin;
pub(in crate::model) use kernel::{check_pairs, kernel_values};
pub(crate) use path::{PathMachine, no_path};
pub(crate) use source::KernelSource;
pub use state::BasisHeader;
pub(in crate::model) use state::{gram, read, write};
