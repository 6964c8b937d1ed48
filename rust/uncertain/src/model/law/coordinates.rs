//! Coordinates in which the fit works: true features centred and of variance one, so that no unit matters.

use crate::data::covariance::{packed_index, packed_len, unpack};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::{Eigh, Spd, congruent, norm};
use crate::model::law::Estimates;
use crate::model::law::truths::Truths;

/// Share of the true features' variance along a direction of which the readings must tell.
const LEAST_SEEN: f64 = 1e-5;
/// Least eigenvalue of the correlations of true features.
const SINGULAR: f64 = 1e-12;

pub(in crate::model) struct Coordinates {
    pub centre: Vec<f64>,
    pub scale: Vec<f64>,
}

impl Coordinates {
    /// Of these rows; an error names a direction along which they say nothing, unless a penalty determines it, and what to do.
    pub(in crate::model) fn new(
        truths: &Truths<'_>,
        weight: impl Fn(usize) -> f64 + Sync,
        penalised: bool,
        remedy: &str,
    ) -> Result<Self> {
        match Self::surveyed(truths, weight)? {
            (_, Some(direction)) if !penalised => Err(Self::undetermined(&direction, remedy)),
            (coordinates, _) => Ok(coordinates),
        }
    }

    /// Of these rows, and a direction along which they say nothing: shares of the features, in units of their spread.
    pub(in crate::model) fn surveyed(
        truths: &Truths<'_>,
        weight: impl Fn(usize) -> f64 + Sync,
    ) -> Result<(Self, Option<Vec<f64>>)> {
        let (d, len) = (truths.d, packed_len(truths.d));
        let total: f64 = (0..truths.n).map(&weight).sum();
        let first = truths.reader().at(0).mean();
        let near: Vec<f64> = truths.moments(&first, &weight)?[..d].iter().map(|sum| sum / total).collect();
        let centre: Vec<f64> = first.iter().zip(&near).map(|(a, b)| a + b).collect();
        let moments: Vec<f64> = truths.moments(&centre, &weight)?.iter().map(|sum| sum / total).collect();
        let (seen, unseen) = (&moments[d..d + len], &moments[d + len..]);
        let all: Vec<f64> = seen.iter().zip(unseen).map(|(a, b)| a + b).collect();
        let size = |j: usize| all[packed_index(j, j)].max(0.0).sqrt();
        // What rounding leaves of a constant is none.
        let varies = |j: usize| size(j) > 1e-13 * centre[j].abs() && size(j).is_finite();
        if let Some(j) = (0..d).find(|&j| !size(j).is_finite()) {
            return Err(Error::Data(format!("feature {j}: its variance is more than a number can hold; scale it")));
        }
        let scale: Vec<f64> = (0..d).map(|j| if varies(j) { size(j) } else { 1.0 }).collect();
        let constant = (0..d).find(|&j| !varies(j));
        let coordinates = Self { centre, scale };
        let direction = match constant {
            Some(j) => Some((0..d).map(|k| f64::from(u8::from(k == j))).collect()),
            None => Self::open_direction(&coordinates.scaled(seen), &coordinates.scaled(&all), truths.n <= d + 1)?,
        };
        Ok((coordinates, direction))
    }

    /// With k further features, as they are.
    pub(in crate::model) fn with_exact(&self, k: usize) -> Self {
        Self { centre: [&self.centre[..], &vec![0.0; k]].concat(), scale: [&self.scale[..], &vec![1.0; k]].concat() }
    }

    fn scaled(&self, triangle: &[f64]) -> Vec<f64> {
        let pairs = (0..self.scale.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        pairs.zip(triangle).map(|((i, j), x)| x / self.scale[i] / self.scale[j]).collect()
    }

    /// A direction of length 1 along which true values do not differ, or readings say nothing of them, from the covariances of
    /// what is seen and of all; `few`: rows are, so that there is one.
    pub(in crate::model) fn open_direction(seen: &[f64], all: &[f64], few: bool) -> Result<Option<Vec<f64>>> {
        let d = (0..).find(|&d| packed_len(d) >= all.len()).unwrap_or(0);
        let mut eigh = Eigh::new(d);
        eigh.packed(all)?;
        let least = eigh.vectors[..d].to_vec();
        if few || eigh.values[0] < SINGULAR * d as f64 {
            return Ok(Some(least));
        }
        // Of L^-1 (seen) L^-T, with L L' all of it.
        let Some(all) = Spd::new(unpack(all, d), d) else { return Ok(Some(least)) };
        let inverse = all.inverse_root();
        eigh.packed(&congruent(&inverse, d, |i, j| seen[packed_index(i, j)]))?;
        if eigh.values[0] >= LEAST_SEEN {
            return Ok(None);
        }
        // The direction L^-T u.
        let direction: Vec<f64> = (0..d).map(|j| (j..d).map(|i| inverse[i * d + j] * eigh.vectors[i]).sum()).collect();
        let size = norm(&direction);
        Ok(Some(direction.iter().map(|x| x / size).collect()))
    }

    /// The density in these coordinates.
    pub(in crate::model) fn mixture(&self, mixture: &Mixture) -> Mixture {
        let d = self.scale.len();
        let components = 0..mixture.n_components();
        let mean = |k: usize| (0..d).map(move |j| (mixture.mean(k)[j] - self.centre[j]) / self.scale[j]);
        let covariance = |k: usize| {
            let pairs = (0..d).flat_map(|i| (0..=i).map(move |j| (i, j)));
            pairs.zip(mixture.covariance(k)).map(|((i, j), t)| t / self.scale[i] / self.scale[j]).collect::<Vec<f64>>()
        };
        let means = components.clone().flat_map(mean).collect();
        Mixture::unchecked(mixture.weights().to_vec(), means, components.flat_map(covariance).collect(), d)
    }

    /// Estimates and their covariance (p x p) in the units of the rows, further parameters as users know them (`natural`: their
    /// values and derivatives).
    pub(in crate::model) fn restored(
        &self,
        theta: &[f64],
        covariance: &[f64],
        natural: &[(f64, f64)],
        intercept: bool,
    ) -> Estimates {
        let (d, p, first) = (self.scale.len(), theta.len(), usize::from(intercept));
        // How the estimates depend on theta: coefficients on themselves, b and the thresholds on the centre, too.
        let mut turn = vec![0.0; p * p];
        let mut values = theta.to_vec();
        for j in 0..d {
            turn[(first + j) * p + first + j] = 1.0 / self.scale[j];
            values[first + j] /= self.scale[j];
        }
        let shift: Vec<f64> = (0..d).map(|j| self.centre[j] / self.scale[j]).collect();
        let centred: f64 = shift.iter().zip(&theta[first..]).map(|(s, b)| s * b).sum();
        if intercept {
            turn[0] = 1.0;
            (0..d).for_each(|j| turn[first + j] = -shift[j]);
            values[0] -= centred;
        }
        for (e, (value, slope)) in natural.iter().enumerate() {
            let at = first + d + e;
            turn[at * p + at] = *slope;
            values[at] = *value;
            if !intercept {
                (0..d).for_each(|j| turn[at * p + first + j] = shift[j]);
                values[at] += centred;
            }
        }
        // A parameter at its bound has no variance.
        let known: Vec<f64> = covariance.iter().map(|x| if x.is_finite() { *x } else { 0.0 }).collect();
        let row = |i: usize| &turn[i * p..(i + 1) * p];
        let half: Vec<f64> =
            (0..p * p).map(|at| (0..p).map(|k| row(at / p)[k] * known[k * p + at % p]).sum()).collect();
        let whole = |i: usize, j: usize| (0..p).map(|k| half[i * p + k] * row(j)[k]).sum::<f64>();
        let covariance: Vec<f64> = (0..p * p).map(|at| whole((at / p).max(at % p), (at / p).min(at % p))).collect();
        Estimates { values, covariance }
    }

    /// The direction in words: its features with their shares of it, the largest first.
    pub(in crate::model) fn undetermined(direction: &[f64], remedy: &str) -> Error {
        let mut parts: Vec<(usize, f64)> = direction.iter().copied().enumerate().collect();
        parts.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        parts.retain(|(_, share)| share.abs() > 0.05);
        let sign = parts.first().map_or(1.0, |(_, share)| share.signum());
        let shown: Vec<String> = parts.iter().map(|(j, share)| format!("{:.2} of feature {j}", sign * share)).collect();
        Error::Data(format!(
            "the rows do not determine the law: along {} (in units of their spread) true values do not differ, or the \
             readings say nothing of it; {remedy}",
            shown.join(", ")
        ))
    }
}
