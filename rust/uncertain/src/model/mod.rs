//! Models: what is fitted, what it predicts, what it remembers.

pub mod gsu;
mod labels;
pub mod platt;
pub mod probability;
mod score;

pub use labels::Labels;
