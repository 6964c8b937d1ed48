//! Symmetric square roots: R_i = R_i' >= 0 with R_i R_i = S_i.

use crate::data::covariance::{packed_len, unpack_into};
use crate::data::{Covariances, GaussianArray};
use crate::error::Result;
use crate::linalg::Eigh;
use crate::memory::zeros;
use crate::parallel;

impl Covariances {
    /// The symmetric square root of S of one row in d dimensions: d x d, row-major.
    pub fn sqrt(&self, row: usize, d: usize) -> Result<Vec<f64>> {
        let mut out = vec![0.0; d * d];
        self.sqrt_into(row, d, &mut None, &mut out)?;
        Ok(out)
    }

    /// [`Covariances::sqrt`] into d x d zeros, with a workspace kept between rows.
    fn sqrt_into(&self, row: usize, d: usize, workspace: &mut Option<Eigh>, out: &mut [f64]) -> Result<()> {
        if self.structure().is_diagonal() {
            let mut variances = vec![0.0; d];
            self.variances(row, &mut variances);
            (0..d).for_each(|i| out[i * d + i] = variances[i].sqrt());
            return Ok(());
        }
        let eigh = workspace.get_or_insert_with(|| Eigh::new(d));
        let mut packed = vec![0.0; packed_len(d)];
        self.triangle(row, d, &mut packed);
        eigh.packed(&packed)?;
        unpack_into(&eigh.function(|x| x.max(0.0).sqrt()), d, out);
        Ok(())
    }
}

impl GaussianArray {
    /// The symmetric square roots of all covariances: n dense d x d matrices, one after the other.
    pub fn roots(&self) -> Result<Vec<f64>> {
        let d = self.n_features();
        if self.covariances().common().is_some() {
            let mut out = zeros(self.n_rows(), d * d)?;
            let root = self.covariances().sqrt(0, d)?;
            out.chunks_exact_mut(d * d).for_each(|o| o.copy_from_slice(&root));
            return Ok(out);
        }
        let (n, eigh) = (self.n_rows(), || None);
        parallel::new_rows_with(n, d * d, eigh, |eigh, row, out| self.covariances().sqrt_into(row, d, eigh, out))
    }
}
