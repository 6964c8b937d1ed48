//! log t = eta + sigma N(0, 1). With w = (log t - eta) / sigma, a = log sigma: log p = -w^2 / 2 - log sigma - log t -
//! log(2 pi) / 2 for an event, log Phi(-w) for a time that was not reached; lambda = phi(w) / Phi(-w).
//!
//! Over eta ~ N(m, v) it is the same with m and tau^2 = sigma^2 + v for eta and sigma^2.

use super::{Constant, Family, Local, Observation, Weighted, check_positive, log_moments};
use crate::model::law::quadrature::{Integral, NUMBERS};
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
        let (value, slope, bend) = density(w, censored);
        Local {
            value,
            d1: r * slope,
            d2: -r * r * bend,
            extra: [w * slope, 0.0],
            cross: [-r * (slope + w * bend), 0.0],
            second: [-w * (slope + w * bend), 0.0, 0.0],
        }
    }

    fn integrated(&self, seen: Observation, (m, v): (f64, f64), extra: &[f64]) -> Option<Integral> {
        let (s, own) = (v.sqrt(), (2.0 * extra[0]).exp());
        let total = own + v;
        let tau = total.sqrt();
        let w = (seen.y.ln() - m) / tau;
        let (value, slope, bend) = density(w, seen.censored);
        let Constant { value: rest, extra: [per_log, _], .. } = self.constant(seen, &[tau.ln()]);
        // In m and tau, and what tau does as s and a = log sigma change.
        let d = [slope / tau, (w * slope + per_log) / tau];
        let dd = [-bend / total, -(slope + w * bend) / total, -(w * (2.0 * slope + w * bend) + per_log) / total];
        let [by_s, by_a] = [s / tau, own / tau];
        let mut hessian = [[0.0; NUMBERS]; NUMBERS];
        hessian[0][..3].copy_from_slice(&[dd[0], dd[1] * by_s, dd[1] * by_a]);
        hessian[1][1] = dd[2] * by_s * by_s + d[1] * own / (total * tau);
        hessian[1][2] = by_s * by_a * (dd[2] - d[1] / tau);
        hessian[2][2] = dd[2] * by_a * by_a + d[1] * by_a * (1.0 + v / total);
        for i in 0..3 {
            for j in 0..i {
                hessian[i][j] = hessian[j][i];
            }
        }
        Some(Integral {
            log: value + rest,
            gradient: [d[0], d[1] * by_s, d[1] * by_a, 0.0],
            hessian,
            d_v: 0.5 * d[1] / tau,
        })
    }

    fn peak(&self, seen: Observation, _: &[f64]) -> f64 {
        if seen.censored { f64::INFINITY } else { seen.y.ln() }
    }

    fn start(&self, rows: &[Weighted], _: usize) -> (f64, Vec<f64>) {
        let (centre, variance) = log_moments(rows);
        (centre, vec![variance.sqrt().clamp(1e-3, 1e3).ln()])
    }
}

/// log p without what has no w, and slope and bend of -log p in w.
fn density(w: f64, censored: bool) -> (f64, f64, f64) {
    if censored {
        let (log, lambda) = log_upper_tail(w);
        (log, lambda, lambda * (lambda - w))
    } else {
        (-0.5 * w * w, w, 1.0)
    }
}
