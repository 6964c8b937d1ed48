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
//!
//! M is the same in every unit and from every origin, but a method's steps are not: with features a million
//! deviations from zero, (w, b) has one direction in which everything happens and others in which nothing does, and
//! which local minimum a descent finds is chance. So the rows are first centred (which the penalty of AUSVC does not
//! notice: b is free), and the search on M works with features of unit variance and on (w, b) of length 1
//! (`solver/sphere.rs`). Shifted or in other units, the same rows then give the same steps, to rounding. Without an
//! intercept the origin belongs to the model and stays where it is.

use super::binary::{Binary, Outcome, Score, point};
use super::params::Theta;
use super::{adaptive, barrier};
use crate::data::GaussianArray;
use crate::error::Result;
use crate::loss::{Hinge, MarginError};
use crate::solver::{Solution, Status, descend};
use crate::transform::{GaussianScaler, Spread};

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
/// A start this near to another one, of length 1, ends where that does.
const SAME: f64 = 1e-9;
/// A model is no better than one class for all if its measure is smaller by no more than this part.
const AS_GOOD: f64 = 1e-9;

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

/// The rows as (x - mean) / scale.
struct Standard {
    mean: Vec<f64>,
    scale: Vec<f64>,
    /// Only centred: for what has a penalty on w.
    centred: GaussianArray,
    data: GaussianArray,
}

impl Standard {
    fn new(binary: &Binary<'_>) -> Result<Self> {
        let data = binary.data;
        let scaler = GaussianScaler::fit(data, binary.weights, Spread::Total)?;
        let (d, scale) = (data.n_features(), scaler.scale().to_vec());
        let mean = if binary.params.0.fit_intercept { scaler.mean().to_vec() } else { vec![0.0; d] };
        let centred = data.means().mapped(d, |x, out| (0..d).for_each(|j| out[j] = x[j] - mean[j]))?;
        let centred = GaussianArray::from_checked(centred, data.covariances().clone());
        let scaled = GaussianScaler::new(vec![0.0; d], scale.clone())?.transform(&centred)?;
        Ok(Self { mean, scale, centred, data: scaled })
    }

    /// (w, b) for the scaled rows, from that for the centred ones.
    fn scaled(&self, x: &[f64]) -> Vec<f64> {
        let w = x.iter().zip(&self.scale).map(|(w, s)| w * s);
        w.chain(x.last().copied()).collect()
    }

    /// (w, b) for the rows as they came, from that for the scaled ones.
    fn original(&self, x: &[f64]) -> Vec<f64> {
        let d = self.scale.len();
        let mut out: Vec<f64> = x.iter().zip(&self.scale).map(|(w, s)| w / s).collect();
        let shift: f64 = out.iter().zip(&self.mean).map(|(w, m)| w * m).sum();
        out.push(x[d] - shift);
        out
    }
}

pub(super) fn fit(binary: &Binary<'_>) -> Result<Outcome> {
    let standard = Standard::new(binary)?;
    let centred = Binary { data: &standard.centred, ..*binary };
    let adapted = adaptive::fit(&centred)?;
    let mut iterations = adapted.outcome.solution.iterations;
    let scaled_point = |solution: &Solution| standard.scaled(&point(solution));
    let (first, last) = (scaled_point(&adapted.first), scaled_point(&adapted.outcome.solution));
    let scaled = Binary { data: &standard.data, ..*binary };
    let measure = scaled.margin_error(&last)?;
    let mut best = Best { x: last.clone(), measure, history: vec![measure] };
    if let Some(start) = spread_to(&scaled, &last, INSIDE)? {
        iterate(&scaled, &start, &mut best)?;
    }
    if binary.params.0.polish {
        let plain = centred.solve(centred.data, &Hinge, None)?;
        iterations += plain.iterations;
        let starts = [first, last, best.x.clone(), scaled_point(&plain)];
        iterations += polish(&scaled, &starts, &mut best)?;
        if binary.params.0.fit_intercept {
            one_class(&scaled, &mut best)?;
        }
    }
    let x = standard.original(&best.x);
    let x = spread_to(binary, &x, 1.0)?.unwrap_or(x);
    let d = x.len() - 1;
    let reach = |(score, y): (&Score, f64)| {
        let right = (y * score.m).max(0.0);
        if score.s > 0.0 || right == 0.0 { right / score.s.max(f64::MIN_POSITIVE) } else { f64::INFINITY }
    };
    let radii = binary.scores(&x)?.iter().zip(binary.targets.iter()).map(reach).collect();
    let objective = binary.margin_error(&x)?;
    let solution =
        Solution { w: x[..d].to_vec(), b: x[d], objective, gap: f64::NAN, iterations, status: Status::Converged };
    Ok(Outcome { solution, radii, history: best.history })
}

/// Where one class for all rows is as good: w = 0, which descents only approach, so that the scale of (w, b) would be
/// whatever rounding left of w.
fn one_class(binary: &Binary<'_>, best: &mut Best) -> Result<()> {
    for sign in [-1.0, 1.0] {
        let mut x = vec![0.0; best.x.len() - 1];
        x.push(sign);
        let measure = binary.margin_error(&x)?;
        if measure <= best.measure * (1.0 + AS_GOOD) {
            (best.x, best.measure) = (x, measure.min(best.measure));
        }
    }
    Ok(())
}

/// Descents on the measure from each of these directions once; their iterations.
fn polish(binary: &Binary<'_>, starts: &[Vec<f64>], best: &mut Best) -> Result<usize> {
    let objective = binary.problem(binary.data, &MarginError).unpenalised()?;
    let mut iterations = 0;
    let mut seen: Vec<Vec<f64>> = vec![];
    for start in starts {
        let largest = start.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let length = largest * start.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt();
        let start: Vec<f64> = start.iter().map(|x| x / length).collect();
        let near = |other: &Vec<f64>| start.iter().zip(other).all(|(a, b)| (a - b).abs() <= SAME);
        // Without a direction, as where USVC gives up, or from where a descent has begun.
        if start.iter().any(|x| !x.is_finite()) || seen.iter().any(near) {
            continue;
        }
        let end = descend(&objective, &start, DESCENT, binary.control)?;
        iterations += end.iterations;
        best.see(point(&end), binary.total() * end.objective);
        seen.push(start);
    }
    Ok(iterations)
}

/// The direction with `largest` as the largest spread of all scores; `None` where no row has any.
fn spread_to(binary: &Binary<'_>, x: &[f64], largest: f64) -> Result<Option<Vec<f64>>> {
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
    Ok(scores.iter().zip(binary.targets.iter()).map(|(score, y)| (y * score.m, score.s)).collect())
}
