//! A fitted model: coefficients on the rows of the fit, and how the refinements went.

use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::model::platt::Sigmoid;
use crate::number;
use crate::parallel;

use super::refine::{Ending, Refinement};
use super::source::Kernel;
use super::units;

/// Elements of a kernel block that is computed at a time.
const BLOCK: usize = 1 << 22;

/// One view of a fitted model.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedView {
    /// Its features; `None`: all.
    pub columns: Option<Vec<usize>>,
    /// Its kernel, gamma known.
    pub kernel: Kernel,
    /// Divisors of its features; `None`: 1.
    pub scales: Option<Vec<f64>>,
    /// Its weight c.
    pub weight: f64,
    /// w: n x outputs.
    pub coef: Array2<f64>,
}

impl FittedView {
    /// Numbers of the rows that have coefficients. Unlabelled rows without a graph have none, and their kernel need
    /// not be known.
    pub(super) fn used(&self) -> Vec<usize> {
        (0..self.coef.nrows()).filter(|&i| self.coef.row(i).iter().any(|w| *w != 0.0)).collect()
    }

    /// The features of this view, in its units.
    pub(super) fn features(&self, rows: &GaussianArray) -> Result<GaussianArray> {
        units::features(self.columns.as_deref(), self.scales.as_deref(), rows)
    }
}

/// How the refinements of one output went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Outcome {
    /// Added to every prediction.
    #[serde(with = "number")]
    pub intercept: f64,
    /// xi(0), xi(1), ...: strictly decreasing.
    #[serde(skip)]
    pub thresholds: Vec<f64>,
    /// Numbers of the rows whose labels were dropped, in the order of the refinements.
    #[serde(skip)]
    pub removed: Vec<usize>,
    /// Their residuals when they were dropped.
    #[serde(skip)]
    pub removed_residuals: Vec<f64>,
    /// One entry per refinement.
    pub history: Vec<Refinement>,
    /// The objective on the labels that remain.
    #[serde(with = "number")]
    pub objective: f64,
    /// Newton steps in all.
    pub steps: usize,
    /// Why the refinements ended.
    pub ending: Ending,
}

/// A fitted Huber regression.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The views.
    pub parts: Vec<FittedView>,
    /// The outputs.
    pub outcomes: Vec<Outcome>,
    /// One sigmoid per output, when probabilities were fitted.
    pub platt: Option<Vec<Sigmoid>>,
    /// Labelled rows of positive weight.
    pub n_labelled: usize,
}

/// Values of the outputs at new rows, n x outputs, from the parts of a model; a precomputed kernel needs no rows of the fit.
pub(super) fn predict(
    parts: &[FittedView],
    intercepts: &[f64],
    new: &GaussianArray,
    rows: Option<&GaussianArray>,
    control: &Control,
) -> Result<Array2<f64>> {
    let mut out = Array2::from_shape_fn((new.n_rows(), intercepts.len()), |(_, k)| intercepts[k]);
    for part in parts {
        let rows = rows.filter(|_| part.kernel != Kernel::Precomputed);
        let of_fit = part.coef.nrows();
        let (n, d) = rows.map_or((of_fit, of_fit), |rows| (rows.n_rows(), rows.n_features()));
        if part.coef.dim() != (n, intercepts.len()) {
            let expected = format!("{n} x {}", intercepts.len());
            return Err(Error::shape("coefficients", expected, format!("{:?}", part.coef.dim())));
        }
        if new.n_features() != d {
            return Err(Error::shape("X", format!("{d} features as in the fit"), new.n_features()));
        }
        let used = part.used();
        if used.is_empty() {
            continue;
        }
        let support = rows.map(|rows| part.features(&rows.take(&used)?)).transpose()?;
        let coef: Vec<Array1<f64>> =
            (0..intercepts.len()).map(|k| used.iter().map(|&i| part.weight * part.coef[[i, k]]).collect()).collect();
        let step = (BLOCK / used.len()).clamp(1, new.n_rows().max(1));
        for first in (0..new.n_rows()).step_by(step) {
            let last = new.n_rows().min(first + step);
            let some = part.features(&new.slice(first..last))?;
            let block = match &support {
                Some(support) => part.kernel.between(&some, support, control)?,
                // New rows are kernel values to all rows of the fit.
                None => Array2::from_shape_fn((last - first, used.len()), |(i, j)| some.means().at(i, used[j])),
            };
            for (k, coef) in coef.iter().enumerate() {
                let values = parallel::map_parts(last - first, |range| {
                    range.map(|i| row_dot(&block, i, coef)).collect::<Vec<f64>>()
                })?;
                for (i, value) in values.into_iter().flatten().enumerate() {
                    out[[first + i, k]] += value;
                }
            }
        }
    }
    Ok(out)
}

fn row_dot(block: &Array2<f64>, i: usize, coef: &Array1<f64>) -> f64 {
    match (block.row(i).as_slice(), coef.as_slice()) {
        (Some(row), Some(coef)) => crate::simd::dot(row, coef),
        _ => block.row(i).dot(coef),
    }
}
