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

mod cholesky;
mod dispatch;
mod distance;
mod lanes;
mod matrix;
pub(crate) mod mixture;
pub(crate) mod normal;
pub(crate) mod pairs;
mod rank_update;
pub(crate) mod roots;
pub(crate) mod smo;
pub(crate) mod spread;
mod vector;
mod vectors;
mod waves;

pub use cholesky::factor_upper;
pub(crate) use dispatch::{Kernel, dispatch};
pub(crate) use distance::add_squared_distances;
pub(crate) use lanes::{LANES, Pack};
pub use matrix::{Power, add_rows, add_slices, dot, dots, symmetric_images};
pub(crate) use rank_update::rank_update_lower;
pub(crate) use vectors::{add_scaled, dot_and_add};
pub(crate) use waves::waves;
