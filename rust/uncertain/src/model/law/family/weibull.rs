//! log t = eta + sigma W, exp(W) standard exponential. With w = (log t - eta) / sigma, a = log sigma:
//! log p = w - exp(w) - log sigma - log t for an event, -exp(w) for a time that was not reached.
//!
//! Over eta ~ N(m, s^2) with s > sigma the probability that a time is not reached has a steep flank in eta. By parts it is
//! E Phi(u), u = (m + sigma W - log t) / s, in which nothing is steep.

use super::{Constant, Family, Local, Observation, Weighted, check_positive, log_moments};
use crate::model::law::quadrature::{Integral, NUMBERS, Sums, mode};
use crate::special::log_upper_tail;

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

    fn integrated(&self, seen: Observation, (m, v): (f64, f64), extra: &[f64]) -> Option<Integral> {
        let (s, sigma) = (v.sqrt(), extra[0].exp());
        if !seen.censored || s <= sigma {
            return None;
        }
        let (per, start) = (sigma / s, (m - seen.y.ln()) / s);
        let u = |w: f64| start + per * w;
        let slope = |w: f64| {
            let (_, lambda) = log_upper_tail(-u(w));
            (1.0 - w.exp() + per * lambda, -w.exp() - per * per * lambda * (lambda + u(w)))
        };
        // The slope is >= 0 at w = 0, and no longer where exp(w) = 1 + per lambda(0), as lambda = phi / Phi falls.
        let (mode, scale) = mode(slope, (0.0, slope(0.0).0.ln_1p()), 1.0);
        let value = |w: f64| w - w.exp() + log_upper_tail(-u(w)).0;
        let top = value(mode);
        if !(top.is_finite() && scale > 0.0) {
            return None;
        }
        let (sums, log) = Sums::over(scale, |t| {
            let w = mode + t;
            let (log, lambda) = log_upper_tail(-u(w));
            let by = [1.0 / s, -u(w) / s, per * w, 0.0];
            let mut own = [[0.0; NUMBERS]; NUMBERS];
            (own[1][0], own[1][1]) = (-1.0 / v, 2.0 * u(w) / v);
            (own[2][1], own[2][2]) = (-by[2] / s, by[2]);
            for i in 0..NUMBERS {
                for j in 0..=i {
                    own[i][j] = lambda * (own[i][j] - (lambda + u(w)) * by[i] * by[j]);
                }
            }
            (w - w.exp() + log - top, by.map(|x| lambda * x), own)
        });
        Some(sums.integral(top + log))
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
