//! Rows of which the last number is a limit: all that is known of its reading is on which side of the value it lies.
//!
//! The reading u = z + e of a row has the density of the others, N(x; mu_x, V_xx), times the probability of the side. With
//! L L' = V = T + C, the last number last, and the whitened residual L^{-1} (u - mu) = (z, eps): z is known, and
//! eps is a standard normal variable cut off at h = (limit - E[u_y | x]) / L_yy. Its first two moments are closed, and with
//! them the sums of EM,
//! ```text
//! eps < h:  E eps = -r,  E eps^2 = 1 - h r,  r = phi(h) / Phi(h)          eps > h: by reflection
//! a = L^{-T} (z, E eps),    a a' - V^{-1} = L^{-T} (E[(z, eps)(z, eps)'] - I) L^{-1}
//! ```
//! (the truncated moments of a tobit model; Amemiya, "Tobit models: a survey", Journal of Econometrics 24, 1984,
//! <https://doi.org/10.1016/0304-4076(84)90074-5>). These rows are few or cheap beside the others: no lanes.

use crate::control::Control;
use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::{Mixture, Observed, log_sum};
use crate::error::{Error, Result};
use crate::parallel;
use crate::special::{cdf, pdf};

/// log(2 pi) / 2
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

/// A row whose last number is a limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limited {
    pub row: usize,
    /// The reading is below the number; else above.
    pub below: bool,
}

/// What a component says of one row, limit or not.
pub(crate) struct Expected {
    known: Vec<usize>,
    l: Vec<f64>,
    z: Vec<f64>,
    inverse: Vec<f64>,
    noise: Vec<f64>,
    /// log p(row), of what is there and of the side of the limit.
    pub log_density: f64,
    /// E a, zero where a feature is missing.
    pub a: Vec<f64>,
    /// E[a a'] - V^{-1}, a packed triangle, likewise.
    pub g: Vec<f64>,
}

impl Expected {
    pub(crate) fn new(d: usize) -> Self {
        let (l, z, inverse) = (vec![], vec![], vec![]);
        let (noise, g) = (vec![0.0; packed_len(d)], vec![0.0; packed_len(d)]);
        Self { known: vec![], l, z, inverse, noise, log_density: 0.0, a: vec![0.0; d], g }
    }

    /// Of a row under component `k`; `below`: where its last number is a limit, on which side.
    pub(crate) fn of(
        &mut self,
        mixture: &Mixture,
        k: usize,
        rows: Incomplete<'_>,
        row: usize,
        below: Option<bool>,
    ) -> Result<()> {
        let (d, data) = (mixture.n_features(), rows.gaussians());
        let (t, mean, u) = (mixture.covariance(k), mixture.mean(k), data.means().row(row));
        data.covariances().triangle(row, d, &mut self.noise);
        self.known.clear();
        self.known.extend((0..d).filter(|&j| !rows.is_missing(row, j)));
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
                    return Err(Error::Data(format!(
                        "row {row}: its density under the mixture cannot be computed; scale the features, or raise \
                         reg_covar"
                    )));
                }
                self.l[i * m + j] = if i == j { rest.sqrt() } else { rest / self.l[j * m + j] };
            }
            let pivot = self.l[i * m + i];
            let along: f64 = self.l[i * m..i * m + i].iter().zip(&self.z).map(|(l, z)| l * z).sum();
            self.z[i] = (u[at] - mean[at] - along) / pivot;
            if i + 1 < m || below.is_none() {
                self.log_density -= HALF_LOG_TAU + pivot.ln() + 0.5 * self.z[i].powi(2);
            }
        }
        let mut square = self.z[m - 1].powi(2);
        if let Some(below) = below {
            let sign = if below { 1.0 } else { -1.0 };
            let h = sign * self.z[m - 1];
            let (log, ratio) = tail(h);
            self.log_density += log;
            (self.z[m - 1], square) = (-sign * ratio, 1.0 - h * ratio);
        }
        self.expand(m, square);
        Ok(())
    }

    /// a and g from the whitened residual, of whose last element the square is known by itself.
    fn expand(&mut self, m: usize, square: f64) {
        self.inverse.clear();
        self.inverse.resize(m * m, 0.0);
        let (l, inverse, z) = (&self.l, &mut self.inverse, &self.z);
        for j in 0..m {
            inverse[j * m + j] = 1.0 / l[j * m + j];
            for i in j + 1..m {
                let sum: f64 = (j..i).map(|c| l[i * m + c] * inverse[c * m + j]).sum();
                inverse[i * m + j] = -sum / l[i * m + i];
            }
        }
        self.a.fill(0.0);
        self.g.fill(0.0);
        for (i, &at) in self.known.iter().enumerate() {
            self.a[at] = (i..m).map(|c| inverse[c * m + i] * z[c]).sum();
        }
        let more = square - z[m - 1].powi(2);
        for (i, &at) in self.known.iter().enumerate() {
            for (j, &other) in self.known[..=i].iter().enumerate() {
                let w: f64 = (i..m).map(|c| inverse[c * m + i] * inverse[c * m + j]).sum();
                let last = more * inverse[(m - 1) * m + i] * inverse[(m - 1) * m + j];
                self.g[packed_index(at, other)] = self.a[at] * self.a[other] + last - w;
            }
        }
    }
}

/// log Phi(h) and phi(h) / Phi(h).
fn tail(h: f64) -> (f64, f64) {
    if h > -30.0 {
        let p = cdf(h);
        return (p.ln(), pdf(h) / p);
    }
    // Asymptotic series of Mills' ratio, relative error below 1e-7 / h^2.
    let x = h.powi(-2);
    let series = 1.0 - x * (1.0 - 3.0 * x * (1.0 - 5.0 * x));
    (-0.5 * h * h - HALF_LOG_TAU - (-h).ln() + series.ln(), -h / series)
}

impl Observed<'_> {
    /// The sums of EM over such rows, per component the packed triangle of d + 1 rows, and the log-likelihood.
    pub(crate) fn limited_sums(
        &self,
        limited: &[Limited],
        mixture: &Mixture,
        components: std::ops::Range<usize>,
        control: &Control,
    ) -> Result<(Vec<f64>, f64)> {
        let (d, rows) = (mixture.n_features(), Incomplete::from_parts(self.data, self.missing));
        let (len, count) = (packed_len(d + 1), components.len());
        let parts = parallel::map_parts(limited.len(), |part| -> Result<(Vec<f64>, f64)> {
            let mut sums = vec![0.0; count * len];
            let mut total = 0.0;
            let mut own: Vec<Expected> = (0..count).map(|_| Expected::new(d)).collect();
            let mut logs = vec![0.0; count];
            for &Limited { row, below } in &limited[part] {
                control.check()?;
                for (at, k) in components.clone().enumerate() {
                    own[at].of(mixture, k, rows, row, Some(below))?;
                    logs[at] = mixture.weights()[k].ln() + own[at].log_density;
                }
                let (log, weight) = (log_sum(&logs), self.weight(row));
                total += weight * log;
                for ((sums, own), share) in sums.chunks_exact_mut(len).zip(&own).zip(&logs) {
                    let q = weight * (share - log).exp();
                    let values = own.g.iter().chain(&own.a).chain(&[1.0]);
                    sums.iter_mut().zip(values).for_each(|(s, x)| *s += q * x);
                }
            }
            Ok((sums, total))
        })?;
        let (mut sums, mut total) = (vec![0.0; count * len], 0.0);
        for part in parts {
            let (own, log) = part?;
            sums.iter_mut().zip(&own).for_each(|(s, x)| *s += x);
            total += log;
        }
        Ok((sums, total))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_meet_and_are_those_of_the_normal_distribution() {
        for h in [-30.0 - 1e-9, -30.0 + 1e-9] {
            let (log, ratio) = tail(h);
            // mpmath: log Phi(-30), phi(-30) / Phi(-30)
            assert!((log + 454.321_243_956_343_8).abs() < 1e-6, "{log}");
            assert!((ratio - 30.033_259_667_433_67).abs() < 1e-6, "{ratio}");
        }
        let (log, ratio) = tail(0.0);
        assert!((log - 0.5f64.ln()).abs() < 1e-15 && (ratio - (2.0 / std::f64::consts::PI).sqrt()).abs() < 1e-15);
        assert!(tail(-1e6).1 / 1e6 - 1.0 < 1e-9 && tail(40.0).1 < 1e-300);
    }
}
