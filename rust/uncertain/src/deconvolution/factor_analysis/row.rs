//! Posterior of y given one row.

use super::FactorAnalysis;
use crate::data::GaussianArray;
use crate::deconvolution::Observed;
use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve, gemm_tn_lower, inverse_lower};

/// Posterior of y given a row, and room for it.
pub(super) struct RowPosterior {
    pub(super) variances: Vec<f64>,
    /// x - mu.
    pub(super) off: Vec<f64>,
    pub(super) a: Vec<f64>,
    /// diag(a) F.
    pub(super) scaled: Vec<f64>,
    /// The Cholesky factor of N.
    pub(super) root: Vec<f64>,
    pub(super) y: Vec<f64>,
    pub(super) log_density: f64,
}

impl RowPosterior {
    pub(super) fn new(d: usize, r: usize) -> Self {
        Self {
            variances: vec![0.0; d],
            off: vec![0.0; d],
            a: vec![0.0; d],
            scaled: vec![0.0; d * r],
            root: vec![0.0; r * r],
            y: vec![0.0; r],
            log_density: 0.0,
        }
    }

    /// Residual and noise of a row; a gap has residual 0 and infinite noise.
    pub(super) fn read(&mut self, observed: &Observed<'_>, row: usize, mean: Option<&[f64]>) {
        let data: &GaussianArray = observed.data;
        data.covariances().variances(row, &mut self.variances);
        let x = data.means().row(row);
        for j in 0..self.off.len() {
            if observed.is_missing(row, j) {
                (self.off[j], self.variances[j]) = (0.0, f64::INFINITY);
            } else {
                self.off[j] = x[j] - mean.map_or(0.0, |mean| mean[j]);
            }
        }
    }

    pub(super) fn look(&mut self, of: &FactorAnalysis, observed: &Observed<'_>, row: usize) -> Result<()> {
        let r = self.y.len();
        self.read(observed, row, Some(&of.mean));
        self.y.fill(0.0);
        // Minus twice the log density.
        let (mut twice, tau) = (0.0, std::f64::consts::TAU.ln());
        for j in 0..self.off.len() {
            let a = (self.variances[j] + of.specific[j]).recip();
            self.a[j] = a;
            let weighted = a * self.off[j];
            let f = &of.loadings[j * r..][..r];
            for ((out, y), f) in self.scaled[j * r..][..r].iter_mut().zip(&mut self.y).zip(f) {
                *out = a * f;
                *y += weighted * f;
            }
            if self.variances[j].is_finite() {
                twice += weighted * self.off[j] - a.ln() + tau;
            }
        }
        self.root.fill(0.0);
        (0..r).for_each(|p| self.root[p * r + p] = 1.0);
        gemm_tn_lower(&self.scaled, &of.loadings, self.off.len(), r, &mut self.root);
        if !cholesky(&mut self.root, r) {
            return Err(observed.unusable(row));
        }
        let products = self.y.clone();
        cholesky_solve(&self.root, r, &mut self.y);
        twice -= products.iter().zip(&self.y).map(|(q, y)| q * y).sum::<f64>();
        twice += 2.0 * self.root.iter().step_by(r + 1).map(|x| x.ln()).sum::<f64>();
        self.log_density = -0.5 * twice;
        if self.log_density.is_finite() { Ok(()) } else { Err(observed.unusable(row)) }
    }

    /// k = s a: the part of a feature's prior that the reading leaves.
    pub(super) fn kept(&self, feature: usize) -> f64 {
        let s = self.variances[feature];
        if s.is_finite() { s * self.a[feature] } else { 1.0 }
    }

    /// N^-1, both triangles.
    pub(super) fn covariance(&self, out: &mut [f64]) {
        let r = self.y.len();
        let inverse = inverse_lower(&self.root, r);
        for p in 0..r {
            for q in 0..=p {
                let sum: f64 = (p..r).map(|c| inverse[c * r + p] * inverse[c * r + q]).sum();
                (out[p * r + q], out[q * r + p]) = (sum, sum);
            }
        }
    }
}
