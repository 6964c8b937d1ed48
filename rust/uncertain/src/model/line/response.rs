//! [`NoiseRows`]: the law of a line's targets, N(m, v) with the noise of the target beside it, as a [`Response`].
//!
//! Of part j with V = a_j u + v + V_j, u = s^2 + kappa t^2 the row's own variance, it is log pi_j + log N(y; m, V), for a limit
//! log Phi of its side; the sum over parts has gradient sum q g_j and Hessian sum q (H_j + g_j g_j') - g g'. Parameters are
//! s^2, kappa where it is fitted, and those of the noise.

use crate::model::law::likelihood::{At, Local, Response};
use crate::model::noise::{MOST, Noise, Part};
use crate::special::{HALF_LOG_TAU, log_upper_tail};

/// m, u, v, psi.
const NUMBERS: usize = 3 + MOST;
/// Parts of a law of noise, at most.
const PARTS: usize = 32;

/// Targets in the units of the fit.
pub(super) struct NoiseRows {
    pub y: Vec<f64>,
    /// t^2
    pub known: Vec<f64>,
    /// -1 and +1 where the value lies below and above y.
    pub limits: Option<Vec<i8>>,
    pub noise: Noise,
    /// Is kappa fitted?
    pub scaled: bool,
}

/// log p of a target by m, u, v and psi.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mixed {
    log: f64,
    gradient: [f64; NUMBERS],
    hessian: [[f64; NUMBERS]; NUMBERS],
    /// sum q_j / V_j, the weight of EM.
    pub weight: f64,
    /// P(outlier) of the row.
    pub outlying: f64,
}

impl NoiseRows {
    /// Number of parameters.
    pub(super) fn n(&self) -> usize {
        self.first_of_noise() + self.noise.n()
    }

    /// The place of the first parameter of the noise.
    pub(super) fn first_of_noise(&self) -> usize {
        1 + usize::from(self.scaled)
    }

    pub(super) fn parts(&self, psi: &[f64]) -> Vec<Part> {
        self.noise.parts(&psi[self.first_of_noise()..])
    }

    /// log p of row i where its predictor is N(m, v).
    pub(super) fn mixed(&self, i: usize, (m, v): (f64, f64), psi: &[f64], parts: &[Part]) -> Mixed {
        let kappa = if self.scaled { psi[1] } else { 1.0 };
        let own = psi[0] + kappa * self.known[i];
        let seen =
            Seen { y: self.y[i], limit: self.limits.as_ref().map_or(0, |limits| limits[i]), mean: m, own, other: v };
        mixed(&seen, parts, self.noise)
    }
}

impl Response for NoiseRows {
    fn at<'s>(&'s self, psi: &'s [f64]) -> At<'s> {
        let parts = self.parts(psi);
        Box::new(move |i, m, v| {
            let at = self.mixed(i, (m, v), psi, &parts);
            // The numbers of the derivatives behind every parameter, and a factor.
            let by = |place: usize| match place {
                0 => (1, 1.0),
                1 if self.scaled => (1, self.known[i]),
                _ => (3 + place - self.first_of_noise(), 1.0),
            };
            let (g, h) = (&at.gradient, &at.hessian);
            let mut out =
                Local { log: at.log, gradient: [g[0], g[2]], hessian: [h[0][0], h[0][2], h[2][2]], ..Local::default() };
            for e in 0..self.n() {
                let (a, factor) = by(e);
                out.places[e] = Some(e);
                out.extra[e] = factor * g[a];
                out.mixed[e] = [factor * h[a][0], factor * h[a][2]];
                for f in 0..self.n() {
                    let (b, other) = by(f);
                    out.second[e][f] = factor * other * h[a][b];
                }
            }
            out
        })
    }

    fn known(&self, row: usize) -> f64 {
        self.known[row]
    }
}

/// A target: its value, the side of it on which the truth lies (0: none), and where it is expected.
#[derive(Debug, Clone, Copy)]
struct Seen {
    y: f64,
    limit: i8,
    mean: f64,
    own: f64,
    other: f64,
}

/// log p(y | mu, v) and its derivatives: mu, v, mu mu, mu v, v v.
fn normal(seen: &Seen, v: f64) -> (f64, [f64; 5]) {
    let r = seen.y - seen.mean;
    if seen.limit == 0 {
        let (w, z) = (1.0 / v, r * r / v);
        let log = -0.5 * (z + v.ln()) - HALF_LOG_TAU;
        return (log, [r * w, 0.5 * w * (z - 1.0), -w, -r * w * w, w * w * (0.5 - z)]);
    }
    // log Phi(-w), w = (mu - y) / sqrt(v) below the limit.
    let sign = -f64::from(seen.limit);
    let root = v.sqrt();
    let w = -sign * r / root;
    let (log, mills) = log_upper_tail(w);
    let bend = -mills * (mills - w);
    let (by_mean, by_v) = (sign / root, -0.5 * w / v);
    let first = [-mills * by_mean, -mills * by_v];
    let crossed = bend * by_mean * by_v + mills * 0.5 * sign / (root * v);
    let second = bend * by_v * by_v - mills * 0.75 * w / (v * v);
    (log, [first[0], first[1], bend * by_mean * by_mean, crossed, second])
}

/// Of all parts.
fn mixed(seen: &Seen, parts: &[Part], noise: Noise) -> Mixed {
    let mut memory = [0.0; PARTS];
    let shares = &mut memory[..parts.len()];
    let mut most = f64::NEG_INFINITY;
    let variance = |part: &Part| part.times * seen.own + seen.other + part.plus;
    for (part, log) in parts.iter().zip(shares.iter_mut()) {
        *log = part.log_share + normal(seen, variance(part)).0;
        most = most.max(*log);
    }
    let total: f64 = shares.iter().map(|log| (log - most).exp()).sum();
    let mut out = Mixed { log: most + total.ln(), ..Mixed::default() };
    for (part, share) in parts.iter().zip(shares.iter_mut()) {
        *share = (*share - out.log).exp();
        if *share < 1e-300 {
            continue;
        }
        let (q, v) = (*share, variance(part));
        let (_, [m, dv, mm, mv, vv]) = normal(seen, v);
        // v by each of the numbers.
        let by = [0.0, part.times, 1.0, part.wider[0], part.wider[1]];
        let own: [f64; NUMBERS] = std::array::from_fn(|a| match a {
            0 => m,
            1 | 2 => dv * by[a],
            _ => dv * by[a] + part.share[a - 3],
        });
        for a in 0..NUMBERS {
            out.gradient[a] += q * own[a];
            for b in 0..=a {
                let mut h = vv * by[a] * by[b];
                if a == 0 {
                    h = mm;
                } else if b == 0 {
                    h = mv * by[a];
                }
                if a == b && a >= 3 {
                    h += dv * by[a] + part.share2[a - 3];
                }
                out.hessian[a][b] += q * (h + own[a] * own[b]);
            }
        }
        out.weight += q / v;
    }
    out.outlying = if noise == Noise::Normal { 0.0 } else { noise.outlying(parts, shares) };
    for a in 0..NUMBERS {
        for b in 0..=a {
            out.hessian[a][b] -= out.gradient[a] * out.gradient[b];
            out.hessian[b][a] = out.hessian[a][b];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_values() {
        let noises = [(Noise::Normal, vec![]), (Noise::Mixture, vec![-1.5, 1.2]), (Noise::Student(None), vec![1.1])];
        for (noise, psi) in noises {
            for limit in [0, -1, 1] {
                for y in [0.3, 4.0, -6.0] {
                    let at = [0.2, 0.7, 0.3, psi.first().copied().unwrap_or(0.0), psi.get(1).copied().unwrap_or(0.0)];
                    let value = |at: &[f64; 5]| {
                        let parts = noise.parts(&at[3..3 + noise.n()]);
                        mixed(&Seen { y, limit, mean: at[0], own: at[1], other: at[2] }, &parts, noise)
                    };
                    let here = value(&at);
                    for k in 0..3 + noise.n() {
                        let ends = [1e-5, -1e-5].map(|h| {
                            let mut moved = at;
                            moved[k] += h;
                            value(&moved)
                        });
                        let slope = (ends[0].log - ends[1].log) / 2e-5;
                        assert!(
                            (slope - here.gradient[k]).abs() < 1e-6 * (1.0 + slope.abs()),
                            "{noise:?} {limit} {y} {k}"
                        );
                        for j in 0..3 + noise.n() {
                            let bend = (ends[0].gradient[j] - ends[1].gradient[j]) / 2e-5;
                            let close = (bend - here.hessian[j][k]).abs() < 1e-5 * (1.0 + bend.abs());
                            assert!(close, "{noise:?} {limit} {y} {j} {k}: {bend} {}", here.hessian[j][k]);
                        }
                    }
                }
            }
        }
    }
}
