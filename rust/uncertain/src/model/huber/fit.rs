//! Fitting: rows in order of their labels, one reduction, one refinement loop per output.

use ndarray::Array2;

use crate::control::Control;
use crate::data::weights::TakeRows;
use crate::data::{GaussianArray, Weights, distinct};
use crate::error::{Error, Result};
use crate::parallel;

use super::calibrate::calibrate;
use super::fitted::{FittedView, Model, Outcome};
use super::given::Given;
use super::graph::Graph;
use super::memory::Budget;
use super::params::{Params, ValidParams, View};
use super::reduction::{Penalty, Reduction, ViewOf};
use super::refine::{Plan, Refined, refine};
use super::source::{self, Kernel, Source};
use super::system::System;
use super::units;

/// Labelled rows whose predictions are computed again.
const CHECKED: usize = 500;
/// How far they may be off, in parts of the largest target.
const TRUSTED: f64 = 1e-4;

impl ValidParams {
    /// As [`fit`](Self::fit); labels of rows with the same number in `groups` (n numbers) are held out together
    /// where probabilities are calibrated.
    pub(crate) fn fit(
        &self,
        rows: &GaussianArray,
        targets: &[Vec<f64>],
        weights: Option<&Weights>,
        groups: Option<&[u32]>,
        control: &Control,
    ) -> Result<Model> {
        let given = Given::new(rows, targets, weights, groups)?;
        self.0.check_rows(rows)?;
        parallel::install(control.threads(), || fit(&self.0, given, control))?
    }
}

impl Params {
    fn check_rows(&self, rows: &GaussianArray) -> Result<()> {
        let n = rows.n_rows();
        for view in &self.views {
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

    /// Does this view's graph count?
    fn has_graph(&self, view: &View) -> bool {
        self.manifold_alpha > 0.0 && view.graph != Graph::None
    }

    fn couples_views(&self) -> bool {
        self.between_alpha > 0.0 && self.views.len() > 1
    }
}

/// A view with the scale of its kernel and its rows in the order of the fit.
struct Prepared<'a> {
    view: &'a View,
    kernel: Kernel,
    scales: Option<Vec<f64>>,
    rows: GaussianArray,
}

fn fit(params: &Params, given: Given<'_>, control: &Control) -> Result<Model> {
    let (mut order, unlabelled) = given.labelled()?;
    let l = order.len();
    let targets = given.labelled_targets(&order);
    // Labels that cannot be folded are refused before the work.
    let folds = match params.calibration.probability {
        true => params.calibration.split(&given.classes(&order)?, params.seed, || given.rows.take(&order)?.sets())?,
        false => None,
    };
    if params.couples_views() || params.views.iter().any(|view| params.has_graph(view)) {
        // Unlabelled rows matter only through the penalties on f.
        order.extend(unlabelled);
    }
    let views = prepare(params, given, &order)?;
    let found: Vec<_> = views.iter().map(|view| (view.kernel, view.scales.clone())).collect();
    let reduction = reduce(params, views, &order, l, control)?;
    let weights = order[..l].iter().map(|&i| given.weight(i)).collect();
    let mut system = System::new(reduction.gram(control)?, weights)?;
    let plan = Plan {
        delta: params.delta,
        most: params.max_refinements,
        threshold: params.threshold,
        intercept: params.fit_intercept,
    };
    let (n, outputs) = (given.rows.n_rows(), given.outputs());
    let part = |(view, (kernel, scales)): (&View, (Kernel, Option<Vec<f64>>))| FittedView {
        columns: view.columns.clone(),
        kernel,
        scales,
        weight: view.weight,
        coef: Array2::zeros((n, outputs)),
    };
    let mut parts: Vec<FittedView> = params.views.iter().zip(found).map(part).collect();
    let mut outcomes = vec![];
    for (k, target) in targets.iter().enumerate() {
        let task = if outputs > 1 { format!("class {} of {outputs}", k + 1) } else { String::new() };
        let refined = refine(&mut system, target, (0..l).collect(), &plan, &control.with_task(task))?;
        if !refined.objective.is_finite() {
            let why = "the squares of these targets are more than a number can hold: look at their unit";
            return Err(Error::Data(why.into()));
        }
        let w = reduction.coefficients(&refined.point.b)?;
        check_predictions(&reduction, &w, &refined, target, control)?;
        for (part, w) in parts.iter_mut().zip(w) {
            order.iter().zip(w).for_each(|(&i, w)| part.coef[[i, k]] = w);
        }
        outcomes.push(outcome(refined, &order));
    }
    let platt = folds.map(|folds| calibrate(&mut system, &targets, &plan, &folds, control)).transpose()?;
    Ok(Model { parts, outcomes, platt, n_labelled: l })
}

fn prepare<'a>(params: &'a Params, given: Given<'_>, order: &[usize]) -> Result<Vec<Prepared<'a>>> {
    // Scales come from all rows in the caller's order, whichever of them have labels.
    let (all, ordered) = (given.rows.take(&given.counted())?, given.rows.take(order)?);
    let prepare = |view: &'a View| {
        let columns = view.columns.as_deref();
        let scales = units::scales(view, &units::features(columns, None, &all)?, params.scale_features)?;
        let kernel = view.kernel.resolved(&units::features(columns, scales.as_deref(), &all)?)?;
        let rows = units::features(columns, scales.as_deref(), &ordered)?;
        Ok(Prepared { view, kernel, scales, rows })
    };
    params.views.iter().map(prepare).collect()
}

/// Everything about the rows that their labels need.
fn reduce<'a>(
    params: &Params,
    views: Vec<Prepared<'_>>,
    order: &'a [usize],
    l: usize,
    control: &Control,
) -> Result<Reduction<'a>> {
    let size = order.len() as u128;
    let held = |Prepared { view, kernel, rows, .. }: &Prepared<'_>| {
        let graph = if params.has_graph(view) { view.graph.bytes(size) } else { 0 };
        graph + if source::stored(kernel, rows) { 8 * size * size } else { 0 }
    };
    let fixed = views.iter().map(held).sum();
    let budget = Budget::new(order.len(), l, views.len(), params.couples_views(), fixed, params.max_bytes)?;
    let view = |Prepared { view, kernel, rows, .. }: Prepared<'_>| {
        let operator = if params.has_graph(view) {
            let (mut nodes, gram) = (distinct(&rows), kernel == Kernel::Precomputed);
            nodes.sort_unstable();
            view.graph.operator(&rows, &nodes, order, gram, params.normalized, control)?
        } else {
            None
        };
        let source = Source::new(kernel, rows, order, params.max_bytes, control)?;
        source.check()?;
        Ok(ViewOf { source, operator, weight: view.weight })
    };
    let views = views.into_iter().map(view).collect::<Result<_>>()?;
    let penalty = Penalty { alpha: params.alpha, manifold: params.manifold_alpha, between: params.between_alpha };
    Reduction::new(views, l, penalty, &budget, control)
}

/// The predictions of the coefficients must be those that the solver had, else rounding has taken their place: kernel
/// values of 1e12 over an alpha of 1e-4 leave no digit. Looks at evenly spaced labelled rows.
fn check_predictions(
    reduction: &Reduction<'_>,
    w: &[Vec<f64>],
    refined: &Refined,
    targets: &[f64],
    control: &Control,
) -> Result<()> {
    let (l, some) = (targets.len(), targets.len().min(CHECKED));
    let some: Vec<usize> = (0..some).map(|k| k * l / some).collect();
    let fresh = reduction.predictions(&some, w, control)?;
    let size = targets.iter().map(|y| (y - refined.intercept).abs()).fold(0.0, f64::max);
    let off = some
        .iter()
        .zip(&fresh)
        .map(|(&i, f)| (f - refined.point.f[i]).abs())
        .fold(0.0, |a: f64, b| if b.is_nan() { f64::INFINITY } else { a.max(b) });
    if off <= TRUSTED * size {
        return Ok(());
    }
    Err(Error::Data(format!(
        "the solution is lost in rounding: predictions of its coefficients are off by {off:.2e}, with targets up to \
         {size:.2e}; scale the features (GaussianScaler, or the kernel by gamma), fit an intercept, or raise alpha"
    )))
}

/// With the numbers of the dropped rows in the data.
fn outcome(refined: Refined, order: &[usize]) -> Outcome {
    Outcome {
        intercept: refined.intercept,
        removed: refined.dropped.iter().map(|dropped| order[dropped.label]).collect(),
        removed_residuals: refined.dropped.iter().map(|dropped| dropped.residual).collect(),
        thresholds: refined.thresholds,
        history: refined.history,
        objective: refined.objective,
        steps: refined.steps,
        ending: refined.ending,
    }
}
