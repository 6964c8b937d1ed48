//! From where EM stops to the maximum of the likelihood of one component, by Newton's method.
//!
//! EM moves by the share of the information that readings have of true values, and towards s = 0 ever more slowly. Its
//! end is near enough for the observed information ([`Information`]) to be positive definite: then a few steps reach the
//! maximum to rounding. s^2 >= 0 (nearly) is kept: a step that would cross it ends there, the others' best given that,
//! and a bound that the likelihood presses against is held. A step that does not lead up is halved.
//!
//! A profile holds a coefficient, counts the degrees of freedom of s^2 ([`Freedom`]), and moves the [`Root`] of T; far from
//! the maximum its information may not be positive definite, and its diagonal is then raised.

use crate::control::Control;
use crate::deconvolution::{Mixture, Report};
use crate::error::Result;
use crate::model::mixture_regression::freedom::Freedom;
use crate::model::mixture_regression::information::Information;
use crate::model::mixture_regression::law::{Law, least_variance, moved};
use crate::model::mixture_regression::readings::Readings;
use crate::model::mixture_regression::root::Root;
use crate::solver::Status;

const MOST_STEPS: usize = 50;
/// Of a profile, whose way may lead along a valley that bends.
const MOST_OF_PROFILE: usize = 500;
const HALVINGS: usize = 20;
/// A rise of the log-likelihood that a step promises, too small to matter.
const ENOUGH: f64 = 1e-12;
/// What a diagonal is raised by, relative to itself.
const DAMPING: [f64; 6] = [0.0, 1e-3, 1e-2, 0.1, 1.0, 10.0];

/// What is maximised, and what stays.
#[derive(Clone, Copy)]
pub(super) enum Goal<'a> {
    /// The likelihood.
    Likelihood,
    /// That less what counts the degrees of freedom, perhaps with a coefficient that stays where it is.
    Profile(&'a Freedom<'a>, Option<usize>),
}

impl Goal<'_> {
    /// What is maximised, where the likelihood is that.
    fn value(self, log_likelihood: f64, joint: &Mixture) -> Result<f64> {
        let Self::Profile(freedom, _) = self else { return Ok(log_likelihood) };
        Ok(log_likelihood - freedom.counted(joint, None)?)
    }

    /// From the derivatives of the likelihood those of what is maximised; of a profile by the root of T.
    fn expanded(self, information: &mut Information, joint: &Mixture) -> Result<Option<Root>> {
        let Self::Profile(freedom, _) = self else { return Ok(None) };
        freedom.counted(joint, Some(information))?;
        let root = Root::new(joint)?;
        root.turn(information);
        Ok(Some(root))
    }

    fn held(self) -> Option<usize> {
        if let Self::Profile(_, held) = self { held } else { None }
    }

    /// A rise that rounding may hide; of a profile also the little by which T is held positive.
    fn rounding(self, total: f64) -> f64 {
        if matches!(self, Self::Likelihood) { 1e-9 * total } else { (1e-6 * total).min(1e-4) }
    }

    fn most_steps(self) -> usize {
        if matches!(self, Self::Likelihood) { MOST_STEPS } else { MOST_OF_PROFILE }
    }

    fn dampings(self) -> &'static [f64] {
        if matches!(self, Self::Likelihood) { &DAMPING[..1] } else { &DAMPING }
    }
}

/// How it went.
#[derive(Default)]
pub(super) struct Way {
    passes: usize,
    /// Mean log-likelihood per row.
    likelihoods: Vec<f64>,
    /// What was maximised, where it ended.
    pub value: f64,
    pub converged: bool,
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
pub(super) fn climbed(
    mut joint: Mixture,
    readings: &dyn Readings,
    goal: Goal<'_>,
    control: &Control,
) -> Result<(Mixture, Way)> {
    let mut way = Way::default();
    if !readings.affordable(joint.n_features() - 1) {
        return Ok((joint, way));
    }
    let total = readings.total().weight;
    let look = |joint: &Mixture| {
        let coef = Law::from_joint(joint)?.coef;
        let sums = readings.sums(&coef, joint, control)?;
        let value = goal.value(sums.log_likelihood, joint)?;
        Ok((sums, coef, value))
    };
    let (mut sums, mut coef, mut value) = look(&joint)?;
    for _ in 0..goal.most_steps() {
        way.passes += 1;
        way.likelihoods.push(sums.log_likelihood / total);
        way.value = value;
        let mut information = sums.information(&joint);
        let root = goal.expanded(&mut information, &joint)?;
        let Some((by, rise)) = step(&information, &joint, &coef, goal)? else { break };
        if rise <= ENOUGH * total {
            way.converged = true;
            break;
        }
        let tried = (0..HALVINGS).find_map(|k| {
            let part = 0.5f64.powi(k as i32);
            let next = match &root {
                Some(root) => root.moved(&joint, &coef, &by, part),
                None => moved(&joint, &coef, &by, part),
            };
            let next = next.ok()?;
            let found = look(&next).ok()?;
            (found.2 >= value).then_some((next, found))
        });
        control.check()?;
        let Some((next, found)) = tried else {
            // Only rounding is left to gain.
            way.converged = rise <= goal.rounding(total);
            break;
        };
        joint = next;
        (sums, coef, value) = found;
        way.value = value;
    }
    Ok((joint, way))
}

/// Where to go, and the rise that it promises.
fn step(information: &Information, joint: &Mixture, coef: &[f64], goal: Goal<'_>) -> Result<Option<(Vec<f64>, f64)>> {
    let (d, gradient) = (coef.len(), &information.gradient);
    let of_scatter = d + 1;
    let room = Law::from_joint(joint)?.scatter.powi(2) - least_variance(joint);
    let free: Vec<usize> = (0..information.q).filter(|&p| Some(p) != goal.held()).collect();
    let others: Vec<usize> = free.iter().copied().filter(|&p| p != of_scatter).collect();
    let spread = |some: &[usize], values: Vec<f64>| -> Vec<f64> {
        let mut step = vec![0.0; information.q];
        some.iter().zip(values).for_each(|(&p, by)| step[p] = by);
        step
    };
    // The others' best step for a given one of s^2.
    let beside = |by: f64, damping: f64| -> Option<Vec<f64>> {
        let right: Vec<f64> = others.iter().map(|&p| gradient[p] - information.at(p, of_scatter) * by).collect();
        let mut step = spread(&others, information.damped(&others, damping)?.solve(&right));
        step[of_scatter] = by;
        Some(step)
    };
    let held = room <= 1e-6 * least_variance(joint) && gradient[of_scatter] <= 0.0;
    let own: Vec<f64> = free.iter().map(|&p| gradient[p]).collect();
    let found = |damping: f64| -> Option<(Vec<f64>, f64)> {
        let by = if held {
            beside(0.0, damping)
        } else {
            match information.damped(&free, damping).map(|factor| spread(&free, factor.solve(&own))) {
                Some(step) if step[of_scatter] >= -room => Some(step),
                _ if gradient[of_scatter] <= 0.0 => beside(-room.max(0.0), damping),
                other => other,
            }
        }?;
        let rise = 0.5 * by.iter().zip(gradient).map(|(s, g)| s * g).sum::<f64>();
        Some((by, rise.abs()))
    };
    Ok(goal.dampings().iter().find_map(|damping| found(*damping)))
}
