//! Hyperplanes for rows held by other processes: the same problems as in `fit.rs`, by sums over the rows.
//!
//! The problem of all rows and those without a fold share their passes, and so do those of several classes. Scores of
//! held-out rows come here, of one row in so many where there are more than [`CALIBRATING`].
//!
//! Nothing waits for an answer on a thread of a pool: whoever answers may need the pool.

use super::{AtZero, LinearClassifier, positive_classes};
use crate::control::Control;
use crate::data::{Collapse, GaussianArray, RowTargets, Weights};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::model::Calibration;
use crate::model::platt::Sigmoid;
use crate::objective::{self, Facts, LinearObjective};
use crate::parallel;
use crate::solver::{Guess, Options, Solution, SolverKind, Status, fit_linear, fit_remote};
use crate::state::RemoteRows;
use crate::sums::{LinearProblem, RemoteLoss, Request, share_passes};

/// Held-out rows whose scores the sigmoids are fitted to, at most.
const CALIBRATING: usize = 200_000;
/// Problems that share a pass, at most: each is a thread here.
const TOGETHER: usize = 48;

/// Objective and solver.
#[derive(Debug, Clone, Copy)]
pub(in crate::model) struct Plan<'a> {
    pub loss: RemoteLoss,
    pub fit_intercept: bool,
    pub solver: SolverKind,
    pub options: &'a Options,
}

/// Rows and weights by class and fold.
struct Counts {
    rows: usize,
    exact: bool,
    folds: usize,
    /// (rows, weight), fold by fold, class by class.
    table: Vec<(f64, f64)>,
}

impl Counts {
    fn ask(remote: &RemoteRows<'_>, classes: usize, folds: usize, control: &Control) -> Result<Self> {
        let answer = remote.rows.sum(Request::Counts { classes, folds }, control)?;
        let [rows, _, spread] = [0, 1, 2].map(|k| answer.get(k).copied().unwrap_or(0.0));
        let table = answer.get(3..).unwrap_or_default().chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        Ok(Self { rows: rows as usize, exact: spread == 0.0, folds, table })
    }

    /// Rows and weight of a class, without a fold.
    fn count(&self, class: usize, held_out: Option<usize>) -> (f64, f64) {
        let own = self.table[class * self.folds..(class + 1) * self.folds].iter().enumerate();
        own.filter(|(fold, _)| Some(*fold) != held_out).fold((0.0, 0.0), |sum, (_, x)| (sum.0 + x.0, sum.1 + x.1))
    }

    /// The sum of all weights without a fold.
    fn total(&self, held_out: Option<usize>) -> f64 {
        (0..self.table.len() / self.folds).map(|class| self.count(class, held_out).1).sum()
    }
}

/// Labels and weights of rows that are dealt to folds, if probabilities are wanted.
pub(in crate::model) struct FoldCounts {
    counts: Counts,
    /// Folds that have rows: one without needs no fit, since nobody is scored by it.
    pub folds: Vec<usize>,
}

impl FoldCounts {
    /// Every class has rows, also without any fold.
    pub(in crate::model) fn ask(
        remote: &RemoteRows<'_>,
        n_classes: usize,
        calibration: &Calibration,
        control: &Control,
    ) -> Result<Self> {
        let wanted = if calibration.probability { calibration.folds } else { 1 };
        let counts = Counts::ask(remote, n_classes, wanted, control)?;
        for class in 0..n_classes {
            let all = counts.count(class, None).0;
            if all == 0.0 {
                return Err(Error::Data(format!("class {class} has no row of positive weight; leave the class out")));
            }
            for fold in 0..if calibration.probability { wanted } else { 0 } {
                if counts.count(class, Some(fold)).0 == 0.0 {
                    return Err(Error::Data(format!(
                        "all {all} rows of class {class} are in one fold, so the probabilities cannot be calibrated; \
                         pass probability=False, or add rows (or groups) of that class"
                    )));
                }
            }
        }
        let filled = |fold: &usize| (0..n_classes).any(|class| counts.table[class * wanted + fold].0 > 0.0);
        let folds = if calibration.probability { (0..wanted).filter(filled).collect() } else { vec![] };
        Ok(Self { counts, folds })
    }

    /// Folds in all, one where none are wanted.
    pub(in crate::model) fn wanted(&self) -> usize {
        self.counts.folds
    }

    /// The sigmoid of one hyperplane, from scores of held-out rows by that of their fold.
    pub(in crate::model) fn sigmoid(
        &self,
        remote: &RemoteRows<'_>,
        class: usize,
        planes: Vec<Vec<f64>>,
        control: &Control,
    ) -> Result<Sigmoid> {
        sigmoid(remote, class, self.counts.rows, planes, control)
    }
}

/// One linear problem of all rows.
struct Job<'a> {
    problem: LinearProblem,
    rows: usize,
    alpha: f64,
    guess: &'a Guess,
    task: String,
}

/// The solutions of all jobs, their passes shared; each converged, or stopped where the caller said.
fn solve(
    remote: &RemoteRows<'_>,
    plan: &Plan<'_>,
    exact: bool,
    jobs: Vec<Job<'_>>,
    control: &Control,
) -> Result<Vec<Solution>> {
    let dim = remote.sample.complete()?.n_features() + 1;
    share_passes(remote.rows, jobs, control, |job, rows| {
        let Plan { loss, fit_intercept, solver, options, .. } = *plan;
        let scalar = loss.build(1, None);
        let exact = exact || loss.is_of_points();
        let facts = Facts { n_rows: job.rows, dim, exact, alpha: job.alpha, fit_intercept, loss: &*scalar };
        let objective = LinearObjective::from_rows(facts, Some(job.problem), rows);
        fit_remote(&objective, job.guess, solver, options, &control.with_task(&*job.task))
    })
}

/// A problem of the sample, where passes start, or of all rows where those are the sample.
struct Sample<'a> {
    data: GaussianArray,
    targets: RowTargets<'a>,
    weights: Option<&'a Weights>,
    loss: Box<dyn Loss>,
    alpha: f64,
    plan: &'a Plan<'a>,
}

impl<'a> Sample<'a> {
    fn new(
        remote: &RemoteRows<'_>,
        plan: &'a Plan<'a>,
        targets: RowTargets<'a>,
        weights: Option<&'a Weights>,
        variances: Option<Vec<f64>>,
        alpha: f64,
    ) -> Result<Self> {
        let data = remote.sample.complete()?;
        let data = if plan.loss.is_of_points() { data.collapse(Collapse::Zero)? } else { data.clone() };
        let loss = plan.loss.build(data.n_rows(), variances);
        Ok(Self { data, targets, weights, loss, alpha, plan })
    }

    fn problem(&self) -> objective::Problem<'_> {
        objective::Problem {
            data: &self.data,
            targets: self.targets,
            weights: self.weights,
            alpha: self.alpha,
            fit_intercept: self.plan.fit_intercept,
            loss: &*self.loss,
        }
    }

    fn guess(&self, control: &Control) -> Result<Guess> {
        parallel::install(control.threads(), || Guess::from_sample(&self.problem(), self.plan.options, control))?
    }

    /// The solution of passes, if it is one; else that of the sample, if it is all rows.
    fn or_here(&self, found: Solution, whole: bool, control: &Control) -> Result<Solution> {
        let Options { tol, max_iter, .. } = *self.plan.options;
        if found.status == Status::Converged || max_iter.is_some() {
            return Ok(found);
        }
        if whole {
            let solve = || fit_linear(&self.problem(), self.plan.solver, self.plan.options, None, control);
            return parallel::install(control.threads(), solve)?;
        }
        Err(Error::Data(format!(
            "passes over the rows ended at a certified gap of {:.1e}, which is above tol = {tol:e}: where rows have no \
             error bars, or the loss is kinked whatever they have, the last steps need all rows in one memory. Raise tol \
             to that, pass loss=\"squared_hinge\" (for numbers \"huber\"), which has no kink, or fit to a sample of \
             the rows",
            found.gap
        )))
    }
}

/// A classifier of several classes, with probabilities where they are wanted; weights do not matter to `alpha`, which
/// gets the sum of all.
pub(in crate::model) fn classify(
    remote: &RemoteRows<'_>,
    plan: &Plan<'_>,
    calibration: &Calibration,
    alpha: impl Fn(f64) -> f64,
    control: &Control,
) -> Result<(LinearClassifier, f64)> {
    let labels = remote.sample.labels()?;
    let n_classes = labels.n_classes();
    let FoldCounts { counts, folds } = FoldCounts::ask(remote, n_classes, calibration, control)?;
    let wanted = counts.folds;
    let classes: Vec<usize> = positive_classes(n_classes).collect();
    let total = counts.total(None);
    let rule = AtZero::for_loss(plan.loss, alpha(total), plan.fit_intercept, plan.options.tol, counts.exact);
    let (mut solutions, mut sigmoids) = (vec![], vec![]);
    let each = (TOGETHER / (folds.len() + 1)).max(1);
    for some in classes.chunks(each) {
        let sample =
            |&class: &usize| Sample::new(remote, plan, labels.targets(class), labels.weights(), None, alpha(total));
        let samples = some.iter().map(sample);
        let samples = samples.collect::<Result<Vec<_>>>()?;
        let guesses = samples.iter().map(|sample| sample.guess(control)).collect::<Result<Vec<_>>>()?;
        let held_out: Vec<Option<usize>> = std::iter::once(None).chain(folds.iter().copied().map(Some)).collect();
        let mut jobs = vec![];
        for (&class, guess) in some.iter().zip(&guesses) {
            for &held_out in &held_out {
                let weight = counts.total(held_out);
                let share = 1.0 / weight;
                let (loss, class_) = (plan.loss, Some(class));
                let problem = LinearProblem { class: class_, held_out, loss, center: 0.0, scale: 1.0, share };
                let task = task(class, classes.len(), held_out, folds.len());
                jobs.push(Job { problem, rows: counts.rows, alpha: alpha(weight), guess, task });
            }
        }
        let mut found = solve(remote, plan, counts.exact, jobs, control)?.into_iter();
        for (&class, sample) in some.iter().zip(&samples) {
            let whole = found.next().ok_or_else(|| Error::Internal("a problem without a solution".into()))?;
            let mut whole = sample.or_here(whole, remote.whole, control)?;
            let share = counts.count(class, None).1 / total;
            let keeps = classes.len() > 1 && rule.is_some_and(|rule| rule.directed);
            let at_zero = rule.is_some_and(|rule| rule.settle_to(&mut whole, share, total, keeps));
            let of_folds: Vec<Solution> = found.by_ref().take(folds.len()).collect();
            if at_zero && whole.w.iter().all(|w| *w == 0.0) {
                sigmoids.push(Sigmoid::constant(share));
            } else if !folds.is_empty() {
                let mut planes = vec![vec![0.0; remote.sample.complete()?.n_features() + 1]; wanted];
                for (&fold, solution) in folds.iter().zip(&of_folds) {
                    // Scores of held-out rows need no certificate.
                    let Solution { w, b, .. } = if at_zero { &whole } else { solution };
                    planes[fold] = w.iter().copied().chain([*b]).collect();
                }
                sigmoids.push(sigmoid(remote, class, counts.rows, planes, control)?);
            }
            solutions.push(whole);
        }
    }
    let platt = calibration.probability.then_some(sigmoids);
    Ok((LinearClassifier::from_solutions(remote.sample.complete()?.n_features(), &solutions, platt), total))
}

pub(in crate::model) fn task(class: usize, classes: usize, held_out: Option<usize>, folds: usize) -> String {
    let class = if classes == 1 { String::new() } else { format!("class {} of {classes}", class + 1) };
    let fold = held_out.map_or_else(String::new, |fold| format!("fold {} of {folds}", fold + 1));
    [class, fold].into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The sigmoid of one hyperplane, from scores of held-out rows.
fn sigmoid(
    remote: &RemoteRows<'_>,
    class: usize,
    rows: usize,
    planes: Vec<Vec<f64>>,
    control: &Control,
) -> Result<Sigmoid> {
    let every = rows.div_ceil(CALIBRATING).max(1);
    let scores = remote.rows.sum(Request::Scores { class, every, planes }, control)?;
    let column = |k: usize| scores.chunks_exact(4).map(|row| row[k]).collect::<Vec<f64>>();
    let weights = Weights::new(column(3))?;
    Sigmoid::fit(&column(0), &column(1), &column(2), Some(&weights), control)
}

/// One hyperplane for numbers, in units in which they have this center and scale.
pub(in crate::model) fn regress(
    remote: &RemoteRows<'_>,
    plan: &Plan<'_>,
    (center, scale): (f64, f64),
    alpha: f64,
    control: &Control,
) -> Result<Solution> {
    let counts = Counts::ask(remote, 0, 1, control)?;
    let known = remote.sample.targets()?;
    let targets: Vec<f64> = known.values().iter().map(|y| (y - center) / scale).collect();
    let variances = known.variances().map(|t| t.iter().map(|t| t / (scale * scale)).collect());
    let sample = Sample::new(remote, plan, (&targets).into(), known.weights(), variances, alpha)?;
    let guess = sample.guess(control)?;
    let share = 1.0 / counts.total(None);
    let problem = LinearProblem { class: None, held_out: None, loss: plan.loss, center, scale, share };
    let job = Job { problem, rows: counts.rows, alpha, guess: &guess, task: String::new() };
    let found = solve(remote, plan, counts.exact, vec![job], control)?;
    let found = found.into_iter().next().ok_or_else(|| Error::Internal("a problem without a solution".into()))?;
    sample.or_here(found, remote.whole, control)
}
