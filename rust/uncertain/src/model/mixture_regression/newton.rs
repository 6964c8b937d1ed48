//! From where EM stops to the maximum of the likelihood of one component, by Newton's method.
//!
//! EM moves by the share of the information that readings have of true values, and towards s = 0 ever more slowly. Its
//! end is near enough for the observed information ([`Information`]) to be positive definite: then a few steps reach the
//! maximum to rounding. s^2 >= 0 (nearly) is kept: a step that would cross it ends there, the others' best given that,
//! and a bound that the likelihood presses against is held. A step that does not lead up is halved.

use crate::control::Control;
use crate::data::covariance::packed_index;
use crate::deconvolution::{Mixture, Report};
use crate::error::Result;
use crate::model::mixture_regression::information::Information;
use crate::model::mixture_regression::law::{Law, least_variance};
use crate::model::mixture_regression::readings::Readings;
use crate::solver::Status;

const MOST_STEPS: usize = 50;
const HALVINGS: usize = 20;
/// A rise of the log-likelihood that a step promises, too small to matter.
const ENOUGH: f64 = 1e-12;

/// How it went.
#[derive(Default)]
pub(super) struct Way {
    passes: usize,
    /// Mean log-likelihood per row.
    likelihoods: Vec<f64>,
    converged: bool,
}

impl Way {
    /// After EM.
    pub(super) fn add_to(self, report: &mut Report) {
        report.n_iter += self.passes;
        // What is no rise is rounding.
        for likelihood in self.likelihoods {
            if report.history.last().is_none_or(|last| likelihood > *last) {
                report.history.push(likelihood);
            }
        }
        if self.converged {
            report.status = Status::Converged;
        }
    }
}

/// The maximum, or as near as it gets.
pub(super) fn climbed(mut joint: Mixture, readings: &dyn Readings, control: &Control) -> Result<(Mixture, Way)> {
    let mut way = Way::default();
    if !readings.affordable(joint.n_features() - 1) {
        return Ok((joint, way));
    }
    let total = readings.total().weight;
    let look = |joint: &Mixture| {
        let coef = Law::from_joint(joint)?.coef;
        Ok((readings.sums(&coef, joint, control)?, coef))
    };
    let (mut sums, mut coef) = look(&joint)?;
    for _ in 0..MOST_STEPS {
        way.passes += 1;
        way.likelihoods.push(sums.log_likelihood / total);
        let information = sums.information(&joint);
        let Some((step, rise)) = step(&information, &joint, &coef)? else { break };
        if rise <= ENOUGH * total {
            way.converged = true;
            break;
        }
        let tried = (0..HALVINGS).find_map(|k| {
            let next = moved(&joint, &coef, &step, 0.5f64.powi(k as i32)).ok()?;
            let found = look(&next).ok()?;
            (found.0.log_likelihood >= sums.log_likelihood).then_some((next, found))
        });
        control.check()?;
        let Some((next, found)) = tried else {
            // Only rounding is left to gain.
            way.converged = rise <= 1e-9 * total;
            break;
        };
        joint = next;
        (sums, coef) = found;
    }
    Ok((joint, way))
}

/// The Newton step, and the rise that it promises.
fn step(information: &Information, joint: &Mixture, coef: &[f64]) -> Result<Option<(Vec<f64>, f64)>> {
    let (d, gradient) = (coef.len(), &information.gradient);
    let of_scatter = d + 1;
    let room = Law::from_joint(joint)?.scatter.powi(2) - least_variance(joint);
    let others: Vec<usize> = (0..information.q).filter(|&p| p != of_scatter).collect();
    // The others' best step for a given one of s^2.
    let beside = |by: f64| -> Option<Vec<f64>> {
        let right: Vec<f64> = others.iter().map(|&p| gradient[p] - information.at(p, of_scatter) * by).collect();
        let mut step = information.factor(&others)?.solve(&right);
        step.insert(of_scatter, by);
        Some(step)
    };
    let held = room <= 1e-6 * least_variance(joint) && gradient[of_scatter] <= 0.0;
    let free: Vec<usize> = (0..information.q).collect();
    let found = if held {
        beside(0.0)
    } else {
        match information.factor(&free).map(|factor| factor.solve(gradient)) {
            Some(step) if step[of_scatter] >= -room => Some(step),
            _ if gradient[of_scatter] <= 0.0 => beside(-room.max(0.0)),
            other => other,
        }
    };
    Ok(found.map(|step| {
        let rise = 0.5 * step.iter().zip(gradient).map(|(s, g)| s * g).sum::<f64>();
        (step, rise.abs())
    }))
}

/// The component after a part of a step.
fn moved(joint: &Mixture, coef: &[f64], step: &[f64], part: f64) -> Result<Mixture> {
    let (d, mean, t) = (coef.len(), joint.mean(0), joint.covariance(0));
    let law = Law::from_joint(joint)?;
    let (by_coef, rest) = step.split_at(d);
    let (by_mean, by_t) = (&rest[2..2 + d], &rest[2 + d..]);
    let new_coef: Vec<f64> = coef.iter().zip(by_coef).map(|(b, by)| b + part * by).collect();
    let shift: f64 = by_coef.iter().zip(mean).map(|(by, m)| part * by * m).sum();
    let intercept = law.intercept + part * rest[0] - shift;
    let least = least_variance(joint);
    let variance = (law.scatter.powi(2) + part * rest[1]).max(least);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut means: Vec<f64> = mean[..d].iter().zip(by_mean).map(|(m, by)| m + part * by).collect();
    means.push(intercept + product(&new_coef, &means));
    let mut covariance: Vec<f64> = t.iter().zip(by_t).map(|(t, by)| t + part * by).collect();
    let crossed: Vec<f64> =
        (0..d).map(|j| (0..d).map(|k| covariance[packed_index(j, k)] * new_coef[k]).sum()).collect();
    let of_target = product(&crossed, &new_coef) + variance;
    covariance.extend(crossed);
    covariance.push(of_target);
    Mixture::new(vec![1.0], means, covariance, d + 1)
}
