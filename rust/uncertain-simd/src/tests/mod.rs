//! Tests of all kernels together, and what tests share.

mod same_bits;
pub(crate) mod under_miri;
