//! Fits by least squares: functional ones, and the naive one from which a structural fit starts.

use crate::data::weights::Worth;
use crate::error::{Error, Result};
use crate::model::law::errors::RowScores;
use crate::model::noise::Noise;
use crate::solver::Status;
use crate::solver::levenberg::{Minimum, Objective, minimise, movable};

use super::errors::{self, SINGULAR, spread_out};
use super::evaluate::Evaluator;
use super::functional::{Functional, Place};
use super::initial::InitialParameters;
use super::modes::White;
use super::readings::{self, Outputs, Reading};
use super::{CurveFit, Params};

/// A fit by least squares of what is known at each row.
fn least_squares<'a>(
    params: &Params,
    evaluator: Evaluator<'a>,
    start: &InitialParameters,
    readings: &'a [Reading],
    variances: &[f64],
) -> Result<(Functional<'a>, Minimum<Place>)> {
    let none = vec![0.0; variances.len()];
    let white =
        readings.iter().map(|reading| White::wider(reading, 1.0, variances, 1.0, &none)).collect::<Result<_>>()?;
    let mut objective = Functional::new(evaluator, readings, white, start.values.clone(), start.free());
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
) -> Result<CurveFit> {
    let q = outputs.n_outputs;
    let known = outputs.covariances.is_some();
    if let Some(noisy) = readings.iter().find(|reading| reading.rank > 0 && !known) {
        return Err(Error::Data(format!(
            "truth=\"functional\" weighs the errors of x (row {} has some) against those of y: give y_std, too",
            noisy.number
        )));
    }
    let variances = vec![if known { 0.0 } else { 1.0 }; q];
    let (objective, minimum) = least_squares(params, evaluator, start, readings, &variances)?;
    let (free, p) = (&objective.free, start.values.len());
    let (_, lower, upper) = start.restricted();
    let total: f64 = readings.iter().map(|reading| reading.weight).sum();
    let worth = Worth::from_weights(readings.iter().map(|reading| reading.weight));
    // Weights are relative: of sum n, or of the repeated rows that they count.
    let share = worth.share(readings.len(), total);
    let degrees = ((share * total).round() as usize * q).saturating_sub(free.len());
    let squares = 2.0 * minimum.value;
    let residual_variance = if degrees > 0 { share * squares / degrees as f64 } else { f64::NAN };
    let some = movable(&minimum.at, &minimum.derivatives.gradient, &lower, &upper);
    let bread = errors::inverse(&minimum.derivatives.hessian, &some, &start.free_names(), SINGULAR[0])?;
    let minimal = objective.is_minimum(&minimum, &some, &bread, (&lower, &upper))?;
    let unmoved = minimum.status == Status::Converged && !minimal;
    let covariance = if outputs.groups.is_some() {
        let gradients = objective.gradients(&minimum.state).concat();
        let groups = readings::groups(readings);
        let ones = vec![1.0; readings.len()];
        RowScores { p: free.len(), weights: &ones, second: &gradients, stage: None, robust: true, groups, draws: 0..0 }
            .covariance(&bread)?
    } else {
        bread.iter().map(|c| c / share * if known { 1.0 } else { residual_variance }).collect()
    };
    let log_roots: f64 = objective.white.iter().zip(readings).map(|(w, r)| r.weight * w.log_root).sum();
    let total = total * q as f64;
    // Without y_std the variance of y is the one that is most likely.
    let scale = squares / total;
    let loglikelihood = if known { -minimum.value - log_roots } else { -log_roots - 0.5 * total * (scale.ln() + 1.0) };
    Ok(CurveFit {
        parameters: objective.all(&minimum.at),
        covariance: spread_out(&covariance, free, &some, p),
        scatter: vec![0.0; q],
        scatter_std: vec![f64::NAN; q],
        loglikelihood,
        profile: vec![],
        residual_variance: Some(residual_variance),
        degrees: (!known && degrees > 0).then_some(degrees),
        mixture: None,
        integration_error: 0.0,
        noise: vec![],
        error_scale: None,
        feature_error_scale: vec![],
        modes: vec![],
        modes_covariance: vec![],
        outlier_probability: vec![],
        n_iter: minimum.n_iter,
        status: if unmoved { Status::NoProgress } else { minimum.status },
    })
}

/// Where a structural fit starts.
pub(super) struct Naive {
    pub parameters: Vec<f64>,
    /// Per output the variance about the curve, and that of most rows.
    pub variances: Vec<f64>,
    pub unit: Vec<f64>,
    /// The variance of rows far from the curve, in units of the typical one.
    pub bad: f64,
}

/// Rounds of reweighting where there are outliers.
const ROUNDS: usize = 8;

/// Least squares on the readings as if x were exact and all y equally good; where there may be outliers, least absolute
/// deviations by reweighting.
pub(super) fn naive(
    params: &Params,
    evaluator: &Evaluator<'_>,
    start: &InitialParameters,
    readings: &[Reading],
    noise: Noise,
) -> Result<Naive> {
    let (q, n) = (evaluator.q, readings.len());
    let mut points: Vec<Reading> = readings
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
            parts: vec![],
        })
        .collect();
    let mut from = start.clone();
    let mut round = 0;
    loop {
        let copy = Evaluator { scale: evaluator.scale.clone(), typical: evaluator.typical.clone(), ..*evaluator };
        let (objective, minimum) = least_squares(params, copy, &from, &points, &vec![1.0; q])?;
        if minimum.status == Status::Converged {
            // What least squares cannot tell apart, the likelihood would follow to infinity.
            let (_, lower, upper) = start.restricted();
            let some = movable(&minimum.at, &minimum.derivatives.gradient, &lower, &upper);
            errors::inverse(&minimum.derivatives.hessian, &some, &start.free_names(), SINGULAR[0])?;
        }
        let residuals: Vec<&[f64]> = minimum.state.residuals.chunks_exact(q).collect();
        let all = |o: usize| residuals.iter().map(|r| r[o].powi(2)).sum::<f64>() / n as f64;
        let variances: Vec<f64> = (0..q).map(all).collect();
        let parameters = objective.all(&minimum.at);
        if noise == Noise::Normal {
            return Ok(Naive { parameters, unit: variances.clone(), variances, bad: 1.0 });
        }
        let unit: Vec<f64> = (0..q)
            .map(|o| {
                let mut sizes: Vec<f64> = residuals.iter().map(|r| r[o].abs()).collect();
                let middle = *sizes.select_nth_unstable_by(n / 2, f64::total_cmp).1;
                (1.4826 * middle).powi(2).max(1e-10 * variances[o]).max(f64::MIN_POSITIVE)
            })
            .collect();
        let far = |r: &&[f64]| r.iter().zip(&unit).map(|(r, unit)| r * r / unit).sum::<f64>() / q as f64;
        round += 1;
        if round == ROUNDS {
            let sizes: Vec<f64> = residuals.iter().map(far).filter(|size| *size > 16.0).collect();
            let bad = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
            return Ok(Naive { parameters, variances: unit.clone(), unit, bad });
        }
        from.values = parameters;
        let sizes: Vec<f64> = residuals.iter().map(|residual| far(residual).sqrt().max(0.1)).collect();
        drop((objective, minimum));
        for ((point, reading), size) in points.iter_mut().zip(readings).zip(sizes) {
            point.weight = reading.weight / size;
        }
    }
}
