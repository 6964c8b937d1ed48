//! Fits by the likelihood, integrated over true values: from a naive start to estimates with their errors.

use crate::data::Incomplete;
use crate::data::weights::Worth;
use crate::error::{Error, Result};
use crate::linalg::cholesky;
use crate::model::error_scale::{ErrorScale, fit_features};
use crate::model::law::density::refined;
use crate::model::law::errors::RowScores;
use crate::model::noise::Noise;
use crate::solver::Status;
use crate::solver::levenberg::{Objective, minimise, movable};

use super::density_scores::DensityScores;
use super::errors::{self, SINGULAR, spread_out};
use super::evaluate::Evaluator;
use super::initial::InitialParameters;
use super::least_squares::{Naive, naive};
use super::readings::{self, Outputs, Reading};
use super::structural::Structural;
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
    let (q, p, n) = (outputs.n_outputs, start.values.len(), readings.len());
    if let Some(reading) = readings.iter().find(|reading| reading.noisy() > MOST_NOISY) {
        return Err(Error::Data(format!(
            "row {} has {} features with errors, and a curve can be integrated over {MOST_NOISY} at most: call others exact, or \
             take truth=\"functional\"",
            reading.number,
            reading.noisy()
        )));
    }
    let noisy = readings.iter().any(|reading| reading.noisy() > 0 || !reading.parts.is_empty());
    let mut mixture = noisy
        .then(|| {
            let (weights, control) = (outputs.weights.as_ref(), evaluator.control);
            let fitted = params.density().check()?.fit_rows(rows, weights, false, control)?;
            refined(&fitted.mixture, rows, weights, control)
        })
        .transpose()?;
    let mut feature_error_scale = vec![];
    if let (Some(density), true) = (&mut mixture, params.error_scale.is_some_and(ErrorScale::scales_features)) {
        let weight = |i: usize| outputs.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let found = fit_features(rows, weight, density, &evaluator.control.with_task("error bars"))?;
        let factors: Vec<f64> = found.factors.iter().map(|(factor, _)| *factor).collect();
        readings.iter_mut().for_each(|reading| reading.scale(&factors));
        (*density, feature_error_scale) = (found.mixture, found.factors);
    }
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
    let k = outputs.modes.k;
    // Without a distribution, errors that rows share may not be determined.
    let mut held = start.clone();
    held.fixed[p - k..].fill(true);
    let Naive { parameters: naive, variances: residual, unit, bad } = naive(params, evaluator, &held, readings, noise)?;
    let fixed_start = InitialParameters { values: naive, ..start.clone() };
    let (mut at, mut lower, mut upper) = fixed_start.restricted();
    if params.scatter {
        for o in 0..q {
            let mean = (0..n).map(|i| weights[i] * readings[i].y[o]).sum::<f64>() / (share * total);
            let squares = (0..n).map(|i| weights[i] * (readings[i].y[o] - mean).powi(2)).sum::<f64>();
            let variance = squares / (share * total);
            let range = readings.iter().map(|reading| (reading.y[o] - mean).abs()).fold(0.0, f64::max);
            let least = |reading: &Reading| match reading.rest[o * q + o] {
                known if known > 0.0 => 0.0,
                _ if reading.noisy() > 0 => LEAST * variance,
                _ => (ROUNDING * range).powi(2).max(f64::MIN_POSITIVE),
            };
            lower.push(readings.iter().map(least).fold(0.0, f64::max));
            upper.push(f64::INFINITY);
            let mean_known = readings.iter().map(|reading| reading.rest[o * q + o]).sum::<f64>() / n as f64;
            at.push((residual[o] - mean_known).max(0.1 * residual[o]).max(lower[free.len() + o]));
        }
    }
    let scaled = params.error_scale.is_some_and(ErrorScale::scales_target);
    if scaled {
        at.push(1.0);
        lower.push(SCALES[0]);
        upper.push(SCALES[1]);
    }
    // The widths of bad data in units of the typical variance of each output.
    for (value, low, high) in noise.start(1.0, bad) {
        at.push(value);
        lower.push(low);
        upper.push(high);
    }
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
        unit: &unit,
        modes: k,
        degrees_of_modes: k as f64,
        rough: false,
    };
    objective.spread = objective.spread(&fixed_start.values)?;
    let mut n_iter = 0;
    if noisy {
        // Most of the way with integrals that are a third as dear.
        objective.rough = true;
        at = nearer_start(&mut objective, at, &start.restricted().0)?;
        if let Some(first) = objective.value(&at)? {
            let near = minimise(&mut objective, at.clone(), first, (&lower, &upper), params.max_iter)?;
            (at, n_iter) = (near.at, near.n_iter);
            objective.spread = objective.spread(&objective.split(&at).0)?;
        }
        objective.rough = false;
    }
    let mut minimum;
    // Once more with the variances that x leaves at the solution.
    let mut round = 0;
    loop {
        let undefined = || {
            Error::Data(format!(
                "curve: the likelihood is not finite at the start, parameters {:?}; choose another p0",
                fixed_start.values
            ))
        };
        let first = objective.value(&at)?.ok_or_else(undefined)?;
        minimum = minimise(&mut objective, at, first, (&lower, &upper), params.max_iter)?;
        n_iter += minimum.n_iter;
        at = minimum.at.clone();
        round += 1;
        let spread = objective.spread(&objective.split(&at).0)?;
        let moved = spread.iter().zip(&objective.spread).any(|(new, old)| (new - old).abs() > 1e-6 * (new + old));
        let taken = if k > 0 && (params.scatter || scaled) { objective.effective_modes(&at)? } else { 0.0 };
        let changed = (noisy && moved) || (taken - objective.degrees_of_modes).abs() > 1e-6;
        if (!params.scatter && !scaled) || !changed || round == 4 {
            break;
        }
        (objective.spread, objective.degrees_of_modes) = (spread, taken);
    }
    let mut reached = false;
    for j in objective.scatters() {
        let (slope, bend) = (minimum.derivatives.gradient[j], minimum.derivatives.hessian[j * (objective.width() + 1)]);
        let way = at[j] - lower[j];
        if way > 0.0 && slope >= 0.0 && way * (slope + 0.5 * way * bend.max(0.0)) < REACHED {
            (at[j], reached) = (lower[j], true);
        }
    }
    if let Some(first) = objective.value(&at)?.filter(|_| reached) {
        minimum = minimise(&mut objective, at, first, (&lower, &upper), params.max_iter)?;
        (at, n_iter) = (minimum.at.clone(), n_iter + minimum.n_iter);
    }
    if readings.iter().all(|reading| reading.noisy() > 0) {
        refuse_spikes(&mut objective, &at, &lower)?;
    }
    let mut some = movable(&at, &minimum.derivatives.gradient, &lower, &upper);
    let width = objective.width();
    let scatters = (0..objective.scatters().len()).map(|o| format!("the squared scatter of output {o}"));
    let scale = scaled.then(|| "the factor of the errors of y".into());
    let of_noise = (0..noise.n()).map(|e| format!("parameter {e} of outliers="));
    let names: Vec<String> = start.free_names().into_iter().chain(scatters).chain(scale).chain(of_noise).collect();
    let unknown = || Error::Data("the curve is not defined near the solution; set bounds= there".into());
    // With next to no scatter the second derivatives of a row are differences of far larger numbers.
    let at_floor = |j: &usize| objective.scatters().contains(j) && at[*j] > 0.0 && at[*j] <= lower[*j];
    let information = if noisy && objective.scatters().any(|j| at_floor(&j)) {
        some.retain(|j| !at_floor(j));
        errors::by_differences(|at| objective.gradient(at), (&at, &some), &minimum.derivatives, (&lower, &upper))?
    } else {
        objective.information(&at, &minimum.derivatives, (&lower, &upper))?
    };
    let information = information.ok_or_else(unknown)?;
    // Of clean data the law of outliers is not determined, and does not matter.
    let without: Vec<usize> = some.iter().copied().filter(|&at| at < objective.first_of_noise()).collect();
    let covariance = match errors::inverse(&information, &some, &names, SINGULAR[1]) {
        Err(_) if noise.n() > 0 => errors::inverse(&information, &without, &names, SINGULAR[1])?,
        other => other?,
    };
    let of_curve: Vec<usize> = some.iter().copied().filter(|&j| j < free.len() - k).collect();
    let unmoved = minimum.status == Status::Converged
        && !objective.is_minimum((&at, &of_curve), &covariance, (&lower, &upper), noisy)?;
    let stage = match &mixture {
        Some(mixture) => {
            let scores = DensityScores::new(&objective, mixture, feature_error_scale.len(), &at)?;
            Some(scores.ok_or_else(unknown)?)
        }
        None => None,
    };
    let scores = RowScores {
        p: width,
        weights: &weights,
        second: &minimum.state.scores,
        stage: stage.as_ref().map(|stage| (stage.m, &stage.before[..], &stage.given[..])),
        robust: outputs.groups.is_some() || worth.unit.is_none(),
        groups: readings::groups(readings),
        draws: objective.places_of_modes(),
    };
    let covariance = scores.covariance(&covariance)?;
    let (parameters, variances) = objective.split(&at);
    let (mut scatter, mut scatter_std) = (vec![0.0; q], vec![f64::NAN; q]);
    for o in (0..q).filter(|_| params.scatter) {
        let place = free.len() + o;
        if variances[o] > lower[place] {
            scatter[o] = variances[o].sqrt();
            scatter_std[o] = covariance[place * width + place].sqrt() / (2.0 * scatter[o]);
        }
    }
    let error_scale = scaled.then(|| {
        let place = objective.scatters().end;
        let (root, variance) = (at[place].sqrt(), covariance[place * (width + 1)]);
        (root, if variance > 0.0 { variance.sqrt() / (2.0 * root) } else { f64::NAN })
    });
    let place = objective.first_of_noise();
    let of_noise = |(e, (value, slope)): (usize, (f64, f64))| {
        let variance = if noise.n() > 0 { covariance[(place + e) * (width + 1)] } else { 0.0 };
        let std = if variance > 0.0 { slope * variance.sqrt() } else { f64::NAN };
        // The width is in units of the first output's.
        if e == 1 { (value * unit[0].sqrt(), std * unit[0].sqrt()) } else { (value, std) }
    };
    let parts = objective.parts(&at);
    let mut outlier_probability = vec![];
    if noise != Noise::Normal {
        outlier_probability = vec![0.0; rows.n_rows()];
        for (reading, shares) in readings.iter().zip(minimum.state.shares.chunks_exact(parts.len())) {
            outlier_probability[reading.number] = noise.outlying(&parts, shares);
        }
    }
    let covariance = &spread_out(&covariance, &free, &some, p);
    let block = |places: std::ops::Range<usize>| -> Vec<f64> {
        places.clone().flat_map(|a| places.clone().map(move |b| covariance[a * p + b])).collect()
    };
    Ok(CurveFit {
        parameters: parameters[..p - k].to_vec(),
        modes: parameters[p - k..].to_vec(),
        modes_covariance: block(p - k..p),
        noise: noise.natural(&at[place..]).into_iter().enumerate().map(of_noise).collect(),
        outlier_probability,
        error_scale,
        feature_error_scale,
        covariance: block(0..p - k),
        scatter,
        scatter_std,
        loglikelihood: minimum.state.loglikelihood - log_root(&information, width, objective.places_of_modes()),
        profile: vec![],
        residual_variance: None,
        degrees: None,
        mixture,
        integration_error: minimum.state.disagreement,
        n_iter,
        status: if unmoved { Status::NoProgress } else { minimum.status },
    })
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
fn log_root(h: &[f64], width: usize, places: std::ops::Range<usize>) -> f64 {
    let k = places.len();
    let mut block: Vec<f64> =
        places.clone().flat_map(|a| places.clone().map(move |b| (a, b))).map(|(a, b)| h[a * width + b]).collect();
    let sound = k > 0 && cholesky(&mut block, k);
    if sound { (0..k).map(|a| block[a * k + a].ln()).sum() } else { 0.0 }
}
