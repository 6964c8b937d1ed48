//! Features and target of a row as one reading, and what the likelihood of one component of both is judged by: sums over
//! the rows, which may be held by other processes.

mod joint;
mod precision;
mod residuals;
mod sums;

pub(crate) use joint::Joint;
pub(crate) use precision::Weight;
pub(crate) use residuals::Residuals;
pub(crate) use sums::Sums;
