//! The rows in as few dimensions as they span.
//!
//! The optimal w lies in the span of all means and factor columns (anything orthogonal to it only
//! adds to the penalty). With fewer such vectors than features, an orthonormal basis Q of the span
//! makes the problem that small and leaves every score, the penalty and the gap as they are: w = Q u.

use crate::data::covariance::Structure;
use crate::error::Result;
use crate::linalg;
use crate::loss::Smoothness;
use crate::objective::LinearObjective;

/// Unknowns up to which a system is solved: 32 MB.
const LARGEST: usize = 2000;
/// Products of one iteration (about two seconds of a core) up to which the method is taken.
const MOST_WORK: usize = 20_000_000_000;

/// Elements of the roots of all rows, 32 MB, up to which other kinds than factors are taken.
const MOST_ROOTS: usize = 4_000_000;

/// Rows with weight, in coordinates of their span.
pub(super) struct Reduced {
    /// Coordinates D.
    pub dim: usize,
    /// Columns of a factor.
    pub rank: usize,
    /// Numbers of the rows with weight.
    pub rows: Vec<usize>,
    /// Row i's mean: `dim` elements.
    means: Vec<f64>,
    /// Row i's factor: `rank` columns of `dim` elements.
    factors: Vec<f64>,
    /// `dim` orthonormal vectors of d elements; `None` when the coordinates are the features.
    basis: Option<Vec<f64>>,
}

/// (n, d, rank) of a problem whose rows are points, or have nothing but a factor.
fn thin_shape(objective: &LinearObjective<'_>) -> Option<(usize, usize, usize)> {
    if objective.source().is_some() {
        return None; // rows that are computed anew in every pass are too many for this
    }
    let data = objective.problem().data;
    let rank = match data.covariances().structure() {
        Structure::Factor(factor) if factor.diagonal.is_none() => factor.rank,
        Structure::Zero => 0,
        _ => return None,
    };
    Some((data.n_rows(), data.n_features(), rank))
}

/// Reduction also of few rows of any kind in few features: their roots are factors, too.
fn shape(objective: &LinearObjective<'_>) -> Option<(usize, usize, usize)> {
    let data = objective.problem().data;
    let (n, d) = (data.n_rows(), data.n_features());
    let rooted = objective.source().is_none() && n.saturating_mul(d).saturating_mul(d) <= MOST_ROOTS;
    thin_shape(objective).or(rooted.then_some((n, d, d)))
}

/// Can the method be applied at all?
pub(in crate::solver) fn fits(objective: &LinearObjective<'_>) -> bool {
    shape(objective).is_some_and(|(n, d, rank)| {
        let dim = d.min(n.saturating_mul(1 + rank));
        let work = n.saturating_mul(2 + rank).saturating_mul((dim + 1).saturating_mul(dim + 1));
        objective.problem().loss.dual(0).is_some() && dim <= LARGEST && work <= MOST_WORK
    })
}

/// Are there so few rows that a separating w may avoid all their spreads, or so few points that the
/// span is the smaller problem? The worst case is left to the other methods first: with its cones of p
/// this one has ended at gaps of 1e-5.
pub(in crate::solver) fn is_thin(objective: &LinearObjective<'_>) -> bool {
    let spread_counts = objective.problem().loss.smoothness() == Smoothness::WithSpread;
    thin_shape(objective).is_some_and(
        |(n, d, rank)| {
            if rank == 0 { n < d } else { spread_counts && n.saturating_mul(rank) <= 4 * d }
        },
    )
}

impl Reduced {
    pub(super) fn new(objective: &LinearObjective<'_>) -> Result<Self> {
        let data = objective.problem().data;
        let (_, d, rank) = shape(objective).unwrap_or_default();
        let rows: Vec<usize> = (0..data.n_rows()).filter(|&i| objective.weight(i) > 0.0).collect();
        let means: Vec<f64> = rows.iter().flat_map(|&i| data.means().row(i).into_owned()).collect();
        let mut factors = Vec::with_capacity(rows.len() * rank * d);
        match data.covariances().structure() {
            Structure::Factor(kind) if kind.diagonal.is_none() => {
                for &i in &rows {
                    let f = kind.factor.row(i);
                    (0..rank).for_each(|k| factors.extend(f.iter().skip(k).step_by(rank)));
                }
            }
            Structure::Zero => {}
            _ => {
                let roots = data.roots()?;
                rows.iter().for_each(|&i| factors.extend(&roots[i * d * d..(i + 1) * d * d]));
            }
        }
        let count = rows.len() * (1 + rank);
        if count >= d {
            return Ok(Self { dim: d, rank, rows, means, factors, basis: None });
        }
        let all: Vec<f64> = means.iter().chain(&factors).copied().collect();
        let basis = linalg::orthonormal_basis(&all, d)?;
        let coordinates = |vectors: &[f64]| {
            let mut out = vec![0.0; vectors.len() / d * count];
            if !vectors.is_empty() {
                linalg::gemm_nt(vectors, &basis, d, &mut out);
            }
            out
        };
        let (means, factors) = (coordinates(&means), coordinates(&factors));
        Ok(Self { dim: count, rank, rows, means, factors, basis: Some(basis) })
    }

    pub(super) fn mean(&self, i: usize) -> &[f64] {
        &self.means[i * self.dim..(i + 1) * self.dim]
    }

    /// Column k of row i's factor.
    pub(super) fn column(&self, i: usize, k: usize) -> &[f64] {
        &self.factors[(i * self.rank + k) * self.dim..][..self.dim]
    }

    /// w = Q u, with b behind it.
    pub(super) fn features(&self, u: &[f64]) -> Vec<f64> {
        let Some(basis) = &self.basis else { return u.to_vec() };
        let d = basis.len() / self.dim;
        let mut x = vec![0.0; d + 1];
        for (u, q) in u.iter().zip(basis.chunks_exact(d)) {
            x.iter_mut().zip(q).for_each(|(x, q)| *x += u * q);
        }
        x[d] = u[self.dim];
        x
    }
}
