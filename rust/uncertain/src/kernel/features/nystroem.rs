//! Nystroem features: the exact kernel with m landmark rows, made orthonormal among them.
//!
//! ```text
//! K_mm = V L V'  (landmarks),    z_i = kappa(i, landmarks) V L^{-1/2},    z_i'z_j = K_im K_mm^{-1} K_mj
//! ```
//! the projection of the kernel on the span of the landmarks: equal to it where a row is a landmark, below it on the
//! diagonal otherwise. Eigenvalues below 1e-12 of the largest are left out with their columns: landmarks
//! that others nearly span add rounding, not information. So there are rank <= m columns.
//! Source: Williams, Seeger, NIPS 2001. Rejected: the symmetric root K_mm^{-1/2} (the same inner products in more
//! columns), pivoted Cholesky (features depend on the pivots; no faster at this size).

use std::ops::Range;

use ndarray::Array2;
use rand::SeedableRng;
use rand::seq::index;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::control::Control;
use crate::data::{GaussianArray, Workspace};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::{self, Blocks, Coupling, RbfOptions};
use crate::linalg::{self, Eigh};
use crate::memory::afford;
use crate::params::{check_at_least_one, check_positive};
use crate::readable::readable;

/// Eigenvalues below this part of the largest are left out.
const RANK: f64 = 1e-12;

readable! {
    /// Landmark rows and what makes features of the kernel with them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Nystroem {
        /// The landmark rows.
        landmarks: GaussianArray => &GaussianArray,
        /// The bandwidth.
        sigma: f64 => f64,
        /// The coupling.
        coupling: Coupling => Coupling,
        /// V L^{-1/2}, m x rank.
        basis: Array2<f64> => &Array2<f64>,
    }
}

impl Nystroem {
    /// At most `n_components` rows of `data`, drawn without replacement, as landmarks.
    ///
    /// # Errors
    /// No components or rows, a sigma out of range, those of [`probabilistic_rbf::gram`].
    pub fn fit(
        data: &GaussianArray,
        n_components: usize,
        sigma: f64,
        coupling: Coupling,
        seed: u64,
        control: &Control,
    ) -> Result<Self> {
        let n = data.n_rows();
        check_at_least_one("n_components", n_components)?;
        if n == 0 {
            return Err(Error::Data("no rows to draw landmarks from".into()));
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut rows = index::sample(&mut rng, n, n_components.min(n)).into_vec();
        rows.sort_unstable();
        // The kernel matrix, its eigenvectors, the workspace of the decomposition (four of them), the basis.
        let square = rows.len().saturating_mul(rows.len()).saturating_mul(size_of::<f64>());
        afford("the landmarks' kernel matrix and its decomposition", square.saturating_mul(7))?;
        let landmarks = data.take(&rows)?;
        let options = RbfOptions { coupling, ..RbfOptions::new(sigma) };
        let gram = probabilistic_rbf::gram(&landmarks, None, &options, control)?;
        let m = landmarks.n_rows();
        let mut eigh = Eigh::new(m);
        eigh.decompose(|i| &gram.as_slice().unwrap_or_default()[i * m..(i + 1) * m])?;
        let least = RANK * eigh.values[m - 1];
        // The largest eigenvalues first.
        let kept: Vec<usize> = (0..m).rev().filter(|&k| eigh.values[k] > least).collect();
        let basis = Array2::from_shape_fn((m, kept.len()), |(i, k)| {
            eigh.vectors[kept[k] * m + i] / eigh.values[kept[k]].sqrt()
        });
        Self::from_parts(landmarks, sigma, coupling, basis)
    }

    /// From landmarks and V L^{-1/2}.
    ///
    /// # Errors
    /// Sizes that do not fit, numbers that are not finite, a sigma out of range.
    pub fn from_parts(landmarks: GaussianArray, sigma: f64, coupling: Coupling, basis: Array2<f64>) -> Result<Self> {
        if basis.nrows() != landmarks.n_rows() || basis.is_empty() {
            let expected = format!("{} rows, one per landmark", landmarks.n_rows());
            return Err(Error::shape("basis", expected, format!("{:?}", basis.dim())));
        }
        check_positive("sigma", sigma)?;
        if let Some(((row, column), &value)) = basis.indexed_iter().find(|(_, x)| !x.is_finite()) {
            return Err(Error::NotFinite { what: "basis".into(), row, column, value });
        }
        let (landmarks, basis) = (landmarks.with_triangles()?, basis.as_standard_layout().into_owned());
        Ok(Self { landmarks, sigma, coupling, basis })
    }

    /// Dimension of the rows.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.landmarks.n_features()
    }

    /// The rank of the landmarks' kernel matrix.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.basis.ncols()
    }

    pub(super) fn prepare(&self, data: &GaussianArray) -> Result<Prepared<'_>> {
        let options = RbfOptions { coupling: self.coupling, ..RbfOptions::new(self.sigma) };
        Ok(Prepared { map: self, kernel: Blocks::new(data, &self.landmarks, &options)? })
    }
}

/// Rows and landmarks in the form in which their pairs are computed.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub map: &'a Nystroem,
    kernel: Blocks,
}

impl Prepared<'_> {
    pub(super) fn n_rows(&self) -> usize {
        self.kernel.n_rows()
    }

    pub(super) fn take(&self, rows: &[usize]) -> Result<Self> {
        Ok(Self { map: self.map, kernel: self.kernel.take(rows) })
    }

    pub(super) fn fill(&self, rows: Range<usize>, workspace: &mut Workspace, out: &mut [f64]) -> Result<()> {
        let (n, (m, rank)) = (rows.len(), self.map.basis.dim());
        let values = &mut workspace.buffers[0];
        values.resize(n * m, 0.0);
        self.kernel.fill(rows, values)?;
        linalg::gemm(values, self.map.basis.as_slice().unwrap_or_default(), (n, m, rank), false, out);
        Ok(())
    }
}
