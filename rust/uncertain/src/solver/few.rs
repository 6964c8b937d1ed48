//! Folds near a solution, from the few rows that decide them.
//!
//! Of many classes one is far from most rows of the others, whose loss all but underflows. A fold that starts from the
//! solution of all rows is solved on the others first, those with a loss there above [`SHARE`] of J:
//!
//! ```text
//! J'(w, b) = alpha W / W' / 2 |w|^2 + sum_few c_i L_i / W',     J = W' / W J' + sum_others c_i L_i / W
//! ```
//!
//! with W and W' the weights of all rows of the fold and of the few. All rows go on from there with their tolerance and
//! the Hessian of J': what others add is usually so little that the first pass certifies it.

use super::strategy::{WITH_HESSIAN, is_kinked};
use super::{Guess, Options, SolverKind, Start, fit_near};
use crate::control::Control;
use crate::data::{GaussianArray, Weights};
use crate::error::Result;
use crate::loss::{LossEval, Scores};
use crate::objective::Problem;
use crate::parallel;

/// Rows of a loss below this part of J do not decide: w moves by so little that they stay far.
const SHARE: f64 = 1e-4;
/// The part of a fold's rows from which nothing is saved.
const MOST: f64 = 0.5;
/// Of the tolerance, for the few.
const CLOSER: f64 = 0.3;

/// The rows that decide near a solution.
#[derive(Debug)]
pub(crate) struct FewRows {
    rows: Vec<usize>,
    data: GaussianArray,
    targets: Vec<f64>,
}

impl FewRows {
    /// Rows near x, by their losses, without the weights: what one fold holds out counts for the others. `None`
    /// where most rows decide, where there are so few unknowns that a pass costs little, or kinks.
    pub(crate) fn near(problem: &Problem<'_>, x: &[f64], control: &Control) -> Result<Option<Self>> {
        let Problem { data, targets, loss, .. } = *problem;
        let objective = Problem { weights: None, ..*problem }.check()?;
        if !WITH_HESSIAN.contains(&objective.dim()) || is_kinked(&objective) {
            return Ok(None);
        }
        let n = data.n_rows();
        let (m, v): (Vec<f64>, Vec<f64>) = parallel::run(|| objective.scores(x, control))??.into_iter().unzip();
        let mut losses = vec![LossEval::default(); n];
        loss.eval(
            &Scores { first: 0, y: &targets.iter().collect::<Vec<f64>>(), m: &m, v: &v, width: 0.0 },
            &mut losses,
        );
        let w = &x[..x.len() - 1];
        let mean = losses.iter().map(|loss| loss.value).sum::<f64>() / n as f64;
        let least = SHARE * (mean + 0.5 * problem.alpha * crate::simd::dot(w, w));
        let rows: Vec<usize> = (0..n).filter(|&i| losses[i].value > least).collect();
        if rows.is_empty() || rows.len() as f64 > MOST * n as f64 || loss.take_rows(&rows).is_some() {
            return Ok(None);
        }
        let targets = targets.take(&rows);
        Ok(Some(Self { data: data.take(&rows)?, targets, rows }))
    }

    /// Where the problem of all rows, some of them held out, starts: the solution of the few from x.
    pub(crate) fn guess(
        &self,
        problem: &Problem<'_>,
        kind: SolverKind,
        options: &Options,
        x: &[f64],
        control: &Control,
    ) -> Result<Guess> {
        let all = problem.weights.map_or(problem.data.n_rows() as f64, Weights::total);
        // Where none of them is left, all rows are asked.
        let Ok(weights) = problem.weights.map(|weights| weights.take(&self.rows)).transpose() else {
            return Guess::near(problem, x, control);
        };
        let share = weights.as_ref().map_or(self.rows.len() as f64, Weights::total) / all;
        let (data, targets, alpha) = (&self.data, (&self.targets).into(), problem.alpha / share);
        let few = Problem { data, targets, weights: weights.as_ref(), alpha, ..*problem };
        let guess = Guess::near(&few, x, control)?;
        let options = Options { tol: CLOSER * options.tol, ..*options };
        let found = fit_near(&few, kind, &options, &guess, &control.quiet())?;
        let scaled = |mut factor: Vec<f64>| {
            factor.iter_mut().for_each(|l| *l *= share.sqrt());
            factor
        };
        let mut x = found.w;
        x.push(found.b);
        Ok(Guess(Start { x, epsilon: guess.0.epsilon, factor: guess.0.factor.map(scaled) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::covariance::Diagonal;
    use crate::data::{Covariances, Rows, Unit};
    use crate::loss::ExpectedHinge;
    use crate::solver::fit_linear;
    use crate::testing::Numbers;

    /// `n` rows of `d` features; of every twenty the first is of a class that lies off by `shift` in all of them.
    fn rows(n: usize, d: usize, shift: f64) -> (GaussianArray, Vec<f64>) {
        let mut numbers = Numbers::new(3);
        let targets: Vec<f64> = (0..n).map(|i| if i % 20 == 0 { 1.0 } else { -1.0 }).collect();
        let means = (0..n * d).map(|k| numbers.normal() + shift * 0.5 * (1.0 + targets[k / d])).collect();
        let values = Rows::from_vec((0..n * d).map(|_| 0.1 + 0.4 * numbers.uniform()).collect(), d).unwrap();
        let covariances = Covariances::Diagonal(Diagonal { values, unit: Unit::StandardDeviation });
        (GaussianArray::new(Rows::from_vec(means, d).unwrap(), covariances).unwrap(), targets)
    }

    fn problem<'a>(data: &'a GaussianArray, targets: &'a [f64]) -> Problem<'a> {
        Problem { data, targets: targets.into(), weights: None, alpha: 1e-3, fit_intercept: true, loss: &ExpectedHinge }
    }

    #[test]
    fn a_fold_from_the_few_is_the_fold_and_begins_nearly_there() {
        let (data, targets) = rows(3_000, 120, 0.6);
        let all = problem(&data, &targets);
        let (kind, control) = (SolverKind::Auto, Control::new());
        let found = fit_linear(&all, kind, &Options::default(), None, &control).unwrap();
        let x = [found.w, vec![found.b]].concat();
        // Different weights, and a fifth that is held out.
        let kept =
            Weights::new((0..3_000).map(|i| if i % 5 == 0 { 0.0 } else { 1.0 + (i % 3) as f64 }).collect()).unwrap();
        let fold = Problem { weights: Some(&kept), ..all };
        let few = FewRows::near(&fold, &x, &control).unwrap().expect("most rows are far from the plane");
        assert!(few.rows.len() > 150 && few.rows.len() < 1_500, "{}", few.rows.len());

        let options = Options { tol: 1e-4, ..Options::default() };
        let tight = fit_linear(&fold, kind, &Options { tol: 1e-8, ..options }, None, &control).unwrap();
        let guess = few.guess(&fold, kind, &options, &x, &control).unwrap();
        let own = fit_near(&fold, kind, &options, &guess, &control).unwrap();
        assert!(own.gap <= 1e-4 && own.objective <= tight.objective * (1.0 + 1e-4), "{own:?} {}", tight.objective);
        assert!(own.objective >= tight.objective * (1.0 - 1e-8));
        // The others add little.
        let plain = fit_near(&fold, kind, &options, &Guess::near(&fold, &x, &control).unwrap(), &control).unwrap();
        assert!(own.iterations <= 2 && own.iterations < plain.iterations, "{} {}", own.iterations, plain.iterations);
    }

    #[test]
    fn where_most_rows_decide_there_are_no_few() {
        let (data, targets) = rows(400, 120, 0.0);
        let all = problem(&data, &targets);
        let balanced: Vec<f64> = (0..400).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let control = Control::new();
        let mut x = vec![0.0; 121];
        assert!(FewRows::near(&Problem { targets: (&balanced).into(), ..all }, &x, &control).unwrap().is_none());
        // Few unknowns: a pass is cheap.
        x.truncate(4);
        let narrow = rows(400, 3, 0.6).0;
        x[0] = 1.0;
        assert!(FewRows::near(&Problem { data: &narrow, ..all }, &x, &control).unwrap().is_none());
    }
}
