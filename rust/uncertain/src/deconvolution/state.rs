//! Mixtures, and the way to them, in files and other languages: `weights` (K), `means` (K x d), `covariances` (K packed
//! triangles); `history`, and `held_out` where the number of components was chosen.

use serde::{Deserialize, Serialize};

use super::{Mixture, Report};
use crate::data::covariance::packed_len;
use crate::error::{Error, Result};
use crate::solver::Status;
use crate::state::{Arrays, Parts};

/// Beyond it the packed triangle of one matrix exceeds the largest file.
const MAX_FEATURES: usize = 1 << 20;

impl Mixture {
    pub(crate) fn write(&self, arrays: &mut Arrays) {
        let (k, d) = (self.n_components(), self.n_features());
        arrays.vector("weights", self.weights());
        arrays.put("means", &[k, d], self.means());
        arrays.put("covariances", &[k, packed_len(d)], self.covariances());
    }

    pub(crate) fn read(parts: &mut Parts<'_>) -> Result<Self> {
        let means = parts.matrix("means")?;
        let (k, d) = means.dim();
        if k == 0 || d == 0 || d > MAX_FEATURES {
            return Err(Error::ModelFile(format!("a mixture cannot have {k} components in {d} dimensions")));
        }
        let weights = parts.shaped("weights", &[k])?;
        let covariances = parts.shaped("covariances", &[k, packed_len(d)])?;
        Self::from_packed(weights, means.into_raw_vec_and_offset().0, covariances, d)
    }
}

/// A [`Report`] without its arrays.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportHeader {
    n_iter: usize,
    status: Status,
}

impl Report {
    pub(crate) fn write(&self, arrays: &mut Arrays) -> ReportHeader {
        arrays.vector("history", &self.history);
        self.held_out.iter().for_each(|held_out| arrays.vector("held_out", held_out));
        ReportHeader { n_iter: self.n_iter, status: self.status }
    }
}

impl ReportHeader {
    pub(crate) fn read(self, parts: &mut Parts<'_>) -> Result<Report> {
        let held_out = parts.optional("held_out")?.map(|tensor| tensor.values);
        Ok(Report { history: parts.vector("history")?, n_iter: self.n_iter, status: self.status, held_out })
    }
}
