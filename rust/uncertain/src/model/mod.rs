//! Models: what is fitted, what it predicts, what it remembers.

mod calibration;
mod clusters;
pub mod curve;
mod degrees;
pub mod discriminant;
mod error_scale;
pub mod feature_svc;
mod folds;
mod group_folds;
pub mod gsu;
pub mod gsu_regression;
pub mod huber;
pub mod kernel_machine;
pub mod kernel_svc;
pub mod kernel_svr;
pub mod law;
mod least_squares;
pub mod line;
pub mod linear;
pub mod minimax;
pub mod mixture_regression;
mod noise;
mod one_vs_one;
pub(crate) mod one_vs_rest;
mod penalty_path;
pub mod platt;
pub mod probability;
mod report;
pub mod robust;
mod sampled;
mod shared_features;
pub mod trees;

pub use calibration::Calibration;
pub use group_folds::group_folds;
pub use report::FitReport;
