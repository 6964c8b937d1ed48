//! Covariances of the estimates.

use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::model::clusters;
use crate::solver::levenberg::Expansion;

use super::readings::{Reading, groups};
use super::structural::Structural;
use super::terms::structural;

/// Directions of less information, in units of each parameter, are not determined: where that is a sum of products, and
/// where it is a difference of gradients.
pub(super) const SINGULAR: [f64; 2] = [1e-14, 1e-7];
/// Steps of differences of the gradient, in standard errors.
const STEP: f64 = 5e-3;
/// Parameters of the density of true values whose uncertainty is carried over, at most.
const MOST: usize = 60;

/// The inverse of some rows and columns of H (p x p), 0 elsewhere.
///
/// # Errors
/// Parameters that the data do not determine, by their names.
pub(super) fn inverse(h: &[f64], some: &[usize], names: &[String], singular: f64) -> Result<Vec<f64>> {
    let (p, m) = (names.len(), some.len());
    let mut out = vec![0.0; p * p];
    if m == 0 {
        return Ok(out);
    }
    let unit: Vec<f64> = some.iter().map(|&j| h[j * p + j].max(0.0).sqrt()).collect();
    if let Some(at) = unit.iter().position(|u| !(*u > 0.0)) {
        return Err(Error::Data(format!(
            "the data do not determine {}: the curve does not change with it at any row; fix it or leave it out",
            names[some[at]]
        )));
    }
    let scaled: Vec<f64> =
        (0..m * m).map(|at| h[some[at / m] * p + some[at % m]] / unit[at / m] / unit[at % m]).collect();
    if !scaled.iter().all(|x| x.is_finite()) {
        return Err(Error::Data("the information about the parameters is not finite: scale x, y or parameters".into()));
    }
    let mut eigh = Eigh::new(m);
    eigh.decompose(|i| &scaled[i * m..(i + 1) * m])?;
    if !(eigh.values[0] > singular) {
        // In the caller's units.
        let direction: Vec<f64> = (0..m).map(|j| eigh.vectors[j] / unit[j]).collect();
        let largest = (0..m).map(|j| eigh.vectors[j].abs()).fold(0.0, f64::max);
        let parts: Vec<String> = (0..m)
            .filter(|&j| eigh.vectors[j].abs() > 0.01 * largest)
            .map(|j| format!("{:+.3e} {}", direction[j], names[some[j]]))
            .collect();
        return Err(Error::Data(format!(
            "the data do not determine all parameters: along {} the fit does not change; fix one of them (fixed=), or \
             use a curve with fewer parameters",
            parts.join(" ")
        )));
    }
    for (a, b) in (0..m).flat_map(|a| (0..m).map(move |b| (a, b))) {
        let element: f64 = (0..m).map(|k| eigh.vectors[k * m + a] * eigh.vectors[k * m + b] / eigh.values[k]).sum();
        out[some[a] * p + some[b]] = element / unit[a] / unit[b];
    }
    Ok(out)
}

/// The covariance of all parameters from that of the free ones: 0 where fixed, NaN where a bound holds.
pub(super) fn spread_out(covariance: &[f64], free: &[usize], some: &[usize], p: usize) -> Vec<f64> {
    let width = (covariance.len() as f64).sqrt() as usize;
    let mut out = vec![0.0; p * p];
    for (a, &i) in free.iter().enumerate() {
        for (b, &j) in free.iter().enumerate() {
            let held = !some.contains(&a) || !some.contains(&b);
            out[i * p + j] = if held { f64::NAN } else { covariance[a * width + b] };
        }
    }
    out
}

/// B A B' of symmetric B (p x p) and A of the rows' scores (each p), by their groups ([`clusters`]).
/// `draws` have a unit normal distribution, whose score is one of A's.
pub(super) fn sandwich(
    bread: &[f64],
    rows: &[Vec<f64>],
    readings: &[Reading],
    draws: std::ops::Range<usize>,
) -> Vec<f64> {
    let p = rows.first().map_or(0, Vec::len);
    let mut middle = clusters::middle(&rows.concat(), p, groups(readings).as_deref());
    draws.for_each(|a| middle[packed_index(a, a)] += 1.0);
    let product = |at: usize, with: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..p).map(|k| bread[at / p * p + k] * with(k, at % p)).sum()
    };
    let half: Vec<f64> = (0..p * p).map(|at| product(at, &|k, b| middle[packed_index(k.max(b), k.min(b))])).collect();
    // B A is half; B (B A)' = B A B.
    (0..p * p).map(|at| product(at, &|k, b| half[b * p + k])).collect()
}

/// Minus the second derivatives of the log-likelihood of `some` parameters (0 for others), by differences of the gradient.
///
/// A step is a part of the standard error given all other parameters. The `diagonal` is the information that there would be if
/// the true x were known: with little scatter it is far larger than what the readings tell, and its steps would see rounding.
/// The `hessian` lacks second derivatives of f, so its steps may be too long, and are then shortened.
pub(super) fn information(
    objective: &Structural<'_>,
    (at, some): (&[f64], &[usize]),
    Expansion { hessian, diagonal, .. }: &Expansion,
    (lower, upper): (&[f64], &[f64]),
) -> Result<Option<Vec<f64>>> {
    let p = at.len();
    let mut h = vec![0.0; p * p];
    for &j in some {
        let (size, known) = (hessian[j * p + j].min(diagonal[j]), diagonal[j]);
        let shortest = STEP / known.sqrt();
        let mut step = if size > 1e-12 * known { STEP / size.sqrt() } else { shortest };
        let column = loop {
            let mut ends = [at.to_vec(), at.to_vec()];
            ends[0][j] = (at[j] + step).min(upper[j]);
            ends[1][j] = (at[j] - step).max(lower[j]);
            let width = ends[0][j] - ends[1][j];
            let both = objective.gradient(&ends[0])?.zip(objective.gradient(&ends[1])?);
            let column: Option<Vec<f64>> = both
                .map(|(above, below)| above.iter().zip(below).map(|(above, below)| (above - below) / width).collect());
            let own = column.as_ref().map_or(0.0, |column| column[j]);
            if !(step > shortest) || (own > 0.0 && step * own.sqrt() < 10.0 * STEP) {
                break column;
            }
            step = if own > 0.0 { STEP / own.sqrt() } else { 0.1 * step }.max(shortest);
        };
        let Some(column) = column else { return Ok(None) };
        some.iter().for_each(|&a| h[a * p + j] = column[a]);
    }
    Ok(Some((0..p * p).map(|at| 0.5 * (h[at] + h[at % p * p + at / p])).collect()))
}

/// What the density of true values is uncertain by, in terms of the law: the change C of the law's score with each of its
/// parameters (width x m), the rows' scores of these (n x m), and the covariance of them (m x m).
pub(super) struct FirstStage {
    pub change: Vec<f64>,
    pub scores: Vec<f64>,
    pub covariance: Vec<f64>,
    pub m: usize,
}

impl FirstStage {
    /// `None` where there are too many parameters for it; `factors` of features' errors were fitted with the density.
    pub(super) fn new(
        objective: &Structural<'_>,
        mixture: &Mixture,
        factors: usize,
        at: &[f64],
    ) -> Result<Option<Self>> {
        let (k, d) = (mixture.n_components(), mixture.n_features());
        let each = d + packed_len(d);
        let of_density = k * each + k - 1;
        let m = of_density + factors;
        let (n, width) = (objective.readings.len(), at.len());
        if m > MOST {
            return Ok(None);
        }
        let (mut change, mut scores) = (vec![0.0; width * m], vec![0.0; n * m]);
        for j in 0..m {
            let step = 1e-4;
            let mut ends = vec![];
            for sign in [1.0, -1.0] {
                let by: f64 = sign * step;
                let (mut scaled, mut size) = (vec![], by);
                let (terms, logs) = if let Some(feature) = j.checked_sub(of_density) {
                    let factors: Vec<f64> = (0..d).map(|j| if j == feature { by.exp() } else { 1.0 }).collect();
                    scaled = objective.readings.to_vec();
                    scaled.iter_mut().for_each(|reading| reading.scale(&factors));
                    structural(&scaled, mixture)?
                } else {
                    let moved = moved(mixture, j, by)?;
                    size = moved.1;
                    structural(objective.readings, &moved.0)?
                };
                let readings = if scaled.is_empty() { objective.readings } else { &scaled[..] };
                let own = Structural { readings, terms: &terms, spread: objective.spread.clone(), ..*objective };
                let Some(gradient) = own.gradient(at)? else { return Ok(None) };
                ends.push((gradient, logs, size));
            }
            let width_of_step = ends[0].2 - ends[1].2;
            for a in 0..width {
                change[a * m + j] = -(ends[0].0[a] - ends[1].0[a]) / width_of_step;
            }
            for i in 0..n {
                scores[i * m + j] = (ends[0].1[i] - ends[1].1[i]) / width_of_step;
            }
        }
        let mut information = vec![0.0; m * m];
        for (own, weight) in scores.chunks_exact(m).zip(objective.weights) {
            for (a, b) in (0..m).flat_map(|a| (0..m).map(move |b| (a, b))) {
                information[a * m + b] += weight * own[a] * own[b];
            }
        }
        // Directions without any information (two equal features) do not move the law either.
        let unit: Vec<f64> =
            (0..m).map(|j| information[j * m + j].sqrt()).map(|u| if u > 0.0 { u } else { 1.0 }).collect();
        let scaled: Vec<f64> = (0..m * m).map(|at| information[at] / unit[at / m] / unit[at % m]).collect();
        let mut eigh = Eigh::new(m);
        eigh.decompose(|i| &scaled[i * m..(i + 1) * m])?;
        let mut covariance = vec![0.0; m * m];
        for (a, b) in (0..m).flat_map(|a| (0..m).map(move |b| (a, b))) {
            let kept = (0..m).filter(|&e| eigh.values[e] > 1e-10);
            let element: f64 = kept.map(|e| eigh.vectors[e * m + a] * eigh.vectors[e * m + b] / eigh.values[e]).sum();
            covariance[a * m + b] = element / unit[a] / unit[b];
        }
        Ok(Some(Self { change, scores, covariance, m }))
    }

    /// C times the covariance, width x m.
    fn carried(&self, width: usize) -> Vec<f64> {
        let m = self.m;
        (0..width * m)
            .map(|at| (0..m).map(|b| self.change[at / m * m + b] * self.covariance[b * m + at % m]).sum())
            .collect()
    }

    /// C covariance C', width x width.
    pub(super) fn spread(&self, width: usize) -> Vec<f64> {
        let (m, carried) = (self.m, self.carried(width));
        (0..width * width)
            .map(|at| (0..m).map(|b| carried[at / width * m + b] * self.change[at % width * m + b]).sum())
            .collect()
    }

    /// What each row adds to the law's score by way of the density.
    pub(super) fn add_to(&self, rows: &mut [Vec<f64>], weights: &[f64]) {
        let width = rows.first().map_or(0, Vec::len);
        let (m, carried) = (self.m, self.carried(width));
        for ((row, own), weight) in rows.iter_mut().zip(self.scores.chunks_exact(m)).zip(weights) {
            for a in 0..width {
                row[a] += weight * (0..m).map(|b| carried[a * m + b] * own[b]).sum::<f64>();
            }
        }
    }
}

/// The mixture with its j-th parameter moved (in units of the component's spread), and by how much in those units: all
/// means and packed triangles one after the other, then the shares but the last.
fn moved(mixture: &Mixture, j: usize, by: f64) -> Result<(Mixture, f64)> {
    let (k, d) = (mixture.n_components(), mixture.n_features());
    let (mut weights, mut means, mut covariances) =
        (mixture.weights().to_vec(), mixture.means().to_vec(), mixture.covariances().to_vec());
    let each = packed_len(d);
    let std = |component: usize, feature: usize| mixture.covariance(component)[packed_len(feature + 1) - 1].sqrt();
    if j < k * d {
        means[j] += by * std(j / d, j % d);
    } else if j < k * (d + each) {
        let (component, at) = ((j - k * d) / each, (j - k * d) % each);
        let i = (0..d).find(|&i| at < packed_len(i + 1)).unwrap_or(0);
        covariances[j - k * d] += by * std(component, i) * std(component, at - packed_len(i));
    } else {
        let component = j - k * (d + each);
        weights[component] *= by.exp();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
    }
    Ok((Mixture::new(weights, means, covariances, d)?, by))
}
