//! Models: what is fitted, what it predicts, what it remembers.

mod labels;
pub mod platt;
pub mod probability;

pub use labels::Labels;
