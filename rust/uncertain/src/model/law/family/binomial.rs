//! log p = -log(1 + exp(-eta)) for 1, -log(1 + exp(eta)) for 0.

use super::{Family, Local, Observation, Weighted, mean};

#[derive(Debug)]
pub(super) struct Binomial;

impl Family for Binomial {
    fn refusal(&self, y: f64) -> Option<&'static str> {
        (y != 0.0 && y != 1.0).then_some("it must be 0 or 1")
    }

    fn local(&self, seen: Observation, eta: f64, _: &[f64]) -> Local {
        let e = (-eta.abs()).exp();
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        let with_target = (eta >= 0.0) == (seen.y == 1.0);
        let value = -e.ln_1p() - if with_target { 0.0 } else { eta.abs() };
        let away = if with_target { small } else { large };
        Local { value, d1: (2.0 * seen.y - 1.0) * away, d2: -large * small, ..Local::default() }
    }

    fn peak(&self, seen: Observation, _: &[f64]) -> f64 {
        if seen.y == 1.0 { f64::INFINITY } else { f64::NEG_INFINITY }
    }

    fn start(&self, rows: &[Weighted], _: usize) -> (f64, Vec<f64>) {
        let least = 0.1 / rows.len() as f64;
        let p = mean(rows, |row| row.seen.y).clamp(least, 1.0 - least);
        ((p / (1.0 - p)).ln() - mean(rows, |row| row.offset), vec![])
    }
}
