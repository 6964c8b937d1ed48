//! Fitting, in units in which the targets have mean 0 and variance 1.

use super::{ValidParams, tube};
use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::model::FitReport;
use crate::model::linear::Regressor;
use crate::objective::Problem;
use crate::parallel;
use crate::solver::fit_linear;

impl ValidParams {
    /// Fit a model to rows with targets; `variances` t_i^2 >= 0 of the targets, `weights` >= 0 of the rows.
    ///
    /// # Errors
    /// Sizes that do not fit, numbers out of range, an objective that overflows, [`Error::Interrupted`].
    pub fn fit(
        &self,
        data: &GaussianArray,
        targets: &[f64],
        variances: Option<&[f64]>,
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<Regressor> {
        check(data.n_rows(), targets, variances)?;
        let params = &self.0;
        let (center, scale) = units(targets, weights, params.fit_intercept)?;
        let own: Vec<f64> = targets.iter().map(|y| (y - center) / scale).collect();
        let is_exact = variances.is_none_or(|t| t.iter().all(|t| *t == 0.0));
        let variances = variances.map(|t| t.iter().map(|t| t / (scale * scale)).collect());
        let (loss, power) = params.loss.scaled(scale);
        let loss = loss.build(variances);
        let problem = Problem {
            data,
            targets: &own,
            weights,
            alpha: params.alpha * scale.powi(2 - power),
            fit_intercept: params.fit_intercept,
            loss: &*loss,
        };
        let tube = match params.loss {
            // A target that is known to +- t is not on an end of its tube, whatever w.
            LossKind::EpsilonInsensitive { epsilon } if is_exact => Some(epsilon / scale),
            _ => None,
        };
        let solve = || fit_linear(&problem, params.solver, &params.options, None, control);
        let solution = parallel::install(params.threads, || match tube {
            Some(epsilon) => tube::fit(&problem, epsilon, params.solver, &params.options, solve, control),
            None => solve(),
        })??;
        let mut fit = FitReport::from(&solution);
        fit.objective *= scale.powi(power);
        let coef: Vec<f64> = solution.w.iter().map(|w| w * scale).collect();
        let intercept = if params.fit_intercept { solution.b * scale + center } else { 0.0 };
        if !(intercept.is_finite() && coef.iter().all(|w| w.is_finite())) {
            return Err(Error::Data(
                "the targets are too large for double precision; divide them by a constant".into(),
            ));
        }
        Ok(Regressor { coef, intercept, fit })
    }
}

fn check(n: usize, targets: &[f64], variances: Option<&[f64]>) -> Result<()> {
    if n == 0 {
        return Err(Error::Data("there are no rows to fit".into()));
    }
    if targets.len() != n {
        return Err(Error::shape("targets", format!("{n}, one per row of data"), targets.len()));
    }
    if let Some(row) = targets.iter().position(|y| !y.is_finite()) {
        return Err(Error::NotFinite { what: "targets".into(), row, column: 0, value: targets[row] });
    }
    let Some(variances) = variances else { return Ok(()) };
    let what = "variances of the targets";
    if variances.len() != n {
        return Err(Error::shape(what, format!("{n}, one per row of data"), variances.len()));
    }
    match variances.iter().position(|t| !(0.0..f64::INFINITY).contains(t)) {
        Some(row) if variances[row] < 0.0 => {
            Err(Error::Negative { what: what.into(), row, column: 0, value: variances[row] })
        }
        Some(row) => Err(Error::NotFinite { what: what.into(), row, column: 0, value: variances[row] }),
        None => Ok(()),
    }
}

/// Weighted mean (0 without an intercept) and spread of the targets; bad weights are refused with the problem.
fn units(targets: &[f64], weights: Option<&[f64]>, fit_intercept: bool) -> Result<(f64, f64)> {
    let weight = |row: usize| weights.and_then(|c| c.get(row).copied()).unwrap_or(1.0).max(0.0);
    let total: f64 = (0..targets.len()).map(weight).sum();
    if !(total > 0.0 && total.is_finite()) {
        return Ok((0.0, 1.0));
    }
    let mean = |f: &dyn Fn(f64) -> f64| targets.iter().enumerate().map(|(i, y)| weight(i) / total * f(*y)).sum::<f64>();
    let center = if fit_intercept { mean(&|y| y) } else { 0.0 };
    let scale = mean(&|y| (y - center) * (y - center)).sqrt();
    if !(center.is_finite() && scale.is_finite()) {
        return Err(Error::Data("the targets are too large for double precision; divide them by a constant".into()));
    }
    // Equal targets: the spread is rounding.
    let constant = scale <= 1e-14 * center.abs() || !scale.is_normal();
    Ok((center, if constant { 1.0 } else { scale }))
}
