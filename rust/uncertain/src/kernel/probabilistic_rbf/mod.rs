//! The expected Gaussian kernel between rows N(x_i, S_i): exact Gram matrices.
//!
//! ```text
//! shared:       kappa_ij = |I + U^2|^{-1/2} exp(-d'(I + U^2)^{-1} d / (2 sigma^2)),  U = (S_i^{1/2} - S_j^{1/2}) / sigma
//! independent:  kappa_ij = |I + V|^{-1/2}   exp(-d'(I + V)^{-1} d / (2 sigma^2)),    V = (S_i + S_j) / sigma^2
//! ```
//! with d = x_i - x_j: the mean of exp(-|a - b|^2 / (2 sigma^2)) over a = x_i + S_i^{1/2} e and
//! b = x_j + S_j^{1/2} e', where e' = e (shared: one noise moves all rows) or e' is another draw.
//! Zero covariances give the RBF kernel; the shared coupling has kappa_ii = 1.
//!
//! Design. Both sides are brought to the cheapest spread that holds them (prepare.rs): kinds that are
//! numbers or diagonals on both sides use closed forms, everything else packed triangles, whose symmetric
//! square roots are taken once per row (spread.rs), of small matrices eight at a time. Eight pairs go side by
//! side through uncertain-simd/pairs up to d = 96; above, one pair's matrices fill the second cache and blocked routines
//! take over (large.rs).
//! Tiles of the matrix are spread over threads (tiles.rs); what a tile holds does not depend on them.
//!
//! Accuracy: eigenvalues of S_i below d 2^-52 times the largest count as zero (their roots would be noise
//! of 1e-8). Otherwise a few units of rounding times d, and times 1 + |U|^2 (or 1 + |V|), the condition of M, when
//! error bars are much wider than sigma.

pub(crate) mod bandwidth;
mod distribution;
mod folded;
mod form;
mod large;
mod memory;
mod prepare;
mod rows;
mod spread;
mod tiles;

pub use bandwidth::{Bandwidth, median_distance};
pub(crate) use distribution::score_variances;
pub(crate) use folded::FoldedRows;
pub use folded::folded;
pub use memory::{default_max_bytes, gram_bytes};
pub(crate) use rows::GramRows;

use ndarray::Array2;

use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::memory::fresh_zeros;
use crate::named::named;
use crate::params::check_positive;

/// Which noise the two rows of a pair see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Coupling {
    /// One standard normal draw moves both rows; kappa_ii = 1.
    #[default]
    Shared,
    /// Every row has its own draw: the inner product of the rows' mean embeddings; kappa_ii < 1.
    Independent,
}

named!(Coupling, "coupling");

/// Parameters of a Gram matrix, and how much memory it may take.
#[derive(Debug, Clone, PartialEq)]
pub struct RbfOptions {
    /// Bandwidth, > 0; [`median_distance`] is a usual choice.
    pub sigma: f64,
    /// The coupling.
    pub coupling: Coupling,
    /// Bytes that the result and the work on it may take; `None`: [`default_max_bytes`].
    pub max_bytes: Option<u64>,
}

impl RbfOptions {
    /// The shared coupling, and memory by default.
    pub fn new(sigma: f64) -> Self {
        Self { sigma, coupling: Coupling::Shared, max_bytes: None }
    }
}

/// The n x m matrix of kappa between the rows of `x` and those of `z`, or (`None`) of `x` itself.
///
/// The kinds of covariance may differ. Without `z` the result is exactly symmetric. Runs on the pool of
/// the enclosing [`parallel::install`](crate::parallel::install); the result does not depend on the
/// number of threads.
pub fn gram(
    x: &GaussianArray,
    z: Option<&GaussianArray>,
    options: &RbfOptions,
    control: &Control,
) -> Result<Array2<f64>> {
    check(x, z, options)?;
    let form = form::Form::cheapest(x, z, options.coupling);
    memory::check(x.n_rows(), z.map(GaussianArray::n_rows), &form, options.max_bytes)?;
    let (n, m) = (x.n_rows(), z.unwrap_or(x).n_rows());
    let mut values = fresh_zeros(n, m)?;
    fill(x, z, &form, options, &mut values, control)?;
    Array2::from_shape_vec((n, m), values).map_err(|e| Error::Internal(format!("Gram matrix: {e}")))
}

fn fill(
    x: &GaussianArray,
    z: Option<&GaussianArray>,
    form: &form::Form,
    options: &RbfOptions,
    out: &mut [f64],
    control: &Control,
) -> Result<()> {
    let left = prepare::Side::new(x, form, options.sigma, control)?;
    let right = z.map(|z| prepare::Side::new(z, form, options.sigma, control)).transpose()?;
    tiles::fill(&left, right.as_ref(), form, out, control)
}

/// One number of features, and a usable sigma?
fn check(x: &GaussianArray, z: Option<&GaussianArray>, options: &RbfOptions) -> Result<()> {
    let d = x.n_features();
    if let Some(z) = z.filter(|z| z.n_features() != d) {
        return Err(Error::shape("Z", format!("{d} features as in X"), z.n_features()));
    }
    check_positive("sigma", options.sigma)
}
