//! Residuals that judge the scatter s^2 of a law: residuals of the targets' readings given those of the features.
//!
//! With 1 / w_i the variance of the reading of y given that of x, and a_i / w_i its residual, a change of s^2 by b makes
//! w_i(b) = w_i / (1 + b w_i), a_i(b) = a_i / (1 + b w_i), so that one look at the rows serves many b.

use std::f64::consts::TAU;

use crate::control::Control;
use crate::data::Incomplete;
use crate::deconvolution::Mixture;
use crate::deconvolution::with_target::precision::{Precision, Weight};
use crate::error::Result;
use crate::parallel;

/// (w, a) of every row that counts.
pub(crate) struct Residuals(Vec<f64>);

impl Residuals {
    pub(crate) fn new(joint: &Mixture, rows: Incomplete<'_>, weight: Weight<'_>, control: &Control) -> Result<Self> {
        let precision = || Precision::new(joint);
        let found = parallel::new_rows_with(rows.gaussians().n_rows(), 2, precision, |precision, i, out| {
            if weight(i) > 0.0 {
                control.check()?;
                (out[0], out[1]) = precision.target(rows, i)?;
            }
            Ok(())
        });
        found.map(Self)
    }

    /// sum c log p(y | x) = sum c (log w - a^2 / w - log 2 pi) / 2
    pub(crate) fn log_likelihood(&self, weight: Weight<'_>) -> Result<f64> {
        let parts = parallel::map_parts(self.0.len() / 2, |part| {
            let log = |i: usize| 0.5 * ((self.0[2 * i] / TAU).ln() - self.0[2 * i + 1].powi(2) / self.0[2 * i]);
            part.filter(|&i| weight(i) > 0.0).map(|i| weight(i) * log(i)).sum::<f64>()
        })?;
        Ok(parts.into_iter().sum())
    }

    /// The largest w.
    pub(crate) fn largest(&self) -> f64 {
        self.0.iter().step_by(2).copied().fold(0.0, f64::max)
    }

    /// With s^2 changed by so much: log sum c w, and sum c w^2 and sum c w^3 over sum c w.
    pub(crate) fn precisions(&self, change: f64, weight: Weight<'_>) -> [f64; 3] {
        let unit = self.largest();
        let mut sums = [0.0; 3];
        for (i, row) in self.0.chunks_exact(2).enumerate() {
            let (c, w) = (weight(i), row[0]);
            let w = w / (1.0 + change * w) / unit;
            sums[0] += c * w;
            sums[1] += c * w * w;
            sums[2] += c * w * w * w;
        }
        [sums[0].ln() + unit.ln(), sums[1] / sums[0] * unit, sums[2] / sums[0] * unit * unit]
    }

    /// For every change of s^2: sum c (a^2 - w), sum c w and sum c w^2, with w and a^2 in units of `unit`.
    pub(crate) fn sums(&self, changes: &[f64], unit: f64, weight: Weight<'_>) -> Result<Vec<[f64; 3]>> {
        let parts = parallel::map_parts(self.0.len() / 2, |part| {
            let mut sums = vec![[0.0; 3]; changes.len()];
            for i in part {
                let (c, w, a) = (weight(i), self.0[2 * i], self.0[2 * i + 1]);
                for (by, [sum, first, second]) in changes.iter().zip(&mut sums) {
                    let shrunk = 1.0 / (1.0 + by * w);
                    let w = w * shrunk / unit;
                    *sum += c * ((a * shrunk).powi(2) / unit - w);
                    *first += c * w;
                    *second += c * w * w;
                }
            }
            sums
        })?;
        let mut all = vec![[0.0; 3]; changes.len()];
        for part in parts {
            all.iter_mut().flatten().zip(part.iter().flatten()).for_each(|(a, b)| *a += b);
        }
        Ok(all)
    }
}
