//! The number of components by likelihood on rows that were held out.

use std::collections::HashMap;

use crate::control::Control;
use crate::deconvolution::climb::fit_components;
use crate::deconvolution::start::shuffled;
use crate::deconvolution::{Choice, Observed, Params, log_sum};
use crate::error::{Error, Result};

/// Folds of the cross-validation.
const FOLDS: usize = 3;
/// Stop after so many numbers of components in a row that were no better than the best.
const PATIENCE: usize = 2;

pub(super) fn by_likelihood(params: &Params, observed: Observed<'_>, most: usize, control: &Control) -> Result<Choice> {
    let order: Vec<usize> =
        shuffled(observed.data.n_rows(), params.seed).into_iter().filter(|&i| observed.weight(i) > 0.0).collect();
    if order.len() < 2 * FOLDS {
        return Err(Error::Data(format!(
            "choosing the number of components needs at least {} rows, but there are {}; pass a number",
            2 * FOLDS,
            order.len()
        )));
    }
    let smallest_part = order.len() - order.len().div_ceil(FOLDS);
    let total: f64 = order.iter().map(|&i| observed.weight(i)).sum();
    let folds = deal(&order, observed.parts);
    let train = |fold: usize| order.iter().zip(&folds).filter(move |(_, own)| **own != fold).map(|(i, _)| *i);
    let gaps = observed.rows();
    if let Some(j) = (0..FOLDS).find_map(|fold| gaps.unseen(train(fold))) {
        return Err(Error::Data(format!(
            "feature {j} is there in too few rows to choose the number of components by cross-validation; pass a \
             number, or leave the feature out"
        )));
    }
    let mut choice = Choice { n_components: 1, log_likelihoods: vec![] };
    for k in 1..=most.min(smallest_part) {
        let mut score = 0.0;
        for fold in 0..FOLDS {
            let part = |inside: bool| -> Vec<usize> {
                let of_part = order.iter().zip(&folds).filter(|(_, own)| (**own == fold) == inside);
                let mut rows: Vec<usize> = of_part.map(|(i, _)| *i).collect();
                rows.sort_unstable();
                rows
            };
            let task = control.quiet();
            let fitted = fit_components(params, observed, Some(part(false)), k, false, &task)?;
            let held_out = part(true);
            let logs = observed.log_densities(Some(&held_out), &fitted.mixture, &task)?;
            let of_parts: Vec<f64> = logs.chunks_exact(k).map(log_sum).collect();
            score += observed.likelihood(&held_out, of_parts).1 / total;
        }
        choice.log_likelihoods.push(score);
        if score > choice.log_likelihoods[choice.n_components - 1] {
            choice.n_components = k;
        }
        if k >= choice.n_components + PATIENCE {
            break;
        }
    }
    Ok(choice)
}

/// The fold of every one of these rows: one after the other, parts of a row together.
fn deal(order: &[usize], parts: Option<&[u32]>) -> Vec<usize> {
    let Some(parts) = parts else { return (0..order.len()).map(|at| at % FOLDS).collect() };
    let mut known = HashMap::new();
    let number = |&i: &usize| {
        let next = known.len();
        *known.entry(parts[i]).or_insert(next) % FOLDS
    };
    order.iter().map(number).collect()
}
