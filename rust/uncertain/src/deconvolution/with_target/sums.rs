//! Sums over rows that the derivatives of the likelihood of one component need, as one matrix product: of W = (T + S_i)^{-1},
//! of products of two of its elements, and of one of them with one or two elements of a = W r, r the row less the component's mean.

use crate::control::Control;
use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::deconvolution::with_target::precision::{Precision, Weight};
use crate::error::{Error, Result};
use crate::linalg::gemm;
use crate::parallel;

/// Rows per product.
const BLOCK: usize = 64;
/// Parts whose sums are held at once.
const PARTS: usize = 4;

/// Sums over rows.
pub(crate) struct Sums {
    /// Features.
    pub m: usize,
    /// The log-likelihood.
    pub log_likelihood: f64,
    /// packed W times (packed W, packed a a', a, 1).
    pub products: Vec<f64>,
    /// Of a, then of the packed a a'.
    pub linear: Vec<f64>,
}

impl Sums {
    pub(crate) fn width(m: usize) -> usize {
        2 * packed_len(m) + m + 1
    }

    pub(crate) fn add_up(
        component: &Mixture,
        rows: Incomplete<'_>,
        some: &[usize],
        weight: Weight<'_>,
        control: &Control,
    ) -> Result<Self> {
        let m = component.n_features();
        let (len, width) = (packed_len(m), Self::width(m));
        let parts = parallel::map_parts_at_most(some.len(), PARTS, |part| -> Result<Self> {
            let mut sums =
                Self { m, log_likelihood: 0.0, products: vec![0.0; len * width], linear: vec![0.0; m + len] };
            let (mut left, mut right) = (vec![0.0; len * BLOCK], vec![0.0; BLOCK * width]);
            let mut precision = Precision::new(component);
            for block in some[part].chunks(BLOCK) {
                control.check()?;
                for (k, &i) in block.iter().enumerate() {
                    let log_density = precision.whole_row(rows, i)?;
                    let right = &mut right[k * width..(k + 1) * width];
                    precision.fill(right);
                    let c = weight(i);
                    sums.log_likelihood += c * log_density;
                    (0..len).for_each(|p| left[p * block.len() + k] = c * right[p]);
                    let (aa, a) = (&right[len..2 * len], &right[2 * len..2 * len + m]);
                    sums.linear.iter_mut().zip(a.iter().chain(aa)).for_each(|(s, x)| *s += c * x);
                }
                gemm(&left, &right, (len, block.len(), width), true, &mut sums.products);
            }
            Ok(sums)
        })?;
        let mut all = Self { m, log_likelihood: 0.0, products: vec![0.0; len * width], linear: vec![0.0; m + len] };
        for part in parts {
            let part = part?;
            all.log_likelihood += part.log_likelihood;
            all.products.iter_mut().zip(&part.products).for_each(|(a, b)| *a += b);
            all.linear.iter_mut().zip(&part.linear).for_each(|(a, b)| *a += b);
        }
        Ok(all)
    }

    /// All numbers, to be added to those of other rows.
    pub(crate) fn flat(self) -> Vec<f64> {
        [vec![self.log_likelihood], self.products, self.linear].concat()
    }

    /// Inverse of [`flat`](Self::flat), of m numbers per row.
    pub(crate) fn from_flat(m: usize, flat: &[f64]) -> Result<Self> {
        let products = packed_len(m) * Self::width(m);
        let len = 1 + products + m + packed_len(m);
        if flat.len() != len {
            return Err(Error::shape("sums of the rows", len, flat.len()));
        }
        let (products, linear) = (flat[1..=products].to_vec(), flat[1 + products..].to_vec());
        Ok(Self { m, log_likelihood: flat[0], products, linear })
    }
}

impl Precision<'_> {
    /// packed W, packed a a', a and 1.
    fn fill(&self, out: &mut [f64]) {
        let m = self.a.len();
        let len = packed_len(m);
        for (j, k) in (0..m).flat_map(|j| (0..=j).map(move |k| (j, k))) {
            let at = packed_index(j, k);
            (out[at], out[len + at]) = (self.w[j * m + k], self.a[j] * self.a[k]);
        }
        out[2 * len..2 * len + m].copy_from_slice(&self.a);
        out[2 * len + m] = 1.0;
    }
}
