//! Covariances from what tables and arrays hold: standard deviations, variances, matrices,
//! precisions, factors. Sizes are checked here, numbers in [`GaussianArray::new`](crate::GaussianArray::new);
//! only a precision is read (and refused) at once, because it has to be inverted.

use std::collections::BTreeMap;

use crate::data::covariance::{Diagonal, Full, Isotropic, Layout, LowRank, Shared, check_square, packed_len};
use crate::data::validate::Names;
use crate::data::{Covariances, Rows, Unit};
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::simd;

impl Covariances {
    /// From the arguments by which users give them: none, std, var, cov, precision, or factor with or without var. `shared`: the
    /// matrix is one row for all.
    ///
    /// # Errors
    /// Sizes that fit no kind, a precision without an inverse, arguments that make no kind together.
    pub fn from_arguments(arguments: Vec<(String, Rows)>, d: usize, shared: bool, names: &Names) -> Result<Self> {
        let mut given: BTreeMap<String, Rows> = arguments.into_iter().collect();
        let mut take = |name: &str| given.remove(name);
        let made = if let Some(factor) = take("factor") {
            let rank = factor.width() / d;
            Self::from_factor(factor, rank, take("var"), names)?
        } else if let Some(cov) = take("cov") {
            if shared { Self::shared(&cov.to_vec(), names)? } else { Self::from_cov(cov, names)? }
        } else if let Some(precision) = take("precision") {
            match shared {
                true => Self::shared_precision(&precision.to_vec(), names)?,
                false => Self::from_precision(&precision, names)?,
            }
        } else {
            Unit::named(&mut take).map_or(Self::Zero, |(values, unit)| Self::from_scalars(values, unit))
        };
        match given.first_key_value() {
            None => Ok(made),
            Some((other, _)) => Err(Error::parameter("covariances", format!("{other} beside others"), "of one kind")),
        }
    }

    /// From standard deviations: n x 1 (one per row) or n x d (one per feature). Not copied.
    #[must_use]
    pub fn from_std(values: Rows) -> Self {
        Self::from_scalars(values, Unit::StandardDeviation)
    }

    /// From variances: n x 1 (one per row) or n x d (one per feature). Not copied.
    #[must_use]
    pub fn from_var(values: Rows) -> Self {
        Self::from_scalars(values, Unit::Variance)
    }

    /// F_i F_i' with `rank` columns, from numbers known to be good.
    pub(crate) fn factor_unchecked(factor: Rows, rank: usize) -> Self {
        LowRank { factor, rank, diagonal: None }.into()
    }

    /// A matrix per row from packed triangles known to be good.
    pub(crate) fn triangles_unchecked(values: Rows) -> Self {
        Full { values, layout: Layout::Packed }.into()
    }

    /// One matrix for all rows from a packed triangle known to be good.
    pub(crate) fn triangle_unchecked(packed: Vec<f64>) -> Self {
        Shared { packed: packed.into() }.into()
    }

    fn from_scalars(values: Rows, unit: Unit) -> Self {
        if values.width() == 1 {
            Self::Isotropic(Isotropic { values, unit })
        } else {
            Self::Diagonal(Diagonal { values, unit })
        }
    }

    /// From a d x d matrix per row, row-major, n x d². Not copied.
    pub fn from_cov(values: Rows, names: &Names) -> Result<Self> {
        dimension(values.width(), &names.covariances)?;
        Ok(Self::Full(Full { values, layout: Layout::Square }))
    }

    /// From an inverse covariance matrix per row, row-major, n x d². Must be positive definite.
    pub fn from_precision(values: &Rows, names: &Names) -> Result<Self> {
        let (what, d) = (names.covariances.as_str(), dimension(values.width(), &names.covariances)?);
        let scratch = || vec![0.0; 2 * d * d];
        let inverses = Rows::written_with(values.n_rows(), packed_len(d), scratch, |scratch, row, out| {
            check_square(&values.row(row), d, what, row)?;
            invert(&values.row(row), d, scratch, out).map_err(|e| e.at(what, row))
        })?;
        Ok(Self::triangles_unchecked(inverses))
    }

    /// From a d x rank factor per row, row-major, n x (d rank), and variances n x d beside it:
    /// S_i = F_i F_i' + diag(v_i). Not copied.
    pub fn from_factor(factor: Rows, rank: usize, diagonal: Option<Rows>, names: &Names) -> Result<Self> {
        if rank == 0 || !factor.width().is_multiple_of(rank) {
            let expected = format!("d x {rank} elements per row");
            return Err(Error::shape(names.covariances.as_str(), expected, factor.width()));
        }
        Ok(Self::LowRank(LowRank { factor, rank, diagonal }))
    }

    /// One d x d matrix (row-major) for all rows.
    pub fn shared(matrix: &[f64], names: &Names) -> Result<Self> {
        let d = dimension(matrix.len(), &names.covariances)?;
        check_square(matrix, d, &names.covariances, 0)?;
        let packed = (0..d).flat_map(|i| &matrix[i * d..=i * d + i]).copied().collect();
        Ok(Self::Shared(Shared { packed }))
    }

    /// One inverse covariance matrix (row-major) for all rows. Must be positive definite.
    pub fn shared_precision(matrix: &[f64], names: &Names) -> Result<Self> {
        let d = dimension(matrix.len(), &names.covariances)?;
        check_square(matrix, d, &names.covariances, 0)?;
        let mut packed = vec![0.0; packed_len(d)];
        invert(matrix, d, &mut vec![0.0; 2 * d * d], &mut packed).map_err(|e| e.at(&names.covariances, 0))?;
        Ok(Self::Shared(Shared { packed: packed.into() }))
    }
}

fn dimension(width: usize, what: &str) -> Result<usize> {
    let d = width.isqrt();
    if d > 0 && d * d == width { Ok(d) } else { Err(Error::shape(what, "d x d elements per matrix", width)) }
}

/// Why a precision has no inverse.
enum Singular {
    Eigenvalues { smallest: f64, largest: f64 },
    Other(Error),
}

impl Singular {
    fn at(self, what: &str, row: usize) -> Error {
        match self {
            Self::Other(error) => error,
            Self::Eigenvalues { smallest, largest } if smallest < 0.0 => {
                Error::NotPositive { what: what.into(), row, eigenvalue: smallest, largest }
            }
            Self::Eigenvalues { smallest, largest } => Error::Data(format!(
                "{what}: the precision matrix of row {row} is singular (eigenvalues {smallest:e} to {largest:e}), so some \
                 direction has no finite variance; pass a positive definite precision, or cov"
            )),
        }
    }
}

/// The packed triangle of P^-1 = U^-1 U^-T with P = U'U; `scratch` holds two d x d matrices.
fn invert(matrix: &[f64], d: usize, scratch: &mut [f64], out: &mut [f64]) -> Result<(), Singular> {
    let (u, inverse) = scratch.split_at_mut(d * d);
    u.copy_from_slice(matrix);
    // A pivot is what is left of a diagonal element once the others are known: below rounding, it is zero.
    let mut fine = simd::factor_upper(u, d) && (0..d).all(|i| u[i * d + i] * u[i * d + i] > 1e-14 * matrix[i * d + i]);
    if fine {
        // Rows of V = U^-1 from the last up: V[i, j] = (e_ij - sum_{k > i} U[i, k] V[k, j]) / U[i, i].
        for i in (0..d).rev() {
            let (head, tail) = inverse.split_at_mut((i + 1) * d);
            let row = &mut head[i * d..];
            row.fill(0.0);
            row[i] = 1.0;
            for k in i + 1..d {
                let c = u[i * d + k];
                let below = &tail[(k - i - 1) * d..][..d];
                (k..d).for_each(|j| row[j] -= c * below[j]);
            }
            row[i..].iter_mut().for_each(|x| *x /= u[i * d + i]);
        }
        for i in 0..d {
            for j in 0..=i {
                // V is upper triangular: row i is zero before column i.
                out[packed_len(i) + j] = simd::dot(&inverse[i * d + i..(i + 1) * d], &inverse[j * d + i..(j + 1) * d]);
            }
        }
        fine = out.iter().all(|x| x.is_finite());
    }
    if fine {
        return Ok(());
    }
    let mut eigh = Eigh::new(d);
    eigh.square(matrix).map_err(Singular::Other)?;
    Err(Singular::Eigenvalues { smallest: eigh.values[0], largest: eigh.values[d - 1] })
}
