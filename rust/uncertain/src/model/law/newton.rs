//! The maximum of the likelihood, with what goes beside it:
//! ```text
//! F(theta) = -sum c_i log p(y_i | x_i) + sum_j rho_j theta_j^2 / 2 + log |I + M'W M| / 2 + (p / 2) log sum c_i / V_i
//! ```
//! by Newton's method with exact second derivatives between bounds ([`levenberg`](crate::solver::levenberg)). rho are penalties of
//! coefficients and 1 of errors that rows share; the last two terms are those of lines ([`Freedom`](super::likelihood::Freedom)).
//!
//! Separation: coefficients that grow without end, along which the likelihood still rises. It is known by a spread of the
//! predictor beyond every sense, or by second derivatives that have vanished beside those of the start.

use crate::control::Control;
use crate::data::covariance::packed_index;
use crate::error::{Error, Result};
use crate::linalg::{Eigh, Spd, congruent};
use crate::model::degrees::Degrees;
use crate::model::law::likelihood::{Evaluation, Likelihood};
use crate::model::law::remote::RemoteSums;
use crate::solver::Status;
use crate::solver::levenberg::{Expansion, Objective, minimise, movable};

const MOST_STEPS: usize = 200;
/// Rise of the mean log-likelihood that a step promises, too small to matter: what is left after it is its square.
const ENOUGH: f64 = 1e-16;
/// Of the log-likelihood of a line: steps beyond the last that the value can tell cost nothing.
const ENOUGH_OF_LINE: f64 = 1e-22;
/// Standard deviation of the linear predictor beyond which the coefficients have no end.
const ENDLESS: f64 = 200.0;
/// A step to a spread so many times that of before (or 1) is shortened without a look: its integrals would
/// take as many times the nodes, and such steps were not kept.
const LEAP: f64 = 30.0;
/// Second derivatives along a direction relative to those of the start: exp(-19).
const VANISHED: f64 = 1e-8;

/// Where it ended.
#[derive(Clone)]
pub(in crate::model) struct Maximum {
    pub theta: Vec<f64>,
    /// F there, and its second derivatives, a packed triangle.
    pub value: f64,
    pub hessian: Vec<f64>,
    /// Of the sum over the rows alone.
    pub at: Evaluation,
    pub n_iter: usize,
    pub status: Status,
    /// Numbers of the parameters that are not at a bound.
    pub free: Vec<usize>,
}

/// A likelihood to maximise, whoever holds its rows.
#[derive(Clone, Copy)]
pub(in crate::model) struct Problem<'a> {
    /// Of these parameters, and rows if they are here.
    pub likelihood: Likelihood<'a>,
    /// Rows of other processes, of which those are a sample.
    pub remote: Option<&'a RemoteSums<'a>>,
    /// rho of coefficients and of errors that rows share.
    pub ridges: &'a [f64],
    /// Bounds of all parameters.
    pub lower: &'a [f64],
    pub upper: &'a [f64],
    pub control: &'a Control,
}

struct Ascent<'a> {
    of: Problem<'a>,
    weight: f64,
    /// Spread of the linear predictor where the last step ended.
    spread: f64,
}

impl Problem<'_> {
    fn evaluate(&self, theta: &[f64]) -> Result<Evaluation> {
        self.remote.map_or_else(|| self.likelihood.evaluate(theta, self.control), |remote| remote.evaluate(theta))
    }

    /// F, its gradient and Hessian (packed) from the sums over the rows.
    fn expanded(&self, theta: &[f64], at: &Evaluation) -> (f64, Vec<f64>, Vec<f64>) {
        let likelihood = &self.likelihood;
        let mut value = at.log_root - at.log;
        let mut gradient: Vec<f64> = at.gradient.iter().map(|g| -g).collect();
        let mut hessian: Vec<f64> = at.hessian.iter().map(|h| -h).collect();
        for (j, rho) in self.ridges.iter().enumerate() {
            let place = likelihood.first_coef() + j;
            let whole = theta[place] + likelihood.base.get(j).unwrap_or(&0.0);
            value += 0.5 * rho * whole * whole;
            gradient[place] += rho * whole;
            hessian[packed_index(place, place)] += rho;
        }
        if let Some(freedom) = likelihood.freedom.filter(|freedom| freedom.taken > 0.0) {
            let (degrees, first) = (Degrees::new(freedom.taken, &at.precisions), likelihood.first_psi());
            value += degrees.value;
            for a in 0..1 + usize::from(freedom.scaled) {
                gradient[first + a] += degrees.gradient[a];
                (0..=a).for_each(|b| hessian[packed_index(first + a, first + b)] += degrees.hessian[a][b]);
            }
        }
        (value, gradient, hessian)
    }

    fn spread(&self, theta: &[f64]) -> f64 {
        let first = self.likelihood.first_coef();
        theta[first..self.likelihood.modes().start].iter().map(|b| b * b).sum::<f64>().sqrt()
    }

    /// From `start`; the parameter `held` stays where it is there.
    pub(in crate::model) fn maximum(&self, start: Vec<f64>, held: Option<usize>) -> Result<Maximum> {
        let (mut lower, mut upper) = (self.lower.to_vec(), self.upper.to_vec());
        if let Some(held) = held {
            (lower[held], upper[held]) = (start[held], start[held]);
        }
        let mut ascent = Ascent { of: *self, weight: self.likelihood.weight(), spread: self.spread(&start) };
        let none =
            || Error::Data("the likelihood is not finite at the start; scale the features and the target".into());
        let first = ascent.value(&start)?.ok_or_else(none)?;
        let begun = first.1.2.clone();
        let minimum = minimise(&mut ascent, start, first, (&lower, &upper), MOST_STEPS)?;
        let (at, gradient, hessian) = minimum.state;
        let free = movable(&minimum.at, &gradient, &lower, &upper);
        let mut status = minimum.status;
        if self.likelihood.freedom.is_none() && held.is_none() {
            let plain = self.ridges.iter().take_while(|rho| **rho == 0.0).count();
            let places = self.likelihood.first_coef()..self.likelihood.first_coef() + plain;
            let endless = self.spread(&minimum.at) > ENDLESS;
            if endless || (plain > 0 && vanished(&hessian, &begun, places)?) {
                status = Status::Separated;
            }
        }
        Ok(Maximum { theta: minimum.at, value: minimum.value, hessian, at, n_iter: minimum.n_iter, status, free })
    }
}

impl Objective for Ascent<'_> {
    /// Sums over the rows, gradient and Hessian of F.
    type State = (Evaluation, Vec<f64>, Vec<f64>);

    fn value(&mut self, theta: &[f64]) -> Result<Option<(f64, Self::State)>> {
        let of_family = self.of.likelihood.freedom.is_none();
        if of_family && self.of.spread(theta) > LEAP * self.spread.max(1.0) {
            return Ok(None);
        }
        let at = self.of.evaluate(theta)?;
        let (value, gradient, hessian) = self.of.expanded(theta, &at);
        Ok(value.is_finite().then_some((value, (at, gradient, hessian))))
    }

    fn derivatives(&mut self, theta: &[f64], (_, gradient, hessian): &Self::State) -> Result<Expansion> {
        self.spread = self.of.spread(theta);
        let all: Vec<usize> = (0..theta.len()).collect();
        let diagonal = all.iter().map(|&j| hessian[packed_index(j, j)].abs()).collect();
        Ok(Expansion { gradient: gradient.clone(), hessian: square(hessian, &all), diagonal, beside: 0.0 })
    }

    fn negligible(&self, _: f64) -> f64 {
        if self.of.likelihood.freedom.is_some() { ENOUGH_OF_LINE } else { ENOUGH * self.weight }
    }

    fn noise(&self, value: f64) -> f64 {
        1e-14 * (value.abs() + self.weight)
    }

    fn is_endless(&self, theta: &[f64]) -> bool {
        self.of.likelihood.freedom.is_none() && self.of.spread(theta) > ENDLESS
    }

    fn report(&self, iteration: usize, value: f64) {
        self.of.control.report(iteration, value, f64::NAN);
    }
}

/// The rows and columns of these numbers of a packed triangle.
pub(in crate::model) fn square(triangle: &[f64], numbers: &[usize]) -> Vec<f64> {
    let element = |i: usize, j: usize| triangle[packed_index(i, j)];
    numbers.iter().flat_map(|&i| numbers.iter().map(move |&j| element(i, j))).collect()
}

/// Has the matrix of second derivatives of the coefficients vanished along a direction, beside that of the start?
fn vanished(hessian: &[f64], begun: &[f64], coefs: std::ops::Range<usize>) -> Result<bool> {
    let numbers: Vec<usize> = coefs.collect();
    let d = numbers.len();
    let now = square(hessian, &numbers);
    let before = Spd::new(square(begun, &numbers), d).filter(|_| now.iter().all(|x| x.is_finite()));
    let Some(before) = before else { return Ok(false) };
    let turned = congruent(&before.inverse_root(), d, |i, j| now[i * d + j]);
    let mut eigh = Eigh::new(d);
    eigh.packed(&turned)?;
    Ok(eigh.values.first().is_some_and(|least| *least < VANISHED))
}
