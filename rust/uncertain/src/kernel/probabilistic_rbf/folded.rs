//! The kernel between rows that are mixtures: double sums over their components,
//!
//! ```text
//! K_ij = sum_c sum_e v_ic v_je kappa(N(x_ic, S_ic), N(x_je, S_je)),
//! ```
//! the inner product of the rows' mean embeddings where kappa is one, so positive semi-definite whenever kappa is. As
//! matrices K = V kappa V', V the weights: blocks of kappa are computed by the kernels for Gaussians and folded, so that
//! at most a block of them is in memory.

use ndarray::Array2;

use super::{GramRows, RbfOptions, gram};
use crate::control::Control;
use crate::data::MixtureArray;
use crate::error::{Error, Result};
use crate::kernel::rows::KernelRows;
use crate::memory;

/// Bytes of kernel values of components at a time.
const BLOCK: usize = 64 << 20;

/// [`gram`] between mixtures: n x m numbers.
///
/// ```
/// use uncertain::ndarray::arr1;
/// use uncertain::prelude::*;
/// use uncertain::{MixtureArray, kernels};
///
/// # fn main() -> Result<()> {
/// // One row that is 0 or 1, and one that is 1.
/// let points = GaussianArray::exact(arr1(&[0.0, 1.0, 1.0]))?;
/// let rows = MixtureArray::new(points, vec![0, 2, 3], vec![0.5, 0.5, 1.0])?;
/// let gram = kernels::probabilistic_rbf(&rows, &rows, 1.0)?;
/// assert!((gram[[0, 1]] - 0.5 * (1.0 + (-0.5_f64).exp())).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
pub fn folded(
    x: &MixtureArray,
    z: Option<&MixtureArray>,
    options: &RbfOptions,
    control: &Control,
) -> Result<Array2<f64>> {
    let right = z.unwrap_or(x);
    if x.is_gaussian() && right.is_gaussian() {
        return gram(x.components(), z.map(MixtureArray::components), options, control);
    }
    let (n, m) = (x.n_rows(), right.n_rows());
    let mut out = memory::zeros(n, m)?;
    // Blocks of whole rows.
    let most = (BLOCK / (size_of::<f64>() * right.components().n_rows().max(1))).max(1);
    let mut first = 0;
    while first < n {
        let mut last = first + 1;
        while last < n && x.offsets()[last + 1] - x.offsets()[first] <= most {
            last += 1;
        }
        let block = x.slice(first..last);
        let values = gram(block.components(), Some(right.components()), options, control)?;
        let left = block.average(values.view())?;
        let both = right.average(left.t())?;
        for (row, target) in out[first * m..last * m].chunks_exact_mut(m.max(1)).enumerate() {
            target.iter_mut().zip(both.column(row)).for_each(|(out, k)| *out = *k);
        }
        first = last;
    }
    if z.is_none() {
        // Sums in another order differ by a rounding.
        (0..n).for_each(|i| (0..i).for_each(|j| out[j * n + i] = out[i * n + j]));
    }
    Array2::from_shape_vec((n, m), out).map_err(|e| Error::Internal(format!("Gram matrix of mixtures: {e}")))
}

/// The matrix row by row, for solvers whose matrix does not fit in memory.
pub(crate) struct FoldedRows<'a> {
    components: GramRows,
    rows: &'a MixtureArray,
    diagonal: Vec<f64>,
}

impl<'a> FoldedRows<'a> {
    pub(crate) fn new(
        rows: &'a MixtureArray,
        options: &RbfOptions,
        shared_work: bool,
        control: &Control,
    ) -> Result<Self> {
        let components = GramRows::new(rows.components(), options, shared_work, control)?;
        let mut folded = Self { components, rows, diagonal: vec![0.0; rows.n_rows()] };
        for row in 0..rows.n_rows() {
            let mut value = [0.0];
            folded.fill(row, &[row as u32], &mut value)?;
            folded.diagonal[row] = value[0];
        }
        Ok(folded)
    }
}

impl KernelRows for FoldedRows<'_> {
    fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.diagonal[i]
    }

    fn fill(&self, i: usize, columns: &[u32], out: &mut [f64]) -> Result<()> {
        let numbers: Vec<u32> = columns.iter().flat_map(|&j| self.rows.row(j as usize)).map(|c| c as u32).collect();
        let mut values = vec![0.0; numbers.len()];
        out.fill(0.0);
        for c in self.rows.row(i) {
            self.components.fill(c, &numbers, &mut values)?;
            let mut values = values.iter().zip(&numbers);
            for (out, &j) in out.iter_mut().zip(columns) {
                let own = values.by_ref().take(self.rows.row(j as usize).len());
                let sum: f64 = own.map(|(k, &e)| self.rows.weights()[e as usize] * k).sum();
                *out += self.rows.weights()[c] * sum;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, GaussianArray, Rows};
    use crate::kernel::probabilistic_rbf::Coupling;
    use crate::testing::Numbers;

    #[test]
    fn kernels_of_mixtures_are_double_sums() {
        let (n, d) = (9, 2);
        let mut numbers = Numbers::new(5);
        let counts: Vec<usize> = (0..n).map(|i| 1 + (i * 7) % 4).collect();
        let total: usize = counts.iter().sum();
        let mut draw = |len: usize| (0..len).map(|_| numbers.normal()).collect::<Vec<f64>>();
        let means = Rows::from_vec(draw(total * d), d).unwrap();
        let stds = Rows::from_vec(draw(total * d).iter().map(|x| x.abs()).collect(), d).unwrap();
        let components = GaussianArray::new(means, Covariances::from_std(stds)).unwrap();
        let mut offsets = vec![0];
        counts.iter().for_each(|k| offsets.push(offsets.last().unwrap() + k));
        let weights = counts.iter().flat_map(|&k| vec![1.0 / k as f64; k]).collect();
        let rows = MixtureArray::new(components, offsets, weights).unwrap();
        for coupling in [Coupling::Shared, Coupling::Independent] {
            let options = RbfOptions { coupling, ..RbfOptions::new(1.3) };
            let control = Control::new();
            let all = gram(rows.components(), None, &options, &control).unwrap();
            let found = folded(&rows, None, &options, &control).unwrap();
            let lazy = FoldedRows::new(&rows, &options, true, &control).unwrap();
            let half = folded(&rows.slice(0..4), Some(&rows.slice(4..9)), &options, &control).unwrap();
            let columns: Vec<u32> = vec![8, 2, 3, 0];
            for i in 0..n {
                let brute = |j: usize| -> f64 {
                    let pairs = rows.row(i).flat_map(|c| rows.row(j).map(move |e| (c, e)));
                    pairs.map(|(c, e)| rows.weights()[c] * rows.weights()[e] * all[[c, e]]).sum()
                };
                for j in 0..n {
                    assert!((found[[i, j]] / brute(j) - 1.0).abs() < 1e-13);
                    assert_eq!(found[[i, j]], found[[j, i]]);
                    if i < 4 && j >= 4 {
                        assert!((half[[i, j - 4]] / brute(j) - 1.0).abs() < 1e-13);
                    }
                }
                let mut out = vec![f64::NAN; columns.len()];
                lazy.fill(i, &columns, &mut out).unwrap();
                assert!(out.iter().zip(&columns).all(|(k, &j)| (k / brute(j as usize) - 1.0).abs() < 1e-13));
                assert!((lazy.diagonal(i) / brute(i) - 1.0).abs() < 1e-13);
            }
        }
    }
}
