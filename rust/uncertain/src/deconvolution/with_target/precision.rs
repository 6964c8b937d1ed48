//! W = (T + C_i)^{-1} and a = W (u_i - mu) of a row under one component, on the features that it has.

use crate::data::Incomplete;
use crate::deconvolution::Mixture;
use crate::deconvolution::whitened::Whitened;
use crate::error::{Error, Result};

/// How much a row counts.
pub(crate) type Weight<'a> = &'a (dyn Fn(usize) -> f64 + Sync);

/// The component, and memory.
pub(crate) struct Precision<'a> {
    joint: &'a Mixture,
    row: Whitened,
    /// W in d + 1 dimensions, zero where a feature is missing.
    pub w: Vec<f64>,
    /// a, likewise.
    pub a: Vec<f64>,
}

impl<'a> Precision<'a> {
    pub(crate) fn new(joint: &'a Mixture) -> Self {
        let m = joint.n_features();
        Self { joint, row: Whitened::new(m), w: vec![0.0; m * m], a: vec![0.0; m] }
    }

    fn whiten(&mut self, rows: Incomplete<'_>, row: usize) -> Result<()> {
        self.row.read(self.joint, 0, rows, row, false).ok_or_else(|| {
            let why = "the covariance of its numbers is singular; scale the features, or raise reg_covar";
            Error::Data(format!("row {row}: {why}"))
        })
    }

    /// log N(u_i; mu, T + C_i), having set `w` and `a`.
    pub(crate) fn whole_row(&mut self, rows: Incomplete<'_>, row: usize) -> Result<f64> {
        self.whiten(rows, row)?;
        self.row.invert();
        self.w.fill(0.0);
        self.a.fill(0.0);
        let d = self.a.len();
        for (i, &at) in self.row.known.iter().enumerate() {
            self.a[at] = self.row.solved(i);
            for (j, &other) in self.row.known[..=i].iter().enumerate() {
                let w = self.row.precision(i, j);
                (self.w[at * d + other], self.w[other * d + at]) = (w, w);
            }
        }
        Ok(self.row.log_density)
    }
}
