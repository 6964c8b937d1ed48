//! Huber regression with its rows: those of Gaussians (see `gaussians.rs`), tensors `coef` (views x rows x outputs),
//! `removed` and `removed_residuals` (dropped labels, output after output), `platt` (outputs x 2) with probabilities.
//!
//! A graph given as a matrix is left behind: predictions do not need it, and a new fit asks for it.

use ndarray::Array2;
use serde::{Deserialize, Serialize};

use super::huber_params::{ParamsHeader, ViewHeader};
use super::report::{read_platt, write_platt};
use super::{TakeTensor, Tensors, gaussians};
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::huber::{Machine, Model, Outcome, Part, Refinement, ValidParams};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    /// Without: a precomputed kernel.
    rows: Option<gaussians::Header>,
    n_rows: usize,
    n_classes: usize,
    n_labelled: usize,
    outcomes: Vec<OutcomeHeader>,
    platt: bool,
    views: Vec<ViewHeader>,
    params: ParamsHeader,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeHeader {
    intercept: f64,
    /// The first threshold; the others are in the history.
    threshold: f64,
    objective: f64,
    steps: usize,
    ending: String,
    history: Vec<Step>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    tried: f64,
    threshold: f64,
    labels: usize,
    dropped: usize,
    objective: f64,
    steps: usize,
    attempts: usize,
}

pub(super) fn write(machine: &Machine, params: &ValidParams) -> (Header, Tensors) {
    let model = machine.model();
    let (rows, mut tensors) = machine.rows().map(gaussians::write).unzip();
    let mut tensors: Tensors = tensors.take().unwrap_or_default();
    let n = model.parts.first().map_or(0, |part| part.coef.nrows());
    let coef: Vec<f64> = model.parts.iter().flat_map(|part| part.coef.iter().copied()).collect();
    tensors.push(("coef", Tensor { shape: vec![model.parts.len(), n, model.outcomes.len()], values: coef }));
    let removed: Vec<f64> = model.outcomes.iter().flat_map(|o| o.removed.iter().map(|row| *row as f64)).collect();
    let residuals: Vec<f64> = model.outcomes.iter().flat_map(|o| o.removed_residuals.iter().copied()).collect();
    tensors.extend([("removed", Tensor::vector(&removed)), ("removed_residuals", Tensor::vector(&residuals))]);
    tensors.extend(model.platt.iter().map(|sigmoids| ("platt", write_platt(sigmoids))));
    let views = params.params().views.iter().zip(&model.parts).map(|(view, part)| ViewHeader::of(view, part.kernel));
    let header = Header {
        rows,
        n_rows: n,
        n_classes: machine.n_classes(),
        n_labelled: model.n_labelled,
        outcomes: model.outcomes.iter().map(OutcomeHeader::of).collect(),
        platt: model.platt.is_some(),
        views: views.collect(),
        params: ParamsHeader::of(params.params()),
    };
    (header, tensors)
}

pub(super) fn read(header: Header, take: &mut TakeTensor<'_>) -> Result<(Machine, ValidParams)> {
    let refused = |e: Error| Error::ModelFile(e.to_string());
    let mut views = vec![];
    let mut kernels = vec![];
    for view in header.views {
        let (view, kernel) = view.view().map_err(refused)?;
        views.push(view);
        kernels.push(kernel);
    }
    let params = header.params.params().map_err(refused)?.views(views).check().map_err(refused)?;
    let rows = header.rows.as_ref().map(|rows| gaussians::read(rows, take)).transpose()?;
    let (n, m, outputs) = (header.n_rows, kernels.len(), header.outcomes.len());
    if n == 0 || outputs == 0 {
        return Err(Error::ModelFile(format!("{outputs} outputs on {n} rows make no model")));
    }
    let coef = take("coef", &[m, n, outputs])?;
    let removed =
        header.outcomes.iter().flat_map(|o| &o.history).try_fold(0_usize, |sum, s| sum.checked_add(s.dropped));
    let Some(removed) = removed else { return Err(Error::ModelFile("it counts too many removed labels".into())) };
    let mut numbers = take("removed", &[removed])?.into_iter();
    let mut residuals = take("removed_residuals", &[removed])?.into_iter();
    let mut parts = vec![];
    for ((view, kernel), coef) in params.params().views.iter().zip(kernels).zip(coef.chunks(n * outputs)) {
        let coef = Array2::from_shape_vec((n, outputs), coef.to_vec())
            .map_err(|e| Error::Internal(format!("checked shape: {e}")))?;
        parts.push(Part { columns: view.columns.clone(), kernel, weight: view.weight, coef });
    }
    let mut outcomes = vec![];
    for outcome in header.outcomes {
        let count = outcome.history.iter().map(|step| step.dropped).sum();
        let rows: Vec<f64> = numbers.by_ref().take(count).collect();
        outcomes.push(outcome.outcome(&rows, residuals.by_ref().take(count).collect(), n)?);
    }
    let platt = read_platt(header.platt, outputs, take)?;
    let model = Model { parts, outcomes, platt, n_labelled: header.n_labelled };
    Ok((Machine::new(model, rows, header.n_classes).map_err(refused)?, params))
}

impl OutcomeHeader {
    fn of(outcome: &Outcome) -> Self {
        let step = |s: &Refinement| {
            let &Refinement { tried, threshold, labels, dropped, objective, steps, attempts } = s;
            Step { tried, threshold, labels, dropped, objective, steps, attempts }
        };
        Self {
            intercept: outcome.intercept,
            threshold: outcome.thresholds.first().copied().unwrap_or(f64::NAN),
            objective: outcome.objective,
            steps: outcome.steps,
            ending: outcome.ending.name().to_owned(),
            history: outcome.history.iter().map(step).collect(),
        }
    }

    fn outcome(self, removed: &[f64], removed_residuals: Vec<f64>, n: usize) -> Result<Outcome> {
        let number = |x: &f64| {
            let row = *x as usize;
            let sound = row as f64 == *x && row < n;
            if sound { Ok(row) } else { Err(Error::ModelFile(format!("{x} is not the number of a row"))) }
        };
        let ending = self.ending.parse().map_err(|e: Error| Error::ModelFile(e.to_string()))?;
        let refinement = |s: Step| {
            let Step { tried, threshold, labels, dropped, objective, steps, attempts } = s;
            Refinement { tried, threshold, labels, dropped, objective, steps, attempts }
        };
        let history: Vec<Refinement> = self.history.into_iter().map(refinement).collect();
        Ok(Outcome {
            intercept: self.intercept,
            thresholds: [self.threshold].into_iter().chain(history.iter().map(|s| s.threshold)).collect(),
            removed: removed.iter().map(number).collect::<Result<_>>()?,
            removed_residuals,
            history,
            objective: self.objective,
            steps: self.steps,
            ending,
        })
    }
}
