//! The standard normal distribution, to full relative accuracy in both tails.

pub use crate::simd::normal::{cdf, pdf};
