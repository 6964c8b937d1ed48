//! The data: rows that are Gaussians, N(x_i, S_i), and the kinds of covariance they may carry.

mod beside;
mod build;
mod collapse;
mod columns;
pub(crate) mod convert;
pub mod covariance;
mod distinct;
mod gaussian_array;
mod incomplete;
mod labels;
mod mixture_array;
mod modes;
mod root;
mod row_targets;
mod sample;
pub(crate) mod source;
mod stored_as;
mod targets;
pub mod validate;
pub(crate) mod weights;

pub use crate::rows::{ElementType, Rows, Run, SharedBuffer, SharedCodes};
pub use collapse::Collapse;
pub use covariance::{Covariances, Kind, Unit};
pub(crate) use distinct::distinct;
pub use gaussian_array::GaussianArray;
pub use incomplete::Incomplete;
pub use labels::Labels;
pub(crate) use mixture_array::Fold;
pub use mixture_array::MixtureArray;
pub use modes::Modes;
pub use row_targets::RowTargets;
pub use source::{RowSource, Workspace};
pub use targets::Targets;
pub use uncertain_simd::{Element, Stored, of_type};
pub use validate::Names;
pub use weights::Weights;
