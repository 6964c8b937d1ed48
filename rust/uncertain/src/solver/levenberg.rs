//! Levenberg-Marquardt between bounds, for any objective with a gradient and a Hessian that is nearly right.
//!
//! Steps solve (H + lambda D) s = -g for the parameters that are free and not held at a bound that the gradient pushes
//! against, and are cut at the bounds. lambda follows Nielsen's rule (H. B. Nielsen, Damping parameter in Marquardt's
//! method, 1999); D is the largest diagonal so far (J. J. More, The Levenberg-Marquardt algorithm: implementation and theory,
//! 1978), so that the way does not depend on units.

use super::Status;
use crate::error::Result;
use crate::linalg::{Spd, dot};

/// First and second derivatives at a point.
#[derive(Clone)]
pub(crate) struct Expansion {
    pub gradient: Vec<f64>,
    /// p x p, perhaps not positive definite.
    pub hessian: Vec<f64>,
    /// A positive diagonal of its size.
    pub diagonal: Vec<f64>,
    /// Gain expected of eliminated unknowns while these parameters stay.
    pub beside: f64,
}

/// The objective.
pub(crate) trait Objective {
    /// Results of a value that the derivatives at this point need.
    type State;

    /// `None` where it is not defined.
    fn value(&mut self, at: &[f64]) -> Result<Option<(f64, Self::State)>>;

    fn derivatives(&mut self, at: &[f64], state: &Self::State) -> Result<Expansion>;

    /// Decreases below this do not matter.
    fn negligible(&self, value: f64) -> f64;

    /// How exactly the value is computed.
    fn noise(&self, value: f64) -> f64;

    /// Are these parameters beyond every sense, with an objective that falls without end?
    fn is_endless(&self, _at: &[f64]) -> bool {
        false
    }

    fn report(&self, iteration: usize, value: f64);
}

/// Where it ended.
pub(crate) struct Minimum<S> {
    pub at: Vec<f64>,
    pub value: f64,
    pub state: S,
    pub derivatives: Expansion,
    pub n_iter: usize,
    pub status: Status,
}

/// The minimum near `start`, where the objective has `first` as its value.
pub(crate) fn minimise<O: Objective>(
    objective: &mut O,
    start: Vec<f64>,
    first: (f64, O::State),
    (lower, upper): (&[f64], &[f64]),
    max_iter: usize,
) -> Result<Minimum<O::State>> {
    let (mut at, (mut value, mut state)) = (start, first);
    let mut derivatives = objective.derivatives(&at, &state)?;
    let mut scale = derivatives.diagonal.clone();
    let (mut lambda, mut growth, mut n_iter, mut unseen) = (1e-3, 2.0, 0, 0);
    let status = loop {
        let free = movable(&at, &derivatives.gradient, lower, upper);
        // Gain of a full step, if the model were right.
        let full = step(&derivatives, &scale, &free, 0.0);
        let gain = full.as_ref().map(|s| derivatives.beside - dot(&derivatives.gradient, s) / 2.0);
        if gain.is_some_and(|gain| gain <= objective.negligible(value)) {
            break Status::Converged;
        }
        if n_iter >= max_iter {
            break Status::MaxIterations;
        }
        let Some(mut s) = step(&derivatives, &scale, &free, lambda) else {
            lambda = (lambda * growth).max(1e-10);
            growth *= 2.0;
            if lambda > 1e20 {
                break Status::NoProgress;
            }
            continue;
        };
        let trial: Vec<f64> = (0..s.len()).map(|j| (at[j] + s[j]).clamp(lower[j], upper[j])).collect();
        s.iter_mut().zip(trial.iter().zip(&at)).for_each(|(s, (trial, at))| *s = trial - at);
        let linear = -dot(&derivatives.gradient, &s);
        let predicted = derivatives.beside + linear - 0.5 * quadratic(&derivatives.hessian, &s);
        n_iter += 1;
        let noise = objective.noise(value);
        let tried = objective.value(&trial)?;
        let actual = tried.as_ref().map_or(f64::NEG_INFINITY, |(new, _)| value - new);
        let moved = trial.iter().zip(&at).any(|(t, a)| (t - a).abs() > 1e-15 * a.abs());
        // Near the minimum noise hides what a step gains; the gradient is exact for longer than the value.
        match tried {
            Some((new, after))
                if predicted > 0.0
                    && (actual > 0.0 || (unseen < 10 && predicted <= 100.0 * noise && actual >= -noise)) =>
            {
                unseen += usize::from(actual <= 0.0);
                (at, value, state) = (trial, new, after);
                objective.report(n_iter, value);
                derivatives = objective.derivatives(&at, &state)?;
                scale.iter_mut().zip(&derivatives.diagonal).for_each(|(s, d)| *s = s.max(*d));
                let ratio = actual / predicted;
                lambda *= (1.0 - (2.0 * ratio - 1.0).powi(3)).clamp(1.0 / 3.0, 2.0);
                growth = 2.0;
                if objective.is_endless(&at) {
                    break Status::Separated;
                }
            }
            _ => {
                if !moved || lambda > 1e20 || predicted.abs() <= 100.0 * noise {
                    let rounding = predicted.abs() <= 1e4 * noise || !moved;
                    break if rounding { Status::Converged } else { Status::NoProgress };
                }
                lambda = lambda.max(1e-12) * growth;
                growth *= 2.0;
            }
        }
    };
    Ok(Minimum { at, value, state, derivatives, n_iter, status })
}

/// The parameters that no bound holds.
pub(crate) fn movable(at: &[f64], gradient: &[f64], lower: &[f64], upper: &[f64]) -> Vec<usize> {
    let held = |j: usize| (at[j] <= lower[j] && gradient[j] >= 0.0) || (at[j] >= upper[j] && gradient[j] <= 0.0);
    (0..at.len()).filter(|&j| !held(j)).collect()
}

/// -(H + lambda D)^{-1} g of some parameters, 0 for the others; `None` where that matrix is not positive definite.
fn step(derivatives: &Expansion, scale: &[f64], free: &[usize], lambda: f64) -> Option<Vec<f64>> {
    let (p, m) = (scale.len(), free.len());
    let unit: Vec<f64> = free.iter().map(|&j| scale[j].sqrt()).map(|u| if u > 0.0 { u } else { 1.0 }).collect();
    let mut l = vec![0.0; m * m];
    for (a, b) in (0..m).flat_map(|a| (0..m).map(move |b| (a, b))) {
        let damping = if a == b { lambda } else { 0.0 };
        l[a * m + b] = derivatives.hessian[free[a] * p + free[b]] / unit[a] / unit[b] + damping;
    }
    let s = Spd::new(l, m)?.solve((0..m).map(|a| -derivatives.gradient[free[a]] / unit[a]).collect());
    let mut out = vec![0.0; p];
    (0..m).for_each(|a| out[free[a]] = s[a] / unit[a]);
    out.iter().all(|x| x.is_finite()).then_some(out)
}

fn quadratic(h: &[f64], s: &[f64]) -> f64 {
    let p = s.len();
    (0..p).map(|i| s[i] * dot(&h[i * p..(i + 1) * p], s)).sum()
}
