//! Supervised learning from data with error bars: every row is a Gaussian, not a point.
//!
//! Classify, regress and transform rows that are known only up to a covariance matrix each, and read and write
//! the models of the Python package `uncertain`. Nothing here needs Python.
//!
//! | you want | module |
//! |---|---|
//! | classes of populations, linear or with a [`transform::KernelMap`] | [`gsu`] (support vectors, expected hinge loss) |
//! | classes, every row right with a given probability | [`robust`], [`minimax`] |
//! | classes of noisy readings, gaps allowed | [`discriminant`] |
//! | classes along curves | [`kernel_svc`], for many rows [`feature_svc`] |
//! | numbers | [`gsu_regression`], [`kernel_svr`] |
//! | the law between true values, errors in x and y | [`mixture_regression`], [`mod@line`], [`law`], [`curve`] |
//! | labels that may be wrong or missing | [`huber`] |
//! | true values behind noisy readings, filled gaps | [`transform::GaussianDenoiser`], [`transform::GaussianImputer`] |
//! | rows of several Gaussians each | [`MixtureArray`] in any of these, [`draws`] |
//! | predictions of a model that was fitted elsewhere | [`file::read`], [`file::Saved`] |
//!
//! Each module's `Params::new()` has a method for every parameter, `check()` refuses what cannot be, and the
//! result fits. `rust/uncertain/examples` has programs to begin with; `predict` puts a CSV file through a model
//! file.
//!
//! # An example
//!
//! A linear score w'x + b of a row N(x_i, S_i) is itself Gaussian, with mean m = w'x_i + b and
//! variance v = w'S_i w. So the expected loss of a linear model is a scalar function of (y, m, v),
//! and that is how the crate is cut: a loss never sees a covariance, a covariance never sees a label,
//! a solver sees neither.
//!
//! ```
//! use uncertain::gsu;
//! use uncertain::ndarray::{arr1, arr2};
//! use uncertain::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let means = arr2(&[[1.0, 2.0], [1.2, -1.0], [-1.0, 1.5], [-0.8, -2.0]]);
//! let errors = arr2(&[[0.1, 2.0]; 4]); // the second number is known only to +-2
//! let rows = GaussianArray::from_std(means, errors)?;
//! let data = Dataset::classification(&rows, [1, 1, 0, 0])?;
//!
//! let model = gsu::Params::new().alpha(0.01).fit(&data)?;
//! assert_eq!(model.predict(&rows)?, arr1(&[1, 1, 0, 0]));
//! assert!(model.fits[0].gap <= 1e-6); // certified: at most this far above the optimum
//! # Ok(())
//! # }
//! ```
//!
//! Data flow one way through the modules: [`data`] (rows and covariance kinds) -> [`transform`]
//! (scale, project) -> [`objective`] ([`loss`] x covariance verbs x penalty) -> [`solver`] ->
//! [`model`] -> predictions, or as a [`step`] into a [`file`](mod@file). [`parallel`] decides who computes what,
//! [`Control`] stops long work and hears of its progress.

#![forbid(unsafe_code)]

pub mod control;
#[doc(hidden)]
pub mod data;
pub mod deconvolution;
pub mod density;
pub mod draws;
pub mod error;
mod estimator;
pub mod file;
#[doc(hidden)]
pub mod kernel;
pub mod kernels;
pub(crate) mod linalg;
#[doc(hidden)]
pub mod loss;
#[doc(hidden)]
pub mod memory;
pub(crate) mod mixture;
#[doc(hidden)]
pub mod model;
mod moments;
mod named;
mod number;
#[doc(hidden)]
pub mod objective;
pub mod parallel;
mod params;
#[doc(hidden)]
pub mod partition;
mod readable;
mod rows;
mod simd;
#[doc(hidden)]
pub mod solver;
#[doc(hidden)]
pub mod special;
#[doc(hidden)]
pub mod state;
pub mod step;
#[doc(hidden)]
pub mod sums;
#[cfg(test)]
mod testing;
pub mod transform;

pub use control::{Control, Progress};
pub use data::{Collapse, Dataset, GaussianArray, Kind, MixtureArray, SquareMatrix};
pub use error::{Error, Result};
pub use estimator::{Classifier, Fit, Path, Regressor, Transform};
pub use model::{
    Calibration, FitReport, curve, discriminant, feature_svc, group_folds, gsu, gsu_regression, huber, kernel_svc,
    kernel_svr, law, line, linear, minimax, mixture_regression, platt::Sigmoid, robust, trees,
};
pub use params::Valid;
pub use solver::{Options, SolverKind, Status};
pub use state::PenaltyPath;

/// The version of ndarray whose arrays stand in this crate's signatures.
pub use ndarray;

/// Losses of Gaussian scores.
pub mod losses {
    pub use crate::loss::{LossKind, expected_hinge};
}

/// Traits and types of programs that fit and predict: `use uncertain::prelude::*`.
pub mod prelude {
    pub use crate::{Classifier, Dataset, Fit, GaussianArray, Regressor, Result, Transform};
}

/// The README's Rust snippets, as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../guide.md")]
pub mod guide {}
