//! Fitting: one solve per pair of classes, and per fold of each where probabilities are wanted.
//!
//! All of them are jobs of one list that threads work through; every job is a subset of the rows of one
//! kernel matrix. Results do not depend on the threads.

use ndarray::Array2;

use super::{Model, Params, SvcExpansion, ValidParams};
use crate::control::Control;
use crate::data::weights::{Present, TakeRows};
use crate::data::{Labels, MixtureArray};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::RbfOptions as Kernel;
use crate::model::FitReport;
use crate::model::folds::{Folds, singles};
use crate::model::kernel_machine::{Basis, KernelSource};
use crate::model::one_vs_one::{Pair, pairs, tasks};
use crate::model::platt::Sigmoid;
use crate::parallel;
use crate::solver::smo::{self, DualProblem, DualSolution, KernelRows, SmoOptions, Subset};

/// One solve: the rows of a pair of classes, without those of a fold.
struct Job {
    pair: Pair,
    held_out: Option<u32>,
    task: String,
}

/// Result of a job.
enum Done {
    /// The rows that took part, and the solution.
    Fit(Vec<u32>, DualSolution),
    /// Held-out rows and their scores.
    Scores(Vec<(usize, f64)>),
}

impl ValidParams {
    /// Fit a model to Gaussians, or to mixtures of them, whose components then are the support rows.
    pub(crate) fn fit(&self, data: impl Into<MixtureArray>, labels: &Labels, control: &Control) -> Result<Model> {
        let data = data.into();
        labels.check_rows(data.n_rows())?;
        labels.check_every_class()?;
        let rows = Present::new(&data, labels)?;
        let mut model = parallel::install(control.threads(), || self.fit_rows(&rows.data, &rows.known, control))??;
        let expansion = &mut model.expansion;
        expansion.support.iter_mut().for_each(|row| *row = rows.number(*row as usize) as u32);
        expansion.spread_over(&data);
        Ok(model)
    }

    fn fit_rows(&self, data: &MixtureArray, labels: &Labels, control: &Control) -> Result<Model> {
        let Params { sigma, coupling, options, .. } = self.0;
        let kernel = Kernel { sigma: sigma.resolve_mixtures(data)?, coupling, max_bytes: None };
        let folds = self.0.calibration.split(labels, self.0.seed, || data.sets())?;
        let jobs = jobs(labels.n_classes(), folds.as_ref());
        let source = KernelSource { data, kernel: &kernel, cache_size: options.cache_size, jobs: jobs.len() };
        let expansion = source.open(control, |rows, cache_size| {
            self.run_all(&jobs, rows, labels, folds.as_ref(), SmoOptions { cache_size, ..options }, control)
        })?;
        let support: Vec<usize> = expansion.support.iter().map(|&row| row as usize).collect();
        Ok(Model {
            basis: Some(Basis::new(data.take(&support)?.components().clone(), kernel.sigma, coupling)?),
            expansion,
        })
    }

    /// Fit on any kernel matrix. The result takes kernel values, not rows; `sigma` and `coupling` have no meaning.
    ///
    /// # Errors
    /// Sizes that do not fit, a class without rows of positive weight, too few rows of a class for
    /// probabilities, those of `kernel`, [`Error::Interrupted`].
    #[doc(hidden)]
    pub fn fit_kernel(&self, kernel: &dyn KernelRows, labels: &Labels, control: &Control) -> Result<SvcExpansion> {
        labels.check_rows(kernel.n_rows())?;
        labels.check_every_class()?;
        let folds = self.0.calibration.split(labels, self.0.seed, || Ok(singles(labels.len())))?;
        let jobs = jobs(labels.n_classes(), folds.as_ref());
        parallel::install(control.threads(), || {
            self.run_all(&jobs, kernel, labels, folds.as_ref(), self.0.options, control)
        })?
    }

    fn run_all(
        &self,
        jobs: &[Job],
        kernel: &dyn KernelRows,
        labels: &Labels,
        folds: Option<&Folds>,
        mut options: SmoOptions,
        control: &Control,
    ) -> Result<SvcExpansion> {
        let at_once = control.threads().unwrap_or_else(parallel::default_threads).clamp(1, jobs.len());
        options.cache_size /= at_once;
        let done = parallel::map_fine(jobs.len(), |range| {
            jobs[range].iter().map(|job| self.run(job, kernel, labels, folds, &options, control)).collect()
        })?;
        let done: Vec<Vec<Done>> = done;
        let mut done = done.into_iter().flatten();
        let (mut fits, mut platt, mut scores) = (vec![], vec![], vec![]);
        for job in jobs {
            match (done.next(), job.held_out) {
                (Some(Done::Scores(held_out)), Some(_)) => scores.extend(held_out),
                (Some(Done::Fit(rows, solution)), None) => {
                    // The fit of a pair comes after those without its folds.
                    let held_out = std::mem::take(&mut scores);
                    if folds.is_some() {
                        platt.push(job.pair.sigmoid(labels, &held_out, control)?);
                    }
                    fits.push((job.pair, rows, solution));
                }
                _ => return Err(Error::Internal("results do not match the jobs".into())),
            }
        }
        Ok(assemble(labels, fits, folds.map(|_| platt)))
    }

    fn run(
        &self,
        job: &Job,
        kernel: &dyn KernelRows,
        labels: &Labels,
        folds: Option<&Folds>,
        options: &SmoOptions,
        control: &Control,
    ) -> Result<Done> {
        let of_pair = |row: u32| labels.weight(row as usize) > 0.0 && job.pair.holds(labels, row as usize);
        let is_out = |row: u32| job.held_out.is_some() && folds.and_then(|f| f.fold(row as usize)) == job.held_out;
        let all = 0..kernel.n_rows() as u32;
        let rows: Vec<u32> = all.clone().filter(|&row| of_pair(row) && !is_out(row)).collect();
        let targets: Vec<f64> = rows.iter().map(|&row| job.pair.target(labels, row as usize)).collect();
        let (lower, upper): (Vec<f64>, Vec<f64>) = (rows.iter().zip(&targets))
            .map(|(&row, y)| {
                let c = self.0.c * labels.weight(row as usize);
                if *y > 0.0 { (0.0, c) } else { (-c, 0.0) }
            })
            .unzip();
        let problem = DualProblem { targets: &targets, epsilon: 0.0, lower: &lower, upper: &upper };
        let control = control.with_task(job.task.as_str());
        let solution = if rows.len() == kernel.n_rows() {
            smo::solve(kernel, &problem, options, &control)?
        } else {
            smo::solve(&Subset::new(kernel, rows.clone())?, &problem, options, &control)?
        };
        if job.held_out.is_none() {
            return Ok(Done::Fit(rows, solution));
        }
        let held: Vec<u32> = all.filter(|&row| of_pair(row) && is_out(row)).collect();
        let mut scores = vec![solution.intercept; held.len()];
        let mut values = vec![0.0; held.len()];
        for (&row, &coef) in rows.iter().zip(&solution.coef).filter(|(_, coef)| **coef != 0.0) {
            control.check()?;
            kernel.fill(row as usize, &held, &mut values)?;
            scores.iter_mut().zip(&values).for_each(|(score, k)| *score += coef * k);
        }
        Ok(Done::Scores(held.into_iter().map(|row| row as usize).zip(scores).collect()))
    }
}

fn jobs(n_classes: usize, folds: Option<&Folds>) -> Vec<Job> {
    let mut jobs = vec![];
    for (pair, task) in pairs(n_classes).zip(tasks(n_classes)) {
        let fold =
            |fold| Job { pair, held_out: Some(fold), task: folds.map_or_else(String::new, |f| f.task(&task, fold)) };
        jobs.extend((0..folds.map_or(0, Folds::count)).map(fold));
        jobs.push(Job { pair, held_out: None, task });
    }
    jobs
}

type Fit = (Pair, Vec<u32>, DualSolution);

/// The coefficients of all pairs, beside the rows that are support rows of any.
fn assemble(labels: &Labels, fits: Vec<Fit>, platt: Option<Vec<Sigmoid>>) -> SvcExpansion {
    let k = labels.n_classes();
    let mut is_support = vec![false; labels.len()];
    for (_, rows, solution) in &fits {
        rows.iter().zip(&solution.coef).for_each(|(&row, &coef)| is_support[row as usize] |= coef != 0.0);
    }
    let (mut support, mut n_support) = (vec![], vec![]);
    for class in 0..k {
        let before = support.len();
        let of_class = |row: &u32| labels.codes()[*row as usize] as usize == class && is_support[*row as usize];
        support.extend((0..labels.len() as u32).filter(of_class));
        n_support.push(support.len() - before);
    }
    let mut place = vec![0; labels.len()];
    support.iter().enumerate().for_each(|(at, &row)| place[row as usize] = at);
    let mut dual_coef = Array2::zeros((k - 1, support.len()));
    for (Pair { first, second, .. }, rows, solution) in &fits {
        for (&row, &coef) in rows.iter().zip(&solution.coef).filter(|(_, coef)| **coef != 0.0) {
            let line = if labels.codes()[row as usize] as usize == *first { second - 1 } else { *first };
            dual_coef[[line, place[row as usize]]] = coef;
        }
    }
    SvcExpansion {
        support,
        n_support,
        dual_coef,
        intercept: fits.iter().map(|(_, _, s)| s.intercept).collect(),
        fits: fits.iter().map(|(_, _, s)| FitReport::from(s)).collect(),
        platt,
    }
}
