//! Solving again after a small change: an augmented Lagrangian method that starts from the last solution's duals.
//!
//! For the hinges of ellipsoids, max(0, g) with g = 1 - y m + r s, a row's dual p is 0 far on the right side, 1 on the
//! wrong one and between them at the kink. Where radii or weights have changed a little, nearly all p stay. So
//!
//! ```text
//! min_x  alpha/2 |w|^2 + sum c max over q in [0, 1] of (q g - delta/2 (q - p)^2),    then p = q = clamp(p + g / delta)
//! ```
//!
//! with the last p is solved by Newton's method, whose matrix only needs the rows with p > 0; a step or two, and again
//! with the new p (Hestenes; Powell; Rockafellar 1976). Any q in [0, 1] bounds the minimum, so the method ends on the
//! certificate of all others. Delta is the width that holds a few rows per unknown: narrower, and the matrix has no
//! say in some directions; wider, and p has a longer way to go.
//! Far from a solution, or where spreads vanish at it, the interior-point method is better: after [`STEPS`] steps
//! this one gives up.
//! Rejected: the interior-point method from its last duals (they are at the border, and it takes as long to leave
//! it as to start anew), or from the last point alone (in NumPy 307 iterations for 28 rounds of AUSVC with 500 rows of 10
//! features, each to 1e-6; this one takes 100, all but the last to 1e-4).

use super::interior::{Factored, LARGEST};
use super::{Best, Options, Solution, Status, assess};
use crate::control::Control;
use crate::error::Result;
use crate::loss::Dual;
use crate::objective::{LinearObjective, NewtonSystem, Problem, RowMotion, RowTerms};
use crate::parallel::iter::*;

/// Newton steps and changes of the duals at most.
const STEPS: usize = 40;
/// Rows within delta of their kink, per unknown.
const ROWS_PER_UNKNOWN: usize = 2;
/// Slopes along a line at most, and the part of the first slope that is small enough.
const TRIALS: usize = 12;
const FLAT: f64 = 0.3;

/// A solution that the next one is near to.
#[derive(Debug, Clone)]
pub(crate) struct WarmStart {
    /// w, b
    pub x: Vec<f64>,
    /// The rows' duals, in units of their weights; empty where they are not known yet.
    duals: Vec<f64>,
}

impl WarmStart {
    pub(crate) fn new(x: Vec<f64>) -> Self {
        Self { x, duals: vec![] }
    }
}

/// A row's score, dual and weight.
#[derive(Debug, Clone, Copy)]
struct HingeRow {
    y: f64,
    a: f64,
    r: f64,
    c: f64,
    m: f64,
    v: f64,
    p: f64,
}

impl HingeRow {
    fn at(&self, m: f64, v: f64) -> f64 {
        self.a - self.y * m + self.r * v.sqrt()
    }

    fn g(&self) -> f64 {
        self.at(self.m, self.v)
    }

    fn q(&self, delta: f64) -> f64 {
        (self.p + self.g() / delta).clamp(0.0, 1.0)
    }

    fn terms(&self, delta: f64) -> RowTerms {
        let q = self.q(delta);
        let theta = if q > 0.0 && q < 1.0 { self.c / delta } else { 0.0 };
        RowTerms { s: self.v.sqrt(), p: self.c * q, q: self.c * self.r * q, theta, z: -self.r, residual: 0.0 }
    }

    /// Its share of the slope at t along a line.
    fn slope(&self, t: f64, motion: &RowMotion, delta: f64) -> f64 {
        let (m, v) = self.along(t, motion);
        let q = (self.p + self.at(m, v) / delta).clamp(0.0, 1.0);
        let ds = if v > 0.0 { (motion.wsd + t * motion.dsd) / v.sqrt() } else { 0.0 };
        self.c * q * (self.r * ds - self.y * motion.dm)
    }

    fn along(&self, t: f64, motion: &RowMotion) -> (f64, f64) {
        (self.m + t * motion.dm, (self.v + t * (2.0 * motion.wsd + t * motion.dsd)).max(0.0))
    }
}

/// The minimum of a problem of ellipsoids' hinges whose solution is near to `near`, which becomes it; `None` where
/// it was not.
pub(crate) fn follow(
    problem: &Problem<'_>,
    near: &mut WarmStart,
    options: &Options,
    control: &Control,
) -> Result<Option<Solution>> {
    let objective = &problem.check()?;
    if near.x.len() != objective.dim() || objective.dim() > LARGEST {
        return Ok(None);
    }
    let scores = objective.scores(&near.x, control)?;
    let Some(mut rows) = rows(objective, &scores) else { return Ok(None) };
    let delta = width(&rows, objective.dim());
    if !(delta > 0.0 && delta.is_finite()) {
        return Ok(None);
    }
    if near.duals.len() == rows.len() {
        rows.iter_mut().zip(&near.duals).for_each(|(row, p)| row.p = *p);
    } else {
        rows.iter_mut().for_each(|row| row.p = (0.5 + row.g() / delta).clamp(0.0, 1.0));
    }
    let mut x = near.x.clone();
    let mut best = Best { x: x.clone(), objective: f64::INFINITY, bound: f64::NEG_INFINITY };
    // The duals have to be worked on once before they may change.
    let mut fresh = true;
    for iteration in 0..=STEPS.min(options.iterations()) {
        // In one order: sums of parts would differ with the number of threads.
        let hinges: f64 = rows.iter().map(|row| row.c * row.g().max(0.0)).sum();
        let here = objective.penalty(&x) + hinges;
        let terms: Vec<RowTerms> = rows.par_iter().map(|row| row.terms(delta)).collect();
        // After a step the bound alone says, as a rule, that it was enough.
        let system = || objective.system(&x, &terms, (usize::MAX, 0), control);
        let known = fresh.then(system).transpose()?;
        let bound =
            known.as_ref().map_or_else(|| objective.dual_bound(&x, &terms, control), |known| Ok(known.bound))?;
        if here < best.objective {
            (best.objective, best.x) = (here, x.clone());
        }
        best.bound = best.bound.max(bound);
        control.report(iteration, best.objective, best.gap());
        if best.gap() <= options.tol {
            // J was followed without passes over the rows.
            best.objective = assess(objective, &best.x, control)?.objective;
            if best.gap() <= options.tol {
                near.x.clone_from(&best.x);
                near.duals = rows.iter().map(|row| row.q(delta)).collect();
                return Ok(Some(best.solution(iteration, Status::Converged)));
            }
        }
        // The part of the gap by the duals, which only a change of them can close.
        let due: f64 = rows.iter().map(|row| row.c * (row.g().max(0.0) - row.q(delta) * row.g())).sum();
        if !fresh && here - bound <= 2.0 * due {
            rows.par_iter_mut().for_each(|row| row.p = row.q(delta));
            fresh = true;
            continue;
        }
        let NewtonSystem { matrix, rhs, .. } = known.map_or_else(system, Ok)?;
        let direction = Factored::new(matrix, x.len()).solve(&rhs)?;
        let motion = objective.motion(&x, &direction, control)?;
        let Some(t) = step(objective, &x, &direction, &rows, &motion, delta) else { return Ok(None) };
        x.iter_mut().zip(&direction).for_each(|(x, p)| *x += t * p);
        rows.par_iter_mut().zip(&motion).for_each(|(row, motion)| (row.m, row.v) = row.along(t, motion));
        fresh = false;
    }
    Ok(None)
}

/// The rows with their scores; `None` if the loss is not a hinge of ellipsoids.
fn rows(objective: &LinearObjective<'_>, scores: &[(f64, f64)]) -> Option<Vec<HingeRow>> {
    let (targets, loss) = (objective.problem().targets, objective.problem().loss);
    let row = |(i, &(m, v)): (usize, &(f64, f64))| match loss.dual(i)? {
        Dual::Radius(r) => {
            Some(HingeRow { y: targets.at(i), a: loss.offset(i), r, c: objective.weight(i), m, v, p: 0.0 })
        }
        Dual::Normal => None,
    };
    scores.iter().enumerate().map(row).collect()
}

/// The distance from the kink within which there are [`ROWS_PER_UNKNOWN`].
fn width(rows: &[HingeRow], unknowns: usize) -> f64 {
    let mut distances: Vec<f64> = rows.iter().map(|row| row.g().abs()).collect();
    let at = (ROWS_PER_UNKNOWN * unknowns).min(rows.len() - 1);
    *distances.select_nth_unstable_by(at, f64::total_cmp).1
}

/// Where the slope along a line is nearly zero: 1 where it still falls there. By regula falsi (Illinois); the slope
/// rises, and no pass over the rows is needed.
fn step(
    objective: &LinearObjective<'_>,
    x: &[f64],
    direction: &[f64],
    rows: &[HingeRow],
    motion: &[RowMotion],
    delta: f64,
) -> Option<f64> {
    let d = x.len() - 1;
    let alpha = objective.facts().alpha;
    let dot = |a: &[f64], b: &[f64]| alpha * a[..d].iter().zip(&b[..d]).map(|(a, b)| a * b).sum::<f64>();
    let (along, square) = (dot(x, direction), dot(direction, direction));
    let slope = |t: f64| {
        let of_rows: f64 = rows.iter().zip(motion).map(|(row, motion)| row.slope(t, motion, delta)).sum();
        along + t * square + of_rows
    };
    let first = slope(0.0);
    if !(first < 0.0) {
        return None;
    }
    let (mut low, mut high): ((f64, f64), Option<(f64, f64)>) = ((0.0, first), None);
    let (mut t, mut rose) = (1.0, None);
    for _ in 0..TRIALS {
        let here = slope(t);
        if here.abs() <= -FLAT * first || here < 0.0 && high.is_none() {
            return Some(t);
        }
        // The end that stays a second time counts half.
        let again = rose == Some(here > 0.0);
        rose = Some(here > 0.0);
        if here > 0.0 {
            high = Some((t, here));
            low.1 *= if again { 0.5 } else { 1.0 };
        } else {
            low = (t, here);
            high = high.map(|(end, rise)| (end, if again { 0.5 * rise } else { rise }));
        }
        let (end, rise) = high?;
        t = (low.0 * rise - end * low.1) / (rise - low.1);
    }
    t.is_finite().then_some(t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::loss::{EllipsoidHinge, ExpectedHinge};
    use crate::solver::{SolverKind, fit_linear};
    use crate::testing::Numbers;

    #[derive(serde::Deserialize)]
    struct Case {
        kind: String,
        #[serde(rename = "C")]
        c: f64,
        radius: String,
        objective: f64,
    }

    /// tests/golden/robust.json: optima of a cone solver.
    #[derive(serde::Deserialize)]
    struct Golden {
        x: Vec<Vec<f64>>,
        y: Vec<f64>,
        diagonal: Vec<Vec<f64>>,
        usvc: Vec<Case>,
    }

    #[test]
    fn from_other_radii_it_reaches_the_cone_programs_optima() {
        let golden: Golden = serde_json::from_str(include_str!("../../../../tests/golden/robust.json")).unwrap();
        let rows = |values: &[Vec<f64>]| Rows::from_vec(values.concat(), values[0].len()).unwrap();
        let data = GaussianArray::new(rows(&golden.x), Covariances::from_var(rows(&golden.diagonal))).unwrap();
        let n = golden.y.len();
        let (mut reached, mut at_once) = (0, 0);
        for Case { c, radius, objective, .. } in golden.usvc.iter().filter(|case| case.kind == "diagonal") {
            let Ok(radius) = radius.parse::<f64>() else { continue };
            for other in [0.9 * radius, radius + 0.05] {
                let (here, there) = (EllipsoidHinge::worst(&vec![radius; n]), EllipsoidHinge::worst(&vec![other; n]));
                let problem = Problem {
                    data: &data,
                    targets: (&golden.y).into(),
                    weights: None,
                    alpha: 1.0 / (c * n as f64),
                    fit_intercept: true,
                    loss: &there,
                };
                let start = fit_linear(&problem, SolverKind::Auto, &Options::default(), None, &Control::new()).unwrap();
                let mut near = WarmStart::new([start.w, vec![start.b]].concat());
                let problem = Problem { loss: &here, ..problem };
                let Some(found) = follow(&problem, &mut near, &Options::default(), &Control::new()).unwrap() else {
                    continue;
                };
                let excess = found.objective * c * n as f64 / objective - 1.0;
                assert!((-1e-7..1.1e-6).contains(&excess), "C = {c}, radius = {radius}: {excess}");
                assert!(found.gap <= 1e-6 && found.status == Status::Converged);
                reached += 1;
                // With its duals it is there at once, or where rounding leaves no step down.
                if let Some(again) = follow(&problem, &mut near, &Options::default(), &Control::new()).unwrap() {
                    assert!(again.iterations <= 1 && again.gap <= 1e-6, "{again:?}");
                    at_once += 1;
                }
            }
        }
        assert!(reached >= 6 && at_once + 1 >= reached, "{reached} {at_once}");
    }

    #[test]
    fn it_takes_fewer_steps_than_anew_and_is_certified() {
        let (n, d) = (600, 4);
        let rough = &Options { tol: 1e-4, ..Options::default() };
        let mut numbers = Numbers::new(5);
        let means: Vec<f64> =
            (0..n * d).map(|at: usize| numbers.normal() + if (at / d).is_multiple_of(2) { 0.5 } else { 0.0 }).collect();
        let std = (0..n * d).map(|_| 0.1 + 0.5 * numbers.uniform()).collect();
        let covariances = Covariances::from_std(Rows::from_vec(std, d).unwrap());
        let data = GaussianArray::new(Rows::from_vec(means, d).unwrap(), covariances).unwrap();
        let targets: Vec<f64> = (0..n).map(|i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
        let mut radii = vec![1.0; n];
        let problem = Problem {
            data: &data,
            targets: (&targets).into(),
            weights: None,
            alpha: 1e-2,
            fit_intercept: true,
            loss: &ExpectedHinge,
        };
        let solve = |radii: &[f64]| {
            let loss = EllipsoidHinge::worst(radii);
            let problem = Problem { loss: &loss, ..problem };
            fit_linear(&problem, SolverKind::Auto, rough, None, &Control::new()).unwrap()
        };
        let first = solve(&radii);
        let mut near = WarmStart::new([first.w, vec![first.b]].concat());
        let (mut steps, mut anew) = (0, 0);
        for round in 0..5 {
            radii.iter_mut().skip(round).step_by(7).for_each(|r| *r *= 0.9);
            let loss = EllipsoidHinge::worst(&radii);
            let problem = Problem { loss: &loss, ..problem };
            let found = follow(&problem, &mut near, rough, &Control::new()).unwrap().unwrap();
            let expected = solve(&radii);
            assert!((found.objective / expected.objective - 1.0).abs() < 1e-4);
            // The gap is that of this point.
            let x = [found.w, vec![found.b]].concat();
            let here = assess(&problem.check().unwrap(), &x, &Control::new()).unwrap();
            assert!((here.objective / found.objective - 1.0).abs() < 1e-12 && found.gap <= 1e-4);
            (steps, anew) = (steps + found.iterations, anew + expected.iterations);
        }
        assert!(steps < anew, "{steps} {anew}");
        // Another loss, or a point of another problem.
        assert_eq!(follow(&problem, &mut near, rough, &Control::new()).unwrap(), None);
        assert_eq!(follow(&problem, &mut WarmStart::new(vec![0.0; 2]), rough, &Control::new()).unwrap(), None);
    }
}
