//! One end of a regression's tube per row: the expected hinge with an offset.
//!
//! ```text
//! L(y, m, v) = E max(0, a - y f),  f ~ N(m, v),  y = -1 or +1
//! ```
//!
//! The epsilon-insensitive loss of a target t is the sum of two of these, (y, a) = (+1, t - epsilon) and
//! (-1, -t - epsilon): every row twice, and the methods for margins apply to the tube. The offset may be negative, so
//! the loss is not homogeneous and the certificate takes tangents, as for regression.

use super::{Certificate, Dual, Loss, LossEval, Scores, Smoothness, TargetKind, expected_hinge};

/// E max(0, a - y f) with an offset a for every row.
#[derive(Debug, Clone)]
pub struct TubeEnds {
    offsets: Vec<f64>,
}

impl TubeEnds {
    /// One offset per row.
    pub fn new(offsets: Vec<f64>) -> Self {
        Self { offsets }
    }
}

impl Loss for TubeEnds {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        expected_hinge::eval(at, |row| self.offsets[row], out);
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Signs, Certificate::Tangents, Smoothness::WithSpread)
    }

    fn dual(&self, _row: usize) -> Option<Dual> {
        Some(Dual::Normal)
    }

    fn offset(&self, row: usize) -> f64 {
        self.offsets[row]
    }

    fn take_rows(&self, rows: &[usize]) -> Option<Box<dyn Loss>> {
        Some(Box::new(Self { offsets: rows.iter().map(|&row| self.offsets[row]).collect() }))
    }
}
