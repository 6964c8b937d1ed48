//! Dual coordinate descent with Newton steps on the free rows, for exact rows that are wide.
//!
//! Without spread a hinge or a tube is L(r) = max over g of g r - e |g|, r = t - w'x - b
//! ([`Conjugate`](crate::loss::Conjugate)), and the dual problem is
//!
//! ```text
//! max over g  sum c (g t - e |g|) - |sum c g z|^2 / (2 alpha),    low <= g <= high,    sum c g = 0,
//! ```
//!
//! with w = sum c g z / alpha; z = x - centre may have any centre, as sum c g = 0. One row's g is best, given all
//! others, in closed form, at the price of two products with that row ([`Descent::sweep`]); rows that their ends hold
//! fast are left out of the next sweeps.
//!
//! **The intercept** is the multiplier of sum c g = 0, by an augmented Lagrangian: rho/2 (sum c g)^2 is added, which is
//! one more feature, as wide as the others, and b += rho sum c g after every sweep. Rows are centred on their mean, or
//! b would change with every step of w.
//!
//! **The free rows.** Sweeps find within some twenty passes which rows are on the margin, and then need hundreds to
//! find their g. Those few are a linear system ([`face`]): a Newton step is taken as often as sweeps have cost as much as
//! one. Two or three steps later the gap is closed, whatever the penalty.
//!
//! The duals bound the minimum, by the same formula as all others' ([`LinearObjective::bound`]), and scores of all rows
//! give J and the rows that were left out too early.
//! Sources: Hsieh, Chang, Lin, Keerthi, Sundararajan, ICML 2008 (descent, and leaving out); Ho, Lin, JMLR 13, 2012
//! (tubes); Moré, Toraldo, SIAM J. Optim. 1, 1991 (steps in the face).
//! Rejected: sweeps alone (digits: the gap falls tenfold in sixty of them); the intercept as a penalised feature
//! (another problem); losses with curvature (squared hinge, Huber, squared: on digits a third of L-BFGS's time, on noise
//! forty times as much).

mod face;
mod state;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::interior;
use super::{Best, Options, Solution, Status, assess};
use crate::control::Control;
use crate::error::Result;
use crate::loss::Conjugate;
use crate::objective::{ClassSums, LinearObjective};
use state::{Descent, Swept};

/// Features from which sweeps are tried first; with fewer an interior-point method's matrix is small.
const WIDE: usize = 64;
/// Sweeps at most, where the caller does not say.
const SWEEPS: usize = 20_000;
/// Part of the tolerance that the rows in the sweep may leave open before all rows are looked at.
const SURE: f64 = 0.5;
/// All rows are looked at after so many products per row at the latest.
const LOOK: f64 = 15.0;
/// Cost of an interior-point method: iterations, and its multiply-adds at the price of one in a sweep.
const INTERIOR: (f64, f64) = (20.0, 1.0 / 8.0);
/// Products per row that are tried at least.
const LEAST: f64 = 100.0;
/// Looks without a better gap after which rounding is the limit.
const PATIENCE: usize = 8;
/// Relative decrease that counts as better.
const BETTER: f64 = 0.9;
/// Seed of the rows' order: an exact solver's answer does not depend on the user's.
const SEED: u64 = 0;

/// Are there features enough?
pub(super) fn are_wide(n_rows: usize, n_features: usize) -> bool {
    n_features >= WIDE && u32::try_from(n_rows).is_ok()
}

/// The rows' losses, where all rows are exact, in memory and wide, and no loss has curvature.
pub(super) fn losses(objective: &LinearObjective<'_>) -> Option<Vec<Conjugate>> {
    let problem = objective.problem();
    if !are_wide(problem.data.n_rows(), problem.data.n_features())
        || !objective.facts().exact
        || objective.source().is_some()
    {
        return None;
    }
    problem.targets.iter().enumerate().map(|(row, y)| problem.loss.conjugate(row, y)).collect()
}

/// From nothing; [`Status::NoProgress`] where another method will be faster.
pub(super) fn minimize(
    objective: &LinearObjective<'_>,
    losses: Vec<Conjugate>,
    options: &Options,
    control: &Control,
) -> Result<Solution> {
    let mut descent = Descent::new(objective, losses, control)?;
    let (n, d) = (objective.facts().n_rows as f64, (objective.dim() - 1) as f64);
    let patience = match objective.dim() <= interior::LARGEST {
        true => (INTERIOR.0 * INTERIOR.1 * d).max(LEAST) * n,
        false => f64::INFINITY,
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut best = Best { x: vec![0.0; objective.dim()], objective: f64::INFINITY, bound: f64::NEG_INFINITY };
    let (mut looked, mut stepped) = (0.0, 0.0);
    let (mut least, mut idle) = (f64::INFINITY, 0);
    let mut sweep = 0;
    let status = loop {
        let Swept { open, value } = descent.sweep(&mut rng, control)?;
        sweep += 1;
        let enough = SURE * options.tol * if best.objective.is_finite() { best.objective } else { value };
        let last = sweep >= options.max_iter.unwrap_or(SWEEPS);
        if open <= enough || descent.spent - looked > LOOK * n || last {
            look(objective, &mut descent, &mut best, control)?;
            looked = descent.spent;
            control.report(sweep, best.objective, best.gap());
            if best.gap() <= options.tol {
                // As everybody computes it.
                best.objective = assess(objective, &best.x, control)?.objective;
                if best.gap() <= options.tol {
                    break Status::Converged;
                }
            }
            idle = if best.gap() < BETTER * least { 0 } else { idle + 1 };
            least = least.min(best.gap());
            if idle > PATIENCE || descent.spent > patience {
                break Status::NoProgress;
            }
            if last {
                break Status::MaxIterations;
            }
        }
        let free = descent.free();
        if descent.spent - stepped >= face::price(free.len(), objective.dim() - 1) {
            descent.step(&free, control)?;
            stepped = descent.spent;
        }
    };
    if status != Status::Converged && best.objective.is_finite() {
        best.objective = assess(objective, &best.x, control)?.objective;
    }
    Ok(best.solution(sweep, status))
}

/// J and the bound, from all rows; those that were left out too early come back.
fn look(objective: &LinearObjective<'_>, descent: &mut Descent<'_>, best: &mut Best, control: &Control) -> Result<()> {
    let [minus, plus]: [ClassSums; 2] = descent.class_sums(control)?;
    best.bound = best.bound.max(objective.bound(&minus, &plus));
    let x = descent.point();
    let scores = objective.scores(&x, control)?;
    let here = objective.penalty(&x) + descent.losses(&scores);
    if here < best.objective {
        best.objective = here;
        best.x = x;
    }
    descent.wake(&scores);
    Ok(())
}

#[cfg(test)]
mod tests;
