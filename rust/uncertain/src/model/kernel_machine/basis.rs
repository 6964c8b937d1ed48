//! [`Basis`]: the support rows and their kernel, all that a fitted machine keeps of the data.

use ndarray::{Array2, ArrayView2, Axis};

use crate::control::Control;
use crate::data::{GaussianArray, MixtureArray};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::{Coupling, RbfOptions, folded, score_variances};
use crate::params::check_positive;
use crate::readable::readable;

/// Bytes of kernel values at a time.
const BLOCK: usize = 64 << 20;

readable! {
    /// Support rows with the kernel that leads from new rows to them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Basis {
        /// The support rows.
        rows: GaussianArray => &GaussianArray,
        /// The bandwidth.
        sigma: f64 => f64,
        /// The coupling.
        coupling: Coupling => Coupling,
    }
}

impl Basis {
    /// A basis from its parts.
    pub(crate) fn new(rows: GaussianArray, sigma: f64, coupling: Coupling) -> Result<Self> {
        check_positive("sigma", sigma)?;
        // One layout: models are equal when their numbers are.
        let rows = rows.with_triangles()?;
        Ok(Self { rows, sigma, coupling })
    }

    fn options(&self) -> RbfOptions {
        RbfOptions { sigma: self.sigma, coupling: self.coupling, max_bytes: None }
    }

    /// `work` on the kernel values of `data`, some rows after the other; its answers below each other.
    pub(crate) fn map(
        &self,
        data: &MixtureArray,
        control: &Control,
        work: impl Fn(ArrayView2<'_, f64>) -> Result<Array2<f64>>,
    ) -> Result<Array2<f64>> {
        let (rows, options) = (MixtureArray::from(&self.rows), self.options());
        self.blocks(data, |block| work(folded(block, Some(&rows), &options, control)?.view()))
    }

    /// The variances of the scores with these coefficients (support rows x P), n x P; see `score_variances`.
    pub(crate) fn variances(
        &self,
        data: &GaussianArray,
        coef: ArrayView2<'_, f64>,
        control: &Control,
    ) -> Result<Array2<f64>> {
        let of = |block: &MixtureArray| score_variances(block.components(), &self.rows, coef, &self.options(), control);
        self.blocks(&data.into(), of)
    }

    fn blocks(&self, data: &MixtureArray, work: impl Fn(&MixtureArray) -> Result<Array2<f64>>) -> Result<Array2<f64>> {
        data.components().check_features(self.rows.n_features())?;
        let n = data.n_rows();
        let size = (BLOCK / (size_of::<f64>() * self.rows.n_rows().max(1))).clamp(1, n.max(1));
        let mut out = work(&data.slice(0..size.min(n)))?;
        for first in (size..n).step_by(size) {
            let more = work(&data.slice(first..n.min(first + size)))?;
            out.append(Axis(0), more.view()).map_err(|e| Error::Internal(format!("blocks of rows: {e}")))?;
        }
        Ok(out)
    }
}
