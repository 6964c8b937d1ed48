//! Supervised learning from data with error bars.
pub mod control;
pub mod data;
pub mod error;
pub mod file;
pub mod kernel;
pub(crate) mod linalg;
pub mod loss;
pub mod model;
pub mod objective;
pub mod parallel;
mod simd;
pub mod solver;
pub mod special;
#[cfg(test)]
mod testing;
pub mod transform;

pub use control::{Control, Progress};
pub use data::{Collapse, Covariances, GaussianArray, Kind, Names, Rows, Unit};
pub use error::{Error, Result};
pub use kernel::probabilistic_rbf as probabilistic_kernel;
pub use model::{Labels, gsu, kernel_svc, kernel_svr};

/// The README's Rust snippets, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
