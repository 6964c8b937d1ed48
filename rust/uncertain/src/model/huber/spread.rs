//! How much a value f(x) = sum_a c^a K^a(x) w^a varies under the noise of the row x ~ N(m, S): exactly.
//!
//! - rbf: f is a mean over noise, and so has a variance (see `kernel/probabilistic_rbf/distribution.rs`);
//! - linear: f = w'x with w_j = sum_i c w_i m_ij / s_j^2 over all linear views (s: their scales), of variance w'S w;
//! - other kernels know no noise, and rows must be exact points.
//!
//! Variances of several views add up where their noise is independent: no feature in two of them, and
//! covariances without elements off the diagonal. Else they are refused, not guessed.

use ndarray::Array2;

use crate::control::Control;
use crate::data::GaussianArray;
use crate::data::covariance::Kind;
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::{Coupling, RbfOptions, score_variances};
use crate::model::linear::scores;

use super::fitted::FittedView;
use super::source::Kernel;

/// Elements of a kernel block that is computed at a time.
const BLOCK: usize = 1 << 22;

/// Variances of the outputs at new rows, n x outputs; `rows` are those of the fit.
pub(super) fn variances(
    parts: &[FittedView],
    new: &GaussianArray,
    rows: Option<&GaussianArray>,
    outputs: usize,
    control: &Control,
) -> Result<Array2<f64>> {
    let mut out = Array2::zeros((new.n_rows(), outputs));
    let Some(rows) = rows else { return Ok(out) };
    let kind = |rows: &GaussianArray| rows.covariances().kind();
    let shared = |part: &FittedView| matches!(part.kernel, Kernel::Rbf { coupling: Coupling::Shared, .. });
    let moving = kind(rows) != Kind::Zero && parts.iter().any(shared);
    if kind(new) == Kind::Zero && !moving {
        return Ok(out);
    }
    if let Some(part) = parts.iter().find(|part| !matches!(part.kernel, Kernel::Rbf { .. } | Kernel::Linear)) {
        return Err(Error::Data(format!(
            "decision_distribution: the {} kernel knows no error bars; use \"rbf\" or \"linear\", or exact points",
            part.kernel.name()
        )));
    }
    let curved: Vec<&FittedView> = parts.iter().filter(|part| part.kernel != Kernel::Linear).collect();
    if parts.len() > 1 && !curved.is_empty() {
        independent(parts, new, rows)?;
    }
    if curved.len() < parts.len() {
        for k in 0..outputs {
            let values = scores::stds(new, &slope(parts, rows, k))?;
            out.column_mut(k).iter_mut().zip(values).for_each(|(v, s)| *v += s * s);
        }
    }
    for part in curved {
        add_curved(&mut out, part, new, rows, control)?;
    }
    Ok(out)
}

/// w of all linear views together.
fn slope(parts: &[FittedView], rows: &GaussianArray, output: usize) -> Vec<f64> {
    let d = rows.n_features();
    let mut w = vec![0.0; d];
    for part in parts.iter().filter(|part| part.kernel == Kernel::Linear) {
        let columns = part.columns.clone().unwrap_or_else(|| (0..d).collect());
        for (i, coef) in part.coef.column(output).iter().enumerate().filter(|(_, coef)| **coef != 0.0) {
            let row = rows.means().row(i);
            for (k, &j) in columns.iter().enumerate() {
                let scale = part.scales.as_ref().map_or(1.0, |scales| scales[k]);
                w[j] += part.weight * coef * (row[j] / scale) / scale;
            }
        }
    }
    w
}

fn add_curved(
    out: &mut Array2<f64>,
    part: &FittedView,
    new: &GaussianArray,
    rows: &GaussianArray,
    control: &Control,
) -> Result<()> {
    let Kernel::Rbf { coupling, .. } = part.kernel else { return Ok(()) };
    let used = part.used();
    if used.is_empty() {
        return Ok(());
    }
    let support = part.features(&rows.take(&used)?)?;
    let coef = Array2::from_shape_fn((used.len(), out.ncols()), |(i, k)| part.weight * part.coef[[used[i], k]]);
    let options = RbfOptions { coupling, ..RbfOptions::new(part.kernel.sigma()) };
    let step = (BLOCK / used.len()).clamp(1, new.n_rows().max(1));
    for first in (0..new.n_rows()).step_by(step) {
        let some = part.features(&new.slice(first..new.n_rows().min(first + step)))?;
        let found = score_variances(&some, &support, coef.view(), &options, control)?;
        for (i, row) in found.outer_iter().enumerate() {
            row.iter().enumerate().for_each(|(k, v)| out[[first + i, k]] += v);
        }
    }
    Ok(())
}

/// Refuses views whose values vary together.
fn independent(parts: &[FittedView], new: &GaussianArray, rows: &GaussianArray) -> Result<()> {
    let refused = |why: &str| {
        Err(Error::Data(format!(
            "decision_distribution: {why}, so that the variances of the views do not add up; \
             collapse(\"diagonal\"), or use one view"
        )))
    };
    let mut seen = vec![false; rows.n_features()];
    for part in parts {
        let all = (0..rows.n_features()).collect();
        for &column in part.columns.as_ref().unwrap_or(&all) {
            if std::mem::replace(&mut seen[column], true) {
                return refused(&format!("feature {column} is in two views"));
            }
        }
    }
    let coupled = |rows: &GaussianArray| !rows.covariances().structure().is_diagonal();
    if coupled(new) || coupled(rows) {
        return refused("the covariances have elements off the diagonal");
    }
    Ok(())
}
