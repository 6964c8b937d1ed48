//! Memory of a fit beside the rows: an upper estimate, of which a test measures that it is one.

use crate::data::GaussianArray;
use crate::data::covariance::packed_len;
use crate::data::source::block_rows;
use crate::kernel::features::RandomFeatures;
use crate::objective::dense_parts;
use crate::{parallel, solver};

/// The interior-point method's numbers per row, with those of a step that is tried; targets and weights.
const ROW_BYTES: usize = 640;
/// Matrices of the Newton system beside the parts' sums.
const MATRICES: usize = 4;

/// Bytes beside the rows themselves.
pub(super) fn bytes(map: &RandomFeatures, data: &GaussianArray) -> u64 {
    let (n, d, width) = (data.n_rows(), data.n_features(), map.n_columns());
    let coupled = !data.covariances().structure().is_diagonal();
    let matrices = coupled && data.covariances().common().is_none();
    let spread = if matrices { packed_len(d) } else { d };
    let prepared = if matrices && map.noise().is_some() { n * spread } else { 0 };
    let (per_block_row, fixed) = (3 * width + spread, map.n_components() * (2 * d + spread));
    let per_block = block_rows(width) * (per_block_row + 2 * width);
    let square = (width + 9) * (width + 9);
    let dense = if solver::holds_matrix(width) { square * (dense_parts(width).min(n / 256 + 1) + MATRICES) } else { 0 };
    // A sample of the rows is solved first, with its own preparation.
    let numbers = prepared + prepared / 4 + parallel::default_threads() * per_block + fixed + dense;
    (n * ROW_BYTES + 8 * numbers) as u64
}
