//! [`Binary`]: one problem of two classes, and the convex programs that all methods are made of.

use super::ValidParams;
use crate::control::Control;
use crate::data::{GaussianArray, RowTargets, Weights};
use crate::error::Result;
use crate::loss::{EllipsoidHinge, Loss, MarginError};
use crate::model::linear::scores;
use crate::objective::{Derivatives, Problem};
use crate::solver::{Options, Solution, SolverKind, WarmStart, fit_linear, follow};

/// Rows of positive weight with targets -1 and +1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binary<'a> {
    pub data: &'a GaussianArray,
    pub targets: RowTargets<'a>,
    pub weights: Option<&'a Weights>,
    pub params: &'a ValidParams,
    pub control: &'a Control,
}

/// Result of a method.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    /// Hyperplane and report; the objective is on the scale of 1/2 |w|^2 + C sum (MPSVC: its measure).
    pub solution: Solution,
    /// One radius per row.
    pub radii: Vec<f64>,
    /// The objective after each step of the method.
    pub history: Vec<f64>,
}

/// Score mean and standard deviation of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Score {
    pub m: f64,
    pub s: f64,
}

impl Binary<'_> {
    /// The sum of the weights.
    pub(super) fn total(&self) -> f64 {
        self.weights.map_or(self.targets.len() as f64, Weights::total)
    }

    /// With alpha = 1 / (C sum c) the objective J is (1/2 |w|^2 + C sum c L) / (C sum c).
    pub(super) fn problem<'b>(&'b self, data: &'b GaussianArray, loss: &'b dyn Loss) -> Problem<'b> {
        let params = &self.params.0;
        Problem {
            data,
            targets: self.targets,
            weights: self.weights,
            alpha: 1.0 / self.scale(),
            fit_intercept: params.fit_intercept,
            loss,
        }
    }

    /// C sum c: what J is multiplied with to become 1/2 |w|^2 + C sum c L.
    pub(super) fn scale(&self) -> f64 {
        self.params.0.c * self.total()
    }

    /// The minimum for a convex loss, on the scale of 1/2 |w|^2 + C sum c L.
    pub(super) fn solve(&self, data: &GaussianArray, loss: &dyn Loss, start: Option<&[f64]>) -> Result<Solution> {
        self.solve_to(&self.params.0.options, data, loss, start)
    }

    fn solve_to(
        &self,
        options: &Options,
        data: &GaussianArray,
        loss: &dyn Loss,
        start: Option<&[f64]>,
    ) -> Result<Solution> {
        let problem = self.problem(data, loss);
        Ok(self.on_the_scale_of_c(fit_linear(&problem, SolverKind::Auto, options, start, self.control)?))
    }

    fn on_the_scale_of_c(&self, solution: Solution) -> Solution {
        Solution { objective: solution.objective * self.scale(), ..solution }
    }

    /// The optimum of USVC with these radii.
    pub(super) fn usvc(&self, radii: &[f64]) -> Result<Solution> {
        self.solve(self.data, &EllipsoidHinge::worst(radii), None)
    }

    /// The optimum of USVC with these radii, to a gap of `tol`, where that of other radii is `near`.
    pub(super) fn usvc_near(&self, radii: &[f64], near: &mut Option<WarmStart>, tol: f64) -> Result<Solution> {
        let loss = EllipsoidHinge::worst(radii);
        let options = Options { tol, ..self.params.0.options };
        if let Some(from) = near.as_mut() {
            if let Some(solution) = follow(&self.problem(self.data, &loss), from, &options, self.control)? {
                return Ok(self.on_the_scale_of_c(solution));
            }
            // It was not near, and the next one will hardly be.
            *near = None;
        }
        self.solve_to(&options, self.data, &loss, None)
    }

    /// 1/2 |w|^2 + C sum c L at a point, for any loss.
    pub(super) fn objective(&self, loss: &dyn Loss, x: &[f64]) -> Result<f64> {
        let objective = self.problem(self.data, loss).check()?;
        Ok(self.scale() * objective.evaluate(x, 0.0, Derivatives::Gradient, self.control)?.objective)
    }

    /// sum c (largest probability of error): the measure MPE.
    pub(super) fn margin_error(&self, x: &[f64]) -> Result<f64> {
        let objective = self.problem(self.data, &MarginError).unpenalised()?;
        Ok(self.total() * objective.evaluate(x, 0.0, Derivatives::Gradient, self.control)?.objective)
    }

    /// The scores of all rows.
    pub(super) fn scores(&self, x: &[f64]) -> Result<Vec<Score>> {
        let d = x.len() - 1;
        let (means, stds) = (scores::means(self.data, &x[..d], x[d])?, scores::stds(self.data, &x[..d])?);
        Ok(means.into_iter().zip(stds).map(|(m, s)| Score { m, s }).collect())
    }
}

/// (w, b) as one vector.
pub(super) fn point(solution: &Solution) -> Vec<f64> {
    let mut x = solution.w.clone();
    x.push(solution.b);
    x
}
