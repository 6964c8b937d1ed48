//! Fitting: one solve.

use super::{Expansion, Model, Params, ValidParams};
use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::model::FitReport;
use crate::model::kernel_machine::{Basis, Source, positive_rows};
use crate::parallel;
use crate::probabilistic_kernel::Options as Kernel;
use crate::solver::smo::{self, KernelRows, Options, Problem, Subset};

/// Rounding of v = t - K b, in parts of the largest target: no tolerance below it can be met.
const NOISE: f64 = 1e-13;

impl ValidParams {
    /// Fit a model to Gaussians with targets; weights are >= 0 and not all zero.
    ///
    /// # Errors
    /// Sizes that do not fit, targets or weights out of range, those of
    /// [`gram`](crate::probabilistic_kernel::gram), [`Error::Interrupted`].
    pub fn fit(
        &self,
        data: &GaussianArray,
        targets: &[f64],
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<Model> {
        check(data.n_rows(), targets, weights)?;
        let of = |values: &[f64], kept: &[usize]| kept.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        parallel::install(self.0.threads, || match positive_rows(weights) {
            None => self.fit_rows(data, targets, weights, control),
            Some(kept) => {
                let weights = weights.map(|w| of(w, &kept));
                let mut model = self.fit_rows(&data.take(&kept)?, &of(targets, &kept), weights.as_deref(), control)?;
                model.expansion.support.iter_mut().for_each(|row| *row = kept[*row as usize] as u32);
                Ok(model)
            }
        })?
    }

    fn fit_rows(
        &self,
        data: &GaussianArray,
        targets: &[f64],
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<Model> {
        let Params { sigma, coupling, options, .. } = self.0;
        let kernel = Kernel { sigma: sigma.of(data)?, coupling, max_bytes: None };
        let source = Source { data, kernel: &kernel, cache_size: options.cache_size, jobs: 1 };
        let expansion = source.open(control, |rows, cache_size| {
            self.solve(rows, targets, weights, Options { cache_size, ..options }, control)
        })?;
        let support: Vec<usize> = expansion.support.iter().map(|&row| row as usize).collect();
        Ok(Model { basis: Basis::new(data.take(&support)?, kernel.sigma, coupling)?, expansion })
    }

    /// Fit on any kernel matrix. The result takes kernel values, not rows; `sigma` and `coupling` have no meaning.
    ///
    /// # Errors
    /// Sizes that do not fit, targets or weights out of range, those of `kernel`, [`Error::Interrupted`].
    pub fn fit_kernel(
        &self,
        kernel: &dyn KernelRows,
        targets: &[f64],
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<Expansion> {
        check(kernel.n_rows(), targets, weights)?;
        parallel::install(self.0.threads, || self.solve(kernel, targets, weights, self.0.options, control))?
    }

    fn solve(
        &self,
        kernel: &dyn KernelRows,
        targets: &[f64],
        weights: Option<&[f64]>,
        mut options: Options,
        control: &Control,
    ) -> Result<Expansion> {
        let n = kernel.n_rows();
        let weight = |row: u32| weights.map_or(1.0, |w| w[row as usize]);
        let rows: Vec<u32> = (0..n as u32).filter(|&row| weight(row) > 0.0).collect();
        let of_rows: Vec<f64> = rows.iter().map(|&row| targets[row as usize]).collect();
        let upper: Vec<f64> = rows.iter().map(|&row| self.0.c * weight(row)).collect();
        let lower: Vec<f64> = upper.iter().map(|c| -c).collect();
        options.tol = tolerance(options.tol, &of_rows);
        let problem = Problem { targets: &of_rows, epsilon: self.0.epsilon, lower: &lower, upper: &upper };
        let solution = if rows.len() == n {
            smo::solve(kernel, &problem, &options, control)?
        } else {
            smo::solve(&Subset::new(kernel, rows.clone())?, &problem, &options, control)?
        };
        let fit = FitReport::from(&solution);
        let smo::Solution { coef, intercept, .. } = solution;
        let (support, dual_coef) = rows.into_iter().zip(coef).filter(|(_, coef)| *coef != 0.0).unzip();
        Ok(Expansion { support, dual_coef, intercept, fit })
    }
}

/// The tolerance in units of the targets.
fn tolerance(tol: f64, targets: &[f64]) -> f64 {
    let (least, most) = targets.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &t| (a.min(t), b.max(t)));
    let (half, largest) = (0.5 * (most - least), most.max(-least));
    let wanted = (tol * half).max(NOISE * largest);
    if wanted > 0.0 && wanted.is_finite() { wanted } else { tol }
}

fn check(n: usize, targets: &[f64], weights: Option<&[f64]>) -> Result<()> {
    for (what, got) in [("targets", targets.len()), ("sample_weight", weights.map_or(n, <[f64]>::len))] {
        if got != n {
            return Err(Error::shape(what, format!("{n}, one per row"), got));
        }
    }
    if let Some(row) = targets.iter().position(|t| !t.is_finite()) {
        return Err(Error::NotFinite { what: "targets".into(), row, column: 0, value: targets[row] });
    }
    let Some(weights) = weights else { return if n == 0 { Err(no_rows()) } else { Ok(()) } };
    if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let weight = weights[row];
        return Err(Error::Data(format!("sample_weight: row {row} is {weight}; weights must be finite and >= 0")));
    }
    if weights.iter().any(|&w| w > 0.0) { Ok(()) } else { Err(no_rows()) }
}

fn no_rows() -> Error {
    Error::Data("there are no rows (of positive weight) to fit".into())
}
