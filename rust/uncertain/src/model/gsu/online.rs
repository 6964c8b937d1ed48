//! Online fitting: SGD steps on one batch of rows after another.

use super::fit::hyperplane_classes;
use super::{FitReport, Model, ValidParams};
use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::model::Labels;
use crate::objective::{Objective, Want};
use crate::parallel;
use crate::solver::sgd::{self, State};
use crate::solver::{Solution, SolverKind, Status};

/// SGD steps that the solution of another solver counts for when online fitting goes on from it:
/// a run of SGD's default length. From step 0 the first steps would throw the optimum away.
const SOLVED_STEPS: u64 = 20_000;

/// Steps behind a solution.
pub(super) fn steps_worth(kind: SolverKind, solution: &Solution) -> u64 {
    if kind == SolverKind::Sgd { solution.iterations as u64 } else { SOLVED_STEPS }
}

impl ValidParams {
    /// Go on from `model` (`None`: from zero) with SGD on these rows: as many steps as make one pass
    /// over them, with step sizes that continue from call to call.
    ///
    /// The labels must be for all classes of the model, but not all must occur in this batch. The reports give
    /// objective and gap for this batch alone. Probabilities are dropped: they belong to the old hyperplanes.
    ///
    /// # Errors
    /// Sizes that do not fit the rows or the model, [`Error::Interrupted`].
    pub fn partial_fit(
        &self,
        model: Option<&Model>,
        data: &GaussianArray,
        labels: &Labels,
        control: &Control,
    ) -> Result<Model> {
        labels.check_rows(data.n_rows())?;
        let (d, n_classes) = (data.n_features(), labels.n_classes());
        let mut model = match model {
            Some(model) => model.clone(),
            None => Model::zero(d, hyperplane_classes(n_classes).len()),
        };
        if model.n_features() != d {
            return Err(Error::shape("data", format!("{} features, as in earlier batches", model.n_features()), d));
        }
        if model.n_classes() != n_classes {
            return Err(Error::shape(
                "labels",
                format!("{} classes, as in earlier batches", model.n_classes()),
                n_classes,
            ));
        }
        model.platt = None;
        parallel::install(self.0.threads, || self.run_batch(&mut model, data, labels, control))??;
        Ok(model)
    }

    fn run_batch(&self, model: &mut Model, data: &GaussianArray, labels: &Labels, control: &Control) -> Result<()> {
        let steps = data.n_rows().div_ceil(self.0.options.batch_size);
        model.fits.clear();
        let before = model.steps;
        let loss = self.0.loss.build(None);
        for (k, class) in hyperplane_classes(labels.n_classes()).enumerate() {
            let targets = labels.targets(class);
            let objective = self.problem(data, &targets, labels.weights(), &*loss).check()?;
            let mut state = State::new(model.n_features());
            state.steps = before;
            state.x = model.weights(k);
            state.x.push(model.intercept[k]);
            sgd::run(&objective, &mut state, steps, &self.0.options, control)?;
            // With averaging, the average is both the result and where the next batch starts.
            let x = if self.0.options.averaging { &state.average } else { &state.x };
            let there = objective.evaluate(x, 0.0, Want::Gradient, control)?;
            let gap = there.gap();
            let status = if gap <= self.0.options.tol { Status::Converged } else { Status::StepsDone };
            model.fits.push(FitReport { objective: there.objective, gap, n_iter: steps, status });
            model.coef.row_mut(k).iter_mut().zip(x).for_each(|(w, x)| *w = *x);
            model.intercept[k] = x[model.coef.ncols()];
            model.steps = state.steps;
        }
        Ok(())
    }
}
