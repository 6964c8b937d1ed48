//! Fitting: one linear problem per pair of classes, and per fold of each where probabilities are wanted,
//! all on rows of one prepared source.

use ndarray::Array2;

use super::{Model, ValidParams, fitted, memory};
use crate::control::Control;
use crate::data::weights::Present;
use crate::data::{GaussianArray, Labels, MixtureArray, RowSource, Rows, Weights};
use crate::error::{Error, Result};
use crate::kernel::features::RandomFeatures;
use crate::loss::Hinge;
use crate::model::FitReport;
use crate::model::folds::Folds;
use crate::model::one_vs_one::{Pair, pairs, tasks};
use crate::model::platt::Sigmoid;
use crate::objective::Problem;
use crate::parallel;
use crate::solver::{Solution, SolverKind, fit_source};

/// Rows with what is computed from them.
struct Design<'a> {
    /// Only its number of rows matters, where scores are linear in computed rows.
    data: &'a GaussianArray,
    source: &'a dyn RowSource,
    labels: &'a Labels,
}

impl ValidParams {
    /// Fit a model to rows with labels; the features of a mixture are the average of its components'.
    pub(crate) fn fit(&self, data: impl Into<MixtureArray>, labels: &Labels, control: &Control) -> Result<Model> {
        let data = data.into();
        labels.check_rows(data.n_rows())?;
        labels.check_every_class()?;
        let rows = Present::new(&data, labels)?;
        parallel::install(control.threads(), || self.fit_rows(&rows.data, &rows.known, control))?
    }

    fn fit_rows(&self, data: &MixtureArray, labels: &Labels, control: &Control) -> Result<Model> {
        let held_out = self.0.calibration.held_out(data, labels, self.0.options.seed)?;
        let sigma = self.0.sigma.resolve_mixtures(data)?;
        let p = &self.0;
        let map = RandomFeatures::new(data.n_features(), p.n_components, sigma, p.coupling, p.options.seed)?;
        let (source, counted) = (map.prepare_mixtures(data)?, counted(data)?);
        let design = Design { data: &counted, source: &source, labels };
        let apart = held_out.as_ref().map(|held_out| {
            Ok::<_, Error>((held_out, map.prepare_mixtures(&held_out.data)?, self::counted(&held_out.data)?))
        });
        let apart = apart.transpose()?;
        let (mut coef, mut intercept, mut fits, mut platt) = (vec![], vec![], vec![], vec![]);
        for (pair, task) in pairs(labels.n_classes()).zip(tasks(labels.n_classes())) {
            let of_pair = pair_rows(pair, labels);
            let (solution, report) = self.solve(&design, pair, &of_pair, &control.with_task(&*task))?;
            if let Some((held_out, source, counted)) = &apart {
                let labels = &*held_out.labels;
                let design = Design { data: counted, source, labels };
                platt.push(self.sigmoid(&design, pair, &pair_rows(pair, labels), &held_out.folds, &task, control)?);
            }
            coef.extend_from_slice(&solution.w);
            intercept.push(solution.b);
            fits.push(report);
        }
        let memory = memory::bytes(&map, data.components());
        let coef = Array2::from_shape_vec((intercept.len(), map.n_columns()), coef)
            .map_err(|e| Error::Internal(format!("coefficients of one fit: {e}")))?;
        let platt = apart.is_some().then_some(platt);
        drop((source, apart));
        let n_classes = labels.n_classes();
        Ok(Model { map, sigma, coef, intercept, n_classes, fits, platt, memory })
    }

    /// The hyperplane between two classes, fitted to some rows of them.
    fn solve(
        &self,
        design: &Design<'_>,
        pair: Pair,
        rows: &[usize],
        control: &Control,
    ) -> Result<(Solution, FitReport)> {
        let labels = design.labels;
        let targets: Vec<f64> = rows.iter().map(|&i| pair.target(labels, i)).collect();
        let weights = Weights::new(rows.iter().map(|&i| labels.weight(i)).collect())?;
        let all = rows.len() == design.data.n_rows();
        let (part, taken);
        let (data, source) = if all {
            (design.data, design.source)
        } else {
            (part, taken) = (design.data.take(rows)?, design.source.take(rows)?);
            (&part, &*taken)
        };
        let problem = Problem {
            data,
            targets: (&targets).into(),
            weights: Some(&weights),
            alpha: 1.0 / (self.0.c * weights.total()),
            fit_intercept: true,
            loss: &Hinge,
        };
        let solution = fit_source(&problem, source, SolverKind::Auto, &self.0.options, None, control)?;
        // The solver's J is an average; the C-SVM's objective is C times the sum of weights larger.
        let report =
            FitReport { objective: solution.objective * self.0.c * weights.total(), ..FitReport::from(&solution) };
        Ok((solution, report))
    }

    /// The sigmoid of a pair, from scores of rows that were held out.
    fn sigmoid(
        &self,
        design: &Design<'_>,
        pair: Pair,
        of_pair: &[usize],
        folds: &Folds,
        task: &str,
        control: &Control,
    ) -> Result<Sigmoid> {
        let mut held_out = vec![];
        for fold in 0..folds.count() {
            let (out, rest): (Vec<usize>, Vec<usize>) = of_pair.iter().partition(|&&i| folds.fold(i) == Some(fold));
            let (solution, _) = self.solve(design, pair, &rest, &control.with_task(folds.task(task, fold)))?;
            let coef = Array2::from_shape_vec((1, solution.w.len()), solution.w)
                .map_err(|e| Error::Internal(format!("coefficients of a fold: {e}")))?;
            let taken = design.source.take(&out)?;
            let scores = fitted::scores(&*taken, coef.view(), &[solution.b], control)?;
            held_out.extend(out.into_iter().zip(scores));
        }
        pair.sigmoid(design.labels, &held_out, control)
    }
}

/// Gaussians, one for each row.
fn counted(data: &MixtureArray) -> Result<GaussianArray> {
    if data.is_gaussian() {
        return Ok(data.components().clone());
    }
    GaussianArray::exact(Rows::from_vec(vec![0.0; data.n_rows()], 1)?)
}

/// The numbers of the rows of a pair of classes.
fn pair_rows(pair: Pair, labels: &Labels) -> Vec<usize> {
    (0..labels.len()).filter(|&i| pair.holds(labels, i)).collect()
}
