//! log t = eta + sigma W, exp(W) standard exponential. With w = (log t - eta) / sigma, a = log sigma:
//! log p = w - exp(w) - log sigma - log t for an event, -exp(w) for a time that was not reached.

use super::{Constant, Family, Local, Observation, Weighted, check_positive, log_moments};

#[derive(Debug)]
pub(super) struct Weibull;

impl Family for Weibull {
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
        Constant { value: -extra[0] - y.ln(), extra: [-1.0, 0.0], ..Constant::default() }
    }

    fn local(&self, Observation { y, censored }: Observation, eta: f64, extra: &[f64]) -> Local {
        let r = (-extra[0]).exp();
        let w = (y.ln() - eta) * r;
        let e = w.exp();
        // Where exp(w) overflows, so does the value; a product with w = 0 must not make NaN of it.
        let event = if censored { 0.0 } else { 1.0 };
        Local {
            value: event * w - e,
            d1: r * (e - event),
            d2: -r * r * e,
            extra: [w * (e - event), 0.0],
            cross: [-r * (e - event) - r * w * e, 0.0],
            second: [-w * (e - event) - w * w * e, 0.0, 0.0],
        }
    }

    fn peak(&self, seen: Observation, _: &[f64]) -> f64 {
        if seen.censored { f64::INFINITY } else { seen.y.ln() }
    }

    fn start(&self, rows: &[Weighted], _: usize) -> (f64, Vec<f64>) {
        let (centre, variance) = log_moments(rows);
        let sigma = (variance * 6.0).sqrt() / std::f64::consts::PI;
        // Euler's constant: the mean of -W.
        (centre + 0.577_215_664_901_532_9 * sigma, vec![sigma.clamp(1e-3, 1e3).ln()])
    }
}
