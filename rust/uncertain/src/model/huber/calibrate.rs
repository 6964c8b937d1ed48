//! Probabilities: one sigmoid per output, fitted to scores of labels that the scoring fit has not seen.
//!
//! A fold takes labels away, not rows: a held-out row stays where it is, in the graph and in the kernel, as a
//! row without a label. So the reduction to the labelled rows serves all folds, and a fold costs what a
//! refinement loop costs. The labels that a fit drops are held out in one fold like all others: a
//! probability is that of the label that would be observed, wrong ones included.

use crate::control::Control;
use crate::data::Weights;
use crate::error::Result;
use crate::model::folds::Folds;
use crate::model::platt::Sigmoid;

use super::refine::{Plan, refine};
use super::system::System;

/// `targets`: for each output those of the labelled rows, -1 or +1.
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
