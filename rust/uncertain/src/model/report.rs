//! [`FitReport`]: how the fit of one function ended, the same for every model.

use serde::{Deserialize, Serialize};

use crate::number;
use crate::solver::{Solution, Status, smo};

/// How the fit of one hyperplane (or of one function of a kernel) ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitReport {
    /// The minimised objective at the solution.
    #[serde(with = "number")]
    pub objective: f64,
    /// Certified relative duality gap: J - min J <= gap * J. NaN where it is not known.
    #[serde(with = "number")]
    pub gap: f64,
    /// Iterations over all rows (SGD: steps).
    pub n_iter: usize,
    /// How the solver ended.
    pub status: Status,
}

impl From<&Solution> for FitReport {
    fn from(solution: &Solution) -> Self {
        let &Solution { objective, gap, iterations, status, .. } = solution;
        Self { objective, gap, n_iter: iterations, status }
    }
}

impl From<&smo::DualSolution> for FitReport {
    fn from(solution: &smo::DualSolution) -> Self {
        let &smo::DualSolution { objective, gap, iterations, status, .. } = solution;
        Self { objective, gap, n_iter: iterations, status }
    }
}
