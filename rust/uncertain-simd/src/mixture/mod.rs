//! Noisy rows under a mixture of Gaussians, eight rows side by side.
//!
//! Row i is N(z_i, S_i) around an unknown z_i, and z_i comes from component k, N(mu_k, T_k). With
//! M = T_k + S_i and r = x_i - mu_k, all that a step of EM needs of a row and a component are
//! ```text
//! log N(r; 0, M),      a = M^{-1} r,      M^{-1}
//! ```
//! and of all rows the sums over i of q (a a' - M^{-1}), q a and q, with q the share of component k in the row.
//! Numbers lie in [`Pack`](crate::Pack)s (element e of eight rows), so that every operation of a row is one instruction
//! for eight rows, whatever the dimension: small matrices without horizontal sums or remainders.
//!
//! Three forms of the same sums: [`dense`] inverts M of every row; [`rotated`] is for rows whose
//! covariances share eigenvectors (none, one number, or one matrix for all), where one decomposition per
//! component makes M diagonal and M^{-1} costs d numbers; [`low_rank`] is for S = F F' with few columns.
//!
//! A missing feature is one of infinite variance: its row and column of M^{-1} and its element of a are
//! zero. In a pack it has a 0 in the mask, 1 for the others.

mod dense;
mod draws;
mod form;
mod invert;
mod log;
mod low_rank;
mod passes;
mod posterior;
mod rotated;
mod woodbury;

pub use draws::{DrawComponent, DrawSums, draw_sums_len};
pub use form::{Component, Noise, Scatter, Shape, Workspace, triangle};
pub use low_rank::Factors;
pub use passes::{Densities, Sums};
pub use posterior::Posteriors;
