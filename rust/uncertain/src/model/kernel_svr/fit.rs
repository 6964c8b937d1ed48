//! Fitting: one solve.

use super::{Model, Params, SvrExpansion, ValidParams};
use crate::control::Control;
use crate::data::weights::Present;
use crate::data::{MixtureArray, Targets};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::RbfOptions as Kernel;
use crate::model::FitReport;
use crate::model::kernel_machine::{Basis, KernelSource};
use crate::parallel;
use crate::solver::smo::{self, DualProblem, KernelRows, SmoOptions, Subset};

impl ValidParams {
    /// Fit a model to Gaussians with targets, whose variances do not matter, or to mixtures of them, whose components then
    /// are the support rows.
    pub(crate) fn fit(&self, data: impl Into<MixtureArray>, targets: &Targets, control: &Control) -> Result<Model> {
        let data = data.into();
        targets.check_rows(data.n_rows())?;
        let rows = Present::new(&data, targets)?;
        let mut model = parallel::install(control.threads(), || self.fit_rows(&rows.data, &rows.known, control))??;
        let expansion = &mut model.expansion;
        expansion.support.iter_mut().for_each(|row| *row = rows.number(*row as usize) as u32);
        expansion.spread_over(&data);
        Ok(model)
    }

    fn fit_rows(&self, data: &MixtureArray, targets: &Targets, control: &Control) -> Result<Model> {
        let Params { sigma, coupling, options, .. } = self.0;
        let kernel = Kernel { sigma: sigma.resolve_mixtures(data)?, coupling, max_bytes: None };
        let source = KernelSource { data, kernel: &kernel, cache_size: options.cache_size, jobs: 1 };
        let expansion = source.open(control, |rows, cache_size| {
            self.solve(rows, targets, SmoOptions { cache_size, ..options }, control)
        })?;
        let support: Vec<usize> = expansion.support.iter().map(|&row| row as usize).collect();
        Ok(Model {
            basis: Some(Basis::new(data.take(&support)?.components().clone(), kernel.sigma, coupling)?),
            expansion,
        })
    }

    /// Fit on any kernel matrix. The result takes kernel values, not rows; `sigma` and `coupling` have no meaning.
    pub(crate) fn fit_kernel(
        &self,
        kernel: &dyn KernelRows,
        targets: &Targets,
        control: &Control,
    ) -> Result<SvrExpansion> {
        targets.check_rows(kernel.n_rows())?;
        parallel::install(control.threads(), || self.solve(kernel, targets, self.0.options, control))?
    }

    fn solve(
        &self,
        kernel: &dyn KernelRows,
        targets: &Targets,
        options: SmoOptions,
        control: &Control,
    ) -> Result<SvrExpansion> {
        let n = kernel.n_rows();
        let rows: Vec<u32> = (0..n as u32).filter(|&row| targets.weight(row as usize) > 0.0).collect();
        let mut of_rows: Vec<f64> = rows.iter().map(|&row| targets.values()[row as usize]).collect();
        let middle = middle(&of_rows);
        of_rows.iter_mut().for_each(|t| *t -= middle);
        let upper: Vec<f64> = rows.iter().map(|&row| self.0.c * targets.weight(row as usize)).collect();
        let lower: Vec<f64> = upper.iter().map(|c| -c).collect();
        let problem = DualProblem { targets: &of_rows, epsilon: self.0.epsilon, lower: &lower, upper: &upper };
        let solution = if rows.len() == n {
            smo::solve(kernel, &problem, &options, control)?
        } else {
            smo::solve(&Subset::new(kernel, rows.clone())?, &problem, &options, control)?
        };
        let fit = FitReport::from(&solution);
        if !fit.objective.is_finite() {
            let why = "the objective of these targets is more than a number can hold: look at their unit, or lower C";
            return Err(Error::Data(why.into()));
        }
        let smo::DualSolution { coef, intercept, .. } = solution;
        let (support, dual_coef) = rows.into_iter().zip(coef).filter(|(_, coef)| *coef != 0.0).unzip();
        Ok(SvrExpansion { support, dual_coef, intercept: intercept + middle, fit })
    }
}

/// The middle of the targets: an intercept takes it up, and what is left of them has all its digits.
pub(super) fn middle(targets: &[f64]) -> f64 {
    let (least, most) = targets.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &t| (a.min(t), b.max(t)));
    0.5 * least + 0.5 * most
}
