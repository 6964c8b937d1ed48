//! The convex problem inside MPSVC, by a barrier method.
//!
//! ```text
//! max sum theta_i y_i f(x_i)    s.t.  |S_i^(1/2) w| < 1,   y_i f(x_i) > floor_i,      f(x) = w'x + b
//! ```
//!
//! The cones are convex quadratics, v_i = w'S_i w < 1, whose logarithms are smooth everywhere inside. So the
//! barrier is one more scalar function of (y, m, v) per row and goes through the ordinary pass:
//!
//! ```text
//! F = -tau theta y m - log(1 - v) - log(y m - floor),      tau -> infinity
//! ```
//!
//! At the minimum for tau the objective is within (number of constraints) / tau of the best one. Newton's
//! steps are shortened until every row stays inside, for which scores along the step need no pass. Only the last tau
//! is solved to the end: before it Newton's method need only be where it converges fast. With many features every row
//! may lie next to its border, nearer than rounding tells from beyond it: then the last point inside is the answer.

use crate::control::Control;
use crate::error::Result;
use crate::linalg::{Spd, norm};
use crate::loss::{Certificate, Loss, LossEval, Scores, Smoothness, TargetKind};
use crate::objective::{Derivatives, LinearObjective, Problem, RowMotion};

/// Factor by which tau grows, and the relative distance from the best objective that is enough.
const GROWTH: f64 = 20.0;
const ENOUGH: f64 = 1e-6;
/// Newton steps per tau at most, and the decrement, of the sum over the rows, that ends them: on the way and for the last tau.
const STEPS: usize = 40;
const NEAR: f64 = 0.1;
const CENTRED: f64 = 1e-8;
/// Part of the way to the border that a step may go.
const FRACTION: f64 = 0.99;
/// Beyond this length (in units of the start) nothing bounds w.
const ENDLESS: f64 = 1e8;

/// The rows' weights and floors, and tau.
#[derive(Debug, Clone)]
struct Barrier {
    theta: Vec<f64>,
    floor: Vec<f64>,
    tau: f64,
}

impl Loss for Barrier {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        for (k, out) in out.iter_mut().enumerate() {
            let (row, y, m, v) = (at.first + k, at.y[k], at.m[k], at.v[k]);
            let (theta, rest, above) = (self.theta[row], 1.0 - v, y * m - self.floor[row]);
            *out = if rest > 0.0 && above > 0.0 {
                LossEval {
                    value: -self.tau * theta * y * m - rest.ln() - above.ln(),
                    dm: -y * (self.tau * theta + 1.0 / above),
                    ds: 2.0 * v.sqrt() / rest,
                    dmm: 1.0 / (above * above),
                    dms: 0.0,
                    dss: 2.0 / rest + 4.0 * v / (rest * rest),
                }
            } else {
                LossEval { value: f64::INFINITY, ..LossEval::default() }
            };
        }
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Signs, Certificate::None, Smoothness::Always)
    }
}

/// The best (w, b) from a strictly feasible `start`; `None` when nothing bounds it (no spread along some w).
///
/// Theta and floor have one number per row of `problem`, whose loss and weights do not matter.
pub(super) fn maximize(
    problem: &Problem<'_>,
    theta: &[f64],
    floor: &[f64],
    start: &[f64],
    control: &Control,
) -> Result<Option<Vec<f64>>> {
    let n = theta.len() as f64;
    // Theta of mean 1 and tau from 1: the start need not be near the path.
    let mean = theta.iter().sum::<f64>() / n;
    let mut barrier = Barrier { theta: theta.iter().map(|t| t / mean).collect(), floor: floor.to_vec(), tau: 1.0 };
    let (mut x, mut inside) = (start.to_vec(), start.to_vec());
    let length = norm(start).max(f64::MIN_POSITIVE);
    loop {
        let loss = barrier.clone();
        let objective = Problem { weights: None, loss: &loss, ..*problem }.unpenalised()?;
        let mut value = f64::INFINITY;
        for decrement in [NEAR, CENTRED] {
            let Some(scores) = centre(&objective, &mut x, &mut inside, decrement, ENDLESS * length, control)? else {
                return Ok(Some(inside));
            };
            if norm(&x) > ENDLESS * length {
                return Ok(None);
            }
            let gains = scores.iter().zip(&barrier.theta).zip(problem.targets.iter());
            value = gains.map(|(((m, _), t), y)| t * y * m).sum();
            if 2.0 * n / barrier.tau > ENOUGH * value.abs().max(ENOUGH) {
                break;
            }
        }
        if 2.0 * n / barrier.tau <= ENOUGH * value.abs().max(ENOUGH) {
            return Ok(Some(x));
        }
        barrier.tau *= GROWTH;
    }
}

/// Newton's method at one tau, until x is longer than `endless`: then nothing bounds it. The scores (m, v) there;
/// `None` where rounding has put x on a border. `inside` is the last point that was not.
fn centre(
    objective: &LinearObjective<'_>,
    x: &mut [f64],
    inside: &mut [f64],
    decrement: f64,
    endless: f64,
    control: &Control,
) -> Result<Option<Vec<(f64, f64)>>> {
    let (problem, n) = (*objective.problem(), x.len());
    let mut scores = objective.scores(x, control)?;
    for _ in 0..STEPS {
        let e = match objective.evaluate(x, 0.0, Derivatives::Hessian, control) {
            Err(error) if error.is_about_data() => return Ok(None), // a barrier of infinity
            other => other?,
        };
        inside.copy_from_slice(x);
        let Some(p) = e.hessian.and_then(|h| newton_step(h, &e.gradient)) else { break };
        let slope: f64 = p.iter().zip(&e.gradient).map(|(p, g)| p * g).sum();
        if !(slope < -decrement / problem.targets.len() as f64) {
            break;
        }
        let motion = objective.motion(x, &p, control)?;
        let mut t = 1.0;
        let found = loop {
            let there = moved(&scores, &motion, t);
            let reached = value(&problem, &there);
            if reached <= e.objective + 1e-4 * t * slope {
                break Some(there);
            }
            t *= if reached.is_finite() { 0.5 } else { FRACTION * 0.7 };
            if t < 1e-12 {
                break None;
            }
        };
        let Some(there) = found else { break };
        for j in 0..n {
            x[j] += t * p[j];
        }
        scores = there;
        if norm(x) > endless {
            break;
        }
    }
    Ok(Some(scores))
}

/// The rows' scores at t along a step.
fn moved(scores: &[(f64, f64)], motion: &[RowMotion], t: f64) -> Vec<(f64, f64)> {
    let along = |(&(m, v), r): (&(f64, f64), &RowMotion)| (m + t * r.dm, (v + t * (2.0 * r.wsd + t * r.dsd)).max(0.0));
    scores.iter().zip(motion).map(along).collect()
}

/// The barrier's mean for these scores.
fn value(problem: &Problem<'_>, scores: &[(f64, f64)]) -> f64 {
    let (m, v): (Vec<f64>, Vec<f64>) = scores.iter().copied().unzip();
    let mut out = vec![LossEval::default(); m.len()];
    problem.loss.eval(
        &Scores { first: 0, y: &problem.targets.iter().collect::<Vec<f64>>(), m: &m, v: &v, width: 0.0 },
        &mut out,
    );
    out.iter().map(|e| e.value).sum::<f64>() / out.len() as f64
}

/// -H^-1 g; a little is added to the diagonal where rounding has made H indefinite.
fn newton_step(hessian: Vec<f64>, gradient: &[f64]) -> Option<Vec<f64>> {
    let n = gradient.len();
    let largest = (0..n).map(|j| hessian[j * n + j]).fold(0.0, f64::max);
    for ridge in [0.0, 1e-14, 1e-11, 1e-8] {
        let mut ridged = hessian.clone();
        (0..n).for_each(|j| ridged[j * n + j] += ridge * largest);
        let step = Spd::new(ridged, n).map(|ridged| ridged.solve(gradient.iter().map(|g| -g).collect()));
        if step.as_ref().is_some_and(|step| step.iter().all(|p| p.is_finite())) {
            return step;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};

    #[derive(serde::Deserialize)]
    struct Mpsvc {
        theta: Vec<f64>,
        floor: Vec<f64>,
        start: Vec<f64>,
        objective: f64,
    }

    /// tests/golden/robust.json
    #[derive(serde::Deserialize)]
    struct Golden {
        x: Vec<Vec<f64>>,
        y: Vec<f64>,
        diagonal: Vec<Vec<f64>>,
        mpsvc: Mpsvc,
    }

    #[test]
    fn the_cone_programs_maximum_is_reached() {
        let golden: Golden = serde_json::from_str(include_str!("../../../../../tests/golden/robust.json")).unwrap();
        let rows = |values: &[Vec<f64>]| Rows::from_vec(values.concat(), values[0].len()).unwrap();
        let data = GaussianArray::new(rows(&golden.x), Covariances::from_var(rows(&golden.diagonal))).unwrap();
        let loss = &crate::loss::Hinge;
        let problem =
            Problem { data: &data, targets: (&golden.y).into(), weights: None, alpha: 1.0, fit_intercept: true, loss };
        let Mpsvc { theta, floor, start, objective } = &golden.mpsvc;
        let x = maximize(&problem, theta, floor, start, &Control::new()).unwrap().unwrap();
        let objective_here = problem.check().unwrap();
        let scores = objective_here.scores(&x, &Control::new()).unwrap();
        let reached: f64 = scores.iter().zip(theta).zip(&golden.y).map(|(((m, _), t), y)| t * y * m).sum();
        assert!((reached / objective - 1.0).abs() < 2e-6, "{reached} {objective}");
        for ((m, v), (y, floor)) in scores.iter().zip(golden.y.iter().zip(floor)) {
            assert!(*v < 1.0 && y * m > *floor);
        }
    }

    #[test]
    fn without_spread_nothing_bounds_it() {
        let means = Rows::from_vec(vec![1.0, 2.0, -1.0, -3.0], 1).unwrap();
        let data = GaussianArray::exact(means).unwrap();
        let targets = [1.0, 1.0, -1.0, -1.0];
        let loss = &crate::loss::Hinge;
        let problem =
            Problem { data: &data, targets: (&targets).into(), weights: None, alpha: 1.0, fit_intercept: true, loss };
        let end = maximize(&problem, &[1.0; 4], &[0.1; 4], &[1.0, 0.0], &Control::new()).unwrap();
        assert_eq!(end, None);
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let barrier = Barrier { theta: vec![1.3], floor: vec![-0.4], tau: 2.0 };
        let at = |m: f64, s: f64| {
            let mut out = [LossEval::default()];
            barrier.eval(&Scores { first: 0, y: &[-1.0], m: &[m], v: &[s * s], width: 0.0 }, &mut out);
            out[0]
        };
        let (m, s, h) = (-0.7, 0.6, 1e-6);
        let e = at(m, s);
        let dm = |f: fn(&LossEval) -> f64| (f(&at(m + h, s)) - f(&at(m - h, s))) / (2.0 * h);
        let ds = |f: fn(&LossEval) -> f64| (f(&at(m, s + h)) - f(&at(m, s - h))) / (2.0 * h);
        for (a, b) in [
            (e.dm, dm(|e| e.value)),
            (e.ds, ds(|e| e.value)),
            (e.dmm, dm(|e| e.dm)),
            (e.dms, dm(|e| e.ds)),
            (e.dss, ds(|e| e.ds)),
        ] {
            assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{a} {b}");
        }
        assert_eq!(at(m, 1.5).value, f64::INFINITY);
    }
}
