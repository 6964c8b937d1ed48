//! [`Densities`]: what is known of the number behind every row, as mixtures of normal distributions.

use std::ops::Range;

use ndarray::Array2;

use crate::error::{Error, Result};
use crate::parallel;
use crate::readable::readable;
use crate::special::{cdf, pdf, quantile};

/// One component of the density of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DensityComponent {
    /// Share, of all parts of the row 1.
    pub weight: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub std: f64,
}

/// Numbers per part, as they are stored: weight, mean, standard deviation.
pub(crate) const NUMBERS: usize = 3;
/// Error of a row of several components that has no density.
pub(crate) const NO_COMPONENT: &str =
    "the density of all its components is zero under the distribution of true values; look at its units";
/// A part without share, of rows that have fewer than others: what looks at it divides by its deviation.
pub(crate) const ABSENT: [f64; NUMBERS] = [0.0, 0.0, 1.0];

readable! {
    /// The densities of many rows, each with as many parts.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Densities {
        /// Components of every density.
        n_components: usize => usize,
        values: Vec<f64>,
    }
}

impl Densities {
    /// Row by row and part by part, the [`NUMBERS`] of each.
    pub(crate) fn new(n_components: usize, values: Vec<f64>) -> Self {
        Self { n_components, values }
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.values.len() / (self.n_components * NUMBERS)
    }

    /// The parts of one row's density.
    pub fn row(&self, row: usize) -> impl Iterator<Item = DensityComponent> + Clone {
        self.rows(row..row + 1)
    }

    /// Densities of rows that follow each other.
    fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = DensityComponent> + Clone {
        let len = self.n_components * NUMBERS;
        let parts = self.values[rows.start * len..rows.end * len].chunks_exact(NUMBERS);
        parts.map(|part| DensityComponent { weight: part[0], mean: part[1], std: part[2] })
    }

    /// The densities of rows whose components these are, row i's from `offsets[i]` to `offsets[i + 1]`: all their parts, with
    /// shares times the components' weights; rows of fewer components have parts of share 0.
    pub(crate) fn joined(&self, offsets: &[usize], weight: impl Fn(usize) -> f64) -> Self {
        let most = offsets.windows(2).map(|own| own[1] - own[0]).max().unwrap_or(1);
        let len = self.n_components * NUMBERS;
        let mut values = Vec::with_capacity(most * len * offsets.len().saturating_sub(1));
        for own in offsets.windows(2) {
            let end = values.len() + most * len;
            for component in own[0]..own[1] {
                for part in self.row(component) {
                    values.extend([weight(component) * part.weight, part.mean, part.std]);
                }
            }
            while values.len() < end {
                values.extend(ABSENT);
            }
        }
        Self::new(self.n_components * most, values)
    }

    /// From log p(part, component) in the place of shares to the share of every part in its row, whose components are as in
    /// [`joined`](Self::joined): a component counts in proportion to its weight times its likelihood.
    pub(crate) fn shared_out(mut self, offsets: &[usize], weights: &[f64]) -> Result<Self> {
        let len = self.n_components * NUMBERS;
        for (own, weight) in self.values.chunks_exact_mut(len).zip(weights) {
            own.iter_mut().step_by(NUMBERS).for_each(|log| *log += weight.ln());
        }
        for (row, own) in offsets.windows(2).enumerate() {
            let parts = &mut self.values[own[0] * len..own[1] * len];
            normalise(parts).ok_or_else(|| Error::Row { row, why: NO_COMPONENT.into() })?;
        }
        Ok(self)
    }

    /// Mean and standard deviation of every row's density.
    #[must_use]
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        (0..self.n_rows()).map(|i| moments(self.row(i))).unzip()
    }

    /// Densities of rows whose components these are, as in [`joined`](Self::joined), with the shares of their parts.
    pub(crate) fn moments_of_rows(&self, offsets: &[usize]) -> (Vec<f64>, Vec<f64>) {
        offsets.windows(2).map(|own| moments(self.rows(own[0]..own[1]))).unzip()
    }

    /// The numbers below which a row's number lies with these probabilities, each in [0, 1]: n x levels.
    ///
    /// # Errors
    /// A level that is no probability.
    pub fn quantiles(&self, levels: &[f64]) -> Result<Array2<f64>> {
        if let Some(level) = levels.iter().find(|level| !(0.0..=1.0).contains(*level)) {
            return Err(Error::parameter("quantiles", level, "probabilities in [0, 1]"));
        }
        let mut out = Array2::zeros((self.n_rows(), levels.len()));
        let values = out.as_slice_mut().unwrap_or_default();
        parallel::fill_rows(values, levels.len(), |part, out| {
            for (i, out) in part.zip(out.chunks_exact_mut(levels.len().max(1))) {
                out.iter_mut().zip(levels).for_each(|(q, level)| *q = mixture_quantile(self.row(i), *level));
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// Weights, means and standard deviations, each n x components.
    #[must_use]
    pub fn arrays(&self) -> [Array2<f64>; NUMBERS] {
        [0, 1, 2].map(|which| {
            Array2::from_shape_fn((self.n_rows(), self.n_components), |(i, k)| {
                self.values[(i * self.n_components + k) * NUMBERS + which]
            })
        })
    }
}

/// Mean and standard deviation.
fn moments(parts: impl Iterator<Item = DensityComponent> + Clone) -> (f64, f64) {
    let mean: f64 = parts.clone().map(|p| p.weight * p.mean).sum();
    let variance: f64 = parts.map(|p| p.weight * (p.std.powi(2) + (p.mean - mean).powi(2))).sum();
    (mean, variance.sqrt())
}

/// The parts of a row: log shares, up to a constant, to shares. `None`: there are none.
pub(crate) fn normalise(row: &mut [f64]) -> Option<()> {
    let logs = row.iter().step_by(NUMBERS);
    let largest = logs.copied().fold(f64::NEG_INFINITY, f64::max);
    let mut total = 0.0;
    for part in row.chunks_exact_mut(NUMBERS) {
        part[0] = (part[0] - largest).exp();
        total += part[0];
    }
    row.iter_mut().step_by(NUMBERS).for_each(|w| *w /= total);
    total.is_finite().then_some(())
}

/// A quantile of a mixture: between the smallest and the largest of its components, by Newton's method
/// inside a bracket, in the tail that is nearer.
fn mixture_quantile(parts: impl Iterator<Item = DensityComponent> + Clone, level: f64) -> f64 {
    let upper = level > 0.5;
    let (sign, p) = if upper { (-1.0, 1.0 - level) } else { (1.0, level) };
    let z = quantile(p);
    if !z.is_finite() {
        return sign * z;
    }
    let parts = parts.filter(|part| part.weight > 0.0);
    let own = parts.clone().map(|part| sign * part.mean + z * part.std);
    let (mut low, mut high) = own.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), q| (low.min(q), high.max(q)));
    let mut x = 0.5 * (low + high);
    for _ in 0..200 {
        let (mut f, mut slope) = (-p, 0.0);
        for DensityComponent { weight, mean, std } in parts.clone() {
            let u = (x - sign * mean) / std;
            f += weight * cdf(u);
            slope += weight * pdf(u) / std;
        }
        let by = f / slope;
        if f.abs() <= 1e-14 * p || by.abs() <= 4e-16 * x.abs() {
            break;
        }
        if f > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let newton = x - by;
        x = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if x <= low || x >= high {
            break;
        }
    }
    sign * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_the_distribution() {
        // Two humps, one of them narrow and rare; then one normal distribution.
        let values = vec![0.999, -1.0, 2.0, 0.001, 1e4, 1e-3, 1.0, 5.0, 3.0, 0.0, 0.0, 1.0];
        let densities = Densities::new(2, values);
        let levels = [1e-12, 0.03, 0.5, 0.998, 0.9995, 1.0 - 1e-9];
        let quantiles = densities.quantiles(&levels).unwrap();
        for (i, row) in quantiles.outer_iter().enumerate() {
            for (q, level) in row.iter().zip(levels) {
                let below: f64 = densities.row(i).map(|p| p.weight * cdf((q - p.mean) / p.std)).sum();
                let above: f64 = densities.row(i).map(|p| p.weight * cdf((p.mean - q) / p.std)).sum();
                assert!(
                    (below / level - 1.0).abs() < 1e-9 && (above / (1.0 - level) - 1.0).abs() < 1e-6,
                    "{i} {level}"
                );
            }
        }
        assert!((quantiles[[1, 2]] - 5.0).abs() < 1e-14);
        let (means, stds) = densities.moments();
        assert!((means[0] - (10.0 - 0.999)).abs() < 1e-9 && (stds[1] - 3.0).abs() < 1e-14);
        assert_eq!(densities.quantiles(&[0.0, 1.0]).unwrap()[[0, 1]], f64::INFINITY);
        assert!(densities.quantiles(&[f64::NAN]).unwrap_err().to_string().contains("quantiles"));
        assert_eq!(densities.quantiles(&[]).unwrap().dim(), (2, 0));
    }
}
