//! The worst-case hinge: the loss of the worst point of a row's ellipsoid.
//!
//! ```text
//! L(y, m, v) = max(0, d + r s),   d = 1 - y m,  s = sqrt(v),  r >= 0
//! ```
//!
//! It is the largest hinge over the points x_i + r S_i^(1/2) e, |e| <= 1; the constraint
//! y (w'x + b) >= 1 - xi + r |S^(1/2) w| of uncertainty-SVC (USVC) is the same thing. A hinge in d and a cone
//! in w: convex, and a support function.
//! Source: J. Yang, S. Gunn, Iterative Constraints in Support Vector Classification with Uncertain
//! Information, 2007.

use super::{Certificate, Conjugate, Dual, Loss, LossEval, Scores, Smoothness, hinge};

/// max(0, d + r s) with a radius r >= 0 for every row.
#[derive(Debug, Clone)]
pub struct WorstCaseHinge {
    radii: Vec<f64>,
}

impl WorstCaseHinge {
    /// One radius >= 0 per row.
    #[must_use]
    pub fn new(radii: &[f64]) -> Self {
        Self { radii: radii.to_vec() }
    }
}

impl Loss for WorstCaseHinge {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        hinge::eval(at, |row| self.radii[row], out);
    }

    fn conjugate(&self, _row: usize, y: f64) -> Option<Conjugate> {
        Some(Conjugate::hinge(1.0, y))
    }

    fn certificate(&self) -> Certificate {
        Certificate::Homogeneous
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Kinked
    }

    fn dual(&self, row: usize) -> Option<Dual> {
        Some(Dual::Radius(self.radii[row]))
    }

    fn take_rows(&self, rows: &[usize]) -> Option<Box<dyn Loss>> {
        Some(Box::new(Self { radii: rows.iter().map(|&row| self.radii[row]).collect() }))
    }
}
