//! Gram matrices of point kernels.
//!
//! Kernels of x'z are one matrix product per strip of rows and k applied to its elements in cache. The
//! RBF kernel goes through the Gram matrices of Gaussians without spread: eight pairs in lanes, distances
//! summed from differences, where |x|^2 + |z|^2 - 2 x'z of a matrix product would cancel.

use ndarray::Array2;

use super::PointKernel;
use crate::control::Control;
use crate::data::{GaussianArray, Rows};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::{self, RbfOptions};
use crate::memory::zeros;
use crate::{linalg, parallel};

/// Rows per matrix product.
const STRIP: usize = 64;

impl PointKernel {
    /// K between the rows of `x` and those of `z`, or (`None`) of `x` itself: n x m, row-major.
    ///
    /// Without `z` the result is exactly symmetric. Runs on the pool of the enclosing
    /// [`parallel::install`]; the result does not depend on the number of threads.
    ///
    /// # Errors
    /// For different widths, parameters out of range, too much memory, and [`Error::Interrupted`].
    pub fn gram(&self, x: &Rows, z: Option<&Rows>, control: &Control) -> Result<Array2<f64>> {
        let kernel = self.check()?;
        if let Some(z) = z.filter(|z| z.width() != x.width()) {
            return Err(Error::shape("Z", format!("{} features as in X", x.width()), z.width()));
        }
        if let Self::Rbf { gamma } = kernel {
            let points = |rows: &Rows| GaussianArray::exact(rows.clone());
            let (x, z) = (points(x)?, z.map(points).transpose()?);
            return probabilistic_rbf::gram(&x, z.as_ref(), &RbfOptions::new((0.5 / gamma).sqrt()), control);
        }
        let shape = (x.n_rows(), z.unwrap_or(x).n_rows());
        let values = kernel.products(x, z, control)?;
        Array2::from_shape_vec(shape, values).map_err(|e| Error::Internal(format!("Gram matrix: {e}")))
    }

    fn products(&self, x: &Rows, z: Option<&Rows>, control: &Control) -> Result<Vec<f64>> {
        let (n, m, d) = (x.n_rows(), z.unwrap_or(x).n_rows(), x.width());
        let mut out = zeros(n, m)?;
        let right = z.unwrap_or(x).contiguous();
        parallel::fill_rows(&mut out, m, |rows, out| {
            let mut products = vec![];
            for first in rows.clone().step_by(STRIP) {
                control.check()?;
                let count = STRIP.min(rows.end - first);
                // The lower triangle is enough where the matrix is symmetric.
                let columns = if z.is_none() { first + count } else { m };
                let left = x.slice(first..first + count).to_vec();
                products.resize(count * columns, 0.0);
                linalg::gemm_nt(&left, &right[..columns * d], d, &mut products);
                for (line, products) in out[(first - rows.start) * m..].chunks_mut(m).zip(products.chunks(columns)) {
                    line.iter_mut().zip(products).for_each(|(o, t)| *o = self.jet(*t).value);
                }
            }
            Ok(())
        })?;
        if z.is_none() {
            mirror(&mut out, n);
        }
        Ok(out)
    }
}

/// The lower triangle into the upper one, block by block.
fn mirror(matrix: &mut [f64], n: usize) {
    for rows in (0..n).step_by(STRIP) {
        for columns in (0..=rows).step_by(STRIP) {
            for i in rows..n.min(rows + STRIP) {
                for j in columns..i.min(columns + STRIP) {
                    matrix[j * n + i] = matrix[i * n + j];
                }
            }
        }
    }
}
