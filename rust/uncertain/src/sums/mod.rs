//! The one seam between fits and rows: a list of requests in, sums over the rows out.
//!
//! Most fits see their rows through sums alone: counts, moments, gradients, the expectations of EM. A fit sends a list of
//! [`Request`]s to whoever holds the rows ([`RowSums`]) and gets one list of numbers for each. The rows of one linear
//! problem in this process answer ([`LocalRows`](crate::objective::LocalRows)), a
//! [`Partition`](crate::partition::Partition) of any rows does, in memory or in a mapped file, and so does a messenger
//! to other machines. What a row needs beside sums (scores, duals) stays where the row is.
//!
//! Sums of partitions are added in the order of the partitions. So the result depends on how the rows are cut by rounding
//! alone, and not at all on who computed what, in which order, or how often.
//!
//! Between processes requests are bytes ([`encode`]) and sums one flat buffer of f64 ([`add_partitions`]). How a request
//! becomes bytes is derived from its type, so a loss or a request that gains a field sends it along. Rejected: numbers
//! that are written and read by hand, where a new parameter was easily left out and took its default elsewhere; JSON,
//! which has no infinity, and is several times as long and as slow for matrices.

mod encoding;
mod line;
mod request;
mod shared;
#[cfg(test)]
mod tests;

pub use encoding::{HEADER, VERSION, add_partitions, encode, split_sums};
pub(crate) use encoding::{decode, pack_sums};
pub use line::{LineRequest, LineSums};
pub use request::{LinearProblem, RemoteLoss, Request};
pub(crate) use shared::share_passes;

use crate::control::Control;
use crate::error::{Error, Result};

/// Whoever holds the rows of a fit.
pub trait RowSums: Sync {
    /// For each request its sums over all rows.
    fn sums(&self, requests: &[Request], control: &Control) -> Result<Vec<Vec<f64>>>;

    /// The sums of one request.
    fn sum(&self, request: Request, control: &Control) -> Result<Vec<f64>> {
        let mut sums = self.sums(&[request], control)?;
        if sums.len() > 1 {
            return Err(Error::Internal("one request has several answers".into()));
        }
        sums.pop().ok_or_else(|| Error::Internal("a request without an answer".into()))
    }
}

impl<R: RowSums + ?Sized> RowSums for &R {
    fn sums(&self, requests: &[Request], control: &Control) -> Result<Vec<Vec<f64>>> {
        (**self).sums(requests, control)
    }
}
