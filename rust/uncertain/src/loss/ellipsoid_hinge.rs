//! The hinge at the worst or the best point of a row's ellipsoid.
//!
//! ```text
//! L(y, m, v) = max(0, d + r s),   d = 1 - y m,  s = sqrt(v),  r >= 0 (worst) or r <= 0 (best)
//! ```
//!
//! For r >= 0 it is the largest hinge over the points x_i + r S_i^(1/2) e, |e| <= 1; the constraint
//! y (w'x + b) >= 1 - xi + r |S^(1/2) w| of uncertainty-SVC (USVC) is the same thing. A hinge in d and a cone
//! in w: convex, and a support function.
//!
//! For r <= 0 it is the smallest one: total-support-vector classification (TSVC) moves every point within its ellipsoid to
//! where it is classified best; with isotropic covariances that is the Power SVM. Not convex: decreasing in s.
//! Sources: J. Yang, S. Gunn, Iterative Constraints in Support Vector Classification with Uncertain
//! Information, 2007; J. Bi, T. Zhang, Support vector classification with input data uncertainty, NIPS 2004;
//! W. Zhang, S. Yu, S.-H. Teng, Power SVM, CVPR 2012.

use super::{Certificate, Conjugate, Dual, Loss, LossEval, Scores, Smoothness, TargetKind, hinge};

/// max(0, d + r s) with a radius |r| for every row.
#[derive(Debug, Clone)]
pub struct EllipsoidHinge {
    /// r
    radii: Vec<f64>,
    is_best: bool,
}

impl EllipsoidHinge {
    /// At the worst point, with one radius >= 0 per row.
    pub fn worst(radii: &[f64]) -> Self {
        Self { radii: radii.to_vec(), is_best: false }
    }

    /// At the best point.
    pub fn best(radii: &[f64]) -> Self {
        Self { radii: radii.iter().map(|r| -r).collect(), is_best: true }
    }
}

impl Loss for EllipsoidHinge {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        hinge::eval(at, |row| self.radii[row], out);
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        let certificate = if self.is_best { Certificate::None } else { Certificate::Homogeneous };
        (TargetKind::Signs, certificate, Smoothness::Kinked)
    }

    fn conjugate(&self, _row: usize, y: f64) -> Option<Conjugate> {
        (!self.is_best).then(|| Conjugate::hinge(y))
    }

    fn dual(&self, row: usize) -> Option<Dual> {
        (!self.is_best).then(|| Dual::Radius(self.radii[row]))
    }

    fn take_rows(&self, rows: &[usize]) -> Option<Box<dyn Loss>> {
        Some(Box::new(Self { radii: rows.iter().map(|&row| self.radii[row]).collect(), ..*self }))
    }
}
