//! The vector kernels of the passes over the data, compiled for each instruction set.
//!
//! Idea: kernels are plain loops over `[f64; 8]` lanes that LLVM turns into one AVX-512 register, two
//! AVX2 registers or four NEON ones; [`dispatch`] picks the compiled copy at run time. The sum of a
//! dot product is always the same tree of 8 partial sums, so every machine with fused multiply-add
//! gives the same bits. Without it (`FMA = false`) `mul_add` would call a C function for each
//! element, so those machines get `a * b + c`.
//!
//! Kernels that must keep dozens of vectors in registers (pairs/) do not leave that to LLVM: see vector.rs.
//!
//! Rejected: pulp (its traits name registers, and cannot tell a kernel whether FMA is cheap),
//! `std::simd` (nightly).
//!
//! An internal crate of `uncertain-learn`: whatever is public here is for that crate alone and may change at any time.

// Fields are named as in the formulas on top of each file; the notes there are for readers of the code.
#![allow(missing_docs, rustdoc::private_intra_doc_links)]

mod cholesky;
mod combinations;
mod dispatch;
mod distance;
mod factor;
mod lanes;
pub mod logistic;
mod matrix;
pub mod mixture;
pub mod normal;
mod pages;
pub mod pairs;
mod prefetch;
mod rank_update;
pub mod roots;
mod scale;
pub mod smo;
pub mod spread;
mod stored;
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../uncertain/src/testing.rs"]
mod testing;
#[cfg(test)]
mod tests;
mod triangle;
mod vector;
mod vectors;
mod waves;

pub use cholesky::{TOGETHER, factor_upper, factor_upper_together, is_mirrored, put_together};
pub use combinations::add_combinations;
pub use dispatch::{Level, SWITCH};
pub use distance::add_squared_distances;
pub use factor::{add_factor_images, factor_products};
pub use lanes::{LANES, Pack};
pub use matrix::{Power, add_rows, dot, dots, symmetric_images};
pub use pages::{give_back, in_large_pages};
pub use prefetch::prefetch;
pub use rank_update::rank_update_lower;
pub use scale::power_of_two_near;
pub use stored::{Element, Stored};
pub use triangle::Layout;
pub use vectors::{add_scaled, dot_and_add};
pub use waves::waves;
