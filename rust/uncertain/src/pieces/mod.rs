//! Fits to rows in pieces: in files, on threads, on the machines of a cluster.
//!
//! Most fits see their rows through sums alone: counts, moments, gradients, the expectations of EM. Whoever holds a
//! piece of the rows keeps it as a [`Part`] and answers a list of [`Question`]s with one flat buffer of numbers
//! ([`Part::answer`]); the buffers of all pieces are added in the order of the pieces ([`merged`]), and the fit goes
//! on where it was started. So the result depends on how the rows are cut by rounding alone, and not at all on who
//! computed what, in which order, or how often.
//!
//! A buffer begins with [`VERSION`], the number of rows behind it and their checksum: whoever loses a piece and reads
//! it again can tell whether it is the same. Questions that are known together share a pass (`together.rs`).
//!
//! ```
//! use uncertain::pieces::{HEADER, Known, Part, Question, merged, questions};
//! use uncertain::{Control, GaussianArray, Rows};
//!
//! # fn main() -> uncertain::Result<()> {
//! let asked = questions(&[Question::Moments { center: vec![] }]);
//! let answer = |x: Vec<f64>| -> uncertain::Result<Vec<f64>> {
//!     let data = GaussianArray::points(Rows::from_vec(x, 1)?)?;
//!     Part::new(data, Known::default())?.answer(&asked, None, &Control::new())
//! };
//! let sums = merged(&asked, &[answer(vec![1.0, 2.0])?, answer(vec![6.0])?])?;
//! assert_eq!(sums[HEADER..], [2.0, 3.0, 9.0]); // two numbers: the weight of all rows, and sum x
//! # Ok(())
//! # }
//! ```

mod flat;
mod linear;
mod moments;
mod part;
mod question;
mod reader;
mod scatter;
mod together;

pub use flat::{VERSION, merged, questions};
pub(crate) use linear::Separation;
pub(crate) use moments::{Moments, sums as moments};
pub use part::{Known, Part};
pub use question::{PieceLoss, Problem, Question};
pub(crate) use scatter::{Spread, spreads};
pub(crate) use together::together;

use crate::control::Control;
use crate::deconvolution::{Components, Params};
use crate::error::{Error, Result};
use crate::state::Elsewhere;

/// Numbers in front of the answers: version, rows, checksum.
pub const HEADER: usize = 3;

/// The answer to one question about all rows.
pub(crate) fn ask(rows: &dyn Elsewhere, question: Question, control: &Control) -> Result<Vec<f64>> {
    let mut answers = ask_all(rows, &[question], control)?;
    Ok(answers.pop().unwrap_or_default())
}

/// The answers to several questions about all rows, in one pass.
pub(crate) fn ask_all(rows: &dyn Elsewhere, all: &[Question], control: &Control) -> Result<Vec<Vec<f64>>> {
    let answer = rows.ask(&questions(all), control)?;
    flat::sections(&answer, all.len())
}

/// How many components, which passes over rows elsewhere cannot choose.
pub(crate) fn components_here(params: &Params, of: &str) -> Result<usize> {
    let Components::Fixed(k) = params.components else {
        let expected = format!("an integer >= 1 where {of} lie elsewhere; choose it on a sample");
        return Err(Error::parameter("n_components", "\"auto\"", expected));
    };
    Ok(k)
}

/// Has every one of d features a row, by an answer to [`Question::Seen`]?
pub(crate) fn check_seen(seen: &[f64], d: usize) -> Result<()> {
    if seen.len() != 3 + d {
        return Err(Error::shape("rows elsewhere", format!("{d} features"), seen.len().saturating_sub(3)));
    }
    match seen[3..].iter().position(|weight| *weight <= 0.0) {
        Some(j) => Err(Error::Data(format!("feature {j} is missing in every row; leave the feature out"))),
        None => Ok(()),
    }
}
