//! Features and target of a row as one reading, and what the likelihood of one component is judged by: sums over the rows, which
//! may be held by other processes.

mod joint;
mod precision;
mod sums;

pub(crate) use joint::Joint;
pub(crate) use sums::Sums;
