//! Fitting with a solver that sees all rows.

use super::{Model, ValidParams, online};
use crate::control::Control;
use crate::data::{Collapse, GaussianArray, Labels};
use crate::error::Result;
use crate::loss::{Loss, LossKind};
use crate::model::linear::{TwoClasses, fit_one_vs_rest};
use crate::objective::Problem;
use crate::solver::fit_linear;

impl ValidParams {
    /// Fit a model to rows with labels.
    ///
    /// # Errors
    /// Sizes that do not fit, a class without rows of positive weight, too few rows of a class for
    /// probabilities, numbers so large that the objective overflows, [`Error::Interrupted`](crate::Error::Interrupted).
    pub fn fit(&self, data: &GaussianArray, labels: &Labels, control: &Control) -> Result<Model> {
        let p = &self.0;
        let loss = p.loss.build(None);
        let fit = |rows: &TwoClasses<'_>, control: &Control| {
            // The plain hinge sees means alone; exact rows have faster solvers.
            let points = (p.loss == LossKind::Hinge).then(|| rows.data.collapse(Collapse::Zero)).transpose()?;
            let rows = TwoClasses { data: points.as_ref().unwrap_or(rows.data), ..*rows };
            let solution = fit_linear(&self.problem(&rows, &*loss), p.solver, &p.options, None, control)?;
            let steps = online::steps_worth(p.solver, &solution);
            Ok((solution, steps))
        };
        let (linear, steps) = fit_one_vs_rest(data, labels, &p.calibration, p.options.seed, p.threads, control, fit)?;
        Ok(Model { linear, steps: steps.into_iter().max().unwrap_or(0) })
    }

    /// The minimisation behind one hyperplane.
    pub(super) fn problem<'a>(&self, rows: &TwoClasses<'a>, loss: &'a dyn Loss) -> Problem<'a> {
        let &TwoClasses { data, targets, weights } = rows;
        let (alpha, fit_intercept) = (self.0.alpha, self.0.fit_intercept);
        Problem { data, targets, weights, alpha, fit_intercept, loss }
    }
}
