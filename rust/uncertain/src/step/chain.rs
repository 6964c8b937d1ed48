//! Steps one behind the other: transforms, then a classifier or regressor.

use std::borrow::Cow;

use ndarray::Array2;

use super::Step;
use crate::control::Control;
use crate::data::{GaussianArray, Incomplete, MixtureArray};
use crate::error::{Error, Result};
use crate::state::{Folding, Predictor};

const MAX_STEPS: usize = 64;

/// Features of the rows and classes (0: none) of steps that fit together; else the reason why they do not.
pub(crate) fn sizes(steps: &[Step]) -> std::result::Result<(usize, usize), String> {
    if steps.len() > MAX_STEPS {
        return Err(format!("it has {} steps; at most {MAX_STEPS} make sense", steps.len()));
    }
    let transforms = steps.len().saturating_sub(1);
    let (Some(n_classes), None) = (
        steps.last().and_then(|step| step.predictor().about().n_classes),
        steps[..transforms].iter().find(|step| step.predictor().about().n_classes.is_some()),
    ) else {
        return Err("its steps must be transforms followed by one classifier or regressor".to_owned());
    };
    let d = steps.iter().find_map(|step| step.predictor().about().n_features).unwrap_or_default();
    let mut here = d;
    for step in steps.iter().map(|step| step.predictor().about()) {
        if let Some(other) = step.n_features.filter(|&n| n != here) {
            return Err(format!("its steps disagree about the number of features: {here} and {other}"));
        }
        here = step.n_features_out.unwrap_or(here);
    }
    Ok((d, n_classes))
}

/// The rows that the last step sees, and the gaps and limits that are left for it.
pub(crate) struct TransformedRows<'a> {
    pub data: GaussianArray,
    pub missing: Option<Cow<'a, [bool]>>,
    limits: Option<Cow<'a, [i8]>>,
    /// Of rows that are mixtures, whose components `data` are.
    mixtures: Option<MixtureArray>,
}

impl TransformedRows<'_> {
    /// For a step that takes what they have.
    fn rows(&self, step: &dyn Predictor) -> Result<Incomplete<'_>> {
        let rows = self.marked();
        let about = step.about();
        if !about.takes_limits {
            rows.unlimited()?;
        }
        if !about.takes_gaps {
            rows.components().complete()?;
        }
        Ok(rows)
    }

    fn marked(&self) -> Incomplete<'_> {
        let rows = Incomplete::from_parts(&self.data, self.missing.as_deref(), self.limits.as_deref());
        self.mixtures.as_ref().map_or(rows, |mixtures| rows.with_mixtures(mixtures))
    }
}

/// Rows by way of the transforms to `take`.
pub(crate) fn moved<'a>(
    steps: &[Step],
    rows: Incomplete<'a>,
    take: impl Fn(&Step) -> bool,
    control: &Control,
) -> Result<TransformedRows<'a>> {
    let mixtures = rows.mixtures().cloned();
    let (missing, limits) = (rows.missing().map(Cow::Borrowed), rows.limits().map(Cow::Borrowed));
    let mut moved = TransformedRows { data: rows.gaussians().clone(), missing, limits, mixtures };
    let steps = steps.iter().filter(|step| take(step)).map(Step::predictor);
    for step in steps.filter(|step| step.about().n_classes.is_none()) {
        let (d, before) = (moved.data.n_features(), moved.data.n_rows());
        if moved.mixtures.is_some() {
            let after = Folding(step).transform_mixtures(moved.rows(step)?, control)?;
            if after.components().n_rows() != before {
                // One row was made of all components.
                let rows = moved.marked();
                let missing = moved.missing.as_deref().map(|marks| Cow::Owned(rows.marks_per_row(marks)));
                let limits = moved.limits.as_deref().map(|limits| Cow::Owned(rows.marks_per_row(limits)));
                (moved.missing, moved.limits) = (missing, limits);
            }
            moved.data = after.components().clone();
            moved.mixtures = Some(after).filter(|rows| !rows.is_gaussian());
        } else {
            moved.data = step.transform(moved.rows(step)?, control)?;
        }
        let kept = step.about().keeps_gaps;
        moved.missing = moved.missing.filter(|_| kept).map(|marks| of_features(marks, d, step.picked()));
        moved.limits = moved.limits.filter(|_| kept).map(|marks| of_features(marks, d, step.picked()));
    }
    Ok(moved)
}

/// The marks of rows, n x d, at these features.
fn of_features<'a, T: Copy>(marks: Cow<'a, [T]>, d: usize, picked: Option<&[usize]>) -> Cow<'a, [T]> {
    match picked {
        None => marks,
        Some(features) => marks.chunks_exact(d).flat_map(|row| features.iter().map(|&j| row[j])).collect(),
    }
}

/// The last step, asked about rows; by way of the transforms to `take`.
pub(crate) fn ask<T>(
    steps: &[Step],
    rows: Incomplete<'_>,
    take: impl Fn(&Step) -> bool,
    control: &Control,
    question: impl Fn(&dyn Predictor, Incomplete<'_>) -> Result<T>,
) -> Result<T> {
    let moved = moved(steps, rows, take, control)?;
    let Some(model) = steps.last().map(Step::predictor) else {
        return Err(Error::Data("there are no steps to ask".into()));
    };
    question(&Folding(model), moved.rows(model)?)
}

/// Means and standard deviations of a regression's predictions, n x 1. A collapser takes covariances away from the regression,
/// not from the rows: the deviations are those without it.
pub(crate) fn distribution(
    steps: &[Step],
    rows: Incomplete<'_>,
    control: &Control,
) -> Result<(Array2<f64>, Array2<f64>)> {
    let collapses = |step: &Step| matches!(step, Step::Collapser(_));
    let (mut means, stds) =
        ask(steps, rows, |step| !collapses(step), control, |model, rows| model.decision_distribution(rows, control))?;
    if steps.iter().any(collapses) {
        means = ask(steps, rows, |_| true, control, |model, rows| model.decision(rows, control))?;
    }
    Ok((means, stds))
}
