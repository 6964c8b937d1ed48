//! Eigendecompositions of many symmetric matrices of one size.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::{MatMut, MatRef, Par, Spec};

use crate::error::{Error, Result};

/// Eigendecompositions of many symmetric matrices of one size; the workspace is made once.
pub(crate) struct Eigh {
    dim: usize,
    matrix: Vec<f64>,
    buffer: MemBuffer,
    /// Eigenvalues, ascending.
    pub values: Vec<f64>,
    /// Eigenvector k is `vectors[k * d..(k + 1) * d]`.
    pub vectors: Vec<f64>,
}

impl Eigh {
    /// A workspace for d x d matrices.
    pub(crate) fn new(dim: usize) -> Self {
        let scratch = evd::self_adjoint_evd_scratch::<f64>(dim, ComputeEigenvectors::Yes, Par::Seq, Spec::default());
        Self {
            dim,
            matrix: vec![0.0; dim * dim],
            buffer: MemBuffer::new(scratch),
            values: vec![0.0; dim],
            vectors: vec![0.0; dim * dim],
        }
    }

    /// Decompose the matrix whose lower triangle has row i at `row(i)`; fills `values` and `vectors`.
    ///
    /// The matrix is scaled by a power of two first: variances like 1e-200 would underflow inside.
    pub(crate) fn decompose<'a>(&mut self, row: impl Fn(usize) -> &'a [f64]) -> Result<()> {
        let d = self.dim;
        let largest = (0..d)
            .flat_map(|i| &row(i)[..=i])
            .fold(0.0_f64, |m, x| if x.is_finite() { m.max(x.abs()) } else { f64::INFINITY });
        if largest == 0.0 {
            self.values.fill(0.0);
            self.vectors.fill(0.0);
            (0..d).for_each(|i| self.vectors[i * d + i] = 1.0);
            return Ok(());
        }
        if !largest.is_finite() {
            return Err(crate::linalg::overflow());
        }
        let scale = crate::simd::power_of_two_near(largest);
        for i in 0..d {
            let target = &mut self.matrix[i * d..=i * d + i];
            target.iter_mut().zip(row(i)).for_each(|(t, x)| *t = x / scale);
        }
        evd::self_adjoint_evd(
            MatRef::from_row_major_slice(&self.matrix, d, d),
            DiagMut::from_slice_mut(&mut self.values),
            Some(MatMut::from_column_major_slice_mut(&mut self.vectors, d, d)),
            Par::Seq,
            MemStack::new(&mut self.buffer),
            Spec::default(),
        )
        .map_err(|e| Error::Internal(format!("no eigenvalues of a {d} x {d} matrix: {e:?}")))?;
        self.values.iter_mut().for_each(|v| *v *= scale);
        Ok(())
    }

    /// [`Eigh::decompose`] of a row-major square matrix.
    pub(crate) fn square(&mut self, matrix: &[f64]) -> Result<()> {
        let d = self.dim;
        self.decompose(|i| &matrix[i * d..(i + 1) * d])
    }

    /// [`Eigh::decompose`] of a packed lower triangle.
    pub(crate) fn packed(&mut self, packed: &[f64]) -> Result<()> {
        self.decompose(|i| &packed[i * (i + 1) / 2..])
    }

    /// The packed lower triangle of `V diag(f(values)) V'`: any function of the matrix.
    pub(crate) fn function(&self, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let d = self.dim;
        let mut packed = vec![0.0; d * (d + 1) / 2];
        for (value, v) in self.values.iter().zip(self.vectors.chunks_exact(d)) {
            let f = f(*value);
            if f == 0.0 {
                continue;
            }
            let mut rest = packed.as_mut_slice();
            for i in 0..d {
                let (row, later) = rest.split_at_mut(i + 1);
                let c = f * v[i];
                row.iter_mut().zip(v).for_each(|(m, v)| *m += c * v);
                rest = later;
            }
        }
        packed
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::gram;
    use super::*;

    #[test]
    fn matrices_that_are_not_finite_are_the_data_s_fault() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let refused = Eigh::new(2).packed(&[1.0, bad, 2.0]).unwrap_err();
            assert!(matches!(&refused, Error::Data(why) if why.contains("units")), "{refused}");
        }
    }

    fn check_eigh(a: &[f64], d: usize, what: &str) {
        let mut eigh = Eigh::new(d);
        eigh.square(a).unwrap();
        let norm = a.iter().fold(0.0_f64, |m, x| m.max(x.abs())) * d as f64;
        assert!(eigh.values.windows(2).all(|w| w[0] <= w[1]), "{what} d = {d}: order");
        let tolerance = 1e-14 * (d as f64 + 10.0);
        for k in 0..d {
            let v = &eigh.vectors[k * d..(k + 1) * d];
            for i in 0..d {
                let image: f64 = (0..d).map(|j| a[i * d + j] * v[j]).sum();
                assert!((image - eigh.values[k] * v[i]).abs() <= tolerance * norm, "{what} d = {d}: residual");
                let dot: f64 = (0..d).map(|j| v[j] * eigh.vectors[i * d + j]).sum();
                assert!((dot - f64::from(u8::from(i == k))).abs() <= tolerance, "{what} d = {d}: orthogonality");
            }
        }
        let back = eigh.function(|x| x);
        for i in 0..d {
            for j in 0..=i {
                assert!((back[i * (i + 1) / 2 + j] - a[i * d + j]).abs() <= tolerance * norm);
            }
        }
    }

    #[test]
    fn eigenpairs_of_every_size_and_shape() {
        for d in 1..=80 {
            let at = |f: &dyn Fn(usize, usize) -> f64| (0..d * d).map(|p| f(p / d, p % d)).collect::<Vec<_>>();
            check_eigh(&gram(d, d, d as u64), d, "full rank");
            check_eigh(&gram(d, d.div_ceil(3), 7 + d as u64), d, "rank-deficient");
            check_eigh(&at(&|i, j| if i == j { ((i * 7) % d) as f64 } else { 0.0 }), d, "diagonal");
            check_eigh(&at(&|i, j| if i == j { 2.0 } else { 1.0 }), d, "repeated");
            check_eigh(&at(&|_, _| 0.0), d, "zero");
            check_eigh(&gram(d, d, 3).iter().map(|x| x * 1e-250).collect::<Vec<_>>(), d, "tiny");
        }
    }
}
