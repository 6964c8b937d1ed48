//! log t = eta + sigma N(0, 1). With w = (log t - eta) / sigma, a = log sigma: log p = -w^2 / 2 - log sigma - log t -
//! log(2 pi) / 2 for an event, log Phi(-w) for a time that was not reached; lambda = phi(w) / Phi(-w).

use super::{Constant, Family, Local, Observation, Weighted, check_positive, log_moments};
use crate::special::{HALF_LOG_TAU, log_upper_tail};

#[derive(Debug)]
pub(super) struct Lognormal;

impl Family for Lognormal {
    fn refusal(&self, y: f64) -> Option<&'static str> {
        check_positive(y)
    }

    fn has_scale(&self) -> bool {
        true
    }

    fn constant(&self, Observation { y, censored }: Observation, extra: &[f64]) -> Constant {
        if censored {
            return Constant::default();
        }
        Constant { value: -extra[0] - y.ln() - HALF_LOG_TAU, extra: [-1.0, 0.0], ..Constant::default() }
    }

    fn local(&self, Observation { y, censored }: Observation, eta: f64, extra: &[f64]) -> Local {
        let r = (-extra[0]).exp();
        let w = (y.ln() - eta) * r;
        // Slope and bend of -log p in w.
        let (value, slope, bend) = if censored {
            let (log, lambda) = log_upper_tail(w);
            (log, lambda, lambda * (lambda - w))
        } else {
            (-0.5 * w * w, w, 1.0)
        };
        Local {
            value,
            d1: r * slope,
            d2: -r * r * bend,
            extra: [w * slope, 0.0],
            cross: [-r * (slope + w * bend), 0.0],
            second: [-w * (slope + w * bend), 0.0, 0.0],
        }
    }

    fn peak(&self, seen: Observation, _: &[f64]) -> f64 {
        if seen.censored { f64::INFINITY } else { seen.y.ln() }
    }

    fn start(&self, rows: &[Weighted], _: usize) -> (f64, Vec<f64>) {
        let (centre, variance) = log_moments(rows);
        (centre, vec![variance.sqrt().clamp(1e-3, 1e3).ln()])
    }
}
