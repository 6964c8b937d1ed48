//! One linear problem whose rows lie elsewhere, for solvers that want sums.

use crate::control::Control;
use crate::error::{Error, Result};
use crate::objective::{Partitions, Request};

use super::together::Share;
use super::{Problem, Question};

/// The rows of a problem, as a solver asks for them.
pub(crate) struct Separation<'a> {
    pub rows: &'a Share<'a>,
    pub of: Problem,
}

impl Partitions for Separation<'_> {
    fn sums(&self, requests: &[Request<'_>], _: &Control) -> Result<Vec<f64>> {
        let question = |request: &Request<'_>| match *request {
            Request::Value { x, epsilon, hessian } => Question::Value { of: self.of, x: x.to_vec(), epsilon, hessian },
        };
        let answers = self.rows.ask(requests.iter().map(question).collect())?;
        for (request, answer) in requests.iter().zip(&answers) {
            if answer.len() != request.size() {
                return Err(Error::Data(format!(
                    "the rows answer with {} numbers where {} are expected",
                    answer.len(),
                    request.size()
                )));
            }
        }
        Ok(answers.concat())
    }
}
