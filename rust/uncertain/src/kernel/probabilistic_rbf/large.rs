//! One pair in many dimensions: blocked products and factorisation, where eight pairs side by side
//! would not fit the second cache.

use crate::error::Result;
use crate::linalg::{self, Eigh};

/// Memory of one thread.
pub(super) struct Large {
    d: usize,
    /// U or S_i + S_j, d x d.
    joint: Vec<f64>,
    /// M, then its Cholesky factor.
    matrix: Vec<f64>,
    difference: Vec<f64>,
    /// Made when first needed.
    eigh: Option<Eigh>,
}

impl Large {
    pub(super) fn new(d: usize) -> Self {
        Self { d, joint: vec![0.0; d * d], matrix: vec![0.0; d * d], difference: vec![0.0; d], eigh: None }
    }

    pub(super) fn bytes(d: usize) -> usize {
        // The factorisation takes a block of columns more.
        (3 * d + 65) * d * size_of::<f64>()
    }

    /// kappa of two rows.
    pub(super) fn pair(&mut self, shared: bool, own: &[f64], other: &[f64]) -> Result<f64> {
        let d = self.d;
        for (k, x) in self.difference.iter_mut().enumerate() {
            *x = own[k] - other[k];
        }
        let mut e = d;
        for r in 0..d {
            for c in 0..=r {
                let (a, b) = (own[e], other[e]);
                let u = if shared { a - b } else { a + b };
                self.joint[r * d + c] = u;
                self.joint[c * d + r] = u;
                e += 1;
            }
        }
        if shared {
            self.matrix.fill(0.0);
            linalg::gemm_tn_lower(&self.joint, &self.joint, d, d, &mut self.matrix);
        } else {
            self.matrix.copy_from_slice(&self.joint);
        }
        (0..d).for_each(|i| self.matrix[i * d + i] += 1.0);
        if !linalg::cholesky(&mut self.matrix, d) {
            return self.by_eigenvalues(shared);
        }
        let (mut root, mut quad) = (1.0, 0.0);
        for i in 0..d {
            let row = &self.matrix[i * d..=i * d + i];
            let sum: f64 = row[..i].iter().zip(&self.difference).map(|(l, y)| l * y).sum();
            let y = (self.difference[i] - sum) / row[i];
            self.difference[i] = y;
            root /= row[i];
            quad += y * y;
        }
        Ok(root * (-0.5 * quad).exp())
    }

    /// Spreads so wide that rounding swamps the I of M: M has the eigenvectors of U.
    fn by_eigenvalues(&mut self, shared: bool) -> Result<f64> {
        let d = self.d;
        let eigh = self.eigh.get_or_insert_with(|| Eigh::new(d));
        eigh.square(&self.joint)?;
        let (mut root, mut quad) = (1.0, 0.0);
        for (value, v) in eigh.values.iter().zip(eigh.vectors.chunks_exact(d)) {
            let m = 1.0 + if shared { value * value } else { value.max(0.0) };
            let y: f64 = v.iter().zip(&self.difference).map(|(v, x)| v * x).sum();
            root /= m.sqrt();
            quad += y * y / m;
        }
        Ok(root * (-0.5 * quad).exp())
    }
}
