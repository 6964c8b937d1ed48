//! Fitting, in units in which the targets have mean 0 and variance 1.

use super::{ValidParams, tube};
use crate::control::Control;
use crate::data::weights::Present;
use crate::data::{GaussianArray, Targets, Weights};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::model::FitReport;
use crate::model::linear::{LinearRegressor, Plan, regress};
use crate::objective::Problem;
use crate::parallel;
use crate::solver::{Solution, SolverKind, Status, fit_linear};
use crate::state::RemoteRows;
use crate::sums::{RemoteLoss, Request};

impl ValidParams {
    /// Fit a model to rows with targets.
    pub(crate) fn fit(&self, data: &GaussianArray, targets: &Targets, control: &Control) -> Result<LinearRegressor> {
        self.fit_from(data, targets, None, control)
    }

    /// [`fit`](Self::fit) that starts from another model.
    pub(super) fn fit_from(
        &self,
        data: &GaussianArray,
        targets: &Targets,
        start: Option<&LinearRegressor>,
        control: &Control,
    ) -> Result<LinearRegressor> {
        targets.check_rows(data.n_rows())?;
        let rows = Present::new(data, targets)?;
        let (data, targets, variances) = (&rows.data, rows.known.values(), rows.known.variances());
        let params = &self.0;
        let (center, scale) = units(&rows.known, params.fit_intercept)?;
        let own: Vec<f64> = targets.iter().map(|y| (y - center) / scale).collect();
        let is_exact = variances.is_none_or(|t| t.iter().all(|t| *t == 0.0));
        let variances = variances.map(|t| t.iter().map(|t| t / (scale * scale)).collect());
        let (loss, power) = params.loss.scaled(scale);
        let loss = loss.build(variances);
        let problem = Problem {
            data,
            targets: (&own).into(),
            weights: rows.known.weights(),
            alpha: params.alpha * scale.powi(2 - power),
            fit_intercept: params.fit_intercept,
            loss: &*loss,
        };
        let tube = match params.loss {
            // A target that is known to +- t is not on an end of its tube, whatever w.
            LossKind::EpsilonInsensitive { epsilon } if is_exact => Some(epsilon / scale),
            _ => None,
        };
        let start: Option<Vec<f64>> = start.map(|from| {
            let b = if params.fit_intercept { (from.intercept - center) / scale } else { 0.0 };
            from.coef.iter().map(|w| w / scale).chain([b]).collect()
        });
        let solve = || fit_linear(&problem, params.solver, &params.options, start.as_deref(), control);
        let solution = parallel::install(control.threads(), || match tube {
            Some(epsilon) => tube::fit(&problem, epsilon, params.solver, &params.options, solve, control),
            None => solve(),
        })??;
        self.in_units(&solution, center, scale, power)
    }

    /// [`fit`](Self::fit) by passes over rows held by other processes.
    pub(super) fn fit_remote(&self, remote: &RemoteRows<'_>, control: &Control) -> Result<LinearRegressor> {
        let params = &self.0;
        if params.solver == SolverKind::Sgd {
            return Err(Error::parameter("solver", "\"sgd\"", "one that passes over all rows: auto, newton or lbfgs"));
        }
        let moments = |center: f64| -> Result<[f64; 6]> {
            let answer = remote.rows.sum(Request::Targets { center }, control)?;
            answer.try_into().map_err(|_| Error::Internal("moments of targets".into()))
        };
        let [total, sum, ..] = moments(0.0)?;
        let mean = sum / total;
        let [_, rest, squares, low, high, noisy] = moments(mean)?;
        // The rest is rounding of the first sum.
        let mean = mean + rest / total;
        let (center, scale) = if params.fit_intercept {
            usable_units(mean, (squares / total).sqrt())?
        } else {
            usable_units(0.0, (squares / total + mean * mean).sqrt())?
        };
        let (loss, power) = params.loss.scaled(scale);
        let plan = Plan {
            loss: RemoteLoss::Kind(loss),
            fit_intercept: params.fit_intercept,
            solver: params.solver,
            options: &params.options,
        };
        if let LossKind::EpsilonInsensitive { epsilon } = params.loss {
            let b = if params.fit_intercept { 0.5 * (low + high) } else { 0.0 };
            if noisy == 0.0 && b - low <= epsilon && high - b <= epsilon {
                let w = vec![0.0; remote.sample.complete()?.n_features()];
                let flat = Solution {
                    w,
                    b: (b - center) / scale,
                    objective: 0.0,
                    gap: 0.0,
                    iterations: 0,
                    status: Status::Converged,
                };
                return self.in_units(&flat, center, scale, power);
            }
        }
        let alpha = params.alpha * scale.powi(2 - power);
        let solution = regress(remote, &plan, (center, scale), alpha, control)?;
        self.in_units(&solution, center, scale, power)
    }

    /// The model of a solution for targets of this center and scale.
    fn in_units(&self, solution: &Solution, center: f64, scale: f64, power: i32) -> Result<LinearRegressor> {
        let mut fit = FitReport::from(solution);
        fit.objective *= scale.powi(power);
        let coef: Vec<f64> = solution.w.iter().map(|w| w * scale).collect();
        let intercept = if self.0.fit_intercept { solution.b * scale + center } else { 0.0 };
        if !(intercept.is_finite() && coef.iter().all(|w| w.is_finite())) {
            return Err(Error::Data(
                "the targets are too large for double precision; divide them by a constant".into(),
            ));
        }
        Ok(LinearRegressor { coef, intercept, fit })
    }
}

/// Weighted mean (0 without an intercept) and spread of the targets.
fn units(targets: &Targets, fit_intercept: bool) -> Result<(f64, f64)> {
    let total = targets.weights().map_or(targets.len() as f64, Weights::total);
    let mean = |f: &dyn Fn(f64) -> f64| {
        targets.values().iter().enumerate().map(|(i, y)| targets.weight(i) / total * f(*y)).sum::<f64>()
    };
    let center = if fit_intercept { mean(&|y| y) } else { 0.0 };
    let scale = mean(&|y| (y - center) * (y - center)).sqrt();
    usable_units(center, scale)
}

/// Scaled numbers, or the scale 1 where targets do not differ.
fn usable_units(center: f64, scale: f64) -> Result<(f64, f64)> {
    if !(center.is_finite() && scale.is_finite()) {
        return Err(Error::Data("the targets are too large for double precision; divide them by a constant".into()));
    }
    // Equal targets: the spread is rounding.
    let constant = scale <= 1e-14 * center.abs() || !scale.is_normal();
    Ok((center, if constant { 1.0 } else { scale }))
}
