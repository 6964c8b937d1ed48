//! MPSVC: the smallest sum of the largest probabilities of error.
//!
//! The measure M = sum c_i / (1 + d_i^2), d = y f(x) / s on the right side and 0 on the wrong one, is smooth and
//! depends on the direction of (w, b) alone, but is not convex. Algorithm 3 of Yang and Gunn replaces it by
//!
//! ```text
//! max sum theta_i r_i   s.t.  y_i f(x_i) >= r_i >= floor_i,   |S_i^(1/2) w| <= 1        (theirs with C = 1: the scale)
//! ```
//!
//! where r_i = y_i f(x_i) at the optimum, and multiplies or divides theta by `theta_factor` between rounds.
//! The best M seen is kept. Three departures from the paper:
//!
//! - theta: the paper's (`Theta::Published`) grows for the rows with y f < 1 and falls for all others. By default
//!   rows on the wrong side, which cost 1 wherever they are, lose weight, and rows on the right side nearer than
//!   the mean gain it.
//! - floor is the paper's (the mean d of the rows on the right side) only where the AUSVC solution, which
//!   every round starts from, leaves room: else a tenth of that solution's value (rows on the right side),
//!   or slightly less than it and at most -1 (the others). So every problem has a strictly feasible point.
//! - `polish` (the default) goes on with descents on M itself, from USVC, from AUSVC, from the best round and from
//!   the SVM on the means (where error bars are so wide that USVC gives up, w = 0, it is the only direction
//!   to begin with): on the paper's toys that is most of the gain.

use super::binary::{Binary, Outcome, Score, point};
use super::params::Theta;
use super::{adaptive, barrier};
use crate::error::Result;
use crate::loss::{Hinge, MarginError};
use crate::solver::{Solution, Status, descend};

/// Rounds of algorithm 3 at most, and the relative change of M that ends them.
const ROUNDS: usize = 20;
const SETTLED: f64 = 1e-6;
/// Limits of theta, relative to the heaviest row's weight.
const LIGHTEST: f64 = 1e-6;
const HEAVIEST: f64 = 1e6;
/// The starting point's largest spread, inside the cones.
const INSIDE: f64 = 0.99;
/// Part of the AUSVC value that a row on the right side must keep.
const KEPT: f64 = 0.1;
/// Iterations of a descent.
const DESCENT: usize = 500;

/// The best point so far.
struct Best {
    x: Vec<f64>,
    measure: f64,
    history: Vec<f64>,
}

impl Best {
    fn see(&mut self, x: Vec<f64>, measure: f64) {
        if measure < self.measure {
            (self.x, self.measure) = (x, measure);
        }
        self.history.push(self.measure);
    }
}

pub(super) fn fit(binary: &Binary<'_>) -> Result<Outcome> {
    let adapted = adaptive::fit(binary)?;
    let mut iterations = adapted.outcome.solution.iterations;
    let (first, last) = (point(&adapted.first), point(&adapted.outcome.solution));
    let measure = binary.margin_error(&last)?;
    let mut best = Best { x: last.clone(), measure, history: vec![measure] };
    if let Some(start) = scaled(binary, &last, INSIDE)? {
        iterate(binary, &start, &mut best)?;
    }
    if binary.params.0.polish {
        let plain = binary.solve(binary.data, &Hinge, None)?;
        iterations += plain.iterations;
        for start in [first, last, best.x.clone(), point(&plain)] {
            let start = scaled(binary, &start, 1.0)?.unwrap_or(start);
            let objective = binary.problem(binary.data, &MarginError).unpenalised()?;
            let end = descend(&objective, &start, DESCENT, binary.control)?;
            iterations += end.iterations;
            best.see(point(&end), binary.total() * end.objective);
        }
    }
    let x = scaled(binary, &best.x, 1.0)?.unwrap_or(best.x);
    let d = x.len() - 1;
    let reach = |(score, y): (&Score, &f64)| {
        let right = (y * score.m).max(0.0);
        if score.s > 0.0 || right == 0.0 { right / score.s.max(f64::MIN_POSITIVE) } else { f64::INFINITY }
    };
    let radii = binary.scores(&x)?.iter().zip(binary.targets).map(reach).collect();
    let solution = Solution {
        w: x[..d].to_vec(),
        b: x[d],
        objective: best.measure,
        gap: f64::NAN,
        iterations,
        status: Status::Converged,
    };
    Ok(Outcome { solution, radii, history: best.history })
}

/// The same direction with `largest` as the largest spread of all scores; `None` where no row has any.
fn scaled(binary: &Binary<'_>, x: &[f64], largest: f64) -> Result<Option<Vec<f64>>> {
    let most = binary.scores(x)?.iter().map(|score| score.s).fold(0.0, f64::max);
    let scaled: Vec<f64> = x.iter().map(|x| x * largest / most).collect();
    Ok((most > 0.0 && scaled.iter().all(|x| x.is_finite())).then_some(scaled))
}

/// Algorithm 3 from `start`, the AUSVC solution inside the cones.
fn iterate(binary: &Binary<'_>, start: &[f64], best: &mut Best) -> Result<()> {
    let margins = margins(binary, start)?;
    let near: Vec<f64> = margins.iter().filter(|(g, s)| *g > 0.0 && *s > 0.0).map(|(g, s)| g / s).collect();
    let mean = near.iter().sum::<f64>() / near.len().max(1) as f64;
    let floor: Vec<f64> = margins
        .iter()
        .map(|&(g, _)| if g > 0.0 { mean.min(KEPT * g) } else { (-1.0_f64).min(g) - 1e-3 * g.abs().max(1.0) })
        .collect();
    let mut theta: Vec<f64> = (0..margins.len()).map(|i| binary.weights.map_or(1.0, |c| c[i])).collect();
    let heaviest = theta.iter().copied().fold(0.0, f64::max);
    let mut before = f64::INFINITY;
    let problem = binary.problem(binary.data, &MarginError);
    let params = &binary.params.0;
    for round in 0..ROUNDS {
        binary.control.check()?;
        let Some(x) = barrier::maximize(&problem, &theta, &floor, start, binary.control)? else { break };
        let measure = binary.margin_error(&x)?;
        binary.control.report(round, measure, f64::NAN);
        let margins = self::margins(binary, &x)?;
        best.see(x, measure);
        if (before - measure).abs() <= SETTLED * measure {
            break;
        }
        before = measure;
        for (theta, (g, s)) in theta.iter_mut().zip(margins) {
            let factor = match (params.theta, g) {
                (Theta::Published, g) if g < 1.0 => params.theta_factor,
                (Theta::Published, _) => 1.0 / params.theta_factor,
                (Theta::Near, g) if g < 0.0 => 1.0 / params.theta_factor,
                (Theta::Near, g) if g < mean * s => params.theta_factor,
                (Theta::Near, _) => 1.0,
            };
            *theta = (*theta * factor).clamp(LIGHTEST * heaviest, HEAVIEST * heaviest);
        }
    }
    Ok(())
}

/// (y f(x), s) of every row.
fn margins(binary: &Binary<'_>, x: &[f64]) -> Result<Vec<(f64, f64)>> {
    let scores = binary.scores(x)?;
    Ok(scores.iter().zip(binary.targets).map(|(score, y)| (y * score.m, score.s)).collect())
}
