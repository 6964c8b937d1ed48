//! Fits by least squares: functional ones, and the naive one from which a structural fit starts.

use crate::error::{Error, Result};
use crate::solver::Status;

use super::errors::{self, SINGULAR, spread_out};
use super::evaluate::Evaluator;
use super::functional::Functional;
use super::initial::InitialParameters;
use super::levenberg::{Minimum, Objective, minimise, movable};
use super::modes::{Mode, White};
use super::readings::{Outputs, Reading};
use super::terms::{self, Term};
use super::{Fit, Params};

/// A fit by least squares of what is known at each row.
fn least_squares<'a>(
    params: &Params,
    evaluator: Evaluator<'a>,
    start: &InitialParameters,
    readings: &'a [Reading],
    terms: Vec<Term>,
    variances: &[f64],
) -> Result<(Functional<'a>, Minimum<Vec<Mode>>)> {
    let free = start.free();
    let white = readings.iter().map(|reading| White::new(reading, variances)).collect::<Result<_>>()?;
    let before = terms.iter().map(|term| vec![0.0; term.rank]).collect();
    let mut objective =
        Functional { evaluator, readings, terms, white, parameters: start.values.clone(), free, before };
    let (at, lower, upper) = start.restricted();
    let first = objective.value(&at)?.ok_or_else(|| Error::Internal("no value at the start".into()))?;
    let minimum = minimise(&mut objective, at, first, (&lower, &upper), params.max_iter)?;
    Ok((objective, minimum))
}

pub(super) fn fit_functional(
    params: &Params,
    evaluator: Evaluator<'_>,
    start: &InitialParameters,
    readings: &[Reading],
    outputs: &Outputs,
) -> Result<Fit> {
    let q = outputs.n_outputs;
    let known = outputs.covariances.is_some();
    if let Some(noisy) = readings.iter().find(|reading| reading.rank > 0 && !known) {
        return Err(Error::Data(format!(
            "truth=\"functional\" weighs the errors of x (row {} has some) against those of y: give y_std, too",
            noisy.number
        )));
    }
    let terms = terms::functional(readings);
    let variances = vec![if known { 0.0 } else { 1.0 }; q];
    let (objective, minimum) = least_squares(params, evaluator, start, readings, terms, &variances)?;
    let (free, p) = (&objective.free, start.values.len());
    let (_, lower, upper) = start.restricted();
    let squares = 2.0 * minimum.value;
    let degrees = readings.len() * q - free.len();
    let residual_variance = if degrees > 0 { squares / degrees as f64 } else { f64::NAN };
    let some = movable(&minimum.at, &minimum.derivatives.gradient, &lower, &upper);
    let bread = errors::inverse(&minimum.derivatives.hessian, &some, &start.free_names(), SINGULAR[0])?;
    let covariance = if outputs.groups.is_some() {
        let rows: Vec<Vec<f64>> =
            objective.rows(&minimum.at, &minimum.state)?.into_iter().map(|(gradient, _)| gradient).collect();
        errors::sandwich(&bread, &rows, readings)
    } else {
        bread.iter().map(|c| c * if known { 1.0 } else { residual_variance }).collect()
    };
    let log_roots: f64 = objective.white.iter().zip(readings).map(|(w, r)| r.weight * w.log_root).sum();
    let total: f64 = readings.iter().map(|reading| reading.weight).sum::<f64>() * q as f64;
    // Without y_std the variance of y is the one that is most likely.
    let scale = squares / total;
    let loglikelihood = if known { -minimum.value - log_roots } else { -log_roots - 0.5 * total * (scale.ln() + 1.0) };
    Ok(Fit {
        parameters: objective.all(&minimum.at),
        covariance: spread_out(&covariance, free, &some, p),
        scatter: vec![0.0; q],
        scatter_std: vec![f64::NAN; q],
        loglikelihood,
        residual_variance: Some(residual_variance),
        degrees: (!known && degrees > 0).then_some(degrees),
        mixture: None,
        integration_error: 0.0,
        n_iter: minimum.n_iter,
        status: minimum.status,
    })
}

/// Least squares on the readings as if x were exact and all y equally good: its parameters, and the variance about it.
pub(super) fn naive(
    params: &Params,
    evaluator: &Evaluator<'_>,
    start: &InitialParameters,
    readings: &[Reading],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let q = evaluator.q;
    let points: Vec<Reading> = readings
        .iter()
        .map(|reading| Reading {
            number: reading.number,
            x: reading.x.clone(),
            y: reading.y.clone(),
            root: vec![],
            crossed: vec![],
            rest: vec![0.0; q * q],
            rank: 0,
            weight: reading.weight,
            group: None,
        })
        .collect();
    let copy = Evaluator { scale: evaluator.scale.clone(), typical: evaluator.typical.clone(), ..*evaluator };
    let terms = terms::functional(&points);
    let (objective, minimum) = least_squares(params, copy, start, &points, terms, &vec![1.0; q])?;
    if minimum.status == Status::Converged {
        // What least squares cannot tell apart, the likelihood would follow to infinity.
        let (_, lower, upper) = start.restricted();
        let some = movable(&minimum.at, &minimum.derivatives.gradient, &lower, &upper);
        errors::inverse(&minimum.derivatives.hessian, &some, &start.free_names(), SINGULAR[0])?;
    }
    let n = readings.len() as f64;
    let variance = |o: usize| minimum.state.iter().map(|mode| mode.residual[o].powi(2)).sum::<f64>() / n;
    Ok((objective.all(&minimum.at), (0..q).map(variance).collect()))
}
