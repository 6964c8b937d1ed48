//! What a fit takes beside the rows: an upper estimate, of which a test measures that it is one.

use crate::data::GaussianArray;
use crate::data::covariance::packed_len;
use crate::data::source::block_rows;
use crate::kernel::features::FeatureMap;
use crate::kernel::probabilistic_rbf::Coupling;
use crate::objective::dense_parts;
use crate::{parallel, solver};

/// The interior-point method's numbers per row, with those of a step that is tried; targets and weights.
const ROW_BYTES: usize = 640;
/// Matrices of the Newton system beside the parts' sums.
const MATRICES: usize = 4;

/// Bytes beside the rows themselves.
pub(super) fn bytes(map: &FeatureMap, data: &GaussianArray) -> u64 {
    let (n, d, width) = (data.n_rows(), data.n_features(), map.n_columns());
    let coupled = !data.covariances().structure().is_diagonal();
    let (prepared, per_block_row, fixed) = match map {
        FeatureMap::Random(map) => {
            let matrices = coupled && data.covariances().common().is_none();
            let spread = if matrices { packed_len(d) } else { d };
            let numbers = if matrices && map.noise().is_some() { spread } else { 0 };
            (n * numbers, 3 * width + spread, map.n_components() * (2 * d + spread))
        }
        FeatureMap::Nystroem(map) => {
            let landmarks = map.landmarks().n_rows();
            let numbers = d + if coupled { d * (d + 1) } else { d };
            let roots = if map.coupling() == Coupling::Shared { packed_len(d) } else { 0 };
            ((n + landmarks) * (numbers + roots), width + landmarks, landmarks * landmarks * 3)
        }
    };
    let per_block = block_rows(width) * (per_block_row + 2 * width);
    let square = (width + 9) * (width + 9);
    let dense = if solver::holds_matrix(width) { square * (dense_parts(width).min(n / 256 + 1) + MATRICES) } else { 0 };
    // A sample of the rows is solved first, with its own preparation.
    let numbers = prepared + prepared / 4 + parallel::default_threads() * per_block + fixed + dense;
    (n * ROW_BYTES + 8 * numbers) as u64
}
