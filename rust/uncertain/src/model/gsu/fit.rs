//! Fitting: one binary problem, or one per class against the rest.

use ndarray::Array2;

use super::{FitReport, Model, ValidParams};
use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::model::Labels;
use crate::model::calibrate::calibrate;
use crate::model::folds::Folds;
use crate::model::platt::Sigmoid;
use crate::objective::Problem;
use crate::parallel;
use crate::solver::{Solution, fit_linear};

/// The classes that get a hyperplane of their own: for two classes only the second.
pub(in crate::model) fn hyperplane_classes(n_classes: usize) -> std::ops::Range<usize> {
    if n_classes == 2 { 1..2 } else { 0..n_classes }
}

impl ValidParams {
    /// Fit a model to rows with labels.
    ///
    /// # Errors
    /// Sizes that do not fit, a class without rows of positive weight, too few rows of a class for
    /// probabilities, numbers so large that the objective overflows, [`Error::Interrupted`].
    pub fn fit(&self, data: &GaussianArray, labels: &Labels, control: &Control) -> Result<Model> {
        labels.check_rows(data.n_rows())?;
        labels.check_every_class()?;
        let folds = self.0.probability.then(|| Folds::new(labels, self.0.folds, self.0.options.seed)).transpose()?;
        parallel::install(self.0.threads, || self.fit_classes(data, labels, folds.as_ref(), control))?
    }

    fn fit_classes(
        &self,
        data: &GaussianArray,
        labels: &Labels,
        folds: Option<&Folds>,
        control: &Control,
    ) -> Result<Model> {
        let classes = hyperplane_classes(labels.n_classes());
        let count = classes.len();
        let mut solutions = Vec::with_capacity(count);
        let mut sigmoids = Vec::with_capacity(count);
        let loss = self.0.loss.build(None);
        for (k, class) in classes.enumerate() {
            let task = if count == 1 { String::new() } else { format!("class {} of {count}", k + 1) };
            let targets = labels.targets(class);
            let problem = self.problem(data, &targets, labels.weights(), &*loss);
            let solution = self.solve(&problem, &control.with_task(&*task))?;
            if let Some(folds) = folds {
                sigmoids.push(calibrate(&problem, folds, &task, control, |rest, control| self.solve(rest, control))?);
            }
            solutions.push(solution);
        }
        self.assemble(data.n_features(), solutions, folds.map(|_| sigmoids))
    }

    pub(super) fn problem<'a>(
        &self,
        data: &'a GaussianArray,
        targets: &'a [f64],
        weights: Option<&'a [f64]>,
        loss: &'a dyn Loss,
    ) -> Problem<'a> {
        Problem { data, targets, weights, alpha: self.0.alpha, fit_intercept: self.0.fit_intercept, loss }
    }

    pub(super) fn solve(&self, problem: &Problem<'_>, control: &Control) -> Result<Solution> {
        fit_linear(problem, self.0.solver, &self.0.options, None, control)
    }

    fn assemble(&self, d: usize, solutions: Vec<Solution>, platt: Option<Vec<Sigmoid>>) -> Result<Model> {
        let mut model = Model { platt, ..Model::zero(d, 0) };
        let mut coef = Vec::with_capacity(solutions.len() * d);
        for solution in solutions {
            coef.extend_from_slice(&solution.w);
            model.intercept.push(solution.b);
            model.steps = model.steps.max(super::online::steps_worth(self.0.solver, &solution));
            model.fits.push(FitReport::of(&solution));
        }
        model.coef = Array2::from_shape_vec((model.intercept.len(), d), coef)
            .map_err(|e| Error::Internal(format!("coefficients of one fit: {e}")))?;
        Ok(model)
    }
}
