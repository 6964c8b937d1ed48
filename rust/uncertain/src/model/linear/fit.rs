//! Several classes and probabilities for any method that separates two: one against the rest, and Platt scaling on
//! rows that the scoring fit has not seen.
//!
//! Scores of the fitted rows themselves are too good, the sigmoid would be too steep. So the rows are split into
//! folds, each is scored by a hyperplane fitted on the others, and one sigmoid is fitted to all these scores.
//! Held-out rows get weight 0 in the fold's fit: no row is copied. Of very many rows a sample stands for all
//! (`sampled.rs`).
//!
//! Certified solvers may start a fold from the hyperplane of all rows: their result is the optimum of the fold, to a
//! tolerance that says how far it can remember. SGD would remember rows it must not have seen, and begins anew.
//!
//! Classes are fitted side by side, one on a thread, as long as the threads last: a pass over a thousand rows is too short for
//! several. Each class sums its rows in the same parts wherever it runs.

use std::cell::OnceCell;

use super::at_zero::AtZero;
use super::{LinearClassifier, TwoClasses, positive_classes, scores};
use crate::control::Control;
use crate::data::weights::Present;
use crate::data::{GaussianArray, Labels, Weights};
use crate::error::Result;
use crate::model::Calibration;
use crate::model::folds::Folds;
use crate::model::platt::Sigmoid;
use crate::objective::dense_parts;
use crate::parallel;
use crate::solver::{FewRows, Solution};

/// Start of a fold.
#[derive(Debug)]
pub(in crate::model) struct NearFold<'a> {
    /// Solution for all rows.
    pub found: &'a Solution,
    few: OnceCell<Option<FewRows>>,
}

impl NearFold<'_> {
    /// The rows that decide near it, which the first fold finds.
    pub(in crate::model) fn few(&self, find: impl FnOnce() -> Result<Option<FewRows>>) -> Result<Option<&FewRows>> {
        if self.few.get().is_none() {
            self.few.set(find()?).ok();
        }
        Ok(self.few.get().and_then(Option::as_ref))
    }
}

/// A classifier from `fit`, which separates two classes, and what else it returns for each hyperplane.
///
/// Rows without weight are left out: `fit` sees rows of weight 0 only where they are held out, and then gets what it
/// found for all rows, which is near.
pub(in crate::model) fn fit_one_vs_rest<T: Send>(
    data: &GaussianArray,
    labels: &Labels,
    calibration: &Calibration,
    seed: u64,
    rule: Option<AtZero>,
    control: &Control,
    fit: impl Fn(&TwoClasses<'_>, Option<&NearFold<'_>>, &Control) -> Result<(Solution, T)> + Sync,
) -> Result<(LinearClassifier, Vec<T>)> {
    labels.check_rows(data.n_rows())?;
    labels.check_every_class()?;
    let present = Present::new(data, labels)?;
    let (data, labels) = (&present.data, &*present.known);
    let held_out = calibration.held_out(data, labels, seed)?;
    let classes = positive_classes(labels.n_classes());
    let (count, shares) = (classes.len(), labels.shares());
    let one = |k: usize| {
        let class = classes.start + k;
        let task = if count == 1 { String::new() } else { format!("class {} of {count}", k + 1) };
        let rows = TwoClasses { data, targets: labels.targets(class), weights: labels.weights() };
        let (mut solution, other) = fit(&rows, None, &control.with_task(&*task))?;
        let at_zero = match rule {
            Some(rule) => rule.settle(&rows, &mut solution, count > 1, control)?,
            None => false,
        };
        let Some(held_out) = &held_out else { return Ok((solution, other, None)) };
        if solution.w.iter().all(|w| *w == 0.0) {
            return Ok((solution, other, Some(Sigmoid::constant(shares[class]))));
        }
        let targets = held_out.labels.targets(class);
        let rows = TwoClasses { data: &held_out.data, targets, weights: held_out.labels.weights() };
        let near = NearFold { found: &solution, few: OnceCell::new() };
        let fit = |rest: &TwoClasses<'_>, control: &Control| {
            // The same for all folds, whose optimum it is as well: theirs differ in directions of no size.
            if at_zero {
                return Ok(near.found.clone());
            }
            let mut without = fit(rest, Some(&near), control)?.0;
            if let Some(rule) = rule {
                rule.settle(rest, &mut without, count > 1, control)?;
            }
            Ok(without)
        };
        let sigmoid = sigmoid(&rows, held_out.labels.parts(), &held_out.folds, &task, control, fit)?;
        Ok((solution, other, Some(sigmoid)))
    };
    let running = side_by_side(data.n_rows(), data.n_features());
    let fitted = parallel::install(control.threads(), || parallel::map_side_by_side(count, running, one))??;
    let (mut solutions, mut others, mut sigmoids) = (vec![], vec![], vec![]);
    for (solution, other, sigmoid) in fitted {
        solutions.push(solution);
        others.push(other);
        sigmoids.extend(sigmoid);
    }
    Ok((
        LinearClassifier::from_solutions(data.n_features(), &solutions, held_out.is_some().then_some(sigmoids)),
        others,
    ))
}

/// Rows from which a pass has work for all threads by itself.
const MANY_ROWS: usize = 65_536;
/// Bytes that the matrices of classes that run at a time may take together.
const MATRIX_BYTES: usize = 512 << 20;

/// How many classes may be fitted at a time.
fn side_by_side(n_rows: usize, d: usize) -> usize {
    let matrices = 8 * (d + 1) * (d + 1) * dense_parts(d).min(n_rows / 256 + 1);
    if n_rows >= MANY_ROWS { 1 } else { (MATRIX_BYTES / matrices).max(1) }
}

/// The sigmoid of one hyperplane, from scores of held-out rows, or of components that are `parts` of rows.
fn sigmoid(
    rows: &TwoClasses<'_>,
    parts: Option<&[u32]>,
    folds: &Folds,
    task: &str,
    control: &Control,
    fit: impl Fn(&TwoClasses<'_>, &Control) -> Result<Solution>,
) -> Result<Sigmoid> {
    let &TwoClasses { data, targets, weights } = rows;
    let n = data.n_rows();
    let (mut means, mut stds) = (vec![0.0; n], vec![0.0; n]);
    for fold in 0..folds.count() {
        let held_out = |i: usize| folds.fold(i) == Some(fold);
        let weight = |i: usize| if held_out(i) { 0.0 } else { weights.map_or(1.0, |c| c[i]) };
        let kept = Weights::new((0..n).map(weight).collect())?;
        let control = control.with_task(folds.task(task, fold));
        let solution = fit(&TwoClasses { weights: Some(&kept), ..*rows }, &control)?;
        let rows: Vec<usize> = (0..n).filter(|&i| held_out(i)).collect();
        for (i, (mean, std)) in rows.iter().zip(scores::row_scores(data, &rows, &solution.w, solution.b)?) {
            (means[*i], stds[*i]) = (mean, std);
        }
    }
    Sigmoid::fit_rows(&means, &stds, targets, weights, parts, control)
}
