//! log p of one target and its derivatives in (mu, u, e, psi): mean, own variance s^2 + kappa t^2, other variance, and the
//! parameters of the law of noise.
//!
//! Of part j with v = a_j u + e + V_j it is log pi_j + log N(y; mu, v), for a limit log Phi of its side; the sum over parts has
//! gradient sum q g_j and Hessian sum q (H_j + g_j g_j') - g g'.

use crate::model::noise::{MOST, Part};
use crate::special::{HALF_LOG_TAU, log_upper_tail};

/// mu, u, e, psi.
pub(super) const NUMBERS: usize = 3 + MOST;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Local {
    pub log: f64,
    pub gradient: [f64; NUMBERS],
    pub hessian: [[f64; NUMBERS]; NUMBERS],
    /// sum q_j / v_j, the weight of EM.
    pub weight: f64,
}

/// A target: its value, the side of it on which the truth lies (0: none), and where it is expected.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub y: f64,
    pub limit: i8,
    pub mean: f64,
    pub own: f64,
    pub other: f64,
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

/// Of all parts; `shares` becomes what they are given y.
pub(super) fn local(seen: &Seen, parts: &[Part], shares: &mut Vec<f64>) -> Local {
    shares.clear();
    let mut most = f64::NEG_INFINITY;
    let variance = |part: &Part| part.times * seen.own + seen.other + part.plus;
    for part in parts {
        let log = part.log_share + normal(seen, variance(part)).0;
        shares.push(log);
        most = most.max(log);
    }
    let total: f64 = shares.iter().map(|log| (log - most).exp()).sum();
    let mut out = Local { log: most + total.ln(), ..Local::default() };
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
    use crate::model::noise::Noise;

    #[test]
    fn derivatives_are_those_of_the_values() {
        let noises = [(Noise::Normal, vec![]), (Noise::Mixture, vec![-1.5, 1.2]), (Noise::Student(None), vec![1.1])];
        for (noise, psi) in noises {
            for limit in [0, -1, 1] {
                for y in [0.3, 4.0, -6.0] {
                    let at = [0.2, 0.7, 0.3, psi.first().copied().unwrap_or(0.0), psi.get(1).copied().unwrap_or(0.0)];
                    let value = |at: &[f64; 5]| {
                        let parts = noise.parts(&at[3..3 + noise.n()]);
                        local(&Seen { y, limit, mean: at[0], own: at[1], other: at[2] }, &parts, &mut vec![])
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
