//! Fits by the likelihood, integrated over true values: from a naive start to estimates with their errors.

use crate::data::GaussianArray;
use crate::error::{Error, Result};

use super::errors::{self, FirstStage, SINGULAR, spread_out};
use super::evaluate::Evaluator;
use super::initial::InitialParameters;
use super::least_squares::naive;
use super::levenberg::{Objective, minimise, movable};
use super::readings::{Outputs, Reading};
use super::structural::Structural;
use super::{Fit, MOST_NOISY, Params, terms};

/// The least variance of the scatter where nothing else keeps a row from counting without bounds, as a part of that of y.
const LEAST: f64 = 1e-10;

pub(super) fn fit_structural(
    params: &Params,
    evaluator: &Evaluator<'_>,
    start: &InitialParameters,
    (data, readings): (&GaussianArray, &[Reading]),
    outputs: &Outputs,
) -> Result<Fit> {
    let (q, p, n) = (outputs.n_outputs, start.values.len(), readings.len());
    if let Some(reading) = readings.iter().find(|reading| reading.rank > MOST_NOISY) {
        return Err(Error::Data(format!(
            "row {} has {} features with errors, and a curve can be integrated over {MOST_NOISY} at most: call others exact, or \
             take truth=\"functional\"",
            reading.number, reading.rank
        )));
    }
    let noisy = readings.iter().any(|reading| reading.rank > 0);
    let mixture = noisy
        .then(|| {
            let fitted =
                params.density().check()?.fit_rows(data.into(), outputs.weights.as_ref(), false, evaluator.control)?;
            Ok::<_, Error>(fitted.mixture)
        })
        .transpose()?;
    let terms = match &mixture {
        Some(mixture) => terms::structural(readings, mixture)?.0,
        None => terms::functional(readings),
    };
    let free = start.free();
    let total: f64 = readings.iter().map(|reading| reading.weight).sum();
    let weights: Vec<f64> = readings.iter().map(|reading| reading.weight * n as f64 / total).collect();
    let (naive, residual) = naive(params, evaluator, start, readings)?;
    let fixed_start = InitialParameters { values: naive, ..start.clone() };
    let (mut at, mut lower, mut upper) = fixed_start.restricted();
    if params.scatter {
        for o in 0..q {
            let mean = (0..n).map(|i| weights[i] * readings[i].y[o]).sum::<f64>() / n as f64;
            let variance = (0..n).map(|i| weights[i] * (readings[i].y[o] - mean).powi(2)).sum::<f64>() / n as f64;
            let known = readings.iter().map(|reading| reading.rest[o * q + o]).fold(f64::INFINITY, f64::min);
            // Without a floor a row without error would count without bounds.
            let floor = LEAST * variance;
            lower.push(if known > floor { 0.0 } else { floor.max(f64::MIN_POSITIVE) });
            upper.push(f64::INFINITY);
            let mean_known = readings.iter().map(|reading| reading.rest[o * q + o]).sum::<f64>() / n as f64;
            at.push((residual[o] - mean_known).max(0.1 * residual[o]).max(lower[free.len() + o]));
        }
    }
    let mut objective = Structural {
        evaluator,
        readings,
        terms: &terms,
        parameters: &start.values,
        free: &free,
        scatter: params.scatter,
        weights: &weights,
        spread: vec![0.0; n * q],
    };
    objective.spread = objective.spread(&fixed_start.values)?;
    let mut n_iter = 0;
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
        if !params.scatter || !noisy || !moved || round == 4 {
            break;
        }
        objective.spread = spread;
    }
    let some = movable(&at, &minimum.derivatives.gradient, &lower, &upper);
    let width = objective.width();
    let scatters = (0..width - free.len()).map(|o| format!("the squared scatter of output {o}"));
    let names: Vec<String> = start.free_names().into_iter().chain(scatters).collect();
    let unknown = || Error::Data("the curve is not defined near the solution; set bounds= there".into());
    // At a bound the other side is not looked at.
    let information = errors::information(&objective, &at, &minimum.derivatives.diagonal, (&lower, &upper))?;
    let mut covariance = errors::inverse(&information.ok_or_else(unknown)?, &some, &names, SINGULAR[1])?;
    let unequal = readings.iter().any(|reading| reading.weight != readings[0].weight);
    let first_stage = mixture.as_ref().map(|mixture| FirstStage::new(&objective, mixture, &at)).transpose()?.flatten();
    if outputs.groups.is_some() || unequal {
        let scores = &minimum.state.scores;
        let mut rows: Vec<Vec<f64>> =
            (0..n).map(|i| scores[i * width..(i + 1) * width].iter().map(|s| s * weights[i]).collect()).collect();
        first_stage.iter().for_each(|stage| stage.add_to(&mut rows, &weights));
        covariance = errors::sandwich(&covariance, &rows, readings);
    } else if let Some(stage) = first_stage {
        let spread = stage.spread(width);
        let product = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let element = |at: usize| (0..width).map(|k| a[at / width * width + k] * b[k * width + at % width]).sum();
            (0..width * width).map(element).collect()
        };
        let added = product(&product(&covariance, &spread), &covariance);
        covariance.iter_mut().zip(added).for_each(|(c, added)| *c += added);
    }
    let (parameters, variances) = objective.split(&at);
    let (mut scatter, mut scatter_std) = (vec![0.0; q], vec![f64::NAN; q]);
    for o in (0..q).filter(|_| params.scatter) {
        let place = free.len() + o;
        if variances[o] > lower[place] {
            scatter[o] = variances[o].sqrt();
            scatter_std[o] = covariance[place * width + place].sqrt() / (2.0 * scatter[o]);
        }
    }
    Ok(Fit {
        parameters,
        covariance: spread_out(&covariance, &free, &some, p),
        scatter,
        scatter_std,
        loglikelihood: minimum.state.loglikelihood,
        residual_variance: None,
        degrees: None,
        mixture,
        integration_error: minimum.state.disagreement,
        n_iter,
        status: minimum.status,
    })
}
