//! Cross-validation along a path of alphas: the loss that the fit minimises, on rows that it has not seen.
//!
//! E L(r_i + s_i Z) with r_i = y_i - w'x_i - b and s_i^2 = w'S_i w + t_i^2 is what the objective has for every row, so
//! outliers count as in the fit, and so do error bars. Squared errors of the means would ask another question.

use ndarray::Array2;

use super::{Params, ValidParams};
use crate::control::Control;
use crate::data::weights::Present;
use crate::data::{GaussianArray, Targets};
use crate::error::{Error, Result};
use crate::loss::{LossEval, LossKind, Scores};
use crate::model::linear::LinearRegressor;
use crate::model::penalty_path::{TOL, check_penalties, deal_folds};
use crate::parallel;
use crate::state::PenaltyPath;

impl ValidParams {
    /// Held-out mean losses of these alphas, the largest first, by cross-validation of warm-started fits; the alpha of
    /// the parameters does not matter. Rows of one group are held out together.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit), and fewer than two rows or groups.
    pub(crate) fn path(
        &self,
        data: &GaussianArray,
        targets: &Targets,
        groups: Option<&[u32]>,
        alphas: &[f64],
        control: &Control,
    ) -> Result<PenaltyPath> {
        check_penalties(alphas)?;
        targets.check_rows(data.n_rows())?;
        let present = Present::new(data, targets)?;
        let (data, targets) = (&present.data, &*present.known);
        let n = targets.len();
        if let Some(groups) = groups.filter(|groups| groups.len() != present.all_rows()) {
            return Err(Error::shape("groups", format!("{}, one per row", present.all_rows()), groups.len()));
        }
        let groups: Option<Vec<u32>> = groups.map(|groups| (0..n).map(|i| groups[present.number(i)]).collect());
        let folds = deal_folds(n, groups.as_deref())?;
        let of_alphas = alphas.iter().map(|&alpha| {
            let options = crate::solver::Options { tol: self.0.options.tol.max(TOL), ..self.0.options };
            Params { alpha, options, ..self.0.clone() }.check()
        });
        let params: Vec<Self> = of_alphas.collect::<Result<_>>()?;
        let count = folds.iter().max().map_or(0, |last| *last + 1);
        let run_fold = |fold: u32| {
            let (held, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| folds[i] == fold);
            let (train, test) = (data.take(&kept)?, data.take(&held)?);
            let (known, unknown) = (targets.take(&kept)?, targets.take(&held)?);
            let control = control.with_task(format!("path, fold {} of {count}", fold + 1));
            let mut start: Option<LinearRegressor> = None;
            let mut found = vec![];
            for params in &params {
                let model = params.fit_from(&train, &known, start.as_ref(), &control)?;
                found.push(losses(self.0.loss, &model, &test, &unknown)?);
                start = Some(model);
            }
            Ok((held, found))
        };
        let parts = parallel::install(control.threads(), || {
            parallel::map_fine(count as usize, |part| {
                part.map(|fold| run_fold(fold as u32)).collect::<Result<Vec<_>>>()
            })
        })??;
        let mut table = Array2::zeros((alphas.len(), n));
        for (held, found) in parts.into_iter().flatten() {
            for (k, losses) in found.iter().enumerate() {
                held.iter().zip(losses).for_each(|(&i, loss)| table[[k, i]] = *loss);
            }
        }
        if table.iter().any(|loss: &f64| !loss.is_finite()) {
            return Err(Error::Data("held-out losses overflow; divide the targets by a constant".into()));
        }
        PenaltyPath::new(&table, &folds, targets.weights())
    }
}

/// The loss of every row under its error bars and the target's.
fn losses(loss: LossKind, model: &LinearRegressor, rows: &GaussianArray, targets: &Targets) -> Result<Vec<f64>> {
    let (m, stds) = model.predict_distribution(rows)?;
    let v: Vec<f64> = stds.iter().map(|s| s * s).collect();
    let mut eval = vec![LossEval::default(); m.len()];
    let loss = loss.build(targets.variances().map(<[f64]>::to_vec));
    loss.eval(&Scores { first: 0, y: targets.values(), m: &m, v: &v, width: 0.0 }, &mut eval);
    Ok(eval.iter().map(|e| e.value).collect())
}
