//! The number of components by likelihood on rows that were held out.

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
    let train = |fold: usize| order.iter().enumerate().filter(move |(at, _)| at % FOLDS != fold).map(|(_, i)| *i);
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
                let mut rows: Vec<usize> = order
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| (at % FOLDS == fold) == inside)
                    .map(|(_, i)| *i)
                    .collect();
                rows.sort_unstable();
                rows
            };
            let task = control.quiet();
            let fitted = fit_components(params, observed, Some(part(false)), k, false, &task)?;
            let held_out = part(true);
            let logs = observed.log_densities(Some(&held_out), &fitted.mixture, &task)?;
            for (row, logs) in held_out.iter().zip(logs.chunks_exact(k)) {
                score += observed.weight(*row) * log_sum(logs) / total;
            }
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
