//! Sums over rows that the derivatives of the likelihood of one component of features and target need, as one matrix
//! product: of W = (T + C_i)^{-1}, of products of two of its elements, and of one of them with one or two elements of
//! a = W r, r the row less the component's mean.

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

/// Sums over rows, in the coordinates y - beta'x.
pub(crate) struct Sums {
    /// d + 1, the target last.
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
        coef: &[f64],
        joint: &Mixture,
        rows: Incomplete<'_>,
        some: &[usize],
        weight: Weight<'_>,
        control: &Control,
    ) -> Result<Self> {
        let m = coef.len() + 1;
        let (len, width) = (packed_len(m), Self::width(m));
        let parts = parallel::map_parts_at_most(some.len(), PARTS, |part| -> Result<Self> {
            let mut sums =
                Self { m, log_likelihood: 0.0, products: vec![0.0; len * width], linear: vec![0.0; m + len] };
            let (mut left, mut right) = (vec![0.0; len * BLOCK], vec![0.0; BLOCK * width]);
            let mut precision = Precision::new(joint);
            for block in some[part].chunks(BLOCK) {
                control.check()?;
                for (k, &i) in block.iter().enumerate() {
                    let log_density = precision.whole_row(rows, i)?;
                    let right = &mut right[k * width..(k + 1) * width];
                    along_law(coef, &precision, right);
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

    /// Inverse of [`flat`](Self::flat), of d + 1 = m numbers per row, every row counting `times` as much.
    pub(crate) fn from_flat(m: usize, flat: &[f64], times: f64) -> Result<Self> {
        let products = packed_len(m) * Self::width(m);
        let len = 1 + products + m + packed_len(m);
        if flat.len() != len {
            return Err(Error::shape("sums of the rows", len, flat.len()));
        }
        let scaled = |part: &[f64]| part.iter().map(|x| x * times).collect();
        let (products, linear) = (scaled(&flat[1..=products]), scaled(&flat[1 + products..]));
        Ok(Self { m, log_likelihood: flat[0] * times, products, linear })
    }
}

/// packed W, packed a a', a and 1 in the coordinates y - beta'x: there W is A^{-T} W A^{-1} with A^{-1} = [[1, 0], [beta', 1]].
fn along_law(coef: &[f64], precision: &Precision<'_>, out: &mut [f64]) {
    let (d, m) = (coef.len(), coef.len() + 1);
    let (w, a, len) = (&precision.w, &precision.a, packed_len(m));
    let last = w[d * m + d];
    for j in 0..d {
        for k in 0..=j {
            out[packed_index(j, k)] =
                w[j * m + k] + coef[j] * w[d * m + k] + w[d * m + j] * coef[k] + coef[j] * coef[k] * last;
        }
        out[packed_index(d, j)] = w[d * m + j] + coef[j] * last;
        out[2 * len + j] = a[j] + coef[j] * a[d];
    }
    out[packed_index(d, d)] = last;
    out[2 * len + d] = a[d];
    out[2 * len + m] = 1.0;
    for j in 0..m {
        for k in 0..=j {
            out[len + packed_index(j, k)] = out[2 * len + j] * out[2 * len + k];
        }
    }
}
