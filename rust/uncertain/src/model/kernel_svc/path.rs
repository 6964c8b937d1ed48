//! Cross-validation along a path of C: the share of held-out rows whose class is missed.
//!
//! A machine of this kind is fitted to classes, and has probabilities only where they are asked for.

use ndarray::Array2;

use super::{Params, ValidParams};
use crate::control::Control;
use crate::data::weights::{Present, TakeRows};
use crate::data::{Labels, MixtureArray};
use crate::error::Result;
use crate::kernel::probabilistic_rbf::RbfOptions as Kernel;
use crate::model::folds::Folds;
use crate::model::kernel_machine::{KernelSource, PathMachine};
use crate::model::one_vs_one::{pairs, votes};
use crate::model::one_vs_rest;
use crate::model::penalty_path::{FOLDS, SEED, TOL, check_penalties};
use crate::parallel;
use crate::solver::smo::{KernelRows, SmoOptions};
use crate::state::PenaltyPath;

impl ValidParams {
    /// Held-out error rates of these C, the smallest first, by cross-validation of warm-started fits on one kernel
    /// matrix; that of the parameters does not matter, and all pairs of classes have the same one.
    pub(crate) fn path(
        &self,
        data: impl Into<MixtureArray>,
        labels: &Labels,
        cs: &[f64],
        control: &Control,
    ) -> Result<PenaltyPath> {
        let data = data.into();
        labels.check_rows(data.n_rows())?;
        labels.check_every_class()?;
        let present = Present::new(&data, labels)?;
        let Params { sigma, coupling, options, .. } = self.0;
        parallel::install(control.threads(), || {
            let (data, sets) = (&present.data, present.data.sets()?);
            let kernel = Kernel { sigma: sigma.resolve_mixtures(data)?, coupling, max_bytes: None };
            let source = KernelSource { data, kernel: &kernel, cache_size: options.cache_size, jobs: 2 };
            source.open(control, |rows, cache_size| {
                self.along((rows, &sets), &present.known, cs, SmoOptions { cache_size, ..options }, control)
            })
        })?
    }

    /// [`path`](Self::path) on any kernel matrix of rows that all have weight.
    pub(super) fn along(
        &self,
        (kernel, sets): (&dyn KernelRows, &[Vec<usize>]),
        labels: &Labels,
        cs: &[f64],
        options: SmoOptions,
        control: &Control,
    ) -> Result<PenaltyPath> {
        check_penalties(cs)?;
        let (n, classes) = (labels.len(), labels.n_classes());
        let folds = Folds::new(sets, labels, FOLDS, SEED)?;
        let of_rows: Vec<u32> = (0..n).map(|i| folds.fold(i).unwrap_or(0)).collect();
        let pairs: Vec<_> = pairs(classes).collect();
        let jobs: Vec<(u32, usize)> =
            (0..folds.count()).flat_map(|fold| (0..pairs.len()).map(move |pair| (fold, pair))).collect();
        let at_once = parallel::default_threads().clamp(1, jobs.len());
        let options = SmoOptions { tol: options.tol.max(TOL), cache_size: options.cache_size / at_once, ..options };
        let run = |(fold, pair): (u32, usize)| {
            let held: Vec<u32> = (0..n as u32).filter(|&i| of_rows[i as usize] == fold).collect();
            let of_pair = |i: &u32| of_rows[*i as usize] != fold && pairs[pair].holds(labels, *i as usize);
            let rows: Vec<u32> = (0..n as u32).filter(of_pair).collect();
            let targets: Vec<f64> = rows.iter().map(|&i| pairs[pair].target(labels, i as usize)).collect();
            let price = |&i: &u32| labels.weight(i as usize);
            let bounds = rows.iter().map(price).zip(&targets);
            let (lower, upper): (Vec<f64>, Vec<f64>) =
                bounds.map(|(c, y)| if *y > 0.0 { (0.0, c) } else { (-c, 0.0) }).unzip();
            let machine = PathMachine { rows: &rows, targets: &targets, epsilon: 0.0, lower: &lower, upper: &upper };
            let control = control.with_task(folds.task("path", fold));
            let scores = machine.scores_along(kernel, cs, &held, &options, &control)?;
            Ok((pair, held, scores))
        };
        let parts =
            parallel::map_fine(jobs.len(), |part| jobs[part].iter().map(|&job| run(job)).collect::<Result<Vec<_>>>())?;
        let mut all = vec![Array2::zeros((n, pairs.len())); cs.len()];
        for (pair, held, scores) in parts.into_iter().flatten() {
            for (k, scores) in scores.iter().enumerate() {
                held.iter().zip(scores).for_each(|(&i, score)| all[k][[i as usize, pair]] = *score);
            }
        }
        let mut losses = Array2::zeros((cs.len(), n));
        for (k, scores) in all.into_iter().enumerate() {
            let found = one_vs_rest::classes(votes(scores, classes).view());
            found.iter().zip(labels.codes()).enumerate().for_each(|(i, (a, b))| losses[[k, i]] = f64::from(a != b));
        }
        PenaltyPath::new(&losses, &of_rows, labels.weights())
    }
}
