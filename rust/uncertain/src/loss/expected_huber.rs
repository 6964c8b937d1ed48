//! The Huber loss, averaged over a row's Gaussian.
//!
//! ```text
//! L(y, m, v) = E h(y - f),  f ~ N(m, v),   h(r) = r^2 / 2 for |r| <= delta, else delta |r| - delta^2 / 2
//!
//! dL/dr = E clip(y - f, -delta, delta) = r - H(r - delta) + H(-r - delta),   r = y - m,  s = sqrt(v)
//! dL/ds = s P,   P = P(|y - f| < delta) = d2L/dr2
//! ```
//!
//! with H(d) = d Phi(d/s) + s phi(d/s) and Q(d) = E max(0, d + s Z)^2 = (d^2 + s^2) Phi(d/s) + d s phi(d/s),
//! L = (r^2 + s^2 - Q(r - delta) - Q(-r - delta)) / 2.
//!
//! **Accuracy.** That difference cancels where the quadratic part does not matter. For |r| > delta, Q of the
//! large argument is taken from its complement, d^2 + s^2 - Q(-d), which leaves delta (|r| - delta / 2) plus tails.
//! For s >= 2 delta the identity h(r) = int_0^delta max(0, |r| - t) dt is integrated instead: E of the integrand is
//! two expected hinges, positive and smooth on the scale of s, so that eight Gauss points over a quarter
//! of that scale on either side leave nothing to see. s = 0 is the Huber loss.

use super::{Certificate, Loss, LossEval, Scores, Smoothness, TargetKind};
use crate::simd::normal::{self, BLOCK, HingeParts};

/// E h(y - f) for a Gaussian score f.
#[derive(Debug, Clone, Copy)]
pub struct ExpectedHuber {
    /// Where the loss turns from square to straight, > 0.
    pub delta: f64,
}

/// Gauss-Legendre nodes and weights on (0, 1), half of them: the others are 1 - t with the same weight.
const NODES: [(f64, f64); 4] = [
    (0.019_855_071_751_231_884, 0.050_614_268_145_188_13),
    (0.101_666_761_293_186_63, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_64),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
];

impl Loss for ExpectedHuber {
    fn eval(&self, at: &Scores<'_>, out: &mut [LossEval]) {
        let (mut s, mut near, mut far) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let (mut near_parts, mut far_parts) = (HingeParts::default(), HingeParts::default());
        for start in (0..out.len()).step_by(BLOCK) {
            let n = BLOCK.min(out.len() - start);
            let out = &mut out[start..start + n];
            for k in 0..n {
                let r = (at.y[start + k] - at.m[start + k]).abs();
                (s[k], near[k], far[k]) = (at.v[start + k].sqrt(), -(r - self.delta).abs(), -r - self.delta);
            }
            normal::expected_hinge(&near[..n], &s[..n], &mut near_parts);
            normal::expected_hinge(&far[..n], &s[..n], &mut far_parts);
            for (k, e) in out.iter_mut().enumerate() {
                let r = at.y[start + k] - at.m[start + k];
                let tail =
                    |d: f64, parts: &HingeParts| Tail { d, h: parts.value[k], cdf: parts.cdf[k], pdf: parts.pdf[k] };
                // Even in r: computed for r >= 0.
                *e = if s[k] > 0.0 && s[k] >= 2.0 * self.delta {
                    self.wide(r.abs(), s[k])
                } else {
                    self.narrow(r.abs(), s[k], tail(near[k], &near_parts), tail(far[k], &far_parts))
                };
                // dr/dm = -1
                let sign = if r < 0.0 { 1.0 } else { -1.0 };
                (e.dm, e.dms) = (sign * e.dm, sign * e.dms);
            }
        }
    }

    fn about(&self) -> (TargetKind, Certificate, Smoothness) {
        (TargetKind::Real, Certificate::Tangents, Smoothness::Always)
    }
}

/// H(d), Phi(d/s) and phi(d/s) at some d <= 0.
struct Tail {
    d: f64,
    h: f64,
    cdf: f64,
    pdf: f64,
}

impl Tail {
    /// Q(d)
    fn square(&self, s: f64) -> f64 {
        self.d * self.h + s * s * self.cdf
    }
}

impl ExpectedHuber {
    /// Value and derivatives in r >= 0 and s; `near` at -|r - delta|, `far` at -r - delta.
    fn narrow(&self, r: f64, s: f64, near: Tail, far: Tail) -> LossEval {
        let delta = self.delta;
        if s == 0.0 {
            let inside = f64::from(u8::from(r <= delta));
            let value = if r <= delta { 0.5 * r * r } else { delta * (r - 0.5 * delta) };
            return LossEval { value, dm: r.min(delta), ds: 0.0, dmm: inside, dms: 0.0, dss: inside };
        }
        let (q_near, q_far) = (near.square(s), far.square(s));
        let (value, slope, inside) = if r > delta {
            (delta * (r - 0.5 * delta) + 0.5 * (q_near - q_far), delta - near.h + far.h, near.cdf - far.cdf)
        } else {
            (0.5 * (r * r + s * s - q_near - q_far), r - near.h + far.h, 1.0 - near.cdf - far.cdf)
        };
        let corners = (delta - r) / s * near.pdf + (delta + r) / s * far.pdf;
        LossEval { value, dm: slope, ds: s * inside, dmm: inside, dms: far.pdf - near.pdf, dss: inside - corners }
    }

    /// The loss for s >= 2 delta, as an integral over t.
    fn wide(&self, r: f64, s: f64) -> LossEval {
        let mut d = [0.0; 4 * NODES.len()];
        for (k, (node, _)) in NODES.iter().enumerate() {
            let (t, mirrored) = (node * self.delta, (1.0 - node) * self.delta);
            d[4 * k..4 * k + 4].copy_from_slice(&[r - t, -r - t, r - mirrored, -r - mirrored]);
        }
        let mut parts = HingeParts::default();
        normal::expected_hinge(&d, &[s; 4 * NODES.len()], &mut parts);
        let mut e = LossEval::default();
        for k in 0..d.len() {
            let weight = NODES[k / 4].1 * self.delta;
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            let (u, a) = (parts.u[k], parts.pdf[k] / s);
            e.value += weight * parts.value[k];
            e.dm += weight * sign * parts.cdf[k];
            e.ds += weight * parts.pdf[k];
            e.dmm += weight * a;
            e.dms -= weight * sign * u * a;
            e.dss += weight * u * u * a;
        }
        e
    }
}
