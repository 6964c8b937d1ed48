//! SVM-GSU: the linear maximum-margin classifier for rows that are Gaussians.
//!
//! ```text
//! J(w, b) = alpha/2 |w|^2 + sum_i c_i E max(0, 1 - y_i (w'x + b)),  x ~ N(x_i, S_i),  sum c_i = 1
//! ```
//!
//! The ordinary SVM is the case S_i = 0. More than two classes are fitted one against the rest.
//! Source: Tzelepis, Mezaris, Patras, IEEE TPAMI 40(12), 2018, doi 10.1109/TPAMI.2017.2772235.
//!
//! ```
//! use uncertain::file::{self, Class, Saved};
//! use uncertain::gsu;
//! use uncertain::ndarray::{arr1, arr2};
//! use uncertain::prelude::*;
//! use uncertain::step::Step;
//!
//! # fn main() -> Result<()> {
//! // Four rows in the plane; the second number of each is known only to +-2.
//! let means = arr2(&[[1.0, 2.0], [1.2, -1.0], [-1.0, 1.5], [-0.8, -2.0]]);
//! let rows = GaussianArray::from_std(means, arr2(&[[0.1, 2.0]; 4]))?;
//! let data = Dataset::classification(&rows, [1, 1, 0, 0])?;
//!
//! let model = gsu::Params::new().alpha(0.01).fit(&data)?;
//! assert_eq!(model.predict(&rows)?, arr1(&[1, 1, 0, 0]));
//! assert!(model.fits[0].gap <= 1e-6); // certified: the objective is within 1e-6 of the best possible one
//!
//! let saved = Saved::new(vec![Step::from_model(model)], vec![Class::from("no"), Class::from("yes")]);
//! let loaded = file::load_from_bytes(&file::save_to_bytes(&saved)?)?; // or file::write, file::read
//! assert_eq!(loaded.predict(&rows)?, arr1(&[1, 1, 0, 0]));
//! # Ok(())
//! # }
//! ```

mod fit;
mod online;
mod params;
mod state;

pub use params::{Params, ValidParams};

use crate::model::linear::LinearClassifier;

/// A fitted SVM-GSU.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The hyperplanes and all predictions.
    pub linear: LinearClassifier,
    /// SGD steps behind the hyperplanes, where [`partial_fit`](Params::partial_fit) goes on.
    pub steps: u64,
}

/// A fitted SVM-GSU answers as its hyperplanes do: `model.predict(&rows)`, `model.fits`.
impl std::ops::Deref for Model {
    type Target = LinearClassifier;

    fn deref(&self) -> &LinearClassifier {
        &self.linear
    }
}
