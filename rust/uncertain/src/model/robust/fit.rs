//! Fitting: one binary problem, or one per class against the rest.

use ndarray::Array2;

use super::binary::{Binary, Outcome};
use super::{Method, ValidParams, adaptive, margin, total};
use crate::control::Control;
use crate::data::{Collapse, GaussianArray};
use crate::error::{Error, Result};
use crate::gsu;
use crate::loss::Hinge;
use crate::model::Labels;
use crate::model::calibrate::calibrate;
use crate::model::folds::Folds;
use crate::objective::Problem;
use crate::parallel;
use crate::solver::Solution;

/// A fitted member of the family.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The hyperplanes with their reports and sigmoids, and all predictions. The reports' objective is
    /// 1/2 |w|^2 + C sum c L at the solution (MPSVC: its measure); the gap is NaN where nothing is certified.
    pub linear: gsu::Model,
    /// Per hyperplane one radius per row: the one in force, and for MPSVC the one up to which the row's
    /// ellipsoid stays on its side.
    pub radii: Vec<Vec<f64>>,
    /// Per hyperplane the objective after each step of the method.
    pub history: Vec<Vec<f64>>,
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
        let params = &self.params;
        let folds = params.probability.then(|| Folds::new(labels, params.folds, params.options.seed)).transpose()?;
        parallel::install(params.threads, || {
            if params.method == Method::Psvm {
                let balls = data.collapse(Collapse::Isotropic)?;
                return self.fit_classes(&balls, labels, folds.as_ref(), control);
            }
            self.fit_classes(data, labels, folds.as_ref(), control)
        })?
    }

    fn fit_classes(
        &self,
        data: &GaussianArray,
        labels: &Labels,
        folds: Option<&Folds>,
        control: &Control,
    ) -> Result<Model> {
        let classes = gsu::hyperplane_classes(labels.n_classes());
        let (count, d) = (classes.len(), data.n_features());
        let mut linear = gsu::Model { platt: folds.map(|_| vec![]), ..gsu::Model::zero(d, 0) };
        let (mut coef, mut radii, mut history) = (Vec::with_capacity(count * d), vec![], vec![]);
        for (k, class) in classes.enumerate() {
            let task = if count == 1 { String::new() } else { format!("class {} of {count}", k + 1) };
            let targets = labels.targets(class);
            let outcome = self.fit_rows(data, &targets, labels.weights(), &control.with_task(&*task))?;
            if let (Some(folds), Some(sigmoids)) = (folds, &mut linear.platt) {
                // Only rows and weights matter here: the method brings its own losses.
                let (alpha, fit_intercept) = (1.0, self.params.fit_intercept);
                let problem =
                    Problem { data, targets: &targets, weights: labels.weights(), alpha, fit_intercept, loss: &Hinge };
                let solve = |rest: &Problem<'_>, control: &Control| -> Result<Solution> {
                    Ok(self.fit_rows(rest.data, rest.targets, rest.weights, control)?.solution)
                };
                sigmoids.push(calibrate(&problem, folds, &task, control, solve)?);
            }
            coef.extend_from_slice(&outcome.solution.w);
            linear.intercept.push(outcome.solution.b);
            linear.fits.push(gsu::FitReport::of(&outcome.solution));
            radii.push(outcome.radii);
            history.push(outcome.history);
        }
        linear.coef = Array2::from_shape_vec((count, d), coef)
            .map_err(|e| Error::Internal(format!("coefficients of one fit: {e}")))?;
        Ok(Model { linear, radii, history })
    }

    /// One hyperplane. Rows without weight are left out and get the radius 0.
    fn fit_rows(
        &self,
        data: &GaussianArray,
        targets: &[f64],
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<Outcome> {
        let kept: Vec<usize> = (0..targets.len()).filter(|&i| weights.is_none_or(|c| c[i] > 0.0)).collect();
        if kept.len() == targets.len() {
            return self.run(&Binary { data, targets, weights, params: self, control });
        }
        let pick = |values: &[f64]| kept.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let (rows, targets_kept, weights) = (data.take(&kept)?, pick(targets), weights.map(pick));
        let (targets_kept, weights) = (targets_kept.as_slice(), weights.as_deref());
        let outcome = self.run(&Binary { data: &rows, targets: targets_kept, weights, params: self, control })?;
        let mut radii = vec![0.0; targets.len()];
        kept.iter().zip(&outcome.radii).for_each(|(&i, r)| radii[i] = *r);
        Ok(Outcome { radii, ..outcome })
    }

    fn run(&self, binary: &Binary<'_>) -> Result<Outcome> {
        match self.params.method {
            Method::Usvc => {
                let radii = vec![self.radius; binary.targets.len()];
                let solution = binary.usvc(&radii)?;
                Ok(Outcome { history: vec![solution.objective], solution, radii })
            }
            Method::Tsvc | Method::Psvm => total::fit(binary),
            Method::Ausvc => Ok(adaptive::fit(binary)?.outcome),
            Method::Mpsvc => margin::fit(binary),
        }
    }
}
