//! Kernels for every linear model: Gaussians of the input space as Gaussians of a feature space.
//!
//! With phi(x)'phi(z) = K(x, z) and its derivative J(x), the first-order image of a row N(x_i, S_i) is
//! N(phi(x_i), J(x_i) S_i J(x_i)'). With S_i = A_i A_i' the row thus contributes the vectors
//! ```text
//! phi(x_i)  and  J(x_i) A_i e_1, J(x_i) A_i e_2, ...
//! ```
//! whose inner products are K, its gradient and its mixed second derivatives: the extended Gram matrix E.
//! A pivoted Cholesky factorisation E = R R' gives all of them D coordinates, so that row i becomes the
//! ordinary Gaussian with mean R[i, 0] and low-rank factor R[i, 1..]. A linear model on these rows *is* the
//! kernel model, whatever its loss. New rows are projected on the span of the pivots by a triangular
//! solve, which reproduces the fitted rows exactly.
//!
//! E has n (r + 1) rows for factors of r columns and is never formed: a pivot costs one column, computed from
//! its rows. The factorisation stops when no element of E is off by more than `tol` times the largest (for a
//! positive semi-definite residual its largest diagonal element bounds them all), or at `max_rank`.
//! Source: the extended Gram matrix of Yang, Gunn, "Iterative Constraints in Support Vector Classification
//! with Uncertain Information", 2007 (equations 12-13); Fine, Scheinberg, JMLR 2, 2001, for low-rank kernels.
//! Rejected: eigenvectors of E (all of it, cubic), random features (a second approximation).

mod cholesky;
mod params;
mod vectors;

pub use params::{Params, ValidParams};

use crate::control::Control;
use crate::data::validate::{Rule, elements};
use crate::data::{Covariances, GaussianArray, Rows};
use crate::error::{Error, Result};
use crate::kernel::PointKernel;
use crate::memory::zeros;
use crate::params::check_at_least_one;
use crate::readable::readable;
use crate::{linalg, parallel};
use vectors::{Pivot, Vectors};

/// When the factorisation stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelMapOptions {
    /// Error of an element of E, relative to the largest, in (0, 1).
    pub tol: f64,
    /// Dimensions D at most.
    pub max_rank: Option<usize>,
}

impl Default for KernelMapOptions {
    fn default() -> Self {
        Self { tol: 1e-6, max_rank: None }
    }
}

impl KernelMapOptions {
    fn check(self) -> Result<()> {
        if !(self.tol > 0.0 && self.tol < 1.0) {
            return Err(Error::parameter("tol", self.tol, "above 0 and below 1"));
        }
        check_at_least_one("max_rank", self.max_rank)
    }
}

readable! {
    /// From Gaussians to the Gaussians that a kernel makes of them.
    ///
    /// ```
    /// use uncertain::kernels::PointKernel;
    /// use uncertain::ndarray::arr2;
    /// use uncertain::prelude::*;
    /// use uncertain::transform::KernelMapParams;
    ///
    /// # fn main() -> Result<()> {
    /// let means = arr2(&[[1.0, 2.0], [1.2, -1.0], [-1.0, 1.5], [-0.8, -2.0]]);
    /// let rows = GaussianArray::from_std(means, arr2(&[[0.1; 2]; 4]))?;
    /// let map = KernelMapParams::from(PointKernel::Quadratic).fit(&Dataset::new(&rows))?;
    /// assert_eq!(map.rank(), 3); // the squares and the product of two features
    /// let mapped = map.transform(&rows)?.means().to_array();
    /// assert!((mapped.row(0).dot(&mapped.row(1)) - (1.2_f64 - 2.0).powi(2)).abs() < 1e-12); // K(x_0, x_1)
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct KernelMap {
        /// The kernel.
        kernel: PointKernel => PointKernel,
        d: usize,
        /// D x d: where the pivots are.
        points: Vec<f64> => &[f64],
        /// D x d: J(z) a for a pivot with this direction a; a row of zeros stands for phi(z) itself.
        directions: Vec<f64> => &[f64],
        /// D x D, lower triangular: the coordinates of the pivots.
        lower: Vec<f64> => &[f64],
        /// The largest error of an element of E on the fitted rows, relative to the largest element.
        error: f64 => f64,
    }
}

/// Rows mapped at a time.
const STRIP: usize = 16;

impl KernelMap {
    /// Choose the pivots among these rows.
    pub(crate) fn fit(
        data: &GaussianArray,
        kernel: PointKernel,
        options: &KernelMapOptions,
        control: &Control,
    ) -> Result<Self> {
        Ok(Self::chosen(data, kernel, options, control)?.0)
    }

    /// [`fit`](Self::fit), and [`transform`](Self::transform) of the same rows, whose coordinates the choice has computed
    /// (to rounding the same ones).
    pub(crate) fn fit_transform(
        data: &GaussianArray,
        kernel: PointKernel,
        options: &KernelMapOptions,
        control: &Control,
    ) -> Result<(Self, GaussianArray)> {
        let (map, found, r) = Self::chosen(data, kernel, options, control)?;
        let (n, rank) = (data.n_rows(), map.rank());
        let (means, factors) = parallel::run(|| found.coordinates(n, r))??;
        let factors = Rows::from_owned(factors, if r == 0 { 0 } else { n }, rank * r);
        let mapped = low_rank(Rows::from_owned(means, n, rank), factors, r)?;
        Ok((map, mapped))
    }

    /// The map, the factorisation that it is made of, and r.
    fn chosen(
        data: &GaussianArray,
        kernel: PointKernel,
        options: &KernelMapOptions,
        control: &Control,
    ) -> Result<(Self, cholesky::Factorised, usize)> {
        let kernel = kernel.check()?;
        options.check()?;
        if data.n_rows() == 0 {
            return Err(Error::Data("no rows to fit a kernel map on".into()));
        }
        let vectors = Vectors::new(kernel, data)?;
        let mut found = parallel::run(|| cholesky::factorise(&vectors, options, control))??;
        let (d, rank) = (data.n_features(), found.pivots.len());
        let lower = std::mem::take(&mut found.lower);
        let mut map = Self { kernel, d, points: vec![], directions: zeros(rank, d)?, lower, error: found.error };
        map.points
            .try_reserve_exact(rank * d)
            .map_err(|_| Error::OutOfMemory(format!("kernel map: no memory for {rank} pivots of {d} numbers")))?;
        for (&(row, column), direction) in found.pivots.iter().zip(map.directions.chunks_exact_mut(d)) {
            map.points.extend_from_slice(&data.means().row(row));
            if column > 0 {
                vectors.direction(row, column - 1, direction);
            }
        }
        Ok((map, found, vectors.columns()))
    }

    /// A map from its parts: D x d points and directions, a D x D lower triangle with a positive diagonal.
    ///
    /// # Errors
    /// Sizes that do not fit; numbers that are not finite.
    pub fn new(
        kernel: PointKernel,
        d: usize,
        points: Vec<f64>,
        directions: Vec<f64>,
        lower: Vec<f64>,
        error: f64,
    ) -> Result<Self> {
        let kernel = kernel.check()?;
        let rank = lower.len().isqrt();
        if d == 0 || rank == 0 || rank * rank != lower.len() {
            return Err(Error::shape("factor of a kernel map", "a square of at least 1 x 1", lower.len()));
        }
        for (what, values) in [("points of a kernel map", &points), ("directions of a kernel map", &directions)] {
            if rank.checked_mul(d) != Some(values.len()) {
                return Err(Error::shape(what, format!("{rank} x {d} numbers"), values.len()));
            }
        }
        let finite = [&points, &directions, &lower].iter().all(|v| v.iter().all(|x| x.is_finite()));
        if !(finite && (0.0..f64::INFINITY).contains(&error)) {
            return Err(Error::Data("a kernel map with numbers that are not finite".into()));
        }
        if (0..rank).any(|k| !(lower[k * rank + k] > 0.0)) {
            return Err(Error::Data("the factor of a kernel map must have a positive diagonal".into()));
        }
        Ok(Self { kernel, d, points, directions, lower, error })
    }

    /// Dimension d of the rows it maps.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.d
    }

    /// Dimension D of what it makes of them.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.points.len() / self.d
    }

    /// Rows in D dimensions: exact points stay exact, all other kinds become low-rank, with as many columns
    /// as S_i has (d, or the rank of a factor without a diagonal).
    pub(crate) fn transform(&self, data: &GaussianArray, control: &Control) -> Result<GaussianArray> {
        data.check_features(self.d)?;
        let vectors = Vectors::new(self.kernel, data)?;
        let (rank, r) = (self.rank(), vectors.columns());
        let pivots: Vec<Pivot<'_>> = self.pivots().collect();
        let parts = parallel::map_parts(data.n_rows(), |rows| -> Result<(Rows, Rows)> {
            let n = rows.len();
            let (mut means, mut factors) = (zeros(n, rank)?, zeros(n, rank * r)?);
            let mut strip = vec![0.0; STRIP.min(n) * (r + 1) * rank];
            let mut scratch = vectors.scratch();
            for first in rows.clone().step_by(STRIP) {
                control.check()?;
                let count = STRIP.min(rows.end - first);
                let strip = &mut strip[..count * (r + 1) * rank];
                for (k, own) in strip.chunks_exact_mut((r + 1) * rank).enumerate() {
                    for (j, pivot) in pivots.iter().enumerate() {
                        let entries = vectors.entries(first + k, pivot, &mut scratch);
                        entries.iter().enumerate().for_each(|(c, e)| own[c * rank + j] = *e);
                    }
                }
                linalg::solve_lower_rows(&self.lower, rank, strip);
                for (k, own) in strip.chunks_exact((r + 1) * rank).enumerate() {
                    let at = first - rows.start + k;
                    means[at * rank..(at + 1) * rank].copy_from_slice(&own[..rank]);
                    let factor = &mut factors[at * rank * r..(at + 1) * rank * r];
                    for (c, column) in own[rank..].chunks_exact(rank).enumerate() {
                        column.iter().enumerate().for_each(|(j, x)| factor[j * r + c] = *x);
                    }
                }
            }
            Ok((Rows::from_owned(means, n, rank), Rows::from_owned(factors, if r == 0 { 0 } else { n }, rank * r)))
        })?;
        let (means, factors): (Vec<Rows>, Vec<Rows>) =
            parts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        low_rank(Rows::concat(means, rank)?, Rows::concat(factors, rank * r)?, r)
    }

    fn pivots(&self) -> impl Iterator<Item = Pivot<'_>> {
        self.points.chunks_exact(self.d).zip(self.directions.chunks_exact(self.d)).map(|(point, direction)| Pivot {
            point,
            direction: direction.iter().any(|a| *a != 0.0).then_some(direction),
        })
    }
}

/// Checked rows with these factors of r columns; none for r = 0.
fn low_rank(means: Rows, factors: Rows, r: usize) -> Result<GaussianArray> {
    elements(&means, "kernel map", Rule::Finite)?;
    if r == 0 {
        return Ok(GaussianArray::from_checked(means, Covariances::Zero));
    }
    elements(&factors, "kernel map of covariances", Rule::Factor)?;
    Ok(GaussianArray::from_checked(means, Covariances::factor_unchecked(factors, r)))
}
