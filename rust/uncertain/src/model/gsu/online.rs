//! Online fitting: SGD steps on one batch of rows after another.

use super::{Model, ValidParams};
use crate::control::Control;
use crate::data::{GaussianArray, Labels};
use crate::error::{Error, Result};
use crate::model::FitReport;
use crate::model::linear::{LinearClassifier, TwoClasses, positive_classes};
use crate::objective::Derivatives;
use crate::parallel;
use crate::solver::sgd::{self, State};
use crate::solver::{Solution, SolverKind, Status};

/// SGD steps that the solution of another solver counts for when online fitting goes on from it:
/// a run of SGD's default length. From step 0 the first steps would throw the optimum away.
pub(super) const SOLVED_STEPS: u64 = 20_000;

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
    pub(crate) fn partial_fit(
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
            None => Model { linear: LinearClassifier::zero(d, positive_classes(n_classes).len()), steps: 0 },
        };
        let (before, classes) = (model.linear.n_features(), model.linear.n_classes());
        if before != d {
            return Err(Error::shape("data", format!("{before} features, as in earlier batches"), d));
        }
        if classes != n_classes {
            return Err(Error::shape("labels", format!("{classes} classes, as in earlier batches"), n_classes));
        }
        model.linear.platt = None;
        parallel::install(control.threads(), || self.run_batch(&mut model, data, labels, control))??;
        Ok(model)
    }

    fn run_batch(&self, model: &mut Model, data: &GaussianArray, labels: &Labels, control: &Control) -> Result<()> {
        let steps = data.n_rows().div_ceil(self.0.options.batch_size);
        let loss = self.0.loss.build(None);
        let Model { linear, steps: total } = model;
        linear.fits.clear();
        let before = *total;
        for (k, class) in positive_classes(labels.n_classes()).enumerate() {
            let rows = TwoClasses { data, targets: labels.targets(class), weights: labels.weights() };
            let objective = self.problem(&rows, self.0.alpha, &*loss).check()?;
            let mut state = State::new(linear.n_features());
            state.steps = before;
            state.x = linear.weights(k);
            state.x.push(linear.intercept[k]);
            sgd::run(&objective, &mut state, steps, &self.0.options, control)?;
            // With averaging, the average is both the result and where the next batch starts.
            let x = if self.0.options.averaging { &state.average } else { &state.x };
            let there = objective.evaluate(x, 0.0, Derivatives::Gradient, control)?;
            let gap = there.gap();
            let status = if gap <= self.0.options.tol { Status::Converged } else { Status::StepsDone };
            linear.fits.push(FitReport { objective: there.objective, gap, n_iter: steps, status });
            linear.set(k, &x[..linear.n_features()], x[linear.n_features()]);
            *total = state.steps;
        }
        Ok(())
    }
}
