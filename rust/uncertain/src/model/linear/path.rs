//! Cross-validation along a path of penalties, of any method that separates two classes.
//!
//! The loss is the log loss of the classes' probabilities: held-out scores of one penalty get their sigmoids
//! (`sigmoid` of `fit.rs`, two numbers per class), as the final model's do. Unlike the hinge it does not depend on the
//! scale of the scores, which a strong penalty shrinks, and unlike the error rate it tells apart penalties that
//! classify alike.

use ndarray::Array2;

use super::{AtZero, TwoClasses, positive_classes, scores};
use crate::control::Control;
use crate::data::weights::{Present, TakeRows};
use crate::data::{GaussianArray, Labels};
use crate::error::{Error, Result};
use crate::model::folds::Folds;
use crate::model::one_vs_rest;
use crate::model::penalty_path::{FOLDS, SEED, check_penalties};
use crate::model::platt::Sigmoid;
use crate::parallel;
use crate::solver::Solution;
use crate::state::PenaltyPath;

/// Probabilities are kept this far from 0, so that one certain mistake is not infinitely bad.
const LEAST: f64 = 1e-15;

/// Held-out log losses of `penalties`, the strongest first; `fit` gets one of them, and where to start.
pub(in crate::model) fn path_one_vs_rest(
    data: &GaussianArray,
    labels: &Labels,
    penalties: &[f64],
    rule: impl Fn(f64) -> Option<AtZero> + Sync,
    control: &Control,
    fit: impl Fn(&TwoClasses<'_>, f64, Option<&[f64]>, &Control) -> Result<Solution> + Sync,
) -> Result<PenaltyPath> {
    check_penalties(penalties)?;
    labels.check_rows(data.n_rows())?;
    labels.check_every_class()?;
    let present = Present::new(data, labels)?;
    let (data, labels) = (&present.data, &*present.known);
    let folds = Folds::new(&data.sets()?, labels, FOLDS, SEED)?;
    let of_rows: Vec<u32> = (0..labels.len()).map(|i| folds.fold(i).unwrap_or(0)).collect();
    let classes = positive_classes(labels.n_classes());
    let n = labels.len();
    let run_fold = |fold: u32| -> Result<Vec<Vec<HeldOutRows>>> {
        let (held, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| of_rows[i] == fold);
        let (train, test) = (data.take(&kept)?, data.take(&held)?);
        let known = labels.take(&kept)?;
        let one = |class| {
            let rows = TwoClasses { data: &train, targets: known.targets(class), weights: known.weights() };
            let control = control.with_task(folds.task("path", fold));
            let mut start: Option<Vec<f64>> = None;
            let mut found = vec![];
            for &penalty in penalties {
                let mut solution = fit(&rows, penalty, start.as_deref(), &control)?;
                if let Some(rule) = rule(penalty) {
                    rule.settle(&rows, &mut solution, classes.len() > 1, &control)?;
                }
                let Solution { w, b, .. } = solution;
                let (means, stds) = (scores::means(&test, &w, b)?, scores::stds(&test, &w)?);
                found.push(HeldOutRows { rows: held.clone(), means, stds });
                start = Some(w.into_iter().chain([b]).collect());
            }
            Ok(found)
        };
        classes.clone().map(one).collect()
    };
    parallel::install(control.threads(), || {
        let parts = parallel::map_fine(folds.count() as usize, |part| {
            part.map(|fold| run_fold(fold as u32)).collect::<Result<Vec<_>>>()
        })?;
        let parts: Vec<Vec<Vec<HeldOutRows>>> = parts.into_iter().flatten().collect();
        let all = parallel::map_fine(penalties.len(), |range| {
            range.map(|k| losses(labels, &parts, k, control)).collect::<Result<Vec<_>>>()
        })?;
        let losses = Array2::from_shape_vec((penalties.len(), n), all.into_iter().flatten().flatten().collect())
            .map_err(|e| Error::Internal(format!("losses of a path: {e}")))?;
        if losses.iter().any(|loss| !loss.is_finite()) {
            return Err(Error::Data("held-out losses overflow; scale the features".into()));
        }
        PenaltyPath::new(&losses, &of_rows, labels.weights())
    })?
}

/// The log loss of every row for penalty `k`, from the scores in `parts` (folds, hyperplanes, penalties).
fn losses(labels: &Labels, parts: &[Vec<Vec<HeldOutRows>>], k: usize, control: &Control) -> Result<Vec<f64>> {
    let classes = positive_classes(labels.n_classes());
    let n = labels.len();
    let (mut means, mut stds) = (Array2::zeros((n, classes.len())), Array2::zeros((n, classes.len())));
    for (c, held) in parts.iter().flat_map(|fold| fold.iter().enumerate()) {
        let held = &held[k];
        for (at, &i) in held.rows.iter().enumerate() {
            (means[[i, c]], stds[[i, c]]) = (held.means[at], held.stds[at]);
        }
    }
    let sigmoids = classes.enumerate().map(|(c, class)| {
        let (means, stds) = (means.column(c).to_vec(), stds.column(c).to_vec());
        Sigmoid::fit_rows(&means, &stds, labels.targets(class), labels.weights(), labels.parts(), &control.quiet())
    });
    let sigmoids: Vec<Sigmoid> = sigmoids.collect::<Result<_>>()?;
    let p = one_vs_rest::probabilities(&sigmoids, means.view(), stds.view())?;
    let mut of_label: Vec<f64> = (0..n).map(|i| p[[i, labels.codes()[i] as usize]]).collect();
    average_parts(labels, &mut of_label);
    Ok(of_label.into_iter().map(|p| -p.max(LEAST).ln()).collect())
}

/// Of components of mixtures every one gets the probability of its row, the mean of theirs.
fn average_parts(labels: &Labels, probabilities: &mut [f64]) {
    let Some(parts) = labels.parts() else { return };
    let mut first = 0;
    for own in parts.chunk_by(|a, b| a == b) {
        let rows = first..first + own.len();
        first = rows.end;
        let total: f64 = rows.clone().map(|i| labels.weight(i)).sum();
        let mean = rows.clone().map(|i| labels.weight(i) * probabilities[i]).sum::<f64>() / total;
        probabilities[rows].fill(mean);
    }
}

/// Held-out rows and their scores.
struct HeldOutRows {
    rows: Vec<usize>,
    means: Vec<f64>,
    stds: Vec<f64>,
}
