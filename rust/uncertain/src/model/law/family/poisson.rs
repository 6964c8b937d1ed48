//! log p = y eta - exp(eta) - log y!; for y > 0 around its largest value, delta = eta - log y:
//! y (delta - (exp(delta) - 1)) - log(2 pi y) / 2 - R(y), R what Stirling's formula leaves out.

use super::{Constant, Family, Local, Observation, Weighted, check_count, log_mean};
use crate::special::{HALF_LOG_TAU, stirling_rest};

#[derive(Debug)]
pub(super) struct Poisson;

impl Family for Poisson {
    fn refusal(&self, y: f64) -> Option<&'static str> {
        check_count(y)
    }

    fn constant(&self, Observation { y, .. }: Observation, _: &[f64]) -> Constant {
        let value = if y > 0.0 { -0.5 * y.ln() - HALF_LOG_TAU - stirling_rest(y)[0] } else { 0.0 };
        Constant { value, ..Constant::default() }
    }

    fn local(&self, Observation { y, .. }: Observation, eta: f64, _: &[f64]) -> Local {
        if y == 0.0 {
            let mu = eta.exp();
            return Local { value: -mu, d1: -mu, d2: -mu, ..Local::default() };
        }
        let delta = eta - y.ln();
        let above = delta.exp_m1();
        Local { value: y * (delta - above), d1: -y * above, d2: -y * (1.0 + above), ..Local::default() }
    }

    fn peak(&self, seen: Observation, _: &[f64]) -> f64 {
        seen.y.ln()
    }

    fn start(&self, rows: &[Weighted], _: usize) -> (f64, Vec<f64>) {
        (log_mean(rows), vec![])
    }

    fn moments(&self, m: f64, v: f64, _: &[f64]) -> Option<(f64, f64)> {
        let mu = (m + 0.5 * v).exp();
        Some((mu, mu + mu * mu * v.exp_m1()))
    }
}
