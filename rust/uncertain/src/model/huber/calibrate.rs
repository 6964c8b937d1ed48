//! Probabilities: one sigmoid per output, fitted to scores of labels that the scoring fit has not seen.
//!
//! A fold takes labels away, not rows: a held-out row stays where it is, in the graph and in the kernel, as a
//! row without a label. So the reduction to the labelled rows serves all folds, and a fold costs what a
//! refinement loop costs. The labels that a fit drops are held out in one fold like all others: a
//! probability is that of the label that would be observed, wrong ones included.

use crate::control::Control;
use crate::data::{Labels, Weights};
use crate::error::Result;
use crate::model::folds::Folds;
use crate::model::platt::Sigmoid;

use super::refine::{Plan, refine};
use super::system::System;

/// The folds of the labelled rows; `targets`: for each output theirs, -1 or +1; `groups`: those of these rows.
pub(super) fn folds(targets: &[Vec<f64>], groups: Option<Vec<u32>>, folds: usize, seed: u64) -> Result<Folds> {
    let labels = classes(targets)?;
    let labels = match groups {
        Some(groups) => labels.with_groups(groups)?,
        None => labels,
    };
    Folds::new(&labels, folds, seed)
}

/// `targets` as for [`folds`].
pub(super) fn calibrate(
    system: &mut System,
    targets: &[Vec<f64>],
    plan: &Plan,
    folds: &Folds,
    control: &Control,
) -> Result<Vec<Sigmoid>> {
    let weights = Weights::new(system.weights().to_vec())?;
    let l = weights.len();
    let mut scores = vec![vec![0.0; l]; targets.len()];
    for fold in 0..folds.count() {
        let (held_out, kept): (Vec<usize>, Vec<usize>) = (0..l).partition(|&i| folds.fold(i) == Some(fold));
        let named = control.with_task(format!("fold {} of {}", fold + 1, folds.count()));
        for (target, scores) in targets.iter().zip(&mut scores) {
            let refined = refine(system, target, kept.clone(), plan, &named)?;
            held_out.iter().for_each(|&i| scores[i] = refined.point.f[i] + refined.intercept);
        }
    }
    let exact = vec![0.0; l];
    let sigmoid =
        |(target, scores): (&Vec<f64>, &Vec<f64>)| Sigmoid::fit(scores, &exact, target, Some(&weights), control);
    targets.iter().zip(&scores).map(sigmoid).collect()
}

/// The class of each labelled row: by the sign of the one output, or the output that is +1.
fn classes(targets: &[Vec<f64>]) -> Result<Labels> {
    let positive = |i: usize| targets.iter().position(|target| target[i] > 0.0);
    let rows = 0..targets[0].len();
    if targets.len() == 1 {
        return Labels::new(rows.map(|i| u32::from(positive(i).is_some())).collect(), 2);
    }
    Labels::new(rows.map(|i| positive(i).unwrap_or(0) as u32).collect(), targets.len())
}
