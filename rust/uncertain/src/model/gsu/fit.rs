//! Fitting with a solver that sees all rows.

use super::{Model, Params, ValidParams, online};
use crate::control::Control;
use crate::data::{Collapse, GaussianArray, Kind, Labels};
use crate::error::{Error, Result};
use crate::loss::{Loss, LossKind};
use crate::model::linear::{AtZero, NearFold, Plan, TwoClasses, classify, fit_one_vs_rest, path_one_vs_rest};
use crate::model::penalty_path::TOL;
use crate::objective::Problem;
use crate::solver::{FewRows, Guess, Options, Solution, SolverKind, fit_linear, fit_near};
use crate::state::{PenaltyPath, RemoteRows};
use crate::sums::RemoteLoss;

/// Certified gap of fits without a fold, of which two numbers are learned: leaving rows out moves J a hundred times as far.
const FOLD_TOL: f64 = 1e-4;

impl ValidParams {
    /// Fit a model to rows with labels.
    pub(crate) fn fit(&self, data: &GaussianArray, labels: &Labels, control: &Control) -> Result<Model> {
        let p = &self.0;
        let loss = p.loss.build(None);
        let fit = |rows: &TwoClasses<'_>, near: Option<&NearFold<'_>>, control: &Control| {
            let solution = match near {
                // SGD would remember the rows that are held out.
                Some(near) if p.solver != SolverKind::Sgd => self.solve_fold(rows, &*loss, near, control)?,
                _ => self.solve(rows, p.alpha, &*loss, &p.options, None, control)?,
            };
            let steps = online::steps_worth(p.solver, &solution);
            Ok((solution, steps))
        };
        let rule = self.at_zero(data, p.alpha);
        let (linear, steps) = fit_one_vs_rest(data, labels, &p.calibration, p.options.seed, rule, control, fit)?;
        Ok(Model { linear, steps: steps.into_iter().max().unwrap_or(0) })
    }

    /// [`fit`](Self::fit) by passes over rows held by other processes.
    pub(super) fn fit_remote(&self, remote: &RemoteRows<'_>, control: &Control) -> Result<Model> {
        let p = &self.0;
        if p.solver == SolverKind::Sgd {
            return Err(Error::parameter("solver", "\"sgd\"", "one that passes over all rows: auto, newton or lbfgs"));
        }
        let loss = RemoteLoss::Kind(p.loss);
        let plan = Plan { loss, fit_intercept: p.fit_intercept, solver: p.solver, options: &p.options };
        let (linear, _) = classify(remote, &plan, &p.calibration, |_| p.alpha, control)?;
        Ok(Model { linear, steps: online::SOLVED_STEPS })
    }

    /// Held-out log losses of these alphas, the largest first, by cross-validation of warm-started fits; the alpha of
    /// the parameters does not matter, and all hyperplanes have the same one.
    pub(crate) fn path(
        &self,
        data: &GaussianArray,
        labels: &Labels,
        alphas: &[f64],
        control: &Control,
    ) -> Result<PenaltyPath> {
        let p = &self.0;
        let loss = p.loss.build(None);
        let options = Options { tol: p.options.tol.max(TOL), ..p.options };
        let rule = |alpha| self.at_zero(data, alpha);
        path_one_vs_rest(data, labels, alphas, rule, control, |rows, alpha, start, control| {
            self.solve(rows, alpha, &*loss, &options, start, control)
        })
    }

    /// When a hyperplane is no better than w = 0; of steps of SGD nobody knows.
    fn at_zero(&self, data: &GaussianArray, alpha: f64) -> Option<AtZero> {
        let (p, exact) = (&self.0, data.covariances().kind() == Kind::Zero);
        let rule = AtZero::for_loss(RemoteLoss::Kind(p.loss), alpha, p.fit_intercept, p.options.tol, exact);
        rule.filter(|_| p.solver != SolverKind::Sgd)
    }

    /// One hyperplane.
    fn solve(
        &self,
        rows: &TwoClasses<'_>,
        alpha: f64,
        loss: &dyn Loss,
        options: &Options,
        start: Option<&[f64]>,
        control: &Control,
    ) -> Result<Solution> {
        self.with_rows(rows, |rows| {
            fit_linear(&self.problem(rows, alpha, loss), self.0.solver, options, start, control)
        })
    }

    /// One hyperplane without a fold, from the solution `near` of all rows.
    fn solve_fold(
        &self,
        rows: &TwoClasses<'_>,
        loss: &dyn Loss,
        near: &NearFold<'_>,
        control: &Control,
    ) -> Result<Solution> {
        let Params { alpha, solver, options, .. } = &self.0;
        let options = Options { tol: options.tol.max(FOLD_TOL), ..*options };
        let Solution { w, b, .. } = near.found;
        let x: Vec<f64> = w.iter().copied().chain([*b]).collect();
        self.with_rows(rows, |rows| {
            let problem = self.problem(rows, *alpha, loss);
            let guess = match near.few(|| FewRows::near(&problem, &x, control))? {
                Some(few) => few.guess(&problem, *solver, &options, &x, control)?,
                None => Guess::near(&problem, &x, control)?,
            };
            fit_near(&problem, *solver, &options, &guess, control)
        })
    }

    /// `work` on what the loss sees of the rows: the plain hinge sees means alone, and exact rows have faster solvers.
    fn with_rows<T>(&self, rows: &TwoClasses<'_>, work: impl FnOnce(&TwoClasses<'_>) -> Result<T>) -> Result<T> {
        let points = (self.0.loss == LossKind::Hinge).then(|| rows.data.collapse(Collapse::Zero)).transpose()?;
        work(&TwoClasses { data: points.as_ref().unwrap_or(rows.data), ..*rows })
    }

    /// The minimisation behind one hyperplane.
    pub(super) fn problem<'a>(&self, rows: &TwoClasses<'a>, alpha: f64, loss: &'a dyn Loss) -> Problem<'a> {
        let &TwoClasses { data, targets, weights } = rows;
        let fit_intercept = self.0.fit_intercept;
        Problem { data, targets, weights, alpha, fit_intercept, loss }
    }
}
