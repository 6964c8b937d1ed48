//! Fits by the likelihood, integrated over true values: from a naive start to estimates with their errors.

use std::ops::Range;

use crate::data::Incomplete;
use crate::data::weights::Worth;
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::Spd;
use crate::model::error_scale::{ErrorScale, fit_features};
use crate::model::law::density::refined;
use crate::model::law::errors::RowScores;
use crate::model::noise::Noise;
use crate::solver::Status;
use crate::solver::levenberg::{Expansion, Minimum, Objective, minimise, movable};

use super::density_scores::DensityScores;
use super::errors::{self, SINGULAR, spread_out};
use super::evaluate::Evaluator;
use super::initial::InitialParameters;
use super::least_squares::{Naive, naive};
use super::readings::{self, Outputs, Reading};
use super::structural::{Point, Structural};
use super::{CurveFit, MOST_NOISY, Params, terms};

/// The least variance of the scatter where a row without error of y is integrated over its true x, as a part of that of y.
const LEAST: f64 = 1e-10;
/// Rounding of y, as a part of its range: the least scatter where a row without any error would count without bounds.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// The least and the largest kappa.
const SCALES: [f64; 2] = [1e-6, 1e6];
/// A bound nearer than so much of the log-likelihood is reached.
const REACHED: f64 = 1e-6;

pub(super) fn fit_structural(
    params: &Params,
    evaluator: &Evaluator<'_>,
    start: &InitialParameters,
    (rows, mut readings): (Incomplete<'_>, Vec<Reading>),
    outputs: &Outputs,
) -> Result<CurveFit> {
    let (q, p, n, k) = (outputs.n_outputs, start.values.len(), readings.len(), outputs.modes.k);
    if let Some(reading) = readings.iter().find(|reading| reading.noisy() > MOST_NOISY) {
        return Err(Error::Data(format!(
            "row {} has {} features with errors, and a curve can be integrated over {MOST_NOISY} at most: call others exact, or \
             take truth=\"functional\"",
            reading.number,
            reading.noisy()
        )));
    }
    let (mixture, feature_error_scale) = density(params, evaluator, rows, &mut readings, outputs)?;
    let readings = &readings[..];
    let terms = match &mixture {
        Some(mixture) => terms::structural(readings, mixture)?,
        None => terms::functional(readings),
    };
    let free = start.free();
    let total: f64 = readings.iter().map(|reading| reading.weight).sum();
    let worth = Worth::from_weights(readings.iter().map(|reading| reading.weight));
    let share = worth.share(n, total);
    let weights: Vec<f64> = readings.iter().map(|reading| reading.weight * share).collect();
    let noise = Noise::new(params.outliers, params.degrees_of_freedom)?;
    // Without a distribution, errors that rows share may not be determined.
    let mut held = start.clone();
    held.fixed[p - k..].fill(true);
    let naive = naive(params, evaluator, &held, readings, noise)?;
    let scaled = params.error_scale.is_some_and(ErrorScale::scales_target);
    let unknowns = Unknowns::new(params, start, &naive, readings, (&weights, share * total), noise);
    let mut objective = Structural {
        evaluator,
        readings,
        terms: &terms,
        parameters: &start.values,
        free: &free,
        scatter: params.scatter,
        scaled,
        weights: &weights,
        spread: vec![0.0; n * q],
        noise,
        unit: &naive.unit,
        noisy: mixture.is_some(),
        modes: k,
        degrees_of_modes: k as f64,
        rough: false,
    };
    objective.spread = objective.spread(&naive.parameters)?;
    let (maximum, n_iter) = maximum(&mut objective, &unknowns, start, params.max_iter)?;
    let at = &maximum.at;
    if readings.iter().all(|reading| reading.noisy() > 0) {
        refuse_spikes(&mut objective, at, &unknowns.lower)?;
    }
    let Determined { some, information, inverse } = determined(&objective, &maximum, &unknowns, start)?;
    let of_curve: Vec<usize> = some.iter().copied().filter(|&j| j < free.len() - k).collect();
    let unmoved =
        maximum.status == Status::Converged && !objective.is_minimum((at, &of_curve), &inverse, unknowns.bounds())?;
    let of_density = |mixture| {
        let scores = DensityScores::new(&objective, mixture, feature_error_scale.len(), at)?;
        scores.ok_or_else(undefined_near_solution)
    };
    let stage = mixture.as_ref().map(of_density).transpose()?;
    let (width, modes) = (objective.width(), objective.places_of_modes());
    let scores = RowScores {
        p: width,
        weights: &weights,
        second: &maximum.state.scores,
        stage: stage.as_ref().map(|stage| (stage.m, &stage.before[..], &stage.given[..])),
        robust: outputs.groups.is_some() || worth.unit.is_none(),
        groups: readings::groups(readings),
        draws: modes.clone(),
    };
    let covariance = scores.covariance(&inverse)?;
    let variance = |place: usize| covariance[place * (width + 1)];
    let (parameters, variances) = objective.split(at);
    let (mut scatter, mut scatter_std) = (vec![0.0; q], vec![f64::NAN; q]);
    for (o, place) in objective.scatters().enumerate() {
        if variances[o] > unknowns.lower[place] {
            scatter[o] = variances[o].sqrt();
            scatter_std[o] = variance(place).sqrt() / (2.0 * scatter[o]);
        }
    }
    let error_scale = scaled.then(|| {
        let place = objective.scatters().end;
        let (root, variance) = (at[place].sqrt(), variance(place));
        (root, if variance > 0.0 { variance.sqrt() / (2.0 * root) } else { f64::NAN })
    });
    let first = objective.first_of_noise();
    let of_noise = |(e, (value, slope)): (usize, (f64, f64))| {
        let variance = if noise.n() > 0 { variance(first + e) } else { 0.0 };
        let std = if variance > 0.0 { slope * variance.sqrt() } else { f64::NAN };
        // The width is in units of the first output's.
        let unit = if e == 1 { naive.unit[0].sqrt() } else { 1.0 };
        (value * unit, std * unit)
    };
    let covariance = &spread_out(&covariance, &free, &some, p);
    let block = |places: Range<usize>| -> Vec<f64> {
        places.clone().flat_map(|a| places.clone().map(move |b| covariance[a * p + b])).collect()
    };
    Ok(CurveFit {
        parameters: parameters[..p - k].to_vec(),
        modes: parameters[p - k..].to_vec(),
        modes_covariance: block(p - k..p),
        noise: noise.natural(&at[first..]).into_iter().enumerate().map(of_noise).collect(),
        outlier_probability: outlier_probability(&objective, &maximum, rows.n_rows()),
        error_scale,
        feature_error_scale,
        covariance: block(0..p - k),
        scatter,
        scatter_std,
        loglikelihood: maximum.state.loglikelihood - log_root(&information, width, modes),
        profile: vec![],
        residual_variance: None,
        degrees: None,
        mixture,
        integration_error: maximum.state.disagreement,
        n_iter,
        status: if unmoved { Status::NoProgress } else { maximum.status },
    })
}

/// Factors of the features' error bars, with standard errors.
type Factors = Vec<(f64, f64)>;

/// The density of true values where x has errors, and factors of its error bars where they are asked for: `readings` are
/// scaled by them.
fn density(
    params: &Params,
    evaluator: &Evaluator<'_>,
    rows: Incomplete<'_>,
    readings: &mut [Reading],
    outputs: &Outputs,
) -> Result<(Option<Mixture>, Factors)> {
    if readings.iter().all(|reading| reading.noisy() == 0 && reading.parts.is_empty()) {
        return Ok((None, vec![]));
    }
    let (weights, control) = (outputs.weights.as_ref(), evaluator.control);
    let em = params.density().check()?.fit_rows(rows, weights, false, control)?;
    let mixture = refined(&em.mixture, rows, weights, control)?;
    if !params.error_scale.is_some_and(ErrorScale::scales_features) {
        return Ok((Some(mixture), vec![]));
    }
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let scale = fit_features(rows, weight, &mixture, &control.with_task("error bars"))?;
    let factors: Vec<f64> = scale.factors.iter().map(|(factor, _)| *factor).collect();
    readings.iter_mut().for_each(|reading| reading.scale(&factors));
    Ok((Some(scale.mixture), scale.factors))
}

/// Free parameters of the curve, squared scatters, kappa and the parameters of the noise: where they start, and their bounds.
struct Unknowns {
    at: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Unknowns {
    /// From least squares; the `weights` have this sum.
    fn new(
        params: &Params,
        start: &InitialParameters,
        naive: &Naive,
        readings: &[Reading],
        (weights, total): (&[f64], f64),
        noise: Noise,
    ) -> Self {
        let (at, lower, upper) = InitialParameters { values: naive.parameters.clone(), ..start.clone() }.restricted();
        let mut unknowns = Self { at, lower, upper };
        let (q, n) = (naive.variances.len(), readings.len());
        for (o, residual) in naive.variances.iter().enumerate().filter(|_| params.scatter) {
            let mean = (0..n).map(|i| weights[i] * readings[i].y[o]).sum::<f64>() / total;
            let squares = (0..n).map(|i| weights[i] * (readings[i].y[o] - mean).powi(2)).sum::<f64>();
            let variance = squares / total;
            let range = readings.iter().map(|reading| (reading.y[o] - mean).abs()).fold(0.0, f64::max);
            let least = |reading: &Reading| match reading.rest[o * q + o] {
                known if known > 0.0 => 0.0,
                _ if reading.noisy() > 0 => LEAST * variance,
                _ => (ROUNDING * range).powi(2).max(f64::MIN_POSITIVE),
            };
            let least = readings.iter().map(least).fold(0.0, f64::max);
            let mean_known = readings.iter().map(|reading| reading.rest[o * q + o]).sum::<f64>() / n as f64;
            unknowns.push((residual - mean_known).max(0.1 * residual).max(least), least, f64::INFINITY);
        }
        if params.error_scale.is_some_and(ErrorScale::scales_target) {
            unknowns.push(1.0, SCALES[0], SCALES[1]);
        }
        // The widths of bad data in units of the typical variance of each output.
        noise.start(1.0, naive.bad).into_iter().for_each(|(value, low, high)| unknowns.push(value, low, high));
        unknowns
    }

    fn push(&mut self, value: f64, low: f64, high: f64) {
        self.at.push(value);
        self.lower.push(low);
        self.upper.push(high);
    }

    fn bounds(&self) -> (&[f64], &[f64]) {
        (&self.lower, &self.upper)
    }
}

/// The maximum of the likelihood, and the number of steps to it.
fn maximum(
    objective: &mut Structural<'_>,
    unknowns: &Unknowns,
    start: &InitialParameters,
    max_iter: usize,
) -> Result<(Minimum<Point>, usize)> {
    let (noisy, bounds) = (objective.noisy, unknowns.bounds());
    let (mut at, mut n_iter) = (unknowns.at.clone(), 0);
    if noisy {
        // Most of the way with integrals that are a third as dear.
        objective.rough = true;
        at = nearer_start(objective, at, &start.restricted().0)?;
        if let Some(first) = objective.value(&at)? {
            let near = minimise(objective, at, first, bounds, max_iter)?;
            (at, n_iter) = (near.at, near.n_iter);
            objective.spread = objective.spread(&objective.split(&at).0)?;
        }
        objective.rough = false;
    }
    let fits_variances = objective.scatter || objective.scaled;
    // Once more with the variances that x leaves at the solution.
    let mut round = 0;
    let mut maximum = loop {
        let Some(first) = objective.value(&at)? else {
            let (parameters, _) = objective.split(&unknowns.at);
            let why = "curve: the likelihood is not finite at the start, parameters";
            return Err(Error::Data(format!("{why} {parameters:?}; choose another p0")));
        };
        let maximum = minimise(objective, at, first, bounds, max_iter)?;
        n_iter += maximum.n_iter;
        round += 1;
        let spread = objective.spread(&objective.split(&maximum.at).0)?;
        let moved = spread.iter().zip(&objective.spread).any(|(new, old)| (new - old).abs() > 1e-6 * (new + old));
        let shared = objective.modes > 0 && fits_variances;
        let taken = if shared { objective.effective_modes(&maximum.at)? } else { 0.0 };
        let changed = (noisy && moved) || (taken - objective.degrees_of_modes).abs() > 1e-6;
        if !fits_variances || !changed || round == 4 {
            break maximum;
        }
        (objective.spread, objective.degrees_of_modes) = (spread, taken);
        at = maximum.at;
    };
    // A bound that is as good as reached is.
    let Expansion { gradient, hessian, .. } = &maximum.derivatives;
    let (mut at, mut reached) = (maximum.at.clone(), false);
    for j in objective.scatters() {
        let (slope, bend) = (gradient[j], hessian[j * (objective.width() + 1)]);
        let way = at[j] - unknowns.lower[j];
        if way > 0.0 && slope >= 0.0 && way * (slope + 0.5 * way * bend.max(0.0)) < REACHED {
            (at[j], reached) = (unknowns.lower[j], true);
        }
    }
    if let Some(first) = if reached { objective.value(&at)? } else { None } {
        maximum = minimise(objective, at, first, bounds, max_iter)?;
        n_iter += maximum.n_iter;
    }
    Ok((maximum, n_iter))
}

/// Unknowns that are inside their bounds, and the information about them with its inverse, 0 for others.
struct Determined {
    some: Vec<usize>,
    information: Vec<f64>,
    inverse: Vec<f64>,
}

fn undefined_near_solution() -> Error {
    Error::Data("the curve is not defined near the solution; set bounds= there".into())
}

/// At a maximum.
fn determined(
    objective: &Structural<'_>,
    maximum: &Minimum<Point>,
    unknowns: &Unknowns,
    start: &InitialParameters,
) -> Result<Determined> {
    let (at, lower, noise) = (&maximum.at, &unknowns.lower, objective.noise);
    let mut some = movable(at, &maximum.derivatives.gradient, lower, &unknowns.upper);
    let scatters = (0..objective.scatters().len()).map(|o| format!("the squared scatter of output {o}"));
    let scale = objective.scaled.then(|| "the factor of the errors of y".into());
    let of_noise = (0..noise.n()).map(|e| format!("parameter {e} of outliers="));
    let names: Vec<String> = start.free_names().into_iter().chain(scatters).chain(scale).chain(of_noise).collect();
    // With next to no scatter the second derivatives of a row are differences of far larger numbers.
    let at_floor = |j: &usize| objective.scatters().contains(j) && at[*j] > 0.0 && at[*j] <= lower[*j];
    let information = if objective.noisy && objective.scatters().any(|j| at_floor(&j)) {
        some.retain(|j| !at_floor(j));
        let gradient = |at: &[f64]| objective.gradient(at);
        errors::by_differences(gradient, (at, &some), &maximum.derivatives, unknowns.bounds())?
    } else {
        objective.information(at, &maximum.derivatives, unknowns.bounds())?
    };
    let information = information.ok_or_else(undefined_near_solution)?;
    let inverse = match errors::inverse(&information, &some, &names, SINGULAR[1]) {
        // Of clean data the law of outliers is not determined, and does not matter.
        Err(_) if noise.n() > 0 => {
            let without: Vec<usize> = some.iter().copied().filter(|&j| j < objective.first_of_noise()).collect();
            errors::inverse(&information, &without, &names, SINGULAR[1])?
        }
        other => other?,
    };
    Ok(Determined { some, information, inverse })
}

/// P(outlier | y, x) of all n rows of the table; none without a law of outliers.
fn outlier_probability(objective: &Structural<'_>, maximum: &Minimum<Point>, n: usize) -> Vec<f64> {
    let (noise, parts) = (objective.noise, objective.parts(&maximum.at));
    if noise == Noise::Normal {
        return vec![];
    }
    let mut probability = vec![0.0; n];
    for (reading, shares) in objective.readings.iter().zip(maximum.state.shares.chunks_exact(parts.len())) {
        probability[reading.number] = noise.outlying(&parts, shares);
    }
    probability
}

/// The start, or with the caller's own parameters in the place of least squares' where these are the better ones: on x far from
/// the true one, least squares may go astray.
fn nearer_start(objective: &mut Structural<'_>, at: Vec<f64>, own: &[f64]) -> Result<Vec<f64>> {
    let mut other = at.clone();
    other[..own.len()].copy_from_slice(own);
    let spread = objective.spread.clone();
    let here = objective.value(&at)?;
    objective.spread = objective.spread(&objective.split(&other).0)?;
    let there = objective.value(&other)?;
    if let Some((there, _)) = there
        && here.is_none_or(|(here, _)| there < here)
    {
        return Ok(other);
    }
    objective.spread = spread;
    Ok(at)
}

/// Where f' = 0 the density of y without any scatter is infinite, so that a row there would pull the curve to itself. With ten
/// times the least scatter the density of such a row is lower by sqrt(10), and those of all others are what they were.
fn refuse_spikes(objective: &mut Structural<'_>, at: &[f64], lower: &[f64]) -> Result<()> {
    let mut wider = at.to_vec();
    let at_floor: Vec<usize> = objective.scatters().filter(|&j| at[j] > 0.0 && at[j] <= lower[j]).collect();
    at_floor.iter().for_each(|&j| wider[j] *= 100.0);
    if at_floor.is_empty() {
        return Ok(());
    }
    let values = objective.value(at)?.zip(objective.value(&wider)?);
    let lost = values.map_or(0.0, |((here, _), (there, _))| there - here);
    // What it costs where the curve is nowhere flat grows with the rows.
    if lost > 0.3 + 2e-6 * objective.readings.len() as f64 {
        return Err(Error::Data(
            "the scatter is 0, and the curve turns or is flat at a likely true x: without any error of y the likelihood \
             of a row there has no bounds, and no standard error holds; give y_std, however small"
                .into(),
        ));
    }
    Ok(())
}

/// log |H| / 2 of these rows and columns of H.
fn log_root(h: &[f64], width: usize, places: Range<usize>) -> f64 {
    let k = places.len();
    let block = places.clone().flat_map(|a| places.clone().map(move |b| h[a * width + b])).collect();
    Spd::new(block, k).map_or(0.0, |block| block.log_root())
}
