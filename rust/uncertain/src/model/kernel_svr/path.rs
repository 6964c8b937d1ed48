//! Cross-validation along a path of C: the loss outside the tube, which the fit minimises, on held-out rows.

use ndarray::Array2;

use super::fit::middle;
use super::{Params, ValidParams};
use crate::control::Control;
use crate::data::weights::Present;
use crate::data::{MixtureArray, Targets};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::RbfOptions as Kernel;
use crate::model::kernel_machine::{KernelSource, PathMachine};
use crate::model::penalty_path::{TOL, check_penalties, deal_folds};
use crate::parallel;
use crate::solver::smo::{KernelRows, SmoOptions};
use crate::state::PenaltyPath;

impl ValidParams {
    /// Held-out mean losses of these C, the smallest first, by cross-validation of warm-started fits on one kernel
    /// matrix; that of the parameters does not matter. Rows of one group are held out together.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), and fewer than two rows or groups.
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
        if let Some(groups) = groups.filter(|groups| groups.len() != present.all_rows()) {
            return Err(Error::shape("groups", format!("{}, one per row", present.all_rows()), groups.len()));
        }
        let number = |i| present.number(i);
        let groups: Option<Vec<u32>> =
            groups.map(|groups| (0..present.known.len()).map(|i| groups[number(i)]).collect());
        let Params { sigma, coupling, options, .. } = self.0;
        parallel::install(control.threads(), || {
            let data = &present.data;
            let kernel = Kernel { sigma: sigma.resolve_mixtures(data)?, coupling, max_bytes: None };
            let source = KernelSource { data, kernel: &kernel, cache_size: options.cache_size, jobs: 2 };
            source.open(control, |rows, cache_size| {
                self.along(rows, &present.known, groups.as_deref(), cs, SmoOptions { cache_size, ..options }, control)
            })
        })?
    }

    /// [`path`](Self::path) on any kernel matrix of rows that all have weight.
    pub(super) fn along(
        &self,
        kernel: &dyn KernelRows,
        targets: &Targets,
        groups: Option<&[u32]>,
        cs: &[f64],
        options: SmoOptions,
        control: &Control,
    ) -> Result<PenaltyPath> {
        check_penalties(cs)?;
        let n = targets.len();
        let folds = deal_folds(n, groups)?;
        let count = folds.iter().max().map_or(0, |last| *last + 1);
        let at_once = parallel::default_threads().clamp(1, count as usize);
        let options = SmoOptions { tol: options.tol.max(TOL), cache_size: options.cache_size / at_once, ..options };
        let run_fold = |fold: u32| {
            let (held, rows): (Vec<u32>, Vec<u32>) = (0..n as u32).partition(|&i| folds[i as usize] == fold);
            let mut own: Vec<f64> = rows.iter().map(|&i| targets.values()[i as usize]).collect();
            let center = middle(&own);
            own.iter_mut().for_each(|t| *t -= center);
            let upper: Vec<f64> = rows.iter().map(|&i| targets.weight(i as usize)).collect();
            let lower: Vec<f64> = upper.iter().map(|c| -c).collect();
            let control = control.with_task(format!("path, fold {} of {count}", fold + 1));
            let epsilon = self.0.epsilon;
            let machine = PathMachine { rows: &rows, targets: &own, epsilon, lower: &lower, upper: &upper };
            let scores = machine.scores_along(kernel, cs, &held, &options, &control)?;
            Ok((held, scores, center))
        };
        let parts = parallel::map_fine(count as usize, |part| {
            part.map(|fold| run_fold(fold as u32)).collect::<Result<Vec<_>>>()
        })?;
        let mut losses = Array2::zeros((cs.len(), n));
        for (held, scores, center) in parts.into_iter().flatten() {
            for (k, scores) in scores.iter().enumerate() {
                for (&i, score) in held.iter().zip(scores) {
                    let residual = targets.values()[i as usize] - score - center;
                    losses[[k, i as usize]] = (residual.abs() - self.0.epsilon).max(0.0);
                }
            }
        }
        PenaltyPath::new(&losses, &folds, targets.weights())
    }
}
