//! W = (T + C_i)^{-1} and a = W (u_i - mu) of a row under one component, on the features that it has.

use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};

/// log(2 pi) / 2
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

/// How much a row counts.
pub(crate) type Weight<'a> = &'a (dyn Fn(usize) -> f64 + Sync);

/// The component, and memory.
pub(crate) struct Precision<'a> {
    joint: &'a Mixture,
    noise: Vec<f64>,
    known: Vec<usize>,
    /// The factor L of T + C_i, m x m for the m numbers that are there.
    l: Vec<f64>,
    /// L^{-1} (u_i - mu)
    z: Vec<f64>,
    /// log N(u_i; mu, T + C_i)
    pub log_density: f64,
    inverse: Vec<f64>,
    /// W in d + 1 dimensions, zero where a feature is missing.
    pub w: Vec<f64>,
    /// a, likewise.
    pub a: Vec<f64>,
}

impl<'a> Precision<'a> {
    pub(crate) fn new(joint: &'a Mixture) -> Self {
        let m = joint.n_features();
        let noise = vec![0.0; packed_len(m)];
        let (w, a) = (vec![0.0; m * m], vec![0.0; m]);
        Self { joint, noise, known: vec![], l: vec![], z: vec![], log_density: 0.0, inverse: vec![], w, a }
    }

    fn factor(&mut self, rows: Incomplete<'_>, row: usize) -> Result<usize> {
        let (data, joint) = (rows.gaussians(), self.joint);
        let (t, mean, u) = (joint.covariance(0), joint.mean(0), data.means().row(row));
        data.covariances().triangle(row, mean.len(), &mut self.noise);
        self.known.clear();
        self.known.extend((0..mean.len()).filter(|&j| !rows.is_missing(row, j)));
        let m = self.known.len();
        self.l.resize(m * m, 0.0);
        self.z.resize(m, 0.0);
        self.log_density = -(m as f64) * HALF_LOG_TAU;
        for (i, &at) in self.known.iter().enumerate() {
            for (j, &other) in self.known[..=i].iter().enumerate() {
                let place = packed_index(at, other);
                let (a, b) = (&self.l[i * m..i * m + j], &self.l[j * m..j * m + j]);
                let rest = t[place] + self.noise[place] - a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                if i == j && !(rest > 0.0 && rest.is_finite()) {
                    let why = "the covariance of its numbers is singular; scale the features, or raise reg_covar";
                    return Err(Error::Data(format!("row {row}: {why}")));
                }
                self.l[i * m + j] = if i == j { rest.sqrt() } else { rest / self.l[j * m + j] };
            }
            let along: f64 = self.l[i * m..i * m + i].iter().zip(&self.z).map(|(l, z)| l * z).sum();
            self.z[i] = (u[at] - mean[at] - along) / self.l[i * m + i];
            self.log_density -= self.l[i * m + i].ln() + 0.5 * self.z[i].powi(2);
        }
        Ok(m)
    }

    /// W_yy, one over the variance of the target's reading given the others, and a_y; the target is last.
    pub(crate) fn of_target(&mut self, rows: Incomplete<'_>, row: usize) -> Result<(f64, f64)> {
        let m = self.factor(rows, row)?;
        let pivot = self.l[m * m - 1];
        Ok((pivot.powi(-2), self.z[m - 1] / pivot))
    }

    /// Set `w` and `a`.
    pub(crate) fn of(&mut self, rows: Incomplete<'_>, row: usize) -> Result<()> {
        let m = self.factor(rows, row)?;
        self.inverse.clear();
        self.inverse.resize(m * m, 0.0);
        let (l, inverse) = (&self.l, &mut self.inverse);
        for j in 0..m {
            inverse[j * m + j] = 1.0 / l[j * m + j];
            for i in j + 1..m {
                let sum: f64 = (j..i).map(|c| l[i * m + c] * inverse[c * m + j]).sum();
                inverse[i * m + j] = -sum / l[i * m + i];
            }
        }
        self.w.fill(0.0);
        self.a.fill(0.0);
        let d = self.a.len();
        for (i, &at) in self.known.iter().enumerate() {
            self.a[at] = (i..m).map(|c| inverse[c * m + i] * self.z[c]).sum();
            for (j, &other) in self.known[..=i].iter().enumerate() {
                let sum: f64 = (i..m).map(|c| inverse[c * m + i] * inverse[c * m + j]).sum();
                (self.w[at * d + other], self.w[other * d + at]) = (sum, sum);
            }
        }
        Ok(())
    }
}
