//! First and second moments of rows, by feature and by class.

mod by_feature;
mod scatter;

pub(crate) use by_feature::{Moments, sums as moments};
pub(crate) use scatter::{RowMoments, moments_by_class, scatter};
