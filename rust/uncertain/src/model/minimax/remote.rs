//! The machine for rows held by other processes: means and covariances of classes and folds are sums, one pass for all of them.

use super::{Model, Moments, ValidParams, worst_case_accuracy};
use crate::control::Control;
use crate::data::Labels;
use crate::error::Result;
use crate::model::linear::{FoldCounts, LinearClassifier, positive_classes, task};
use crate::moments::{RowMoments, moments_by_class};
use crate::state::RemoteRows;

impl ValidParams {
    /// [`fit`](Self::fit) by passes over rows held by other processes.
    pub(super) fn fit_remote(&self, remote: &RemoteRows<'_>, control: &Control) -> Result<Model> {
        let (labels, data) = (remote.sample.labels()?, remote.sample.complete()?);
        let (n_classes, d) = (labels.n_classes(), data.n_features());
        let dealt = FoldCounts::ask(remote, n_classes, &self.0.calibration, control)?;
        let centers = centers(remote, labels)?;
        let known = moments_by_class(remote.rows, n_classes, dealt.wanted(), &centers, control)?;
        let classes: Vec<usize> = positive_classes(n_classes).collect();
        let (mut solutions, mut accuracies, mut sigmoids) = (vec![], vec![], vec![]);
        for &class in &classes {
            let solve = |held_out: Option<usize>| {
                let side = |own: bool| RowMoments::pooled(&without(&known, held_out, |k| (k == class) == own));
                let [minus, plus] = [false, true].map(|own| Moments::from(side(own)));
                let task = task(class, classes.len(), held_out, dealt.folds.len());
                self.separate(minus, plus, &control.with_task(&*task))
            };
            let solution = solve(None)?;
            accuracies.push(worst_case_accuracy(&solution));
            solutions.push(solution);
            if !dealt.folds.is_empty() {
                let mut planes = vec![vec![0.0; d + 1]; dealt.wanted()];
                for &fold in &dealt.folds {
                    let found = solve(Some(fold))?;
                    planes[fold] = found.w.into_iter().chain([found.b]).collect();
                }
                sigmoids.push(dealt.sigmoid(remote, class, planes, control)?);
            }
        }
        let platt = self.0.calibration.probability.then_some(sigmoids);
        Ok(Model { linear: LinearClassifier::from_solutions(d, &solutions, platt), worst_case_accuracy: accuracies })
    }
}

/// The rows of some classes, without a fold.
fn without(known: &[Vec<RowMoments>], held_out: Option<usize>, classes: impl Fn(usize) -> bool) -> Vec<RowMoments> {
    let own = known.iter().enumerate().filter(|(class, _)| classes(*class));
    let folds = own.flat_map(|(_, folds)| folds.iter().enumerate().filter(|(fold, _)| Some(*fold) != held_out));
    folds.map(|(_, spread)| spread.clone()).collect()
}

/// The means of the classes in the sample, which are near those of all rows.
fn centers(remote: &RemoteRows<'_>, labels: &Labels) -> Result<Vec<f64>> {
    let data = remote.sample.complete()?;
    let (d, weights) = (data.n_features(), labels.weights());
    let (mut sums, mut totals) = (vec![0.0; labels.n_classes() * d], vec![0.0; labels.n_classes()]);
    for (row, class) in labels.codes().iter().enumerate() {
        let (class, c) = (*class as usize, weights.map_or(1.0, |c| c[row]));
        totals[class] += c;
        let own = &mut sums[class * d..(class + 1) * d];
        own.iter_mut().zip(&*data.means().row(row)).for_each(|(sum, x)| *sum += c * x);
    }
    for (own, total) in sums.chunks_exact_mut(d).zip(&totals).filter(|(_, total)| **total > 0.0) {
        own.iter_mut().for_each(|sum| *sum /= total);
    }
    Ok(sums)
}
