//! Cross-validation along a path of alphas: the loss that the fit minimises, on rows that it has not seen.
//!
//! E L(r_i + s_i Z) with r_i = y_i - w'x_i - b and s_i^2 = w'S_i w + t_i^2 is what the objective has for every row, so
//! outliers count as in the fit, and so do error bars. Squared errors of the means would ask another question.

use super::{Params, ValidParams};
use crate::control::Control;
use crate::data::weights::{Present, TakeRows};
use crate::data::{GaussianArray, Targets};
use crate::error::Result;
use crate::loss::{LossEval, LossKind, Scores};
use crate::model::linear::LinearRegressor;
use crate::model::penalty_path::{TOL, regression_path};
use crate::parallel;
use crate::solver::Options;
use crate::state::PenaltyPath;

impl ValidParams {
    /// Held-out mean losses of these alphas, the largest first, by cross-validation of warm-started fits; the alpha of
    /// the parameters does not matter. Rows of one group are held out together.
    pub(crate) fn path(
        &self,
        data: &GaussianArray,
        targets: &Targets,
        groups: Option<&[u32]>,
        alphas: &[f64],
        control: &Control,
    ) -> Result<PenaltyPath> {
        targets.check_rows(data.n_rows())?;
        let present = Present::new(data, targets)?;
        let (data, targets, groups) = (&present.data, &*present.known, present.groups(groups)?);
        let options = Options { tol: self.0.options.tol.max(TOL), ..self.0.options };
        let of_fold = |kept: &[usize], held: &[usize], control: &Control| {
            let (train, test) = (data.take(kept)?, data.take(held)?);
            let (known, unknown) = (targets.take(kept)?, targets.take(held)?);
            let mut start: Option<LinearRegressor> = None;
            let along = alphas.iter().map(|&alpha| {
                let params = Params { alpha, options, ..self.0.clone() }.check()?;
                let model = params.fit_from(&train, &known, start.as_ref(), control)?;
                let losses = losses(self.0.loss, &model, &test, &unknown);
                start = Some(model);
                losses
            });
            along.collect()
        };
        parallel::install(control.threads(), || {
            regression_path(&data.sets()?, (targets, groups.as_deref()), alphas, control, of_fold)
        })?
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
