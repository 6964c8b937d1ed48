//! From rows in standardized coordinates to a line: the likelihood of all targets, where it is largest, and the errors of what is
//! found there.
//!
//! Targets are measured from a first line and in units of its residuals, so that neither large numbers that all of them have in
//! common nor a large range beside their errors takes digits. In F the degrees of freedom and the weights of EM of shared errors
//! are those of the round before.

use crate::control::Control;
use crate::deconvolution::{Mixture, Report};
use crate::error::Result;
use crate::linalg::dot;
use crate::model::law::coordinates::Coordinates;
use crate::model::law::crossed::Crossed;
use crate::model::law::errors::covariance;
use crate::model::law::likelihood::{Freedom, Likelihood};
use crate::model::law::newton::{Maximum, Problem};
use crate::model::law::profile::intervals;
use crate::model::law::remote::{RemoteLine, RemoteSums};
use crate::model::noise::Noise;
use crate::special::quantile;

use super::LineFit;
use super::response::NoiseRows;
use super::rows::LineRows;
use super::start::start;

/// Rounds with weights and variances of the one before.
const ROUNDS: usize = 8;
/// A change of these, relative to the variance of y, that ends the rounds.
const SETTLED: f64 = 1e-10;
/// Variance of residuals beside which scatter starts at its bound, as a part of that of known errors.
const NOTHING: f64 = 1e-12;
/// Least and largest squared factor of the error bars.
const SCALES: [f64; 2] = [1e-6, 1e6];
/// Penalty of squared coefficients where the rows do not determine them.
const RIDGE: f64 = 1e-8;

/// Specification of a fit.
pub(super) struct Question<'a> {
    pub noise: Noise,
    /// Is the factor of the error bars fitted?
    pub scaled: bool,
    /// Do the rows leave a direction open?
    pub open: bool,
    /// Probability of intervals by the profile of the likelihood.
    pub profile: Option<f64>,
    pub density: &'a Mixture,
}

/// The solution, in the coordinates and units of the fit.
pub(super) struct Solution {
    maximum: Maximum,
    covariance: Vec<f64>,
    outlying: Vec<f64>,
    least_variance: f64,
    profile: Vec<f64>,
    log_likelihood: f64,
    n_iter: usize,
    /// Intercept and coefficients that targets are measured from, and their unit.
    law: Vec<f64>,
    unit: f64,
}

/// The line that targets are measured from, intercept and coefficients, and the unit of the fit.
pub(super) struct Units<'a> {
    pub law: &'a [f64],
    pub unit: f64,
}

/// Rows in these units.
pub(super) struct Parts {
    pub response: NoiseRows,
    modes: Vec<f64>,
    crossed: Option<Crossed>,
    base: Vec<f64>,
}

impl Units<'_> {
    pub(super) fn parts(&self, rows: &LineRows<'_>, noise: Noise, scaled: bool) -> Parts {
        let (law, unit) = (self.law, self.unit);
        let mut reader = rows.truths.reader();
        let mut mean = |i: usize| law[0] + dot(reader.at(i).mean_under(0), &law[1..]);
        Parts {
            response: NoiseRows {
                y: (0..rows.n()).map(|i| (rows.target(i) - mean(i)) / unit).collect(),
                known: rows.known.iter().map(|t| t / (unit * unit)).collect(),
                limits: rows.limits.clone(),
                noise,
                scaled,
            },
            modes: rows.modes.iter().map(|m| m / unit).collect(),
            crossed: rows.crossed.as_ref().map(|crossed| crossed.in_units(unit)),
            base: law[1..].iter().map(|b| b / unit).collect(),
        }
    }
}

impl Parts {
    pub(super) fn likelihood<'a>(&'a self, rows: &'a LineRows<'a>, freedom: Option<Freedom<'a>>) -> Likelihood<'a> {
        Likelihood {
            truths: &rows.truths,
            response: &self.response,
            weights: &rows.weights,
            offsets: None,
            modes: &self.modes,
            k: rows.k,
            crossed: self.crossed.as_ref(),
            base: &self.base,
            intercept: true,
            n_psi: self.response.n(),
            scaled: rows.scaled.as_ref(),
            freedom,
        }
    }
}

/// Of rows in memory, or of a sample of rows that other processes hold.
pub(super) fn fit(
    rows: &LineRows<'_>,
    asked: &Question<'_>,
    elsewhere: Option<&RemoteLine<'_>>,
    control: &Control,
) -> Result<Solution> {
    let (n, d, k) = (rows.n(), rows.truths.d, rows.k);
    let start = start(rows, asked.noise, asked.open)?;
    let unit = start.unit;
    let parts = Units { law: &start.law, unit }.parts(rows, asked.noise, asked.scaled);
    let (response, base) = (&parts.response, &parts.base);
    let likelihood = parts.likelihood(rows, None);
    let first = likelihood.first_psi();
    let mut at = vec![0.0; first];
    let (mut lower, mut upper) = (vec![f64::NEG_INFINITY; first], vec![f64::INFINITY; first]);
    // A row without any error would count without bounds; where there is one, scatter ends at the rounding of y.
    let (mut reader, mut bounded, mut explained) = (rows.truths.reader(), true, 0.0);
    for (i, known) in response.known.iter().enumerate() {
        let variance = known + likelihood.spread(i, reader.at(i), base);
        bounded &= variance > 0.0;
        explained += variance;
    }
    let explained = explained / n as f64;
    let least_variance = if bounded { 0.0 } else { (start.rounding / unit).powi(2) };
    let mut add = |value: f64, low: f64, high: f64| {
        at.push(value);
        lower.push(low);
        upper.push(high);
    };
    // Residuals far below known errors leave no scatter, and rounding no way to it.
    let beside = if start.typical < NOTHING * explained { 0.0 } else { 0.1 * start.typical };
    add((start.typical - explained).max(beside).max(least_variance), least_variance, f64::INFINITY);
    if asked.scaled {
        add(1.0, SCALES[0], SCALES[1]);
    }
    asked.noise.start(start.typical, start.bad).into_iter().for_each(|(value, low, high)| add(value, low, high));
    let ridges: Vec<f64> = [vec![if asked.open { RIDGE } else { 0.0 }; d], vec![1.0; k]].concat();
    // Degrees of freedom are those of the rows that the weights stand for.
    let weight = elsewhere.map_or_else(|| rows.weights.iter().sum(), |rows| rows.weight);
    let p = (d as f64 + 1.0) * weight / elsewhere.map_or(rows.worth.rows, |rows| rows.worth.rows);
    let read = rows.limits.as_ref().map_or(weight, |limits| {
        rows.weights.iter().zip(limits).filter(|(_, limit)| **limit == 0).map(|(c, _)| c).sum()
    });
    let taken = p.min(read - 1.0);
    let (mut before, mut shares, mut n_iter, mut round) = (base.clone(), vec![1.0; n], 0, 0);
    let mut told: Vec<f64> = rows.limits.iter().flatten().map(|limit| f64::from(u8::from(*limit == 0))).collect();
    let (maximum, covariance, profile) = loop {
        let freedom = Freedom { taken, scaled: asked.scaled, before: &before, shares: &shares, told: &told };
        let likelihood = Likelihood { freedom: Some(freedom), ..likelihood };
        let remote = elsewhere.map(|line| RemoteSums { line, law: &start.law, unit, before: &before });
        let remote = remote.as_ref();
        let problem = Problem { likelihood, remote, ridges: &ridges, lower: &lower, upper: &upper, control };
        let maximum = problem.maximum(at, None)?;
        n_iter += maximum.n_iter;
        round += 1;
        let next = refreshed(&likelihood, response, &maximum.theta);
        if next.change < SETTLED || round == ROUNDS {
            let (groups, density) = (rows.groups.as_deref(), Some(asked.density));
            let mut errors = covariance(&problem, density, &maximum, &maximum.free, groups)?;
            if asked.noise.n() > 0 && errors[0].is_nan() {
                // Of clean data the law of outliers is not determined, and does not matter.
                let of_noise = first + response.first_of_noise();
                let free: Vec<usize> = maximum.free.iter().copied().filter(|at| *at < of_noise).collect();
                errors = covariance(&problem, density, &maximum, &free, groups)?;
            }
            if asked.open {
                errors.fill(f64::NAN);
            }
            let ends = |level: f64| intervals(&problem, &maximum, &errors, quantile(0.5 + 0.5 * level));
            let profile = asked.profile.map(ends).transpose()?.unwrap_or_default();
            break (maximum, errors, profile);
        }
        (before, shares, told, at) = (next.beta, next.shares, next.told, maximum.theta);
    };
    let outlying = outlying(&likelihood, response, &maximum.theta);
    let unlimited = |i: &usize| rows.limits.as_ref().is_none_or(|limits| limits[*i] == 0);
    let counted: f64 = (0..n).filter(unlimited).map(|i| rows.weights[i]).sum();
    let density = unit.ln() * elsewhere.map_or(counted, |rows| rows.weight);
    let share = elsewhere.map_or(rows.share, |rows| rows.share);
    let prior: f64 = maximum.theta[likelihood.modes()].iter().map(|a| 0.5 * a * a).sum();
    let log_likelihood = (maximum.at.log - density) / share - prior - maximum.at.log_root;
    Ok(Solution {
        maximum,
        covariance,
        outlying,
        least_variance,
        profile,
        log_likelihood,
        n_iter,
        law: start.law,
        unit,
    })
}

/// Weights and coefficients that the next round takes from this one.
struct Refreshed {
    beta: Vec<f64>,
    shares: Vec<f64>,
    told: Vec<f64>,
    /// By how much it has changed, in parts of the variance of y.
    change: f64,
}

/// At some theta.
fn refreshed(likelihood: &Likelihood<'_>, response: &NoiseRows, theta: &[f64]) -> Refreshed {
    let place = likelihood.at(theta);
    let (psi, mut row) = (&theta[likelihood.first_psi()..], likelihood.row());
    let parts = response.parts(psi);
    let Some(freedom) = &likelihood.freedom else {
        return Refreshed { beta: place.beta, shares: vec![], told: vec![], change: 0.0 };
    };
    let (mut shares, mut told, mut change) = (freedom.shares.to_vec(), freedom.told.to_vec(), 0.0f64);
    for (i, share) in shares.iter_mut().enumerate() {
        let spread = likelihood.spread(i, row.reader.at(i), &place.beta);
        let variance = likelihood.variance(i, psi, spread);
        let before = likelihood.spread(i, row.reader.at(i), freedom.before);
        change = change.max((spread - before).abs() / variance);
        if likelihood.k > 0 && response.noise != Noise::Normal {
            likelihood.see(i, &place, &mut row);
            let new = (response.mixed(i, row.laws[0], psi, &parts).weight * variance).min(1.0);
            change = change.max((new - *share).abs());
            *share = new;
        }
        if response.limits.as_ref().is_some_and(|limits| limits[i] != 0) {
            likelihood.see(i, &place, &mut row);
            let new = (-row.locals[0].hessian[0] * variance).clamp(0.0, 1.0);
            change = change.max((new - told[i]).abs() / told.len() as f64);
            told[i] = new;
        }
    }
    Refreshed { beta: place.beta, shares, told, change }
}

/// P(outlier | y, x) of every row; none without a law of outliers.
fn outlying(likelihood: &Likelihood<'_>, response: &NoiseRows, theta: &[f64]) -> Vec<f64> {
    if response.noise == Noise::Normal {
        return vec![];
    }
    let (place, psi, mut row) = (likelihood.at(theta), &theta[likelihood.first_psi()..], likelihood.row());
    let parts = response.parts(psi);
    let one = |i: usize| {
        likelihood.see(i, &place, &mut row);
        let of = |(law, share): (&(f64, f64), &f64)| share * response.mixed(i, *law, psi, &parts).outlying;
        let count = row.reader.at(i).logs().len();
        row.laws.iter().zip(&row.shares).take(count).map(of).sum::<f64>().min(1.0)
    };
    (0..likelihood.weights.len()).map(one).collect()
}

impl Solution {
    /// In the caller's units and rows, of which there are `n`.
    pub(super) fn restored(
        self,
        coordinates: &Coordinates,
        asked: &Question<'_>,
        (mixture, report): (Mixture, Report),
        n: usize,
        rows: &LineRows<'_>,
    ) -> LineFit {
        let (head, k, unit, theta) = (self.law.len(), rows.k, self.unit, &self.maximum.theta);
        let (m, p) = (head + k, theta.len());
        let element = |a: usize, b: usize| self.covariance[a * p + b];
        let std = |a: usize| element(a, a).sqrt();
        // Intercept and coefficients turn as in every law, and with them what they share with the modes, which stay as they are.
        let size = |a: usize| if a < head { unit } else { 1.0 };
        let square: Vec<f64> = (0..m * m).map(|at| size(at / m) * size(at % m) * element(at / m, at % m)).collect();
        let known = square.iter().all(|x| x.is_finite());
        let base = self.law.iter().copied().chain(vec![0.0; k]);
        let values: Vec<f64> = base.enumerate().map(|(a, base)| base + size(a) * theta[a]).collect();
        let turned = coordinates.with_exact(k).restored(&values, &square, &[], true);
        let whole = if known { turned.covariance() } else { &square };
        let block = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| -> Vec<f64> {
            rows.flat_map(|a| columns.clone().map(move |b| whole[a * m + b])).collect()
        };
        let variance = theta[m];
        let scatter = if variance > self.least_variance * (1.0 + 1e-6) { variance.sqrt() } else { 0.0 };
        let error_scale = asked.scaled.then(|| {
            let root = theta[m + 1].sqrt();
            (root, std(m + 1) / (2.0 * root))
        });
        let place = m + 1 + usize::from(asked.scaled);
        let noise_of = |(e, (value, slope)): (usize, (f64, f64))| {
            // The width of bad data is in units of y.
            let size = if e == 1 { unit } else { 1.0 };
            (size * value, if asked.noise.n() > 0 { size * slope * std(place + e) } else { f64::NAN })
        };
        let mut outlier_probability = if self.outlying.is_empty() { vec![] } else { vec![0.0; n] };
        self.outlying.iter().zip(&rows.numbers).for_each(|(p, &i)| outlier_probability[i] = *p);
        let end = |(at, end): (usize, &f64)| (self.law[1 + at / 2] + unit * end) / coordinates.scale[at / 2];
        LineFit {
            law: turned.values()[..head].to_vec(),
            covariance: block(0..head, 0..head),
            profile: self.profile.iter().enumerate().map(end).collect(),
            scatter: unit * scatter,
            scatter_std: if scatter > 0.0 { unit * std(m) / (2.0 * scatter) } else { f64::NAN },
            error_scale,
            feature_error_scale: vec![],
            noise: asked.noise.natural(&theta[place..]).into_iter().enumerate().map(noise_of).collect(),
            outlier_probability,
            modes: theta[head..m].to_vec(),
            modes_covariance: block(head..m, head..m),
            modes_law_covariance: block(head..m, 0..head),
            naive: None,
            undetermined: None,
            log_likelihood: self.log_likelihood,
            mixture,
            report,
            n_iter: self.n_iter,
            status: self.maximum.status,
        }
    }
}
