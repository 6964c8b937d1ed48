//! Adaptive Huber regression: robust, semi-supervised, multi-view kernel regression that drops labels.
//!
//! ```text
//! J = 1/W sum_i s_i H_xi(y_i - f(x_i)) + alpha sum_a w^a' K^a w^a + manifold sum_a f^a' M^a f^a
//! f = sum_a c^a f^a,    f^a = K^a w^a,    W = sum_i s_i over the labelled rows
//! ```
//! H_xi(r) = r^2 / 2 up to |r| = xi and linear beyond. K^a is the kernel matrix of view a on all rows, M^a the
//! Laplacian of a graph on them. The labels enter only through a box-constrained quadratic program on the
//! labelled rows, after one factorisation per view; the refinement loop lowers xi and drops the labels
//! beyond it.
//!
//! Order of the files: `given` (rows and their labels), `units` (of the features), `source` (kernels), `neighbors`, `graph` and `operator` (M),
//! `factor` (K = R R'), `reduction` (G0), `system` (solves on the labelled rows), `qp` and `bounded` (one threshold),
//! `refine` (all of them), `calibrate` (probabilities), `machine` (a model with its rows), `spread` (scores of rows with
//! error bars).
//!
//! ```
//! use uncertain::huber;
//! use uncertain::ndarray::{Array1, Axis, arr1};
//! use uncertain::prelude::*;
//!
//! # fn main() -> Result<()> {
//! let x: Array1<f64> = (0..40).map(|i| 0.1 * f64::from(i)).collect();
//! let mut y = x.mapv(f64::sin);
//! y[7] += 5.0; // a wrong label
//! y[20] = f64::NAN; // no label
//! let rows = GaussianArray::exact(x)?;
//! let data = Dataset::partial(&rows, &y.insert_axis(Axis(1)), 0)?;
//! let model = huber::Params::new().delta(1.0).max_refinements(2).fit(&data)?;
//! assert_eq!(model.model().outcomes[0].removed[0], 7);
//! let f = Regressor::predict(&model, &GaussianArray::exact(arr1(&[2.0]))?)?;
//! assert!((f[0] - 2.0_f64.sin()).abs() < 0.05, "{f}");
//! # Ok(())
//! # }
//! ```
//!
//! Source: adaptive Huber-type label refinement for semi-supervised multi-view learning; the stationarity
//! condition is its equation (7). Its equation (8) exchanges the two strengths, its algorithm drops a factor
//! 2, and a dense solve of all views costs O((mN)^3), not O(m^2 N^2).

mod bounded;
mod calibrate;
mod factor;
mod fit;
mod fitted;
mod given;
mod graph;
mod machine;
mod memory;
mod neighbors;
mod operator;
mod params;
mod program;
mod qp;
mod reduction;
mod refine;
mod source;
mod spread;
mod state;
mod system;
#[cfg(test)]
mod tests;
mod units;

pub use fitted::{FittedView, Model, Outcome};
pub use graph::Graph;
pub use machine::Machine;
pub use operator::{Operator, Sparse};
pub use params::{Params, ValidParams, View};
pub use refine::{Ending, Refinement};
pub use source::Kernel;
