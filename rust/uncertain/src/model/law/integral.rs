//! log int p(y | eta, a) N(eta; m, v) d eta, and its derivatives in m, s = sqrt(v) and the further parameters.
//!
//! With eta = m + s z, z ~ N(0, 1), every derivative is a mean over the law of z given y (E*): with u = (l', z l', l_a)
//! for the log density l and its derivatives,
//! ```text
//! gradient = E* u,    Hessian = E*[d u] + Cov* u
//! ```
//! (Louis 1982, doi 10.1111/j.2517-6161.1982.tb01203.x), so that second derivatives of l are all it takes.
//!
//! Nodes: equidistant, from the mode of the integrand outwards until it is e^-23 of its largest value there, at first 1.1
//! of the standard deviations that its curvature gives. The trapezoid rule converges exponentially for such
//! functions, analytic around the real line (Trefethen, Weideman 2014, doi 10.1137/130932132): the step is halved until the
//! nodes between change the sum by less than 1e-6, and the error left is about the square of that. Rejected: Gauss-Hermite
//! nodes at the same mode and scale, which are as many for a Gaussian integrand, but say nothing of their error,
//! and are off in the third digit where one flank is steep and the other wide (two classes, v = 100).
//!
//! The integrand is log-concave, so it has one mode and falls off on both sides of it. A family may know the integral
//! ([`Family::integrated`]): a normal density of small scale would take a hundred thousand nodes where v is large.

use super::family::{Family, Integral, NUMBERS, Observation};

/// First step in units of the mode's standard deviation.
const STEP: f64 = 1.1;
/// Beyond, the integrand is no longer looked at: exp(-23) = 1e-10 of its largest value.
const DEPTH: f64 = -23.0;
/// A halving of the step that changes the sum by less is the last one.
const ENOUGH: f64 = 1e-6;
/// Most halvings; a step 16,000 times too wide at first would be a steep flank of a very wide integrand.
const HALVINGS: usize = 14;
/// Steps to the mode, which need not be exact; every third halves the interval, for where the density falls off
/// exponentially Newton's method goes by one at a time.
const TO_MODE: usize = 120;
/// Most nodes on one side: beyond, the parameters are out of all bounds.
const MOST_NODES: usize = 100_000;

/// Below, 1 / v is more than a number can hold, and the integral is the density.
const LEAST_VARIANCE: f64 = 1e-200;

/// Sums over nodes of weight times (1; u; d u + u u').
#[derive(Default)]
struct Sums {
    mass: f64,
    first: [f64; NUMBERS],
    second: [[f64; NUMBERS]; NUMBERS],
}

pub(super) fn integral(family: &dyn Family, seen: Observation, (m, v): (f64, f64), extra: &[f64]) -> Integral {
    if v > LEAST_VARIANCE
        && let Some(known) = family.integrated(seen, (m, v), extra)
    {
        return known;
    }
    let constant = family.constant(seen, extra);
    let mut sums = Sums::default();
    let log = if v > LEAST_VARIANCE {
        over(family, seen, (m, v), extra, &mut sums)
    } else {
        let at = family.local(seen, m, extra);
        // E z = 0 and E z^2 = 1: z is all that is left of N(m, v).
        sums.add(1.0, 0.0, &at);
        sums.second[1][1] = at.d2 + at.d1 * at.d1;
        at.value
    };
    sums.finished(log + constant.value, &constant)
}

/// The logarithm of the integral, and its sums relative to it.
fn over(family: &dyn Family, seen: Observation, (m, v): (f64, f64), extra: &[f64], sums: &mut Sums) -> f64 {
    let s = v.sqrt();
    let (mode, scale) = mode(family, seen, (m, v), extra);
    let top = family.local(seen, m + mode, extra).value - 0.5 * mode / v * mode;
    if !(top.is_finite() && scale > 0.0) {
        return f64::NAN;
    }
    // Adds the node at mode + t; false where the integrand has ended.
    let node = |t: f64, sums: &mut Sums| {
        let t = mode + t;
        let at = family.local(seen, m + t, extra);
        let depth = at.value - 0.5 * (t / s) * (t / s) - top;
        // Not NaN, not below.
        let counts = depth >= DEPTH;
        if counts {
            sums.add(depth.exp(), t / s, &at);
        }
        counts
    };
    let outwards = |first: f64, by: f64, sums: &mut Sums| {
        let _ = (0..MOST_NODES).find(|&j| !node(first + j as f64 * by, sums));
    };
    let mut h = STEP * scale;
    node(0.0, sums);
    outwards(h, h, sums);
    outwards(-h, -h, sums);
    for _ in 0..HALVINGS {
        let before = sums.mass;
        outwards(0.5 * h, h, sums);
        outwards(-0.5 * h, -h, sums);
        h *= 0.5;
        if (sums.mass - 2.0 * before).abs() <= ENOUGH * before {
            break;
        }
    }
    const LOG_ROOT_TAU: f64 = crate::special::HALF_LOG_TAU;
    top + (h / s * sums.mass).ln() - LOG_ROOT_TAU
}

/// The mode of the integrand, as eta - m, and the standard deviation that its curvature gives.
///
/// The mode t solves l'(m + t) = t / v. As l' falls, it lies between 0 and v l'(m), and between 0 and the peak of l.
fn mode(family: &dyn Family, seen: Observation, (m, v): (f64, f64), extra: &[f64]) -> (f64, f64) {
    let slope = |t: f64| {
        let at = family.local(seen, m + t, extra);
        (at.d1 - t / v, at.d2 - 1.0 / v)
    };
    let (mut t, mut at) = (0.0, slope(0.0));
    let far = v * at.0;
    let peak = family.peak(seen, extra) - m;
    let end = if far.is_finite() && far.abs() < peak.abs() { far } else { peak };
    let (mut low, mut high) = (end.min(0.0), end.max(0.0));
    for step in 1..=TO_MODE {
        let newton = t - at.0 / at.1;
        let halved = step % 3 == 0 && low.is_finite() && high.is_finite();
        let next = if newton > low && newton < high && !(halved && (newton - t).abs() * (-at.1).sqrt() > 1.0) {
            newton
        } else if low.is_infinite() {
            // Nothing finite bounds it: doubled from the row's own spread on.
            (2.0 * t).min(high - v.sqrt())
        } else if high.is_infinite() {
            (2.0 * t).max(low + v.sqrt())
        } else {
            0.5 * (low + high)
        };
        let done = (next - t).abs() * (-at.1).sqrt() < 0.05 && at.1.is_finite();
        t = next;
        at = slope(t);
        if done || low == high {
            break;
        }
        if at.0 > 0.0 {
            low = t;
        } else {
            high = t;
        }
    }
    (t, 1.0 / (-at.1).sqrt())
}

impl Sums {
    fn add(&mut self, weight: f64, z: f64, at: &super::family::Local) {
        let u = [at.d1, z * at.d1, at.extra[0], at.extra[1]];
        let own = [
            [at.d2, 0.0, 0.0, 0.0],
            [z * at.d2, z * z * at.d2, 0.0, 0.0],
            [at.cross[0], z * at.cross[0], at.second[0], 0.0],
            [at.cross[1], z * at.cross[1], at.second[1], at.second[2]],
        ];
        self.mass += weight;
        for i in 0..NUMBERS {
            self.first[i] += weight * u[i];
            for j in 0..=i {
                self.second[i][j] += weight * (own[i][j] + u[i] * u[j]);
            }
        }
    }

    fn finished(self, log: f64, constant: &super::family::Constant) -> Integral {
        let gradient = self.first.map(|x| x / self.mass);
        // E*[l'' + l'^2] / 2
        let d_v = 0.5 * self.second[0][0] / self.mass;
        let mut out = Integral { log, gradient, d_v, ..Integral::default() };
        for i in 0..NUMBERS {
            for j in 0..=i {
                let value = self.second[i][j] / self.mass - gradient[i] * gradient[j];
                (out.hessian[i][j], out.hessian[j][i]) = (value, value);
            }
        }
        let [aa, ab, bb] = constant.second;
        for (i, j, value) in [(2, 2, aa), (2, 3, ab), (3, 3, bb)] {
            out.hessian[i][j] += value;
            out.hessian[j][i] = out.hessian[i][j];
        }
        out.gradient[2] += constant.extra[0];
        out.gradient[3] += constant.extra[1];
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::family::FamilyKind;
    use crate::special::HALF_LOG_TAU;

    /// 400,001 nodes over forty standard deviations of the normal density, and finer ones around the target's own peak.
    fn brute(kind: FamilyKind, seen: Observation, (m, v): (f64, f64), extra: &[f64]) -> f64 {
        let (family, s) = (kind.family(), v.sqrt());
        let log = |eta: f64| family.local(seen, eta, extra).value - 0.5 * (eta - m).powi(2) / v;
        // The peak of the integrand by golden section: it is log-concave.
        let (mut a, mut b) = (m - 60.0 * s, m + 60.0 * s);
        let peak = family.peak(seen, extra);
        let far = m + v * family.local(seen, m, extra).d1;
        let bound = if peak.is_finite() { peak } else { far };
        (a, b) = (a.min(bound), b.max(bound));
        for _ in 0..200 {
            let (c, d) = (a + 0.382 * (b - a), a + 0.618 * (b - a));
            let (fc, fd) = (log(c), log(d));
            if fc.is_nan() || fc < fd { a = c } else { b = d }
        }
        let centre = 0.5 * (a + b);
        let top = log(centre);
        // Where it has fallen by 60: doubled out, on each side.
        let reach = |sign: f64| {
            let mut t = 1e-6 * s;
            while log(centre + sign * t) > top - 60.0 {
                t *= 1.5;
            }
            t
        };
        let (low, high) = (centre - reach(-1.0), centre + reach(1.0));
        let n = 400_000;
        let h = (high - low) / f64::from(n);
        let sum: f64 = (0..=n).map(|j| (log(low + h * f64::from(j)) - top).exp()).sum();
        top + (h * sum).ln() - HALF_LOG_TAU - s.ln() + family.constant(seen, extra).value
    }

    fn cases() -> Vec<(FamilyKind, Observation, Vec<f64>)> {
        let seen = |y: f64| Observation { y, censored: false };
        let late = |y: f64| Observation { y, censored: true };
        let mut all = vec![(FamilyKind::Binomial, seen(0.0), vec![]), (FamilyKind::Binomial, seen(1.0), vec![])];
        for y in [0.0, 1.0, 12.0, 1e6] {
            all.push((FamilyKind::Poisson, seen(y), vec![]));
            all.push((FamilyKind::NegativeBinomial, seen(y), vec![-1.0]));
        }
        for y in [1e-2, 1.0, 300.0] {
            all.push((FamilyKind::Gamma, seen(y), vec![-2.0]));
            for kind in [FamilyKind::Weibull, FamilyKind::Lognormal] {
                all.push((kind, seen(y), vec![-0.7]));
                all.push((kind, late(y), vec![-0.7]));
            }
            all.push((FamilyKind::Lognormal, late(y), vec![-6.0]));
        }
        all.extend([0.0, 1.0, 2.0].map(|y| (FamilyKind::Ordinal, seen(y), vec![-1.0, 0.3])));
        all
    }

    #[test]
    fn it_is_that_of_brute_force() {
        for (kind, seen, extra) in cases() {
            for m in [-4.0, 0.0, 2.5] {
                for v in [1e-6, 0.09, 1.0, 9.0, 100.0] {
                    let found = integral(kind.family(), seen, (m, v), &extra).log;
                    let exact = brute(kind, seen, (m, v), &extra);
                    assert!(
                        (found - exact).abs() < 1e-8 * (1.0 + exact.abs()),
                        "{kind:?} {seen:?} {m} {v}: {found} {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn without_variance_it_is_the_density() {
        for (kind, seen, extra) in cases() {
            let at = kind.family().local(seen, 0.4, &extra);
            let constant = kind.family().constant(seen, &extra);
            let (none, little) = (
                integral(kind.family(), seen, (0.4, 0.0), &extra),
                integral(kind.family(), seen, (0.4, 1e-18), &extra),
            );
            assert_eq!(none.log, at.value + constant.value);
            assert!((none.log - little.log).abs() < 1e-9 * (1.0 + none.log.abs()), "{kind:?} {seen:?}");
            assert!((none.d_v - little.d_v).abs() < 1e-6 * (1.0 + none.d_v.abs()), "{kind:?} {seen:?}");
        }
    }

    #[test]
    fn derivatives_are_those_of_the_values() {
        for (kind, seen, extra) in cases().into_iter().filter(|(_, seen, _)| seen.y < 1e3) {
            let family = kind.family();
            let active = family.active(seen, extra.len());
            for (m, s) in [(-1.0, 0.7), (0.5, 2.0), (1.0, 1e-3)] {
                let h = 1e-4 * f64::min(s, 1.0);
                let at = |k: usize, by: f64| {
                    let (mut m, mut s, mut extra) = (m, s, extra.clone());
                    match k {
                        0 => m += by,
                        1 => s += by,
                        k => extra[active[k - 2].unwrap()] += by,
                    }
                    integral(family, seen, (m, s * s), &extra)
                };
                let here = at(0, 0.0);
                for k in 0..NUMBERS {
                    if k >= 2 && active[k - 2].is_none() {
                        continue;
                    }
                    let (low, high) = (at(k, -h), at(k, h));
                    let close = |found: f64, low: f64, high: f64, what: String| {
                        let expected = (high - low) / (2.0 * h);
                        // Values are right to 1e-10 of themselves, which a difference divides by h.
                        let size = 2e-5 * (1.0 + expected.abs()) + 1e-9 / h * (1.0 + low.abs());
                        assert!(
                            (found - expected).abs() < size,
                            "{kind:?} {seen:?} {m} {s} {what}: {found} {expected}"
                        );
                    };
                    close(here.gradient[k], low.log, high.log, format!("gradient {k}"));
                    for j in 0..NUMBERS {
                        close(here.hessian[j][k], low.gradient[j], high.gradient[j], format!("hessian {j} {k}"));
                    }
                }
                assert!((here.gradient[1] - 2.0 * s * here.d_v).abs() < 1e-7 * (1.0 + here.d_v.abs()));
            }
        }
    }
}
