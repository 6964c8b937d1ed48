//! Probabilities: Platt scaling on scores of rows that the scoring model has not seen.
//!
//! Scores of the fitted rows themselves are too good, the sigmoid would be too steep. So the rows
//! are split into folds, each is scored by a model fitted on the others, and one sigmoid is
//! fitted to all these scores. Held-out rows get weight 0 in the fold's fit: no row is copied.
//!
//! Rejected: starting each fold from the model of all rows. SGD would remember rows it must not have
//! seen, and the certified solvers find a better start by themselves (on a sample, with its Hessian).

use crate::control::Control;
use crate::error::Result;
use crate::model::folds::Folds;
use crate::model::platt::Sigmoid;
use crate::model::score;
use crate::objective::Problem;
use crate::solver::Solution;

/// The sigmoid for one hyperplane; `solve` fits it to a problem, some rows of which have weight 0.
pub(super) fn calibrate(
    problem: &Problem<'_>,
    folds: &Folds,
    task: &str,
    control: &Control,
    solve: impl Fn(&Problem<'_>, &Control) -> Result<Solution>,
) -> Result<Sigmoid> {
    let n = problem.data.n_rows();
    let (mut means, mut stds) = (vec![0.0; n], vec![0.0; n]);
    for fold in 0..folds.count() {
        let label = format!("fold {} of {}", fold + 1, folds.count());
        let task = if task.is_empty() { label } else { format!("{task}, {label}") };
        let weights: Vec<f64> = (0..n)
            .map(|i| if folds.fold(i) == Some(fold) { 0.0 } else { problem.weights.map_or(1.0, |c| c[i]) })
            .collect();
        let rest = Problem { weights: Some(&weights), ..*problem };
        let solution = solve(&rest, &control.with_task(task))?;
        let fold_means = score::means(problem.data, &solution.w, solution.b)?;
        let fold_stds = score::stds(problem.data, &solution.w)?;
        for i in (0..n).filter(|&i| folds.fold(i) == Some(fold)) {
            (means[i], stds[i]) = (fold_means[i], fold_stds[i]);
        }
    }
    Sigmoid::fit(&means, &stds, problem.targets, problem.weights, control)
}
