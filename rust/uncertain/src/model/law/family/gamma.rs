//! log p = -nu (delta + exp(-delta) - 1) + log(nu) / 2 - R(nu) - log(2 pi) / 2 - log y, delta = eta - log y, nu the shape,
//! R what Stirling's formula leaves out: nothing cancels where nu is large. a = log dispersion = -log nu.

use super::{Constant, Family, Local, Observation, Weighted, check_positive, log_mean, log_moments};
use crate::special::{HALF_LOG_TAU, stirling_rest};

#[derive(Debug)]
pub(super) struct Gamma;

impl Family for Gamma {
    fn refusal(&self, y: f64) -> Option<&'static str> {
        check_positive(y)
    }

    fn has_scale(&self) -> bool {
        true
    }

    fn constant(&self, Observation { y, .. }: Observation, extra: &[f64]) -> Constant {
        let nu = (-extra[0]).exp();
        let [rest, d, dd] = stirling_rest(nu);
        let value = -0.5 * extra[0] - rest - HALF_LOG_TAU - y.ln();
        Constant { value, extra: [-0.5 + nu * d, 0.0], second: [-nu * d - nu * nu * dd, 0.0, 0.0] }
    }

    fn local(&self, Observation { y, .. }: Observation, eta: f64, extra: &[f64]) -> Local {
        let (nu, delta) = ((-extra[0]).exp(), eta - y.ln());
        let below = (-delta).exp_m1();
        let misfit = nu * (delta + below);
        Local {
            value: -misfit,
            d1: nu * below,
            d2: -nu * (1.0 + below),
            extra: [misfit, 0.0],
            cross: [-nu * below, 0.0],
            second: [-misfit, 0.0, 0.0],
        }
    }

    fn peak(&self, seen: Observation, _: &[f64]) -> f64 {
        seen.y.ln()
    }

    fn start(&self, rows: &[Weighted], _: usize) -> (f64, Vec<f64>) {
        let (_, variance) = log_moments(rows);
        (log_mean(rows), vec![variance.clamp(1e-6, 10.0).ln()])
    }

    fn moments(&self, m: f64, v: f64, extra: &[f64]) -> Option<(f64, f64)> {
        let (mu, square) = ((m + 0.5 * v).exp(), (2.0 * (m + v)).exp());
        Some((mu, mu * mu * v.exp_m1() + extra[0].exp() * square))
    }
}
