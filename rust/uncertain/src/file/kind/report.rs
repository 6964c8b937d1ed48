//! How fits ended, and the sigmoids of probabilities: the same in every kind of model.

use serde::{Deserialize, Serialize};

use super::TakeTensor;
use crate::error::{Error, Result};
use crate::file::container::Tensor;
use crate::model::FitReport;
use crate::model::platt::Sigmoid;

/// JSON has no NaN: a number that is not known is null.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Fit {
    objective: Option<f64>,
    gap: Option<f64>,
    n_iter: usize,
    status: String,
}

impl Fit {
    pub fn of(fit: &FitReport) -> Self {
        let known = |x: f64| x.is_finite().then_some(x);
        Self {
            objective: known(fit.objective),
            gap: known(fit.gap),
            n_iter: fit.n_iter,
            status: fit.status.name().to_owned(),
        }
    }

    pub fn report(self) -> Result<FitReport> {
        let status = self.status.parse().map_err(|e: Error| Error::ModelFile(e.to_string()))?;
        let (objective, gap) = (self.objective.unwrap_or(f64::NAN), self.gap.unwrap_or(f64::NAN));
        Ok(FitReport { objective, gap, n_iter: self.n_iter, status })
    }
}

/// The tensor `platt`: a and b of each sigmoid.
pub(super) fn write_platt(sigmoids: &[Sigmoid]) -> Tensor {
    Tensor { shape: vec![sigmoids.len(), 2], values: sigmoids.iter().flat_map(|s| [s.a, s.b]).collect() }
}

/// `count` sigmoids, if the header promises them.
pub(super) fn read_platt(promised: bool, count: usize, take: &mut TakeTensor<'_>) -> Result<Option<Vec<Sigmoid>>> {
    if !promised {
        return Ok(None);
    }
    Ok(Some(take("platt", &[count, 2])?.chunks_exact(2).map(|s| Sigmoid { a: s[0], b: s[1] }).collect()))
}
