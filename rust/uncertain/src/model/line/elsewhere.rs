//! Rows held by other processes, as terms of the likelihood of a line.

use crate::control::Control;
use crate::data::weights::Worth;
use crate::deconvolution::Mixture;
use crate::error::Result;
use crate::model::law::likelihood::Evaluation;
use crate::model::law::newton::Elsewhere;
use crate::sums::{LineRequest, LineSums, Request, RowSums};

/// Rows elsewhere.
pub(super) struct RemoteLine<'a> {
    pub rows: &'a dyn RowSums,
    pub density: &'a Mixture,
    /// How many there are, what their weights are times ([`Worth::share`]), and their sum then.
    pub n: usize,
    pub share: f64,
    pub weight: f64,
    pub worth: Worth,
    pub control: &'a Control,
}

/// They as they are asked in one round.
pub(super) struct Asked<'a> {
    pub rows: &'a RemoteLine<'a>,
    pub law: &'a [f64],
    pub unit: f64,
    pub before: &'a [f64],
}

impl Asked<'_> {
    fn sums(&self, theta: &[f64], ask: LineSums) -> Result<Vec<f64>> {
        let request = LineRequest {
            density: self.rows.density.clone(),
            law: self.law.to_vec(),
            unit: self.unit,
            share: self.rows.share,
            theta: theta.to_vec(),
            before: self.before.to_vec(),
            ask,
        };
        self.rows.rows.sum(Request::Line(request), self.rows.control)
    }
}

impl Elsewhere for Asked<'_> {
    fn evaluate(&self, theta: &[f64]) -> Result<Evaluation> {
        Evaluation::from_flat(theta.len(), &self.sums(theta, LineSums::Likelihood)?)
    }

    fn stage(&self, theta: &[f64]) -> Result<Vec<f64>> {
        self.sums(theta, LineSums::Stage)
    }

    fn squares(&self, theta: &[f64], gain: &[f64]) -> Result<Vec<f64>> {
        self.sums(theta, LineSums::Squares { gain: gain.to_vec() })
    }

    fn n(&self) -> usize {
        self.rows.n
    }

    fn is_weighted(&self) -> bool {
        self.rows.worth.unit.is_none()
    }
}
