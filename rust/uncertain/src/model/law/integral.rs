//! log int p(y | eta, a) N(eta; m, v) d eta, and its derivatives in m, s = sqrt(v) and the further parameters.
//!
//! By quadrature over eta = m + s z, z ~ N(0, 1): u = (l', z l', l_a) for the log density l and its derivatives. A family
//! may know better ([`Family::integrated`]): a normal density, or a survival function that is steep where v is
//! large, of which a hundred thousand nodes would see little.

use super::family::{Constant, Family, Local, Observation};
use super::quadrature::{Gradient, Hessian, Integral, NUMBERS, Sums, mode};

/// Below, 1 / v is more than a number can hold, and the integral is the density.
const LEAST_VARIANCE: f64 = 1e-200;

pub(super) fn integral(family: &dyn Family, seen: Observation, (m, v): (f64, f64), extra: &[f64]) -> Integral {
    if v > LEAST_VARIANCE
        && let Some(known) = family.integrated(seen, (m, v), extra)
    {
        return known;
    }
    let without = if v > LEAST_VARIANCE {
        over(family, seen, (m, v), extra)
    } else {
        let at = family.local(seen, m, extra);
        let (u, mut own) = of_node(0.0, &at);
        // E z = 0 and E z^2 = 1: z is all that is left of N(m, v).
        own[1][1] = at.d2 + at.d1 * at.d1;
        let mut sums = Sums::default();
        sums.add(1.0, u, own);
        sums.integral(at.value)
    };
    with_constant(without, &family.constant(seen, extra))
}

fn over(family: &dyn Family, seen: Observation, (m, v): (f64, f64), extra: &[f64]) -> Integral {
    let s = v.sqrt();
    let slope = |t: f64| {
        let at = family.local(seen, m + t, extra);
        (at.d1 - t / v, at.d2 - 1.0 / v)
    };
    // The mode t solves l'(m + t) = t / v. As l' falls, it lies between 0 and v l'(m), and between 0 and the peak of l.
    let (far, peak) = (v * slope(0.0).0, family.peak(seen, extra) - m);
    let end = if far.is_finite() && far.abs() < peak.abs() { far } else { peak };
    let (mode, scale) = mode(slope, (end.min(0.0), end.max(0.0)), s);
    let top = family.local(seen, m + mode, extra).value - 0.5 * mode / v * mode;
    if !(top.is_finite() && scale > 0.0) {
        return Integral { log: f64::NAN, gradient: [f64::NAN; NUMBERS], ..Integral::default() };
    }
    let (sums, log) = Sums::over(scale, |t| {
        let t = mode + t;
        let at = family.local(seen, m + t, extra);
        let (u, own) = of_node(t / s, &at);
        (at.value - 0.5 * (t / s) * (t / s) - top, u, own)
    });
    sums.integral(top + log - s.ln() - crate::special::HALF_LOG_TAU)
}

/// u and d u at eta = m + s z.
fn of_node(z: f64, at: &Local) -> (Gradient, Hessian) {
    let u = [at.d1, z * at.d1, at.extra[0], at.extra[1]];
    let own = [
        [at.d2, 0.0, 0.0, 0.0],
        [z * at.d2, z * z * at.d2, 0.0, 0.0],
        [at.cross[0], z * at.cross[0], at.second[0], 0.0],
        [at.cross[1], z * at.cross[1], at.second[1], at.second[2]],
    ];
    (u, own)
}

/// Times what does not depend on eta.
fn with_constant(mut integral: Integral, constant: &Constant) -> Integral {
    integral.log += constant.value;
    integral.gradient[2] += constant.extra[0];
    integral.gradient[3] += constant.extra[1];
    let [aa, ab, bb] = constant.second;
    for (i, j, value) in [(2, 2, aa), (2, 3, ab), (3, 3, bb)] {
        integral.hessian[i][j] += value;
        integral.hessian[j][i] = integral.hessian[i][j];
    }
    integral
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::law::family::FamilyKind;
    use crate::special::{HALF_LOG_TAU, log_upper_tail};

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
        let n = 40_000;
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
        }
        for (kind, a) in [FamilyKind::Weibull, FamilyKind::Lognormal].into_iter().flat_map(|k| [(k, -2.0), (k, 1.0)]) {
            all.extend([1e-2, 1.0].map(|y| (kind, late(y), vec![a])));
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

    /// Scales for which the survival function is a step: over the time's own noise W, of density exp(w - exp(w)).
    #[test]
    fn steep_survival_is_that_of_brute_force() {
        let late = |y: f64| Observation { y, censored: true };
        for (y, m, v) in [(1.0, -0.5, 1.0), (300.0, 0.0, 0.3), (1e-3, 2.0, 9.0), (1.0, -4.0, 0.01)] {
            for a in [-12.0, -6.0, -3.0_f64] {
                let log_of = |w: f64| {
                    let u: f64 = (m + a.exp() * w - f64::ln(y)) / f64::sqrt(v);
                    w - w.exp() + log_upper_tail(-u).0
                };
                let values: Vec<f64> = (0..=60_000).map(|j| log_of(-50.0 + 1e-3 * f64::from(j))).collect();
                let exact = crate::mixture::log_sum(&values) + 1e-3_f64.ln();
                let found = integral(FamilyKind::Weibull.family(), late(y), (m, v), &[a]).log;
                assert!((found - exact).abs() < 1e-8 * (1.0 + exact.abs()), "{y} {m} {v} {a}: {found} {exact}");
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
