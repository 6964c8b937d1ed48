//! AUSVC: rows that stay on the wrong side lose radius.
//!
//! Algorithm 2 of Yang and Gunn: solve USVC; every row with y f(x) < 0 loses a part `shrink` of the radius it
//! began with (the paper: 0.1 of 1), down to zero; repeat until no radius changes. The constraint of a row that
//! cannot be met with its whole ellipsoid is asked of a smaller one, so that a few wide rows on the
//! wrong side no longer push the plane away from all others. Radii only fall, so the optimum does too.

use super::binary::{Binary, Outcome, point};
use crate::error::Result;
use crate::solver::{Solution, Status};

/// Rounds at most for each step of a radius: each lowers at least one, and usually all on the wrong side at once.
const ROUNDS_PER_STEP: f64 = 20.0;

/// The adapted solution and, for MPSVC, the USVC it began with.
pub(super) struct Adapted {
    pub first: Solution,
    pub outcome: Outcome,
}

pub(super) fn fit(binary: &Binary<'_>) -> Result<Adapted> {
    let radius = binary.params.radius();
    // Steps in which a radius reaches zero; the last one may be shorter.
    let steps = 1.0 / binary.params.0.shrink;
    let rounds = (ROUNDS_PER_STEP * steps.ceil()) as usize;
    let mut lost = vec![0.0; binary.targets.len()];
    let radii = |lost: &[f64]| lost.iter().map(|&k| radius * (steps - k).max(0.0) / steps).collect();
    let mut history = vec![];
    let mut iterations = 0;
    let mut first = None;
    loop {
        let now: Vec<f64> = radii(&lost);
        let mut solution = binary.usvc(&now)?;
        iterations += solution.iterations;
        history.push(solution.objective);
        first.get_or_insert_with(|| solution.clone());
        let scores = binary.scores(&point(&solution))?;
        let mut changed = false;
        if radius > 0.0 {
            for (i, score) in scores.iter().enumerate() {
                if binary.targets[i] * score.m < 0.0 && lost[i] < steps {
                    lost[i] += 1.0;
                    changed = true;
                }
            }
        }
        if changed && history.len() < rounds {
            continue;
        }
        solution.iterations = iterations;
        if changed {
            solution.status = Status::MaxIterations;
        }
        let first = first.unwrap_or_else(|| solution.clone());
        return Ok(Adapted { first, outcome: Outcome { solution, radii: now, history } });
    }
}
