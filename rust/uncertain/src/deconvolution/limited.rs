//! Rows with limits: numbers of which all that is known is on which side of a value their reading lies.
//!
//! The reading u = z + e of a row has the density of what was read, N(x; mu_x, V_xx), times the probability of the sides of
//! its limits. With L L' = V = T + C, what was read first, and the whitened residual L^{-1} (u - mu) = (z, eps): z is known,
//! and eps are independent standard normal numbers, L_ll eps cut off at limit - E[u_l | x]. Their mean and covariance
//! ([`Truncated`]: exact for one limit, and nearly for several) give the sums of EM,
//! ```text
//! a = L^{-T} (z, E eps),    E[a a'] - V^{-1} = a a' + L^{-T} (diag(0, Cov eps) - I) L^{-1}
//! ```
//! (the truncated moments of a tobit model; Amemiya, "Tobit models: a survey", Journal of Econometrics 24, 1984,
//! <https://doi.org/10.1016/0304-4076(84)90074-5>), and the mean and covariance of the true value,
//! ```text
//! mu + T a,    T + T (E[a a'] - V^{-1} - a a') T
//! ```
//! These rows are few or cheap beside the others: no lanes.

use crate::control::Control;
use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::observed::RowPosteriors;
use crate::deconvolution::truncated::{Truncated, below};
use crate::deconvolution::whitened::Whitened;
use crate::deconvolution::{Mixture, Observed, log_sum};
use crate::error::{Error, Result};
use crate::parallel;

/// Moments of one row under a component, with limits or without.
struct Expected {
    row: Whitened,
    /// Cov eps of the limits.
    open: Vec<f64>,
    bounds: Vec<f64>,
    truncated: Truncated,
    /// log p(row), of what is there and of the sides of its limits.
    pub log_density: f64,
    /// E a, zero where a feature is missing.
    pub a: Vec<f64>,
    /// E[a a'] - V^{-1}, a packed triangle, likewise.
    pub g: Vec<f64>,
}

impl Expected {
    pub(crate) fn new(d: usize) -> Self {
        let (row, truncated) = (Whitened::new(d), Truncated::default());
        let (a, g) = (vec![0.0; d], vec![0.0; packed_len(d)]);
        Self { row, open: vec![], bounds: vec![], truncated, log_density: 0.0, a, g }
    }

    /// Of a row under component `k`.
    pub(crate) fn update(&mut self, mixture: &Mixture, k: usize, rows: Incomplete<'_>, row: usize) -> Result<()> {
        self.row.read(mixture, k, rows, row, true).ok_or_else(|| {
            let why = "its density under the mixture cannot be computed; scale the features, or raise reg_covar";
            Error::Data(format!("row {row}: {why}"))
        })?;
        self.log_density = self.row.log_density;
        self.cut_off(rows, row);
        self.expand();
        Ok(())
    }

    /// E eps and Cov eps of the limits, behind the numbers that were read.
    fn cut_off(&mut self, rows: Incomplete<'_>, row: usize) {
        let Whitened { known, read, l, z, .. } = &mut self.row;
        let (m, read) = (known.len(), *read);
        let q = m - read;
        self.open.clear();
        self.open.resize(q * q, 0.0);
        let sign = |i: usize| -f64::from(rows.limit(row, known[read + i]));
        self.bounds.clear();
        self.bounds.extend((0..q).map(|i| sign(i) * z[read + i]));
        if q == 1 {
            let (log, mean, variance) = below(self.bounds[0] / l[m * m - 1]);
            self.log_density += log;
            (z[m - 1], self.open[0]) = (sign(0) * mean, variance);
            return;
        }
        // The limits as upper ones of numbers with unit variances: v = D^{-1} L_ll eps, D with their signs.
        let l = |i: usize, j: usize| l[(read + i) * m + read + j];
        let scale: Vec<f64> = (0..q).map(|i| sign(i) * (0..=i).map(|j| l(i, j).powi(2)).sum::<f64>().sqrt()).collect();
        let product = |i: usize, j: usize| (0..=i.min(j)).map(|c| l(i, c) * l(j, c)).sum::<f64>();
        self.truncated.covariance.clear();
        self.truncated.covariance.extend((0..q * q).map(|p| product(p / q, p % q) / scale[p / q] / scale[p % q]));
        self.bounds.iter_mut().zip(&scale).for_each(|(bound, scale)| *bound /= scale.abs());
        self.log_density += self.truncated.moments(&self.bounds);
        // eps = L_ll^{-1} D v
        let solved = |values: &mut [f64]| {
            for i in 0..q {
                let along: f64 = (0..i).map(|j| l(i, j) * values[j]).sum();
                values[i] = (values[i] - along) / l(i, i);
            }
        };
        let mut mean: Vec<f64> = (0..q).map(|i| scale[i] * self.truncated.mean[i]).collect();
        solved(&mut mean);
        let c = &self.truncated.covariance;
        let mut half: Vec<Vec<f64>> =
            (0..q).map(|j| (0..q).map(|i| scale[i] * c[i * q + j] * scale[j]).collect()).collect();
        half.iter_mut().for_each(|column| solved(column));
        for i in 0..q {
            let mut line: Vec<f64> = half.iter().map(|column| column[i]).collect();
            solved(&mut line);
            self.open[i * q..(i + 1) * q].copy_from_slice(&line);
        }
        z[read..].copy_from_slice(&mean);
    }

    /// a and g from the whitened residual, of which the last elements are open.
    fn expand(&mut self) {
        self.row.invert();
        let (row, m) = (&self.row, self.row.known.len());
        let (read, q) = (row.read, m - row.read);
        self.a.fill(0.0);
        self.g.fill(0.0);
        for (i, &at) in row.known.iter().enumerate() {
            self.a[at] = row.solved(i);
        }
        for (i, &at) in row.known.iter().enumerate() {
            for (j, &other) in row.known[..=i].iter().enumerate() {
                let column = |c: usize, k: usize| row.inverse[(read + c) * m + k];
                let open: f64 = (0..q * q).map(|p| self.open[p] * column(p / q, i) * column(p % q, j)).sum();
                self.g[packed_index(at, other)] = self.a[at] * self.a[other] + open - row.precision(i, j);
            }
        }
    }

    /// Mean, and packed covariance, of the true value.
    pub(crate) fn posterior(&self, mixture: &Mixture, k: usize, mean: &mut [f64], covariance: &mut [f64]) {
        let (d, t) = (mixture.n_features(), mixture.covariance(k));
        let t = |i: usize, j: usize| t[packed_index(i, j)];
        let inner = |i: usize, j: usize| self.g[packed_index(i, j)] - self.a[i] * self.a[j];
        let mut half = vec![0.0; d * d];
        for i in 0..d {
            mean[i] = mixture.mean(k)[i] + (0..d).map(|j| t(i, j) * self.a[j]).sum::<f64>();
            for j in 0..d {
                half[i * d + j] = (0..d).map(|c| t(i, c) * inner(c, j)).sum();
            }
        }
        for i in 0..d {
            for j in 0..=i {
                let less: f64 = (0..d).map(|c| half[i * d + c] * t(c, j)).sum();
                covariance[packed_index(i, j)] = t(i, j) + less;
            }
        }
    }
}

impl Observed<'_> {
    /// The sums of EM over these rows, per component the packed triangle of d + 1 rows, and the log-likelihood.
    pub(super) fn limited_sums(
        &self,
        limited: &[usize],
        mixture: &Mixture,
        components: std::ops::Range<usize>,
        control: &Control,
    ) -> Result<(Vec<f64>, f64)> {
        if self.parts.is_some() {
            // As in `sums`: the weights of parts first.
            let own: Vec<(usize, usize)> = limited.iter().copied().enumerate().collect();
            let logs = self.densities_with_limits(&own, mixture, components.clone(), control)?;
            let (weights, total) = self.weights_of_parts(limited, &logs, components.len());
            let weighted = Observed { weights: Some(&weights), parts: None, ..*self };
            return Ok((weighted.limited_sums(limited, mixture, components, control)?.0, total));
        }
        let (d, rows) = (mixture.n_features(), self.rows());
        let (len, count) = (packed_len(d + 1), components.len());
        let parts = parallel::map_parts(limited.len(), |part| -> Result<(Vec<f64>, f64)> {
            let mut sums = vec![0.0; count * len];
            let mut total = 0.0;
            let mut own: Vec<Expected> = (0..count).map(|_| Expected::new(d)).collect();
            let mut logs = vec![0.0; count];
            for &row in &limited[part] {
                control.check()?;
                for (at, k) in components.clone().enumerate() {
                    own[at].update(mixture, k, rows, row)?;
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

    /// The rows with limits among these (`None`: all), and their places.
    fn limited_among(&self, rows: Option<&[usize]>) -> Vec<(usize, usize)> {
        if self.limits.is_none() {
            return vec![];
        }
        let count = rows.map_or(self.data.n_rows(), <[usize]>::len);
        let all = (0..count).map(|at| (at, rows.map_or(at, |rows| rows[at])));
        all.filter(|(_, row)| self.rows().is_limited(*row)).collect()
    }

    /// Densities per component, n x K, with those of rows with limits in their places.
    pub(super) fn limited_densities(
        &self,
        rows: Option<&[usize]>,
        mixture: &Mixture,
        out: &mut [f64],
        control: &Control,
    ) -> Result<()> {
        let limited = self.limited_among(rows);
        let k = mixture.n_components();
        let found = self.densities_with_limits(&limited, mixture, 0..k, control)?;
        for ((at, _), found) in limited.iter().zip(found.chunks_exact(k)) {
            out[at * k..(at + 1) * k].copy_from_slice(found);
        }
        Ok(())
    }

    /// Of these rows, by place and number, under these components.
    fn densities_with_limits(
        &self,
        limited: &[(usize, usize)],
        mixture: &Mixture,
        components: std::ops::Range<usize>,
        control: &Control,
    ) -> Result<Vec<f64>> {
        let own = || Expected::new(mixture.n_features());
        parallel::new_rows_with(limited.len(), components.len(), own, |own, at, out| {
            control.check()?;
            for (component, out) in components.clone().zip(out) {
                own.update(mixture, component, self.rows(), limited[at].1)?;
                *out = mixture.weights()[component].ln() + own.log_density;
            }
            Ok(())
        })
    }

    /// Puts what is known of rows with limits in their places.
    pub(super) fn limited_posteriors(
        &self,
        mixture: &Mixture,
        all: &mut RowPosteriors,
        control: &Control,
    ) -> Result<()> {
        let limited = self.limited_among(None);
        let (d, len) = (mixture.n_features(), packed_len(mixture.n_features()));
        let own = || Expected::new(d);
        let found = parallel::new_rows_with(limited.len(), d + len + 1, own, |own, at, out| {
            control.check()?;
            let (mean, rest) = out.split_at_mut(d);
            let (covariance, log) = rest.split_at_mut(len);
            log[0] = self.limited_posterior(mixture, limited[at].1, own, mean, covariance)?;
            Ok(())
        })?;
        for ((row, _), found) in limited.iter().zip(found.chunks_exact(d + len + 1)) {
            all.means[row * d..(row + 1) * d].copy_from_slice(&found[..d]);
            all.covariances[row * len..(row + 1) * len].copy_from_slice(&found[d..d + len]);
            all.logs[*row] = found[d + len];
        }
        Ok(())
    }

    /// Mean and covariance of the mixture of the components' posteriors, and the row's log density.
    fn limited_posterior(
        &self,
        mixture: &Mixture,
        row: usize,
        own: &mut Expected,
        mean: &mut [f64],
        covariance: &mut [f64],
    ) -> Result<f64> {
        let (k, d, len) = (mixture.n_components(), mean.len(), covariance.len());
        let (mut logs, mut means, mut triangles) = (vec![0.0; k], vec![0.0; k * d], vec![0.0; k * len]);
        for component in 0..k {
            own.update(mixture, component, self.rows(), row)?;
            logs[component] = mixture.weights()[component].ln() + own.log_density;
            let (mean, triangle) = (component * d..(component + 1) * d, component * len..(component + 1) * len);
            own.posterior(mixture, component, &mut means[mean], &mut triangles[triangle]);
        }
        let total = log_sum(&logs);
        mean.fill(0.0);
        covariance.fill(0.0);
        for (share, own) in logs.iter().zip(means.chunks_exact(d)) {
            mean.iter_mut().zip(own).for_each(|(m, x)| *m += (share - total).exp() * x);
        }
        for ((share, own), triangle) in logs.iter().zip(means.chunks_exact(d)).zip(triangles.chunks_exact(len)) {
            let share = (share - total).exp();
            for i in 0..d {
                for j in 0..=i {
                    let between = (own[i] - mean[i]) * (own[j] - mean[j]);
                    covariance[packed_index(i, j)] += share * (triangle[packed_index(i, j)] + between);
                }
            }
        }
        // A reading without error is the true value, whatever rounding says.
        let mut variances = vec![0.0; d];
        self.data.covariances().variances(row, &mut variances);
        for j in (0..d).filter(|&j| variances[j] == 0.0 && !self.is_missing(row, j)) {
            mean[j] = self.data.means().at(row, j);
            (0..d).for_each(|i| covariance[packed_index(i, j)] = 0.0);
        }
        (0..d).for_each(|j| covariance[packed_index(j, j)] = covariance[packed_index(j, j)].max(0.0));
        Ok(total)
    }
}
