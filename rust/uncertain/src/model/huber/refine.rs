//! The refinement loop: labels whose residuals stand out are dropped, and the threshold comes down.
//!
//! ```text
//! xi(0) = max |residual| of the squared-loss fit to all labels
//! repeat:  xi~ = xi - delta, solve at xi~, drop the labels with |residual| >= xi~,
//!          fit the others with squared loss, xi = max |residual| over them
//! ```
//! After each refit no residual exceeds xi, so the solution is also that of the Huber objective at xi on the
//! labels that remain: it satisfies the stationarity condition for exactly what is returned. A refit may
//! raise the largest residual; then xi~ is lowered further, from the same labels, until xi decreases or xi~
//! reaches 0: by delta each time, and after sixteen times by twice as much as before, because the way down may
//! be long (delta is absolute, and so are the units of the targets). The loop stops there, when fewer than half of the
//! labels would remain, or after the refinements asked for.
//!
//! With an intercept the targets are centred by the weighted mean of the labels in use, and again
//! after each drop.

use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::error::Result;
use crate::named::named;
use crate::number;

use super::qp::{Point, Problem};
use super::system::System;

/// How a refinement loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// All refinements asked for were done.
    #[strum(serialize = "refinements_done")]
    Done,
    /// The next threshold would not have been positive.
    ThresholdZero,
    /// The next threshold would have left no label, or fewer than half of them.
    NoLabelLeft,
}

named!(Ending, "status");

/// One refinement: what was tried and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refinement {
    /// The threshold xi~ at which labels were dropped.
    #[serde(with = "number")]
    pub tried: f64,
    /// xi after the refit.
    #[serde(with = "number")]
    pub threshold: f64,
    /// Labels left.
    pub labels: usize,
    /// Labels dropped.
    pub dropped: usize,
    /// The objective at xi on the labels left.
    #[serde(with = "number")]
    pub objective: f64,
    /// Newton steps of all quadratic programs.
    pub steps: usize,
    /// Thresholds tried.
    pub attempts: usize,
}

/// Thresholds tried in steps of delta; later steps double.
const EVEN_ATTEMPTS: i32 = 16;

/// A label that was dropped: its place among the labelled rows, and its residual then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dropped {
    pub label: usize,
    pub residual: f64,
}

/// Where the loop ended.
pub(super) struct Refined {
    pub point: Point,
    pub intercept: f64,
    /// Strictly decreasing.
    pub thresholds: Vec<f64>,
    pub dropped: Vec<Dropped>,
    pub history: Vec<Refinement>,
    pub objective: f64,
    pub steps: usize,
    pub ending: Ending,
}

/// Parameters of the loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// By how much the threshold is lowered.
    pub delta: f64,
    pub most: usize,
    /// xi(0); `None`: the largest residual of the squared-loss fit.
    pub threshold: Option<f64>,
    pub intercept: bool,
}

/// Labels in use, their targets centred.
struct Stage {
    labels: Vec<usize>,
    targets: Vec<f64>,
    total: f64,
    intercept: f64,
}

impl Stage {
    fn new(labels: Vec<usize>, raw: &[f64], weights: &[f64], centred: bool) -> Self {
        let total: f64 = labels.iter().map(|&i| weights[i]).sum();
        let mean = labels.iter().map(|&i| weights[i] * raw[i]).sum::<f64>() / total;
        let intercept = if centred { mean } else { 0.0 };
        Self { labels, targets: raw.iter().map(|y| y - intercept).collect(), total, intercept }
    }

    fn at(&self, threshold: f64) -> Problem<'_> {
        Problem { labels: &self.labels, targets: &self.targets, total: self.total, threshold }
    }

    fn largest_residual(&self, point: &Point) -> f64 {
        self.labels.iter().map(|&i| (self.targets[i] - point.f[i]).abs()).fold(0.0, f64::max)
    }
}

/// Fit `labels` (some labelled rows, ascending) to their targets, of which `raw` has one per labelled row,
/// and refine.
pub(super) fn refine(
    system: &mut System,
    raw: &[f64],
    labels: Vec<usize>,
    plan: &Plan,
    control: &Control,
) -> Result<Refined> {
    let weights = system.weights().to_vec();
    let mut stage = Stage::new(labels, raw, &weights, plan.intercept);
    let start = stage.at(f64::INFINITY).squared(system, &Point::zero(raw.len()), control)?;
    let (mut point, threshold) = match plan.threshold {
        Some(threshold) => (stage.at(threshold).solve(system, start, control)?, threshold),
        None => {
            let largest = stage.largest_residual(&start);
            (start, largest)
        }
    };
    let mut out = Refined {
        intercept: stage.intercept,
        thresholds: vec![threshold],
        dropped: vec![],
        history: vec![],
        objective: stage.at(threshold).objective(&weights, &point),
        steps: point.steps,
        ending: Ending::Done,
        point: point.clone(),
    };
    control.report(0, out.objective, f64::NAN);
    let mut threshold = threshold;
    for round in 1..=plan.most {
        let mut tried = threshold;
        let (mut steps, mut attempts) = (0, 0_i32);
        let mut warm = point.clone();
        let (next, refit, largest, dropped) = loop {
            tried -= plan.delta * 2.0_f64.powi((attempts - EVEN_ATTEMPTS).max(0));
            attempts += 1;
            if tried <= 0.0 {
                out.ending = Ending::ThresholdZero;
                return Ok(out);
            }
            let solved = stage.at(tried).solve(system, warm, control)?;
            steps += solved.steps;
            let residual = |i: usize| stage.targets[i] - solved.f[i];
            let (kept, gone): (Vec<usize>, Vec<usize>) = stage.labels.iter().partition(|&&i| residual(i).abs() < tried);
            // A function that most labels contradict is no fit: residuals of one size would all go.
            if 2 * kept.len() < raw.len() {
                out.ending = Ending::NoLabelLeft;
                return Ok(out);
            }
            let dropped: Vec<Dropped> =
                gone.into_iter().map(|label| Dropped { label, residual: residual(label) }).collect();
            let next = Stage::new(kept, raw, &weights, plan.intercept);
            let refit = next.at(f64::INFINITY).squared(system, &solved, control)?;
            steps += refit.steps;
            let largest = next.largest_residual(&refit);
            if largest < threshold {
                break (next, refit, largest, dropped);
            }
            warm = solved;
        };
        (stage, point, threshold) = (next, refit, largest);
        out.objective = stage.at(threshold).objective(&weights, &point);
        out.history.push(Refinement {
            tried,
            threshold,
            labels: stage.labels.len(),
            dropped: dropped.len(),
            objective: out.objective,
            steps,
            attempts: attempts.unsigned_abs() as usize,
        });
        out.intercept = stage.intercept;
        out.thresholds.push(threshold);
        out.dropped.extend(dropped);
        out.steps += steps;
        out.point = point.clone();
        control.report(round, out.objective, f64::NAN);
    }
    Ok(out)
}
