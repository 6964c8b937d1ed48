//! The uncertainty-SVC family: linear classifiers for rows that are ellipsoids.
//!
//! Row i is the ellipsoid x_i + r_i S_i^(1/2) e, |e| <= 1. With d = 1 - y (w'x + b) and s = |S^(1/2) w| the
//! largest and the smallest hinge over it are max(0, d + r s) and max(0, d - r s), and
//!
//! ```text
//! USVC        min 1/2 |w|^2 + C sum c_i max(0, d_i + r s_i)         every point of the ellipsoid
//! TSVC        min 1/2 |w|^2 + C sum c_i max(0, d_i - r s_i)         its best point (not convex)
//! Power SVM   TSVC with every covariance replaced by (tr S / d) I
//! AUSVC       USVC in which misclassified rows lose radius, a tenth at a time (`shrink`)
//! MPSVC       min sum c_i / (1 + (m_i / s_i)^2) over the rows on the right side + c_i for the others
//! ```
//!
//! The probabilistic reading: with r = Phi^-1(p) the constraint of USVC holds with probability p for a
//! Gaussian row, with r = sqrt(p / (1 - p)) for any distribution of that mean and covariance.
//! MPSVC minimises the sum of the largest probabilities of error that the rows' moments allow.
//! Sources: J. Yang, S. Gunn, Iterative Constraints in Support Vector Classification with Uncertain
//! Information, 2007; J. Bi, T. Zhang, NIPS 2004 (TSVC); W. Zhang, S. Yu, S.-H. Teng, CVPR 2012 (Power SVM).
//!
//! ```
//! use uncertain::ndarray::{arr1, arr2};
//! use uncertain::prelude::*;
//! use uncertain::robust::{Method, Params};
//!
//! # fn main() -> Result<()> {
//! // The second number of each row is known only to +-2.
//! let means = arr2(&[[1.0, 2.0], [1.2, -1.0], [-1.0, 1.5], [-0.8, -2.0]]);
//! let rows = GaussianArray::from_std(means, arr2(&[[0.1, 2.0]; 4]))?;
//! let data = Dataset::classification(&rows, [1, 1, 0, 0])?;
//!
//! let model = Params::new().c(10.0).method(Method::Usvc).fit(&data)?;
//! assert_eq!(model.predict(&rows)?, arr1(&[1, 1, 0, 0]));
//! assert!(model.linear.fits[0].gap <= 1e-6); // certified
//! # Ok(())
//! # }
//! ```

mod adaptive;
mod barrier;
mod binary;
mod fit;
mod margin;
mod params;
mod radius;
mod state;
mod total;

pub use fit::Model;
pub use params::{Method, Params, Theta, ValidParams};
pub use radius::Bound;
