//! Probabilities: Platt scaling on scores of rows that the scoring model has not seen.
//!
//! Scores of the fitted rows themselves are too good, the sigmoid would be too steep. So the rows
//! are split into folds, each is scored by a model fitted on the others, and one sigmoid is
//! fitted to all these scores. Held-out rows get weight 0 in the fold's fit: no row is copied.
//!
//! Rejected: starting each fold from the model of all rows. SGD would remember rows it must not have
//! seen, and the certified solvers find a better start by themselves (on a sample, with its Hessian).

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::ValidParams;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::model::Labels;
use crate::model::platt::Sigmoid;
use crate::model::score;
use crate::objective::Problem;

/// A partition of the rows of positive weight into folds with all classes in each.
#[derive(Debug, PartialEq)]
pub(super) struct Folds {
    of_row: Vec<u32>,
    count: u32,
}

/// The fold of rows without weight, which are never scored.
const NONE: u32 = u32::MAX;

impl Folds {
    /// At most `wanted` folds, fewer when a class has fewer rows; the same for the same seed.
    pub fn new(labels: &Labels, wanted: usize, seed: u64) -> Result<Self> {
        let counts = labels.counts();
        if let Some(class) = counts.iter().position(|&n| n < 2) {
            return Err(Error::Data(format!(
                "probabilities need at least 2 rows (of positive weight) of every class for cross-validation, \
                 but class {class} has {}; fit without probabilities or add rows",
                counts[class]
            )));
        }
        let count = counts.iter().fold(wanted, |least, &n| least.min(n)) as u32;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut of_row = vec![NONE; labels.len()];
        // Going on with the next fold from class to class keeps the folds within one row of each other.
        let mut next = 0;
        for class in 0..labels.n_classes() {
            let member = |&i: &usize| labels.codes()[i] as usize == class && labels.weight(i) > 0.0;
            let mut rows: Vec<usize> = (0..labels.len()).filter(member).collect();
            rows.shuffle(&mut rng);
            for row in rows {
                of_row[row] = next;
                next = (next + 1) % count;
            }
        }
        Ok(Self { of_row, count })
    }
}

/// The sigmoid for one hyperplane.
pub(super) fn calibrate(
    params: &ValidParams,
    problem: &Problem<'_>,
    folds: &Folds,
    task: &str,
    control: &Control,
) -> Result<Sigmoid> {
    let n = problem.data.n_rows();
    let (mut means, mut stds) = (vec![0.0; n], vec![0.0; n]);
    for fold in 0..folds.count {
        let label = format!("fold {} of {}", fold + 1, folds.count);
        let task = if task.is_empty() { label } else { format!("{task}, {label}") };
        let weights: Vec<f64> =
            (0..n).map(|i| if folds.of_row[i] == fold { 0.0 } else { problem.weights.map_or(1.0, |c| c[i]) }).collect();
        let rest = Problem { weights: Some(&weights), ..*problem };
        let solution = params.solve(&rest, &control.with_task(task))?;
        let fold_means = score::means(problem.data, &solution.w, solution.b)?;
        let fold_stds = score::stds(problem.data, &solution.w)?;
        for i in (0..n).filter(|&i| folds.of_row[i] == fold) {
            (means[i], stds[i]) = (fold_means[i], fold_stds[i]);
        }
    }
    Sigmoid::fit(&means, &stds, problem.targets, problem.weights, control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(codes: &[u32], n_classes: usize) -> Labels {
        Labels::new(codes.to_vec(), n_classes).unwrap()
    }

    #[test]
    fn every_fold_has_every_class_and_the_seed_decides() {
        let codes: Vec<u32> = (0..103).map(|i| u32::from(i % 10 == 0) + u32::from(i % 3 == 0)).collect();
        let labels = labels(&codes, 3);
        let folds = Folds::new(&labels, 5, 7).unwrap();
        assert_eq!(folds.count, 4); // 4 rows of class 2
        for fold in 0..folds.count {
            for class in 0..3 {
                assert!((0..103).any(|i| folds.of_row[i] == fold && codes[i] == class), "{fold} {class}");
            }
            let size = folds.of_row.iter().filter(|&&f| f == fold).count();
            assert!(size == 25 || size == 26);
        }
        assert_eq!(folds, Folds::new(&labels, 5, 7).unwrap());
        assert_ne!(folds, Folds::new(&labels, 5, 8).unwrap());
    }

    #[test]
    fn rows_without_weight_change_nothing_and_small_classes_are_refused() {
        let few = labels(&[0, 0, 1, 1, 1], 2);
        assert_eq!(Folds::new(&few, 5, 0).unwrap().count, 2);
        let more = labels(&[0, 1, 0, 1, 1, 1], 2).with_weights(vec![1.0, 0.0, 1.0, 1.0, 1.0, 1.0]).unwrap();
        let mut of_row = Folds::new(&more, 5, 0).unwrap().of_row;
        assert_eq!(of_row.remove(1), NONE);
        assert_eq!(of_row, Folds::new(&few, 5, 0).unwrap().of_row);
        let error = Folds::new(&labels(&[0, 1, 1], 2), 5, 0).unwrap_err().to_string();
        assert!(error.contains("class 0 has 1"), "{error}");
    }
}
