//! Cross-validation along a path of C: the loss outside the tube, which the fit minimises, on held-out rows.

use super::fit::middle;
use super::{Params, ValidParams};
use crate::control::Control;
use crate::data::weights::{Present, TakeRows};
use crate::data::{MixtureArray, Targets};
use crate::error::Result;
use crate::kernel::probabilistic_rbf::RbfOptions as Kernel;
use crate::model::kernel_machine::{KernelSource, PathMachine};
use crate::model::penalty_path::{FOLDS, TOL, regression_path};
use crate::parallel;
use crate::solver::smo::{KernelRows, SmoOptions};
use crate::state::PenaltyPath;

impl ValidParams {
    /// Held-out mean losses of these C, the smallest first, by cross-validation of warm-started fits on one kernel
    /// matrix; that of the parameters does not matter. Rows of one group are held out together.
    pub(crate) fn path(
        &self,
        data: impl Into<MixtureArray>,
        targets: &Targets,
        groups: Option<&[u32]>,
        cs: &[f64],
        control: &Control,
    ) -> Result<PenaltyPath> {
        let data = data.into();
        targets.check_rows(data.n_rows())?;
        let present = Present::new(&data, targets)?;
        let groups = present.groups(groups)?;
        let Params { sigma, coupling, options, .. } = self.0;
        parallel::install(control.threads(), || {
            let (data, sets) = (&present.data, present.data.sets()?);
            let kernel = Kernel { sigma: sigma.resolve_mixtures(data)?, coupling, max_bytes: None };
            let source = KernelSource { data, kernel: &kernel, cache_size: options.cache_size, jobs: 2 };
            source.open(control, |rows, cache_size| {
                let known = (&*present.known, groups.as_deref());
                self.along((rows, &sets), known, cs, SmoOptions { cache_size, ..options }, control)
            })
        })?
    }

    /// [`path`](Self::path) on any kernel matrix of rows that all have weight.
    pub(super) fn along(
        &self,
        (kernel, sets): (&dyn KernelRows, &[Vec<usize>]),
        (targets, groups): (&Targets, Option<&[u32]>),
        cs: &[f64],
        options: SmoOptions,
        control: &Control,
    ) -> Result<PenaltyPath> {
        let at_once = parallel::default_threads().clamp(1, FOLDS);
        let options = SmoOptions { tol: options.tol.max(TOL), cache_size: options.cache_size / at_once, ..options };
        let (all, epsilon) = (targets.values(), self.0.epsilon);
        let of_fold = |kept: &[usize], held: &[usize], control: &Control| {
            let numbers = |rows: &[usize]| rows.iter().map(|&i| i as u32).collect::<Vec<u32>>();
            let mut own: Vec<f64> = kept.iter().map(|&i| all[i]).collect();
            let center = middle(&own);
            own.iter_mut().for_each(|t| *t -= center);
            let upper: Vec<f64> = kept.iter().map(|&i| targets.weight(i)).collect();
            let lower: Vec<f64> = upper.iter().map(|c| -c).collect();
            let machine = PathMachine { rows: &numbers(kept), targets: &own, epsilon, lower: &lower, upper: &upper };
            let scores = machine.scores_along(kernel, cs, &numbers(held), &options, control)?;
            let loss = |(&i, score): (&usize, &f64)| ((all[i] - score - center).abs() - epsilon).max(0.0);
            Ok(scores.iter().map(|scores| held.iter().zip(scores).map(loss).collect()).collect())
        };
        regression_path(sets, (targets, groups), cs, control, of_fold)
    }
}
