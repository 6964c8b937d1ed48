//! [`Truths`]: what the readings say about true features, a mixture of Gaussians per row.
//!
//! Given x_i, the true value z_i is sum_k w_ik N(m_ik, P_ik) under the distribution of all true values, with
//! w_ik ~ pi_k N(x_i; mu_k, T_k + S_i): the denoiser's answer component by component. Exact rows are one point each.
//!
//! Of a row that is a mixture of parts, sum_c v_ic N(x_ic, S_ic), the components are the pairs (c, k), one part's behind
//! the other's, with weights ~ v_ic pi_k N(x_ic; mu_k, T_k + S_ic).

use std::ops::Range;

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::data::{Covariances, Incomplete};
use crate::deconvolution::{Mixture, Observed, log_sum};
use crate::error::Result;
use crate::linalg::{Eigh, add_outer};
use crate::parallel::added;
use crate::{memory, parallel};

/// Of all rows.
pub(in crate::model) struct Truths {
    pub n: usize,
    pub d: usize,
    /// Components of the density.
    k: usize,
    /// Where the parts of every row begin, and the end, where rows are mixtures; else a row is one part.
    offsets: Option<Vec<usize>>,
    /// log w, parts x K.
    logs: Vec<f64>,
    /// m of each component of the density, parts x d.
    means: Vec<Vec<f64>>,
    /// P of each component of the density, one packed triangle per part; none of exact rows.
    covariances: Vec<Vec<f64>>,
}

impl Truths {
    pub(in crate::model) fn new(rows: Incomplete<'_>, mixture: &Mixture, control: &Control) -> Result<Self> {
        let data = rows.gaussians();
        let (parts, d) = (data.n_rows(), mixture.n_features());
        data.check_features(d)?;
        if matches!(data.covariances(), Covariances::Zero) && rows.missing().is_none() && rows.mixtures().is_none() {
            return Ok(Self::points(data.n_rows(), d, data.means().to_vec()));
        }
        let k = mixture.n_components();
        memory::ask(parts, size_of::<f64>() * k * (1 + d + packed_len(d)))?;
        let observed = Observed::from_rows(rows, None);
        let offsets = rows.mixtures().map(|mixtures| mixtures.offsets().to_vec());
        let mut logs = vec![0.0; parts];
        if k > 1 || offsets.is_some() {
            logs = observed.log_densities(None, mixture, control)?;
            if let Some(mixtures) = rows.mixtures() {
                let own = logs.chunks_exact_mut(k).zip(mixtures.weights());
                own.for_each(|(logs, v)| logs.iter_mut().for_each(|log| *log += v.ln()));
            }
            for row in 0..rows.n_rows() {
                let own = offsets.as_ref().map_or(row..row + 1, |at| at[row]..at[row + 1]);
                let logs = &mut logs[own.start * k..own.end * k];
                let total = log_sum(logs);
                logs.iter_mut().for_each(|log| *log -= total);
            }
        }
        let (mut means, mut covariances) = (vec![], vec![]);
        for component in 0..k {
            let (mean, covariance) = (mixture.mean(component).to_vec(), mixture.covariance(component).to_vec());
            let one = Mixture::unchecked(vec![1.0], mean, covariance, d);
            let found = observed.posteriors(&one, false, control)?;
            means.push(found.means);
            covariances.push(found.covariances);
        }
        Ok(Self { n: rows.n_rows(), d, k, offsets, logs, means, covariances })
    }

    /// Rows taken for exact.
    fn points(n: usize, d: usize, means: Vec<f64>) -> Self {
        Self { n, d, k: 1, offsets: None, logs: vec![0.0; n], means: vec![means], covariances: vec![] }
    }

    /// The readings taken for the truth, of mixtures their means, and where there is none its mean.
    pub(in crate::model) fn naive(&self, rows: Incomplete<'_>) -> Result<Self> {
        let means = match rows.mixtures() {
            None => rows.gaussians().means().to_vec(),
            Some(mixtures) => mixtures.collapse()?.means().to_vec(),
        };
        let mut points = Self::points(self.n, self.d, means);
        for i in 0..self.n {
            let mean = self.mean(i);
            for j in (0..self.d).filter(|&j| rows.is_missing(i, j)) {
                points.means[0][i * self.d + j] = mean[j];
            }
        }
        Ok(points)
    }

    /// Exact rows instead of these: of every component m +- sqrt(d) times the columns of P^(1/2), which have its mean and
    /// covariance, with their rows and the logarithms of their shares w / (2 d).
    pub(in crate::model) fn points_within(&self, rows: &[usize]) -> Result<(Self, Vec<(usize, f64)>)> {
        let d = self.d;
        let (mut means, mut owners) = (vec![], vec![]);
        let mut eigh = Eigh::new(d);
        for &row in rows {
            for (component, log) in self.logs(row).iter().enumerate() {
                let mean = self.mean_under(component, row);
                let Some(covariance) = self.covariance_under(component, row) else {
                    means.extend_from_slice(mean);
                    owners.push((row, *log));
                    continue;
                };
                eigh.packed(covariance)?;
                let root = eigh.function(|value| (d as f64 * value.max(0.0)).sqrt());
                for (column, sign) in (0..d).flat_map(|column| [(column, 1.0), (column, -1.0)]) {
                    let along = |i: usize| root[packed_index(i.max(column), i.min(column))];
                    means.extend(mean.iter().enumerate().map(|(i, m)| m + sign * along(i)));
                    owners.push((row, log - (2.0 * d as f64).ln()));
                }
            }
        }
        Ok((Self::points(owners.len(), d, means), owners))
    }

    fn parts(&self, row: usize) -> Range<usize> {
        self.offsets.as_ref().map_or(row..row + 1, |at| at[row]..at[row + 1])
    }

    /// The components of a row at most.
    pub(in crate::model) fn most(&self) -> usize {
        let parts = self.offsets.as_ref().and_then(|at| at.windows(2).map(|own| own[1] - own[0]).max());
        parts.unwrap_or(1) * self.k
    }

    /// The components of a row that are a part under this component of the density.
    pub(in crate::model) fn under_density(&self, k: usize, row: usize) -> impl Iterator<Item = usize> {
        let of_density = self.k;
        (0..self.parts(row).len()).map(move |part| part * of_density + k)
    }

    /// log w of a row's components.
    pub(in crate::model) fn logs(&self, row: usize) -> &[f64] {
        let own = self.parts(row);
        &self.logs[own.start * self.k..own.end * self.k]
    }

    /// m of a row under a component.
    pub(in crate::model) fn mean_under(&self, component: usize, row: usize) -> &[f64] {
        let (k, part) = (component % self.k, self.parts(row).start + component / self.k);
        &self.means[k][part * self.d..(part + 1) * self.d]
    }

    /// P of a row under a component; `None`: it is zero.
    pub(in crate::model) fn covariance_under(&self, component: usize, row: usize) -> Option<&[f64]> {
        let (k, part, len) = (component % self.k, self.parts(row).start + component / self.k, packed_len(self.d));
        self.covariances.get(k).map(|all| &all[part * len..(part + 1) * len])
    }

    /// Posterior mean of a row.
    pub(in crate::model) fn mean(&self, row: usize) -> Vec<f64> {
        let mut mean = vec![0.0; self.d];
        for (component, log) in self.logs(row).iter().enumerate() {
            let share = log.exp();
            mean.iter_mut().zip(self.mean_under(component, row)).for_each(|(mean, m)| *mean += share * m);
        }
        mean
    }

    /// In other coordinates: (x - centre) / scale.
    pub(in crate::model) fn rescale(&mut self, centre: &[f64], scale: &[f64]) {
        let d = self.d;
        for means in &mut self.means {
            means.iter_mut().enumerate().for_each(|(at, x)| *x = (*x - centre[at % d]) / scale[at % d]);
        }
        let factors: Vec<f64> =
            (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| scale[i] * scale[j]).collect();
        for covariances in &mut self.covariances {
            for triangle in covariances.chunks_exact_mut(factors.len()) {
                triangle.iter_mut().zip(&factors).for_each(|(x, f)| *x /= f);
            }
        }
    }

    /// Weighted sums over the rows: of the posterior means less `centre` (d), of the products of these (a packed triangle),
    /// and of the posterior covariances (a packed triangle).
    pub(in crate::model) fn moments(&self, centre: &[f64], weight: impl Fn(usize) -> f64 + Sync) -> Result<Vec<f64>> {
        let (d, len) = (self.d, packed_len(self.d));
        let parts = parallel::map_parts(self.n, |rows| {
            let mut sums = vec![0.0; d + 2 * len];
            for i in rows {
                let (c, mean) = (weight(i), self.mean(i));
                let from_centre: Vec<f64> = mean.iter().zip(centre).map(|(m, centre)| m - centre).collect();
                sums.iter_mut().zip(&from_centre).for_each(|(sum, x)| *sum += c * x);
                add_outer(c, &from_centre, &mut sums[d..d + len]);
                for (component, log) in self.logs(i).iter().enumerate() {
                    let share = c * log.exp();
                    let apart: Vec<f64> =
                        self.mean_under(component, i).iter().zip(&mean).map(|(m, mean)| m - mean).collect();
                    add_outer(share, &apart, &mut sums[d + len..]);
                    if let Some(p) = self.covariance_under(component, i) {
                        sums[d + len..].iter_mut().zip(p).for_each(|(sum, p)| *sum += share * p);
                    }
                }
            }
            sums
        })?;
        Ok(added(parts))
    }
}
