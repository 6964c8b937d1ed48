//! [`LineRequest`]: what a line between true features and targets asks of the rows.

use serde::{Deserialize, Serialize};

use crate::mixture::Mixture;

/// Parameters of a line that the rows need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LineRequest {
    /// N(mu, T) of the true features.
    pub density: Mixture,
    /// The line that targets are measured from, in units of the rows, and the unit.
    pub law: Vec<f64>,
    /// Unit of the targets.
    pub unit: f64,
    /// Factor of the weights.
    pub share: f64,
    /// Changes of the line in coordinates and units of the fit, and the scatter.
    pub theta: Vec<f64>,
    /// Coefficients of the round before.
    pub before: Vec<f64>,
    /// Which sums.
    pub ask: LineSums,
}

/// Which sums over the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LineSums {
    /// The log-likelihood with its derivatives, and those of the degrees of freedom.
    Likelihood,
    /// Products of scores of the density with themselves and with those of the line.
    Stage,
    /// Squares of the rows' influences.
    Squares {
        /// How scores of the density move those of the line.
        gain: Vec<f64>,
    },
}
