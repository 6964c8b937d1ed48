//! Throw away part of the covariances: the baselines "no error bars" and "one error bar per row".

use crate::data::covariance::{Diagonal, Isotropic, Structure};
use crate::data::{Covariances, GaussianArray, Incomplete, Rows, Unit};
use crate::error::Result;
use crate::named::named;

/// Form of the covariances that are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Collapse {
    /// Nothing: exact points.
    Zero,
    /// (tr S_i / d) I: the mean variance of the row.
    Isotropic,
    /// The diagonal of S_i.
    Diagonal,
}

named!(Collapse, "collapse");

impl GaussianArray {
    /// These means with simpler covariances. Covariances that are simple enough stay as they are.
    pub fn collapse(&self, to: Collapse) -> Result<GaussianArray> {
        self.collapsed(to, |_| self.n_features())
    }

    /// With so many features that a row has.
    fn collapsed(&self, to: Collapse, known: impl Fn(usize) -> usize) -> Result<GaussianArray> {
        let (n, d) = (self.n_rows(), self.n_features());
        let from = self.covariances();
        let covariances = match (to, from.structure()) {
            (Collapse::Zero, _) => Covariances::Zero,
            (_, Structure::Zero | Structure::Isotropic) | (Collapse::Diagonal, Structure::Diagonal) => from.clone(),
            (Collapse::Isotropic, _) => {
                let mut values = self.traces()?;
                values.iter_mut().enumerate().for_each(|(row, v)| *v /= known(row) as f64);
                Isotropic { values: Rows::from_owned(values, n, 1), unit: Unit::Variance }.into()
            }
            (Collapse::Diagonal, _) => {
                let values = Rows::written(n, d, |row, out| {
                    from.variances(row, out);
                    // A singular matrix may have -1e-18 on its diagonal.
                    out.iter_mut().for_each(|v| *v = v.max(0.0));
                    Ok(())
                })?;
                Diagonal { values, unit: Unit::Variance }.into()
            }
        };
        Ok(GaussianArray::from_checked(self.means().clone(), covariances))
    }
}

impl Incomplete<'_> {
    /// The rows with simpler covariances, of what is there.
    pub(crate) fn collapse(&self, to: Collapse) -> Result<GaussianArray> {
        let d = self.gaussians().n_features();
        let known = |row: usize| (0..d).filter(|&j| !self.is_filler(row, j)).count().max(1);
        self.without_fillers()?.collapsed(to, known)
    }
}
