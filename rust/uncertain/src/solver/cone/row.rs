//! One row's part of the cone program: its dual (p, h), their multipliers, and their Newton step.
//!
//! With xi = F'w the row's loss is the largest p d + h'xi over a convex set, |h| <= q(p) (and p <= 1 where
//! q does not see to that). The set is written smoothly even at h = 0, as
//!
//! ```text
//! g(p, h) = q - |h|^2 / q >= 0        (concave, since q is)
//! ```
//!
//! with the multiplier lambda, and 1 - p >= 0 with eta. The row's equations are
//!
//! ```text
//! d + lambda g_p - eta = 0,    xi + lambda g_h = 0,    lambda g = mu,    eta (1 - p) = mu.
//! ```
//!
//! Eliminating the multipliers leaves M (dp, dh) = (dd, dxi) + rho with a positive definite M that is a
//! 2 x 2 matrix in the directions of p and h, and a multiple of I across h.

use crate::loss::Dual;
use crate::special::{pdf, quantile};

/// Part of the way to a border that a step may go.
const FRACTION: f64 = 0.99;
/// Part of g that a step must leave.
const LEFT: f64 = 1e-3;

/// A row's dual variables. h is kept outside, rank elements per row.
#[derive(Debug, Clone, Copy)]
pub(in crate::solver) struct ConeRow {
    pub dual: Dual,
    pub y: f64,
    /// Weight.
    pub c: f64,
    pub p: f64,
    pub lambda: f64,
    /// Multiplier of p <= 1; only for [`Dual::Radius`].
    pub eta: f64,
}

/// M and what goes with it, at one point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Local {
    /// Inverse of the 2 x 2 part of M.
    inverse: [[f64; 2]; 2],
    /// Its lower Cholesky factor: (1, 1), (2, 1), (2, 2).
    pub root: [f64; 3],
    /// 1 / the multiple of I across h.
    pub across: f64,
    /// 1 / |h|, or 0 for h = 0.
    pub over_h: f64,
    g: f64,
    gp: f64,
    /// -1/2 of the factor of h in g_h
    over_q: f64,
}

/// (q, q', q'') at p.
fn curve(dual: Dual, p: f64) -> (f64, f64, f64) {
    match dual {
        Dual::Normal => {
            let z = quantile(p);
            let q = pdf(z).max(f64::MIN_POSITIVE);
            (q, -z, -1.0 / q)
        }
        // The radius is in the scale of xi.
        Dual::Radius(_) => (p, 1.0, 0.0),
    }
}

pub(in crate::solver) fn norm2(h: &[f64]) -> f64 {
    h.iter().map(|h| h * h).sum()
}

impl ConeRow {
    pub(in crate::solver) fn new(dual: Dual, y: f64, c: f64, mu: f64) -> Self {
        let p = 0.5;
        let eta = if matches!(dual, Dual::Radius(_)) { mu / (1.0 - p) } else { 0.0 };
        Self { dual, y, c, p, lambda: mu / curve(dual, p).0, eta }
    }

    /// Factor of F'w.
    pub(in crate::solver) fn scale(&self) -> f64 {
        match self.dual {
            Dual::Normal => 1.0,
            Dual::Radius(r) => r,
        }
    }

    fn is_capped(&self) -> bool {
        matches!(self.dual, Dual::Radius(_))
    }

    /// g after a step of length t.
    fn g_at(&self, p: f64, h2: f64) -> f64 {
        let q = curve(self.dual, p).0;
        q - h2 / q
    }

    /// Mean of lambda g and eta (1 - p), after a step.
    pub(super) fn complementarity(&self, h2: f64) -> f64 {
        let first = self.lambda * self.g_at(self.p, h2);
        if self.is_capped() { 0.5 * (first + self.eta * (1.0 - self.p)) } else { first }
    }

    pub(super) fn local(&self, h2: f64) -> Local {
        let (q, q1, q2) = curve(self.dual, self.p);
        let h = h2.sqrt();
        let rho2 = h2 / (q * q);
        let left = ((q - h) * (q + h) / (q * q)).max(f64::MIN_POSITIVE);
        let g = q * left;
        let gp = q1 * (1.0 + rho2);
        let gpp = q2 * (1.0 + rho2) - 2.0 * q1 * q1 * rho2 / q;
        let (gph, gh) = (2.0 * h * q1 / (q * q), -2.0 * h / q);
        let (l, lg) = (self.lambda, self.lambda / g);
        let cap = if self.is_capped() { self.eta / (1.0 - self.p) } else { 0.0 };
        let (pp, ph, hh) = (-l * gpp + lg * gp * gp + cap, -l * gph + lg * gp * gh, 2.0 * l / q + lg * gh * gh);
        // pp hh - ph^2, written out as a sum of positive terms: the difference would be rounding alone
        // where lambda / g is large.
        let curved = -q2 * (1.0 + rho2);
        let det = l * (2.0 / q) * (l * curved + cap)
            + lg * (l * (2.0 * q1 * q1 / q * left * left + 4.0 * rho2 * curved) + 4.0 * cap * rho2);
        let det = det.max(f64::MIN_POSITIVE);
        Local {
            inverse: [[hh / det, -ph / det], [-ph / det, pp / det]],
            root: [(hh / det).sqrt(), -ph / (hh * det).sqrt(), 1.0 / hh.sqrt()],
            across: q / (2.0 * l),
            over_h: if h > 0.0 { 1.0 / h } else { 0.0 },
            g,
            gp,
            over_q: 1.0 / q,
        }
    }

    /// rho for the aim mu: into `out`, p first. `d` and `xi` are the row's margin deficit and scaled F'w.
    pub(super) fn residual(&self, at: &Local, mu: f64, d: f64, xi: &[f64], h: &[f64], out: &mut [f64]) {
        let lack = mu - self.lambda * at.g;
        let cap = if self.is_capped() { self.eta + (mu - self.eta * (1.0 - self.p)) / (1.0 - self.p) } else { 0.0 };
        // lambda + lack / g
        let factor = self.lambda + lack / at.g;
        out[0] = d + factor * at.gp - cap;
        for ((o, xi), h) in out[1..].iter_mut().zip(xi).zip(h) {
            *o = xi - 2.0 * factor * at.over_q * h;
        }
    }

    /// (dlambda, deta) of a step `v` = (dp, dh).
    pub(super) fn multipliers(&self, at: &Local, mu: f64, h: &[f64], v: &[f64]) -> (f64, f64) {
        let along: f64 = h.iter().zip(&v[1..]).map(|(h, v)| h * v).sum();
        let dg = at.gp * v[0] - 2.0 * at.over_q * along;
        let deta =
            if self.is_capped() { (mu - self.eta * (1.0 - self.p) + self.eta * v[0]) / (1.0 - self.p) } else { 0.0 };
        ((mu - self.lambda * at.g - self.lambda * dg) / at.g, deta)
    }

    /// The longest step <= `t` that stays inside.
    pub(super) fn longest(&self, at: &Local, mut t: f64, h: &[f64], v: &[f64], (dlambda, deta): (f64, f64)) -> f64 {
        let mut keep = |value: f64, change: f64| {
            if change < 0.0 {
                t = t.min(FRACTION * value / -change);
            }
        };
        keep(self.lambda, dlambda);
        keep(self.p, v[0]);
        keep(1.0 - self.p, -v[0]);
        if self.is_capped() {
            keep(self.eta, deta);
        }
        let along: f64 = h.iter().zip(&v[1..]).map(|(h, v)| h * v).sum();
        let (h2, v2) = (norm2(h), norm2(&v[1..]));
        let inside = |t: f64| self.g_at(self.p + t * v[0], h2 + t * (2.0 * along + t * v2)) > LEFT * at.g;
        while t > 1e-10 && !inside(t) {
            t *= 0.8;
        }
        t
    }
}

impl Local {
    /// B with M^-1 = B B', column after column: those of the 2 x 2 part, and where h has several elements those across
    /// it.
    pub(super) fn roots(&self, h: &[f64]) -> Vec<f64> {
        let unit: Vec<f64> = h.iter().map(|h| h * self.over_h).collect();
        let [first, second, third] = self.root;
        let mut out = Vec::with_capacity((2 + h.len()) * (1 + h.len()));
        out.push(first);
        out.extend(unit.iter().map(|u| u * second));
        if h.is_empty() {
            return out;
        }
        out.push(0.0);
        out.extend(unit.iter().map(|u| u * third));
        for k in 0..h.len() {
            out.push(0.0);
            let across = self.across.sqrt();
            out.extend((0..h.len()).map(|j| across * (f64::from(u8::from(j == k)) - unit[k] * unit[j])));
        }
        out
    }

    /// M^-1 v in place; v has p first.
    pub(super) fn solve(&self, h: &[f64], v: &mut [f64]) {
        let along: f64 = self.over_h * h.iter().zip(&v[1..]).map(|(h, v)| h * v).sum::<f64>();
        let [[a, b], [_, c]] = self.inverse;
        let (p, to) = (a * v[0] + b * along, b * v[0] + c * along);
        v[0] = p;
        for (v, h) in v[1..].iter_mut().zip(h) {
            let unit = self.over_h * h;
            *v = to * unit + self.across * (*v - along * unit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUALS: [Dual; 2] = [Dual::Normal, Dual::Radius(1.5)];

    /// (d + lambda g_p - eta, xi + lambda g_h) for unit lambda by differences of the Lagrangian.
    fn lagrangian(row: &ConeRow, p: f64, h: &[f64]) -> f64 {
        row.lambda * row.g_at(p, norm2(h)) + if row.is_capped() { row.eta * (1.0 - p) } else { 0.0 }
    }

    #[test]
    fn residuals_are_the_gradient_of_the_lagrangian_and_the_step_its_newton_step() {
        for dual in DUALS {
            for (p, h) in [(0.3, [0.1, -0.05]), (0.9, [0.02, 0.08]), (0.2, [0.0, 0.0])] {
                let row = ConeRow { p, lambda: 0.7, eta: 0.2, ..ConeRow::new(dual, 1.0, 1.0, 0.1) };
                let at = row.local(norm2(&h));
                // With mu = lambda g = eta (1 - p) nothing is lacking: rho is the gradient.
                let mu = row.lambda * at.g;
                let row = ConeRow { eta: if row.is_capped() { mu / (1.0 - p) } else { 0.0 }, ..row };
                let at = row.local(norm2(&h));
                let mut rho = [0.0; 3];
                row.residual(&at, mu, 0.4, &[0.3, -0.2], &h, &mut rho);
                let e = 1e-6;
                let dp = (lagrangian(&row, p + e, &h) - lagrangian(&row, p - e, &h)) / (2.0 * e);
                assert!((rho[0] - (0.4 + dp)).abs() < 1e-7, "{dual:?} {p}");
                for k in 0..2 {
                    let shifted = |s: f64| {
                        let mut h = h;
                        h[k] += s;
                        lagrangian(&row, p, &h)
                    };
                    let dh = (shifted(e) - shifted(-e)) / (2.0 * e);
                    assert!((rho[1 + k] - ([0.3, -0.2][k] + dh)).abs() < 1e-7);
                }
                let [[a, b], [_, c]] = at.inverse;
                let [l11, l21, l22] = at.root;
                let close = |x: f64, y: f64| (x - y).abs() < 1e-12 * a.max(c);
                assert!(close(l11 * l11, a) && close(l11 * l21, b) && close(l21 * l21 + l22 * l22, c));
                // A tiny full Newton step, taken, leaves residuals of second order in all four equations.
                let size = 1e-5;
                let (d, xi) = (0.4 - rho[0] + size, [0.3 - rho[1] - size, -0.2 - rho[2] + 2.0 * size]);
                row.residual(&at, mu, d, &xi, &h, &mut rho);
                let mut v = rho;
                at.solve(&h, &mut v);
                let (dlambda, deta) = row.multipliers(&at, mu, &h, &v);
                let next = ConeRow { p: p + v[0], lambda: row.lambda + dlambda, eta: row.eta + deta, ..row };
                let h = [h[0] + v[1], h[1] + v[2]];
                let at = next.local(norm2(&h));
                let left = next.lambda * at.g - mu;
                next.residual(&at, next.lambda * at.g, d, &xi, &h, &mut rho);
                assert!(left.abs() < 1e-3 * size, "{dual:?} {p}: {left}");
                assert!(rho[1..].iter().all(|r| r.abs() < 1e-3 * size), "{dual:?} {p}: {rho:?}");
            }
        }
    }

    #[test]
    fn a_step_to_the_border_stays_inside() {
        for dual in DUALS {
            let row = ConeRow::new(dual, 1.0, 1.0, 0.1);
            let h = [0.1, 0.0];
            let at = row.local(norm2(&h));
            for v in [[3.0, 0.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 5.0, 1.0], [0.1, -9.0, 0.0]] {
                let t = row.longest(&at, 1.0, &h, &v, (-5.0, -5.0));
                let moved = [h[0] + t * v[1], h[1] + t * v[2]];
                assert!(t > 0.0 && row.g_at(row.p + t * v[0], norm2(&moved)) > 0.0);
                assert!(row.lambda - 5.0 * t > 0.0 && row.p + t * v[0] > 0.0 && row.p + t * v[0] < 1.0);
            }
        }
    }
}
