//! Models: what is fitted, what it predicts, what it remembers.

mod folds;
pub mod gsu;
pub mod kernel_svc;
pub mod kernel_svr;
mod labels;
pub mod platt;
pub mod probability;
mod score;

pub use labels::Labels;
