//! The numbers of one row under one component, whitened: with L L' = V = T + C on those that are there,
//! z = L^{-1} (u - mu).

use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::special::HALF_LOG_TAU;

/// A row, with memory. Matrices are m x m for the m numbers that are there, row by row; of L and its inverse the lower
/// halves count.
pub(super) struct Whitened {
    noise: Vec<f64>,
    /// The numbers that are there: those that were read, then limits.
    pub known: Vec<usize>,
    /// How many were read.
    pub read: usize,
    pub l: Vec<f64>,
    /// z of what was read; of limits u - E[u | what was read], for their owner to go on with.
    pub z: Vec<f64>,
    /// log N(u; mu, V) of what was read.
    pub log_density: f64,
    /// L^{-1}, once [inverted](Self::invert).
    pub inverse: Vec<f64>,
}

impl Whitened {
    pub(super) fn new(d: usize) -> Self {
        let noise = vec![0.0; packed_len(d)];
        Self { noise, known: vec![], read: 0, l: vec![], z: vec![], log_density: 0.0, inverse: vec![] }
    }

    /// Of a row under component `k`, with its limits or without. `None`: V is singular.
    pub(super) fn read(
        &mut self,
        mixture: &Mixture,
        k: usize,
        rows: Incomplete<'_>,
        row: usize,
        limits: bool,
    ) -> Option<()> {
        let (d, data) = (mixture.n_features(), rows.gaussians());
        let (t, mean, u) = (mixture.covariance(k), mixture.mean(k), data.means().row(row));
        data.covariances().triangle(row, d, &mut self.noise);
        self.known.clear();
        self.known.extend((0..d).filter(|&j| !rows.is_missing(row, j)));
        self.read = self.known.len();
        self.known.extend((0..d).filter(|&j| limits && rows.limit(row, j) != 0));
        let m = self.known.len();
        self.l.resize(m * m, 0.0);
        self.z.resize(m, 0.0);
        self.log_density = 0.0;
        for (i, &at) in self.known.iter().enumerate() {
            for (j, &other) in self.known[..=i].iter().enumerate() {
                let place = packed_index(at, other);
                let (a, b) = (&self.l[i * m..i * m + j], &self.l[j * m..j * m + j]);
                let rest = t[place] + self.noise[place] - a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                if i == j && !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                self.l[i * m + j] = if i == j { rest.sqrt() } else { rest / self.l[j * m + j] };
            }
            let pivot = self.l[i * m + i];
            let along: f64 = self.l[i * m..i * m + i.min(self.read)].iter().zip(&self.z).map(|(l, z)| l * z).sum();
            self.z[i] = u[at] - mean[at] - along;
            if i < self.read {
                self.z[i] /= pivot;
                self.log_density -= HALF_LOG_TAU + pivot.ln() + 0.5 * self.z[i].powi(2);
            }
        }
        Some(())
    }

    pub(super) fn invert(&mut self) {
        let m = self.known.len();
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
    }

    /// Element `i` of L^{-T} z.
    pub(super) fn solved(&self, i: usize) -> f64 {
        let m = self.known.len();
        (i..m).map(|c| self.inverse[c * m + i] * self.z[c]).sum()
    }

    /// An element of V^{-1}, j <= i.
    pub(super) fn precision(&self, i: usize, j: usize) -> f64 {
        let (m, inverse) = (self.known.len(), &self.inverse);
        (i..m).map(|c| inverse[c * m + i] * inverse[c * m + j]).sum()
    }
}
