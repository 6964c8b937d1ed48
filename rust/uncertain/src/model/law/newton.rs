//! The maximum of the likelihood by Newton's method with exact second derivatives.
//!
//! ```text
//! F(theta) = -(1 / sum c) sum c_i log p(y_i | x_i) + (alpha / 2) |beta|^2
//! ```
//! F is not convex, because v depends on beta: a step is that of (H + mu diag H), mu raised until F falls as much as it promises
//! (Levenberg, Marquardt; Nocedal, Wright, Numerical Optimization, 10.3). A further parameter at its bound stays
//! there while F falls beyond it.
//!
//! Separation: coefficients that grow without end, along which the likelihood still rises. It is known by a spread of the
//! predictor beyond every sense, or by second derivatives that have vanished beside those of the start.

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::error::Result;
use crate::linalg::{Eigh, cholesky, cholesky_solve};
use crate::model::law::likelihood::{Evaluation, Likelihood};
use crate::solver::Status;

const MOST_STEPS: usize = 100;
/// Rise of the mean log-likelihood that a step promises, too small to matter: what is left after it is its square.
const ENOUGH: f64 = 1e-16;
/// Standard deviation of the linear predictor beyond which the coefficients have no end.
const ENDLESS: f64 = 200.0;
/// A step to a spread so many times that of before (or 1) is shortened without a look: its integrals would
/// take as many times the nodes, and such steps were not kept.
const LEAP: f64 = 30.0;
/// Second derivatives along a direction relative to those of the start: exp(-19).
const VANISHED: f64 = 1e-8;

/// Where it ended.
#[derive(Clone)]
pub(super) struct Maximum {
    pub theta: Vec<f64>,
    /// F there.
    pub value: f64,
    /// Of the unpenalised sum over the rows.
    pub at: Evaluation,
    pub n_iter: usize,
    pub status: Status,
    /// Numbers of the parameters that are not at a bound.
    pub free: Vec<usize>,
}

/// F and its derivatives.
struct Objective<'a> {
    likelihood: Likelihood<'a>,
    /// alpha of each coefficient, in the units of the rows.
    alphas: &'a [f64],
    weight: f64,
}

/// At one point.
struct Point {
    value: f64,
    gradient: Vec<f64>,
    /// A packed triangle.
    hessian: Vec<f64>,
    at: Evaluation,
}

impl Objective<'_> {
    fn point(&self, theta: &[f64], control: &Control) -> Result<Point> {
        let at = self.likelihood.evaluate(theta, control)?;
        let mut value = -at.log / self.weight;
        let mut gradient: Vec<f64> = at.gradient.iter().map(|g| -g / self.weight).collect();
        let mut hessian: Vec<f64> = at.hessian.iter().map(|h| -h / self.weight).collect();
        for (j, alpha) in self.alphas.iter().enumerate() {
            let place = self.likelihood.first_coef() + j;
            value += 0.5 * alpha * theta[place] * theta[place];
            gradient[place] += alpha * theta[place];
            hessian[packed_index(place, place)] += alpha;
        }
        Ok(Point { value, gradient, hessian, at })
    }
}

/// From `start`; the parameter `held` stays where it is there.
pub(super) fn maximum(
    likelihood: Likelihood<'_>,
    start: Vec<f64>,
    alphas: &[f64],
    held: Option<usize>,
    control: &Control,
) -> Result<Maximum> {
    let objective = Objective { likelihood, alphas, weight: likelihood.weight() };
    let (first, last) = (likelihood.first_coef(), likelihood.first_extra());
    let bounds = likelihood.family.bounds();
    let spread = |theta: &[f64]| theta[first..last].iter().map(|b| b * b).sum::<f64>().sqrt();
    let mut theta = start;
    let mut point = objective.point(&theta, control)?;
    let begun = point.hessian.clone();
    let (mut mu, mut status, mut n_iter) = (0.0_f64, Status::MaxIterations, 0);
    let mut free = free_at(&theta, &point.gradient, last, bounds, held);
    while n_iter < MOST_STEPS {
        control.report(n_iter, point.value, f64::NAN);
        n_iter += 1;
        free = free_at(&theta, &point.gradient, last, bounds, held);
        let Some((step, promised)) = solved(&point, &free, mu) else {
            if mu > 1e8 {
                status = Status::NoProgress;
                break;
            }
            mu = (10.0 * mu).max(1e-3);
            continue;
        };
        if promised <= ENOUGH {
            status = Status::Converged;
            break;
        }
        let mut next = theta.clone();
        free.iter().zip(&step).for_each(|(&at, by)| next[at] += by);
        next[last..].iter_mut().for_each(|a| *a = a.clamp(bounds.0, bounds.1));
        let rounding = 1e-14 * (1.0 + point.value.abs());
        let leap = spread(&next) > LEAP * spread(&theta).max(1.0);
        let there = if leap { None } else { Some(objective.point(&next, control)?) };
        // A step so far that the integrals overflow promises anything, -infinity among it.
        let falls = |there: &Point| there.value.is_finite() && there.value <= point.value - 1e-4 * promised + rounding;
        if let Some(there) = there.filter(falls) {
            // Falls no more than rounding: the end, wherever it is.
            let stuck = point.value - there.value <= rounding && promised <= rounding;
            (theta, point) = (next, there);
            mu = if mu < 1e-6 { 0.0 } else { 0.1 * mu };
            if stuck {
                status = Status::Converged;
                break;
            }
            if spread(&theta) > ENDLESS {
                status = Status::Separated;
                break;
            }
        } else if mu > 1e8 {
            status = Status::NoProgress;
            break;
        } else {
            mu = (10.0 * mu).max(1e-3);
        }
    }
    let plain = alphas.iter().take_while(|alpha| **alpha == 0.0).count();
    if held.is_none() && plain > 0 && vanished(&point.hessian, &begun, first..first + plain)? {
        status = Status::Separated;
    }
    Ok(Maximum { theta, value: point.value, at: point.at, n_iter, status, free })
}

/// The parameters that may move.
fn free_at(
    theta: &[f64],
    gradient: &[f64],
    first_extra: usize,
    (low, high): (f64, f64),
    held: Option<usize>,
) -> Vec<usize> {
    let bounded = |at: usize| {
        at >= first_extra && ((theta[at] <= low && gradient[at] > 0.0) || (theta[at] >= high && gradient[at] < 0.0))
    };
    (0..theta.len()).filter(|&at| Some(at) != held && !bounded(at)).collect()
}

/// The step of (H + mu diag |H|), and the fall that it promises; `None` where that matrix is not positive definite.
fn solved(point: &Point, free: &[usize], mu: f64) -> Option<(Vec<f64>, f64)> {
    let q = free.len();
    let mut matrix = square(&point.hessian, free);
    for i in 0..q {
        let own = matrix[i * q + i];
        matrix[i * q + i] = own + mu * own.abs().max(1e-12);
    }
    if matrix.iter().any(|x| !x.is_finite()) || !cholesky(&mut matrix, q) {
        return None;
    }
    let mut step: Vec<f64> = free.iter().map(|&at| -point.gradient[at]).collect();
    cholesky_solve(&matrix, q, &mut step);
    let promised = -0.5 * free.iter().zip(&step).map(|(&at, by)| point.gradient[at] * by).sum::<f64>();
    (promised.is_finite() && promised >= 0.0).then_some((step, promised))
}

/// The rows and columns of these numbers of a packed triangle.
pub(super) fn square(triangle: &[f64], numbers: &[usize]) -> Vec<f64> {
    let element = |i: usize, j: usize| triangle[packed_index(i.max(j), i.min(j))];
    numbers.iter().flat_map(|&i| numbers.iter().map(move |&j| element(i, j))).collect()
}

/// Has the matrix of second derivatives of the coefficients vanished along a direction, beside that of the start?
fn vanished(hessian: &[f64], begun: &[f64], coefs: std::ops::Range<usize>) -> Result<bool> {
    let numbers: Vec<usize> = coefs.collect();
    let d = numbers.len();
    let (now, mut before) = (square(hessian, &numbers), square(begun, &numbers));
    if now.iter().any(|x| !x.is_finite()) || !cholesky(&mut before, d) {
        return Ok(false);
    }
    // L^{-1} H L^{-T}, column by column of L^{-1}.
    let columns: Vec<Vec<f64>> = (0..d).map(|i| forward(&before, d, |j| now[j * d + i])).collect();
    let turned: Vec<Vec<f64>> = (0..d).map(|i| forward(&before, d, |j| columns[j][i])).collect();
    let mut triangle = Vec::with_capacity(packed_len(d));
    (0..d).for_each(|i| triangle.extend_from_slice(&turned[i][..=i]));
    let mut eigh = Eigh::new(d);
    eigh.packed(&triangle)?;
    Ok(eigh.values.first().is_some_and(|least| *least < VANISHED))
}

/// x with L x = b.
fn forward(l: &[f64], d: usize, b: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut x = vec![0.0; d];
    for i in 0..d {
        let known: f64 = l[i * d..i * d + i].iter().zip(&x).map(|(l, x)| l * x).sum();
        x[i] = (b(i) - known) / l[i * d + i];
    }
    x
}
