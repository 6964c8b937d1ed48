//! Rows that lie elsewhere: in the memory of other processes, which answer questions about them with sums.

use crate::control::Control;
use crate::error::Result;
use crate::state::Training;

/// Who holds the rows of a fit. Questions and answers are flat numbers, so that any messenger can carry them; what
/// they mean is the business of [`pieces`](crate::pieces).
pub trait Elsewhere: Sync {
    /// The answers to these questions, added up over all rows.
    ///
    /// # Errors
    /// Whatever happened there; [`Error::Interrupted`](crate::Error::Interrupted).
    fn ask(&self, questions: &[f64], control: &Control) -> Result<Vec<f64>>;
}

/// Rows elsewhere, and some of them here.
#[derive(Clone, Copy)]
pub struct Remote<'a> {
    /// All rows.
    pub rows: &'a dyn Elsewhere,
    /// A sample of them with what is known of it; it has rows of every class.
    pub sample: &'a Training<'a>,
    /// Is the sample all rows?
    pub whole: bool,
}
