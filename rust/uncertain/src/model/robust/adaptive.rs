//! AUSVC: rows that stay on the wrong side lose radius.
//!
//! Algorithm 2 of Yang and Gunn: solve USVC; every row with y f(x) < 0 loses a part `shrink` of the radius it
//! began with (the paper: 0.1 of 1), down to zero; repeat until no radius changes. The constraint of a row that
//! cannot be met with its whole ellipsoid is asked of a smaller one, so that a few wide rows on the
//! wrong side no longer push the plane away from all others. Radii only fall, so the optimum does too.
//!
//! Of the rounds between the first and the last only the side of every row counts: they are solved to a gap of
//! [`ROUGH`] times `tol`, each from the one before ([`WarmStart`]). (Which side a row next to the plane is on, no gap
//! decides: rounds that are solved to `tol` end with other radii of one row in a thousand, too.) The last one is
//! solved to `tol`, and no row that it leaves on the wrong side has any radius.

use super::binary::{Binary, Outcome, point};
use crate::error::Result;
use crate::solver::{Solution, Status, WarmStart};

/// Rounds at most for each step of a radius: each lowers at least one, and usually all on the wrong side at once.
const ROUNDS_PER_STEP: f64 = 20.0;
/// The gap of a round that is not the last one, in units of `tol`, and the largest.
const ROUGH: f64 = 100.0;
const ROUGHEST: f64 = 1e-3;

/// The adapted solution and, for MPSVC, the USVC it began with.
pub(super) struct Adapted {
    pub first: Solution,
    pub outcome: Outcome,
}

pub(super) fn fit(binary: &Binary<'_>) -> Result<Adapted> {
    let (radius, tol) = (binary.params.radius(), binary.params.0.options.tol);
    // Steps in which a radius reaches zero; the last one may be shorter.
    let steps = 1.0 / binary.params.0.shrink;
    let rounds = (ROUNDS_PER_STEP * steps.ceil()) as usize;
    let mut lost = vec![0.0; binary.targets.len()];
    let radii = |lost: &[f64]| lost.iter().map(|&k| radius * (steps - k).max(0.0) / steps).collect();
    let mut now: Vec<f64> = radii(&lost);
    let mut solution = binary.usvc(&now)?;
    let (first, mut iterations) = (solution.clone(), solution.iterations);
    let mut history = vec![solution.objective];
    let mut near = Some(WarmStart::new(point(&solution)));
    let mut is_rough = false;
    let mut changed;
    loop {
        changed = radius > 0.0 && lose(binary, &solution, steps, &mut lost)?;
        if changed && history.len() < rounds {
            now = radii(&lost);
            is_rough = true;
        } else if is_rough {
            // Algorithm 2 would end here: is it so?
            is_rough = false;
            history.pop();
        } else {
            break;
        }
        let gap = if is_rough { (ROUGH * tol).min(ROUGHEST).max(tol) } else { tol };
        solution = binary.usvc_near(&now, &mut near, gap)?;
        iterations += solution.iterations;
        history.push(solution.objective);
    }
    solution.iterations = iterations;
    if changed {
        solution.status = Status::MaxIterations;
    }
    Ok(Adapted { first, outcome: Outcome { solution, radii: now, history } })
}

/// Rows on the wrong side lose a step of their radius: has any?
fn lose(binary: &Binary<'_>, solution: &Solution, steps: f64, lost: &mut [f64]) -> Result<bool> {
    let mut changed = false;
    for (i, score) in binary.scores(&point(solution))?.iter().enumerate() {
        if binary.targets.at(i) * score.m < 0.0 && lost[i] < steps {
            lost[i] += 1.0;
            changed = true;
        }
    }
    Ok(changed)
}
