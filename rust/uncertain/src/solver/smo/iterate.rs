//! The iteration: pick a pair, step, look at the gap, shrink, widen.
//!
//! `v = t - K b` is kept for the active variables. A variable can go up while `v - up` exceeds some
//! other's `v - low`, where `up` is eps right of the kink, -eps left of it and infinite at the upper
//! bound (`low` alike): one subtraction tells both whether and how much.

use super::cache::RowCache;
use super::{DualProblem, DualSolution, SmoOptions, Status};
use crate::control::Control;
use crate::error::Result;
use crate::kernel::rows::KernelRows;
use crate::simd::smo::{self as passes, Extremes, FLAT};

/// Pairs between two looks at the gap and at what can be left out. For a few hundred rows so many are hardly any work, and
/// usually end at the optimum itself.
const PERIOD: usize = 1000;
/// The gap may be so many times the tolerance when the variables left out are looked at for the first time.
const NEARLY: f64 = 10.0;
/// No pair violates the optimality conditions by more than rounding: this part of the largest target.
const ROUNDING: f64 = 1e-14;
/// Copying rows pays when at least this part of the variables goes.
const WORTHWHILE: f64 = 0.2;

pub(super) struct Solver<'a> {
    kernel: &'a dyn KernelRows,
    problem: DualProblem<'a>,
    options: SmoOptions,
    rows: RowCache<'a>,
    /// Coefficients of all variables.
    b: Vec<f64>,
    /// v of all variables; up to date only for those that are not active.
    v_all: Vec<f64>,
    /// Active variables only, from here on.
    v: Vec<f64>,
    up: Vec<f64>,
    low: Vec<f64>,
    diagonal: Vec<f64>,
    /// The dual objective, followed from step to step.
    dual: f64,
    iterations: usize,
}

impl<'a> Solver<'a> {
    pub(super) fn new(kernel: &'a dyn KernelRows, problem: DualProblem<'a>, options: SmoOptions) -> Self {
        let n = kernel.n_rows();
        let mut solver = Self {
            kernel,
            problem,
            options,
            rows: RowCache::new(kernel, options.cache_size),
            b: vec![0.0; n],
            v_all: problem.targets.to_vec(),
            v: vec![],
            up: vec![],
            low: vec![],
            diagonal: vec![],
            dual: 0.0,
            iterations: 0,
        };
        solver.take_up();
        solver
    }

    /// Begin from these feasible coefficients instead of zero.
    pub(super) fn start_from(&mut self, b: &[f64], control: &Control) -> Result<()> {
        self.b.copy_from_slice(b);
        let all: Vec<u32> = (0..b.len() as u32).collect();
        let mut row = vec![0.0; b.len()];
        for (p, &b) in b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            control.check()?;
            self.kernel.fill(p, &all, &mut row)?;
            self.v_all.iter_mut().zip(&row).for_each(|(v, k)| *v -= b * k);
        }
        let targets = self.problem.targets;
        let gains = b.iter().zip(targets).zip(&self.v_all).map(|((b, t), v)| 0.5 * b * (t + v));
        self.dual = gains.sum::<f64>() - self.problem.epsilon * b.iter().map(|b| b.abs()).sum::<f64>();
        self.take_up();
        Ok(())
    }

    pub(super) fn run(mut self, control: &Control) -> Result<DualSolution> {
        let n = self.b.len();
        let most = self.options.max_iter.unwrap_or(10_000_000.max(100 * n));
        let mut until_look = PERIOD;
        let mut widened_early = false;
        let finest = ROUNDING * self.problem.targets.iter().fold(0.0, |a: f64, t| a.max(t.abs()));
        let mut at = passes::extremes(&self.v, &self.up, &self.low);
        // How it ended should the gap still be too large.
        let status = loop {
            control.check()?;
            if self.iterations == most {
                break Status::MaxIterations;
            }
            until_look -= 1;
            let solved = at.up - at.low <= finest;
            if until_look == 0 || solved {
                until_look = PERIOD;
                let gap = self.gap(at);
                if gap <= self.options.tol || solved {
                    if self.rows.is_whole() {
                        break Status::NoProgress;
                    }
                    at = self.widen(control)?;
                    // Shrink again at once if that was not the end.
                    until_look = 1;
                    continue;
                }
                self.report(at, control);
                if self.options.shrinking {
                    if !widened_early && gap <= NEARLY * self.options.tol {
                        // Close to the end: what was left out in the beginning may matter.
                        widened_early = true;
                        at = self.widen(control)?;
                    }
                    at = self.shrink(at);
                }
            }
            match self.step(at)? {
                Some(next) => at = next,
                None if self.rows.is_whole() => break Status::NoProgress,
                None => at = self.widen(control)?,
            }
        };
        let at = self.widen(control)?;
        self.report(at, control);
        Ok(self.solution(at, status))
    }

    /// Optimise the most violating variable and its best partner; `None` when rounding eats the step.
    fn step(&mut self, at: Extremes) -> Result<Option<Extremes>> {
        let i = at.best;
        let row = self.rows.one(i)?;
        let Some(j) = passes::partner(at.up, self.diagonal[i], row, &self.diagonal, &self.v, &self.low) else {
            return Ok(None);
        };
        let curvature = (self.diagonal[i] + self.diagonal[j]) - 2.0 * row[j];
        let slope = at.up - (self.v[j] - self.low[j]);
        let (p, q) = (self.rows.active()[i] as usize, self.rows.active()[j] as usize);
        let (room_up, room_down) = (self.ceiling(p) - self.b[p], self.b[q] - self.floor(q));
        let d = (slope / if curvature > 0.0 { curvature } else { FLAT }).min(room_up).min(room_down);
        let (up, down) = (self.b[p] + d, self.b[q] - d);
        if up == self.b[p] && down == self.b[q] {
            return Ok(None);
        }
        // Bounds are met exactly, whatever the sum rounds to.
        self.b[p] = if d == room_up { self.ceiling(p) } else { up };
        self.b[q] = if d == room_down { self.floor(q) } else { down };
        (self.up[i], self.low[i]) = self.sides(p);
        (self.up[j], self.low[j]) = self.sides(q);
        self.iterations += 1;
        self.dual += d * (slope - 0.5 * curvature * d);
        let (a, b) = self.rows.two(i, j)?;
        Ok(Some(passes::follow(d, a, b, &mut self.v, &self.up, &self.low)))
    }

    /// How far b may go up in one step: to the kink or to the bound.
    fn ceiling(&self, p: usize) -> f64 {
        if self.problem.epsilon > 0.0 && self.b[p] < 0.0 { 0.0 } else { self.problem.upper[p] }
    }

    fn floor(&self, p: usize) -> f64 {
        if self.problem.epsilon > 0.0 && self.b[p] > 0.0 { 0.0 } else { self.problem.lower[p] }
    }

    /// `up` and `low` of a variable.
    fn sides(&self, p: usize) -> (f64, f64) {
        let (b, epsilon) = (self.b[p], self.problem.epsilon);
        let up = if b >= self.problem.upper[p] {
            f64::INFINITY
        } else if b >= 0.0 {
            epsilon
        } else {
            -epsilon
        };
        let low = if b <= self.problem.lower[p] {
            f64::NEG_INFINITY
        } else if b > 0.0 {
            epsilon
        } else {
            -epsilon
        };
        (up, low)
    }

    /// Load what is kept per active variable.
    fn take_up(&mut self) {
        let active = self.rows.active();
        self.v = active.iter().map(|&p| self.v_all[p as usize]).collect();
        self.diagonal = active.iter().map(|&p| self.kernel.diagonal(p as usize)).collect();
        (self.up, self.low) = active.iter().map(|&p| self.sides(p as usize)).unzip();
    }

    /// Leave out variables at a bound (or at the kink) that no other one could pair up with.
    fn shrink(&mut self, at: Extremes) -> Extremes {
        let n = self.v.len();
        let stays = |k: &u32| {
            let k = *k as usize;
            !(self.v[k] - self.up[k] < at.low && self.v[k] - self.low[k] > at.up)
        };
        let keep: Vec<u32> = (0..n as u32).filter(stays).collect();
        if ((n - keep.len()) as f64) < WORTHWHILE * n as f64 {
            return at;
        }
        for (&p, &v) in self.rows.active().iter().zip(&self.v) {
            self.v_all[p as usize] = v;
        }
        self.rows.shrink(&keep);
        self.take_up();
        passes::extremes(&self.v, &self.up, &self.low)
    }

    /// Make every variable active again: v of the others is computed from scratch.
    fn widen(&mut self, control: &Control) -> Result<Extremes> {
        if !self.rows.is_whole() {
            let mut out = vec![true; self.b.len()];
            for (&p, &v) in self.rows.active().iter().zip(&self.v) {
                (self.v_all[p as usize], out[p as usize]) = (v, false);
            }
            let out: Vec<u32> = (0..self.b.len() as u32).filter(|&p| out[p as usize]).collect();
            let (mut row, mut sum) = (vec![0.0; out.len()], vec![0.0; out.len()]);
            for (p, &b) in self.b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                control.check()?;
                self.kernel.fill(p, &out, &mut row)?;
                sum.iter_mut().zip(&row).for_each(|(sum, k)| *sum += b * k);
            }
            for (&p, sum) in out.iter().zip(sum) {
                self.v_all[p as usize] = self.problem.targets[p as usize] - sum;
            }
            self.rows.widen();
            self.take_up();
        }
        Ok(passes::extremes(&self.v, &self.up, &self.low))
    }

    /// Progress: the gap is known while every variable is active.
    fn report(&self, at: Extremes, control: &Control) {
        if self.rows.is_whole() {
            let (objective, dual) = self.certificate(self.intercept(at));
            control.report(self.iterations, objective, relative(objective, dual));
        } else {
            control.report(self.iterations, f64::NAN, f64::NAN);
        }
    }

    /// The mean over the coefficients strictly between bounds and kink, where it is determined; else the middle
    /// of what is possible (LIBSVM's choice).
    fn intercept(&self, at: Extremes) -> f64 {
        let (mut sum, mut free) = (0.0, 0.0);
        for k in 0..self.v.len() {
            // Away from bounds and kink both sides are the same.
            if self.up[k] == self.low[k] && self.b[k] != 0.0 {
                sum += self.v[k] - self.up[k];
                free += 1.0;
            }
        }
        match (free > 0.0, at.up.is_finite(), at.low.is_finite()) {
            (true, ..) => sum / free,
            (_, true, true) => 0.5 * (at.up + at.low),
            (_, true, false) => at.up,
            (_, false, true) => at.low,
            _ => 0.0,
        }
    }

    /// Gap of the active variables, relative to the objective.
    fn gap(&self, at: Extremes) -> f64 {
        relative(self.dual + self.open(self.intercept(at)), self.dual)
    }

    /// Primal minus dual objective of the active variables.
    fn open(&self, intercept: f64) -> f64 {
        let DualProblem { epsilon, lower, upper, .. } = self.problem;
        let active = self.rows.active().iter().zip(&self.v);
        active
            .map(|(&p, v)| {
                let (p, r) = (p as usize, v - intercept);
                let b = self.b[p];
                let loss = upper[p] * (r - epsilon).max(0.0) - lower[p] * (-r - epsilon).max(0.0);
                (loss - (b * r - epsilon * b.abs())).max(0.0)
            })
            .sum()
    }

    /// Primal and dual objective, when every variable is active.
    fn certificate(&self, intercept: f64) -> (f64, f64) {
        let DualProblem { targets, epsilon, .. } = self.problem;
        let terms = self.b.iter().zip(targets).zip(&self.v);
        let dual = terms.map(|((b, t), v)| 0.5 * b * (t + v) - epsilon * b.abs()).sum::<f64>();
        (dual + self.open(intercept), dual)
    }

    fn solution(self, at: Extremes, status: Status) -> DualSolution {
        let intercept = self.intercept(at);
        let (objective, dual) = self.certificate(intercept);
        let gap = relative(objective, dual);
        DualSolution {
            intercept,
            objective,
            dual,
            gap,
            violation: (at.up - at.low).max(0.0),
            iterations: self.iterations,
            status: if gap <= self.options.tol { Status::Converged } else { status },
            coef: self.b,
        }
    }
}

fn relative(objective: f64, dual: f64) -> f64 {
    let scale = objective.abs().max(dual.abs());
    if scale > 0.0 { (objective - dual) / scale } else { 0.0 }
}
