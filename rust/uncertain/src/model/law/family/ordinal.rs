//! Ordered classes 0 .. C - 1 with thresholds a_1 < ... < a_{C-1}, F the logistic function:
//! P(c) = F(a_{c+1} - eta) - F(a_c - eta) = F(u) F(-l) (1 - exp(l - u)),  u = a_{c+1} - eta,  l = a_c - eta,
//! so that eta is in two logarithms of F, as in the binomial family, and the rest is constant (McCullagh 1980, doi
//! 10.1111/j.2517-6161.1980.tb01109.x). There is no intercept.

use super::{ACTIVE, Constant, Family, Local, Observation, Weighted, mean};
use crate::model::probability::sigmoid;

#[derive(Debug)]
pub(super) struct Ordinal;

/// log F(u), F(-u) and F(u) F(-u).
fn log_sigmoid(u: f64) -> (f64, f64, f64) {
    let (p, q) = (sigmoid(u), sigmoid(-u));
    (u.min(0.0) - (-u.abs()).exp().ln_1p(), q, p * q)
}

impl Family for Ordinal {
    fn refusal(&self, y: f64) -> Option<&'static str> {
        (!(y >= 0.0 && y.fract() == 0.0)).then_some("it must be the number of a class")
    }

    fn n_extra(&self, n_classes: usize) -> usize {
        n_classes.saturating_sub(1)
    }

    /// The threshold below, and the one above.
    fn active(&self, seen: Observation, n_extra: usize) -> [Option<usize>; ACTIVE] {
        let c = seen.y as usize;
        [c.checked_sub(1), Some(c).filter(|c| *c < n_extra)]
    }

    fn constant(&self, seen: Observation, extra: &[f64]) -> Constant {
        let [Some(low), Some(high)] = self.active(seen, extra.len()) else { return Constant::default() };
        let between = extra[high] - extra[low];
        if !(between > 0.0) {
            return Constant { value: f64::NEG_INFINITY, ..Constant::default() };
        }
        let k = 1.0 / between.exp_m1();
        let bend = k * (1.0 + k);
        Constant { value: (-(-between).exp_m1()).ln(), extra: [-k, k], second: [-bend, bend, -bend] }
    }

    fn local(&self, seen: Observation, eta: f64, extra: &[f64]) -> Local {
        let [low, high] = self.active(seen, extra.len());
        let mut at = Local::default();
        if let Some(high) = high {
            let (log, q, bend) = log_sigmoid(extra[high] - eta);
            at.value += log;
            at.d1 -= q;
            at.d2 -= bend;
            (at.extra[1], at.cross[1], at.second[2]) = (q, bend, -bend);
        }
        if let Some(low) = low {
            let (log, q, bend) = log_sigmoid(eta - extra[low]);
            at.value += log;
            at.d1 += q;
            at.d2 -= bend;
            (at.extra[0], at.cross[0], at.second[0]) = (-q, bend, -bend);
        }
        at
    }

    fn peak(&self, seen: Observation, extra: &[f64]) -> f64 {
        match self.active(seen, extra.len()) {
            [Some(low), Some(high)] => 0.5 * (extra[low] + extra[high]),
            [Some(_), None] => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        }
    }

    fn start(&self, rows: &[Weighted], n_classes: usize) -> (f64, Vec<f64>) {
        let offset = mean(rows, |row| row.offset);
        let below = |c: usize| mean(rows, |row| f64::from(u8::from((row.seen.y as usize) < c)));
        (0.0, (1..n_classes).map(below).map(|p| (p / (1.0 - p)).ln() + offset).collect())
    }

    fn natural(&self, extra: &[f64]) -> Vec<(f64, f64)> {
        extra.iter().map(|a| (*a, 1.0)).collect()
    }

    fn working_values(&self, values: &[f64]) -> Vec<f64> {
        values.to_vec()
    }
}
