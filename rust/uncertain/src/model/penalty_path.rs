//! Common parts of cross-validations along a path of penalties: their folds, and how well their fits are solved.
//!
//! Every fold is fitted with every penalty, the strongest first, each fit starting from the one before where the
//! method takes a start; [`PenaltyPath`](crate::state::PenaltyPath) says which one to take.

use ndarray::Array2;

use crate::control::Control;
use crate::data::Targets;
use crate::error::{Error, Result};
use crate::model::folds::deal;
use crate::parallel;
use crate::state::PenaltyPath;

/// Folds of the cross-validation, fewer where classes or groups are fewer.
pub(crate) const FOLDS: usize = 5;
/// Seed of the folds: the choice depends on the rows alone.
pub(crate) const SEED: u64 = 0;
/// Certified gap of the fits of the path at least: what held-out rows tell apart is coarser by far.
pub(crate) const TOL: f64 = 1e-4;

/// Held-out losses of the rows of a regression along `penalties`: `losses` fits the rows that a fold keeps with each of
/// these, and says the losses of those that it holds out. `sets`: of equal rows.
pub(crate) fn regression_path(
    sets: &[Vec<usize>],
    (targets, groups): (&Targets, Option<&[u32]>),
    penalties: &[f64],
    control: &Control,
    losses: impl Fn(&[usize], &[usize], &Control) -> Result<Vec<Vec<f64>>> + Sync,
) -> Result<PenaltyPath> {
    check_penalties(penalties)?;
    let (n, y) = (targets.len(), targets.values());
    let folds = deal(sets, (&vec![0; n], 1), groups, |row| (y[row], targets.weight(row)), FOLDS, SEED)?;
    let count = folds.iter().max().map_or(0, |last| *last + 1);
    let of_fold = |fold: u32| {
        let (held, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| folds[i] == fold);
        let control = control.with_task(format!("path, fold {} of {count}", fold + 1));
        let losses = losses(&kept, &held, &control)?;
        Ok((held, losses))
    };
    let of_folds =
        parallel::map_fine(count as usize, |part| part.map(|fold| of_fold(fold as u32)).collect::<Result<Vec<_>>>())?;
    let mut table = Array2::zeros((penalties.len(), n));
    for (held, losses) in of_folds.into_iter().flatten() {
        for (k, losses) in losses.iter().enumerate() {
            held.iter().zip(losses).for_each(|(&i, loss)| table[[k, i]] = *loss);
        }
    }
    if table.iter().any(|loss: &f64| !loss.is_finite()) {
        return Err(Error::Data("held-out losses overflow; divide the targets by a constant".into()));
    }
    PenaltyPath::new(&table, &folds, targets.weights())
}

/// Refuses penalties that are no path.
pub(crate) fn check_penalties(penalties: &[f64]) -> Result<()> {
    match penalties.iter().find(|p| !(**p > 0.0 && p.is_finite())) {
        Some(wrong) => Err(Error::parameter("penalties", wrong, "finite numbers > 0")),
        None if penalties.is_empty() => Err(Error::parameter("penalties", "[]", "at least one number")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn penalties_are_positive_numbers() {
        assert!(check_penalties(&[1.0, 0.0]).is_err() && check_penalties(&[]).is_err());
    }
}
