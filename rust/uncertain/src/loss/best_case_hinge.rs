//! The best-case hinge: the loss of the best point of a row's ellipsoid.
//!
//! ```text
//! L(y, m, v) = max(0, d - r s),   d = 1 - y m,  s = sqrt(v),  r >= 0
//! ```
//!
//! Total-support-vector classification (TSVC) moves every point within its ellipsoid to where it is
//! classified best; with isotropic covariances that is the Power SVM. Not convex: decreasing in s.
//! Sources: J. Bi, T. Zhang, Support vector classification with input data uncertainty, NIPS 2004;
//! W. Zhang, S. Yu, S.-H. Teng, Power SVM, CVPR 2012.

use super::{Certificate, Loss, LossEval, Scores, Smoothness, hinge};

/// max(0, d - r s) with a radius r >= 0 for every row.
#[derive(Debug, Clone)]
pub struct BestCaseHinge {
    radii: Vec<f64>,
}

impl BestCaseHinge {
    /// One radius >= 0 per row.
    #[must_use]
    pub fn new(radii: &[f64]) -> Self {
        Self { radii: radii.to_vec() }
    }
}

impl Loss for BestCaseHinge {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        hinge::eval(at, |row| -self.radii[row], out);
    }

    fn certificate(&self) -> Certificate {
        Certificate::None
    }

    fn smoothness(&self) -> Smoothness {
        Smoothness::Kinked
    }

    fn take_rows(&self, rows: &[usize]) -> Option<Box<dyn Loss>> {
        Some(Box::new(Self { radii: rows.iter().map(|&row| self.radii[row]).collect() }))
    }
}
