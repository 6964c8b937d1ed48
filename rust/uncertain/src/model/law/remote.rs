//! Rows held by other processes, as terms of the likelihood of a line.

use crate::control::Control;
use crate::data::weights::Worth;
use crate::deconvolution::Mixture;
use crate::error::Result;
use crate::model::law::likelihood::Evaluation;
use crate::sums::{LineRequest, LineSums, Request, RowSums};

/// All rows of a fit.
pub(in crate::model) struct RemoteLine<'a> {
    pub rows: &'a dyn RowSums,
    pub density: &'a Mixture,
    pub n: usize,
    /// Factor of the weights ([`Worth::share`]), and the sum of their products with it.
    pub share: f64,
    pub weight: f64,
    pub worth: Worth,
    pub control: &'a Control,
}

/// Their sums in one round.
pub(in crate::model) struct RemoteSums<'a> {
    pub line: &'a RemoteLine<'a>,
    pub law: &'a [f64],
    pub unit: f64,
    pub before: &'a [f64],
}

impl RemoteSums<'_> {
    fn sums(&self, theta: &[f64], ask: LineSums) -> Result<Vec<f64>> {
        let request = LineRequest {
            density: self.line.density.clone(),
            law: self.law.to_vec(),
            unit: self.unit,
            share: self.line.share,
            theta: theta.to_vec(),
            before: self.before.to_vec(),
            ask,
        };
        self.line.rows.sum(Request::Line(request), self.line.control)
    }

    pub(super) fn evaluate(&self, theta: &[f64]) -> Result<Evaluation> {
        Evaluation::from_flat(theta.len(), &self.sums(theta, LineSums::Likelihood)?)
    }

    /// As [`sums_of_stage`](super::errors::sums_of_stage).
    pub(super) fn stage(&self, theta: &[f64]) -> Result<Vec<f64>> {
        self.sums(theta, LineSums::Stage)
    }

    /// As [`sums_of_squares`](super::errors::sums_of_squares).
    pub(super) fn squares(&self, theta: &[f64], gain: &[f64]) -> Result<Vec<f64>> {
        self.sums(theta, LineSums::Squares { gain: gain.to_vec() })
    }
}
