//! From a [`Problem`] to its objective: sizes and values are checked once.

use super::{LinearObjective, LocalRows, Problem};
use crate::data::Weights;
use crate::error::{Error, Result};
use crate::loss::TargetKind;
use crate::params::check_positive;

impl<'a> Problem<'a> {
    /// Check sizes and values, once, before any work.
    pub fn check(self) -> Result<LinearObjective<'a>> {
        check_positive("alpha", self.alpha)?;
        self.check_rows()
    }

    /// [`check`](Self::check) of a problem without a penalty, for losses that need none.
    pub(crate) fn unpenalised(self) -> Result<LinearObjective<'a>> {
        Self { alpha: 0.0, ..self }.check_rows()
    }

    fn check_rows(self) -> Result<LinearObjective<'a>> {
        let n = self.data.n_rows();
        if n == 0 {
            return Err(Error::Data("no rows: at least two rows of different classes are needed".into()));
        }
        if self.targets.len() != n {
            return Err(Error::shape("targets", format!("{n} elements, one per row"), self.targets.len()));
        }
        let (fits, expected): (fn(f64) -> bool, _) = match self.loss.targets() {
            TargetKind::Real => (|y| y.is_finite(), "finite"),
            TargetKind::Signs => (|y| y.abs() == 1.0, "-1 or +1"),
        };
        if let Some(row) = self.targets.iter().position(|y| !fits(y)) {
            return Err(Error::Data(format!("target of row {row} is {}: must be {expected}", self.targets.at(row))));
        }
        self.weights.map_or(Ok(()), |weights| weights.check_rows(n))?;
        let total = self.weights.map_or(n as f64, Weights::total);
        Ok(LinearObjective::new(LocalRows { problem: self, source: None, scale: 1.0 / total }))
    }
}
