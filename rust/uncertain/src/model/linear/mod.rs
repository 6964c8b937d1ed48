//! Linear models: what SVM-GSU, its regression, the uncertainty-SVC family and the minimax machine all leave behind.
//!
//! A linear score of a Gaussian row is Gaussian, f_i ~ N(w'x_i + b, w'S_i w), so predictions, their spread and
//! probabilities follow from (w, b) alone, whatever found them. Order of the files: `scores` (means and spreads),
//! `classifier` and `regressor` (fitted models), `two_classes`, `at_zero` (machines that no plane serves), `fit` (one problem of two classes
//! per class, and their calibration), `remote` (the same for rows held by other processes), `path` (cross-validation along a path of penalties).
//!
//! A method that finds hyperplanes for two classes gets several classes and probabilities from `fit_one_vs_rest`.

mod at_zero;
mod classifier;
mod fit;
mod path;
mod regressor;
mod remote;
pub(crate) mod scores;
mod state;
mod two_classes;

pub(in crate::model) use at_zero::AtZero;
pub use classifier::LinearClassifier;
pub(in crate::model) use fit::{NearFold, fit_one_vs_rest};
pub(in crate::model) use path::path_one_vs_rest;
pub use regressor::LinearRegressor;
pub(in crate::model) use remote::{FoldCounts, Plan, classify, regress, task};
pub(in crate::model) use two_classes::{TwoClasses, positive_classes};
