//! Fitting: rows in order of their labels, one reduction, one refinement loop per output.

use ndarray::Array2;

use crate::control::Control;
use crate::data::{GaussianArray, Weights};
use crate::error::{Error, Result};
use crate::model::Calibration;
use crate::parallel;

use super::calibrate::{calibrate, folds};
use super::fitted::{Model, Outcome, Part};
use super::graph::Graph;
use super::memory::Budget;
use super::neighbors::distinct;
use super::params::{Params, ValidParams};
use super::reduction::{Penalty, Reduction, ViewOf};
use super::refine::{Plan, refine};
use super::source::{self, Kernel, Source};
use super::system::System;

impl ValidParams {
    /// Fit to the targets of some rows; the others are unlabelled.
    ///
    /// `targets`: one list of n numbers per output, NaN for unlabelled rows (the same ones in every output).
    /// `weights`: n numbers >= 0; a row of weight 0 is as good as absent. For classes the targets are -1 and +1:
    /// one output for two classes, else one per class.
    ///
    /// # Errors
    /// Sizes that do not fit, targets or weights out of range, no label, kernels that the rows cannot have, a
    /// regulariser or a kernel matrix that is not positive semi-definite, too much memory, and
    /// [`Error::Interrupted`].
    pub fn fit(
        &self,
        rows: &GaussianArray,
        targets: &[Vec<f64>],
        weights: Option<&Weights>,
        control: &Control,
    ) -> Result<Model> {
        self.fit_groups(rows, targets, weights, None, control)
    }

    /// As [`fit`](Self::fit); labels of rows with the same number in `groups` (n numbers) are held out together
    /// where probabilities are calibrated.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit) and of [`group_folds`](crate::group_folds).
    pub fn fit_groups(
        &self,
        rows: &GaussianArray,
        targets: &[Vec<f64>],
        weights: Option<&Weights>,
        groups: Option<&[u32]>,
        control: &Control,
    ) -> Result<Model> {
        check(&self.0, rows, targets, weights, groups)?;
        parallel::install(self.0.threads, || fit(&self.0, rows, targets, weights, groups, control))?
    }
}

fn check(
    params: &Params,
    rows: &GaussianArray,
    targets: &[Vec<f64>],
    weights: Option<&Weights>,
    groups: Option<&[u32]>,
) -> Result<()> {
    let n = rows.n_rows();
    let beside = [weights.map(|w| ("sample_weight", w.len())), groups.map(|g| ("groups", g.len()))];
    let lengths = targets.iter().map(|t| ("targets", t.len())).chain(beside.into_iter().flatten());
    if let Some((what, got)) = lengths.into_iter().find(|(_, len)| *len != n) {
        return Err(Error::shape(what, format!("{n}, one per row"), got));
    }
    if targets.is_empty() {
        return Err(Error::Data("there are no targets to fit".into()));
    }
    for (row, value) in targets.iter().flat_map(|t| t.iter().enumerate()) {
        if value.is_infinite() {
            return Err(Error::NotFinite { what: "y".into(), row, column: 0, value: *value });
        }
    }
    if params.calibration.probability {
        let other = |y: &f64| !y.is_nan() && y.abs() != 1.0;
        if let Some((row, y)) = targets.iter().flat_map(|t| t.iter().enumerate()).find(|(_, y)| other(y)) {
            return Err(Error::Data(format!("y: row {row} is {y}; probabilities need targets of -1 and +1")));
        }
    }
    for (row, first) in targets[0].iter().enumerate() {
        if targets.iter().any(|t| t[row].is_nan() != first.is_nan()) {
            return Err(Error::Data(format!("y: row {row} has some outputs only; a row has all or none")));
        }
    }
    for view in &params.views {
        if let Graph::Given { matrix, .. } = &view.graph
            && matrix.n() != n
        {
            return Err(Error::shape("graph", format!("{n} rows, as in X"), matrix.n()));
        }
        if view.kernel == Kernel::Precomputed && rows.n_features() != n {
            return Err(Error::shape("X", format!("the square kernel matrix of {n} rows"), rows.n_features()));
        }
    }
    Ok(())
}

fn fit(
    params: &Params,
    rows: &GaussianArray,
    targets: &[Vec<f64>],
    weights: Option<&Weights>,
    groups: Option<&[u32]>,
    control: &Control,
) -> Result<Model> {
    let n = rows.n_rows();
    let weight = |row: usize| weights.map_or(1.0, |w| w[row]);
    let labelled: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0 && !targets[0][i].is_nan()).collect();
    if labelled.is_empty() {
        return Err(Error::Data("y: no row (of positive weight) has a label".into()));
    }
    let l = labelled.len();
    let raw: Vec<Vec<f64>> = targets.iter().map(|target| labelled.iter().map(|&i| target[i]).collect()).collect();
    // Labels that cannot be folded are refused before the work.
    let of_labelled = groups.map(|groups| labelled.iter().map(|&i| groups[i]).collect());
    let folds = match params.calibration {
        Calibration { probability: true, folds: count } => Some(folds(&raw, of_labelled, count, params.seed)?),
        _ => None,
    };
    let graphs = params.manifold_alpha > 0.0 && params.views.iter().any(|view| view.graph != Graph::None);
    let mut order = labelled;
    if graphs || (params.between_alpha > 0.0 && params.views.len() > 1) {
        // Unlabelled rows matter only through the penalties on f.
        let rest: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0 && targets[0][i].is_nan()).collect();
        order.extend(rest);
    }
    // Scales come from all rows in the caller's order, whichever of them have labels.
    let all: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
    let all = rows.take(&all)?;
    let mut parts = vec![];
    let mut views = vec![];
    let mut fixed = 0_u128;
    let size = order.len() as u128;
    for view in &params.views {
        let mut own = rows.take(&order)?;
        if let Some(columns) = &view.columns {
            own = own.columns(columns)?;
        }
        let kernel = match &view.columns {
            Some(columns) => view.kernel.resolved(&all.columns(columns)?, control)?,
            None => view.kernel.resolved(&all, control)?,
        };
        if graphs {
            fixed += view.graph.bytes(size);
        }
        if source::stored(&kernel, &own) {
            fixed += 8 * size * size;
        }
        views.push(own);
        parts.push(Part { columns: view.columns.clone(), kernel, weight: view.weight, coef: Array2::zeros((0, 0)) });
    }
    let coupled = params.between_alpha > 0.0 && params.views.len() > 1;
    let budget = Budget::new(order.len(), l, params.views.len(), coupled, fixed, params.max_bytes)?;
    let mut prepared = vec![];
    for ((view, own), part) in params.views.iter().zip(views).zip(&parts) {
        let gram = part.kernel == Kernel::Precomputed;
        let operator = if graphs && view.graph != Graph::None {
            let nodes = distinct(&own, control)?;
            view.graph.operator(&own, &nodes, &order, gram, params.normalized, control)?
        } else {
            None
        };
        let source = Source::new(part.kernel, own, &order, params.max_bytes, control)?;
        source.check()?;
        prepared.push(ViewOf { source, operator, weight: view.weight });
    }
    let penalty = Penalty { alpha: params.alpha, manifold: params.manifold_alpha, between: params.between_alpha };
    let reduction = Reduction::new(prepared, l, penalty, &budget, control)?;
    let of_labels: Vec<f64> = order[..l].iter().map(|&i| weight(i)).collect();
    let mut system = System::new(reduction.gram(control)?, of_labels)?;
    let plan = Plan {
        delta: params.delta,
        most: params.max_refinements,
        threshold: params.threshold,
        intercept: params.fit_intercept,
    };
    parts.iter_mut().for_each(|part| part.coef = Array2::zeros((n, targets.len())));
    let mut outcomes = vec![];
    for (k, raw) in raw.iter().enumerate() {
        let named = if targets.len() > 1 {
            control.with_task(format!("class {} of {}", k + 1, targets.len()))
        } else {
            control.clone()
        };
        let refined = refine(&mut system, raw, (0..l).collect(), &plan, &named)?;
        for (part, w) in parts.iter_mut().zip(reduction.coefficients(&refined.point.b)?) {
            order.iter().zip(w).for_each(|(&i, w)| part.coef[[i, k]] = w);
        }
        outcomes.push(Outcome {
            intercept: refined.intercept,
            removed: refined.dropped.iter().map(|dropped| order[dropped.label]).collect(),
            removed_residuals: refined.dropped.iter().map(|dropped| dropped.residual).collect(),
            thresholds: refined.thresholds,
            history: refined.history,
            objective: refined.objective,
            steps: refined.steps,
            ending: refined.ending,
        });
    }
    let platt = folds.map(|folds| calibrate(&mut system, &raw, &plan, &folds, control)).transpose()?;
    Ok(Model { parts, outcomes, platt, n_labelled: l })
}
