//! Integrals of log-concave functions, and their derivatives in what the integrand depends on.
//!
//! With the integrand exp(l(t; m, s, a)), every derivative is a mean under the law that it defines (E*): with u = (l_m, l_s,
//! l_a)
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
//! A log-concave integrand has one mode and falls off on both sides of it.

/// Numbers of a gradient: m, s, and the further parameters that one row may depend on.
pub(super) const NUMBERS: usize = 4;

/// d / d (m, s, a), and second derivatives below the diagonal and on it.
pub(super) type Gradient = [f64; NUMBERS];
pub(super) type Hessian = [Gradient; NUMBERS];

/// log J and its derivatives in (m, s, a), s = sqrt(v).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Integral {
    pub log: f64,
    pub gradient: Gradient,
    /// Symmetric.
    pub hessian: Hessian,
    /// d log J / d v
    pub d_v: f64,
}

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

/// Sums over nodes of weight times (1; u; d u + u u').
#[derive(Default)]
pub(super) struct Sums {
    mass: f64,
    first: Gradient,
    second: Hessian,
}

impl Sums {
    /// Of all nodes, and the logarithm of the integral relative to the value at the mode. `node` gives at mode + t how far
    /// the logarithm of the integrand lies above that of the mode, u and d u.
    pub(super) fn over(scale: f64, node: impl Fn(f64) -> (f64, Gradient, Hessian)) -> (Self, f64) {
        let mut sums = Self::default();
        let outwards = |first: f64, by: f64, sums: &mut Self| {
            for j in 0..MOST_NODES {
                let (depth, u, own) = node(first + j as f64 * by);
                // NaN ends it, too.
                if !(depth >= DEPTH) {
                    break;
                }
                sums.add(depth.exp(), u, own);
            }
        };
        let mut h = STEP * scale;
        outwards(0.0, h, &mut sums);
        outwards(-h, -h, &mut sums);
        for _ in 0..HALVINGS {
            let before = sums.mass;
            outwards(0.5 * h, h, &mut sums);
            outwards(-0.5 * h, -h, &mut sums);
            h *= 0.5;
            if (sums.mass - 2.0 * before).abs() <= ENOUGH * before {
                break;
            }
        }
        let log = (h * sums.mass).ln();
        (sums, log)
    }

    pub(super) fn add(&mut self, weight: f64, u: Gradient, own: Hessian) {
        self.mass += weight;
        for i in 0..NUMBERS {
            self.first[i] += weight * u[i];
            for j in 0..=i {
                self.second[i][j] += weight * (own[i][j] + u[i] * u[j]);
            }
        }
    }

    /// Of the integral with this logarithm.
    pub(super) fn integral(self, log: f64) -> Integral {
        let gradient = self.first.map(|x| x / self.mass);
        // d J / d v = (d^2 J / d m^2) / 2 for whatever is averaged over N(m, v): E*[l'' + l'^2] / 2.
        let d_v = 0.5 * self.second[0][0] / self.mass;
        let mut out = Integral { log, gradient, d_v, ..Integral::default() };
        for i in 0..NUMBERS {
            for j in 0..=i {
                let value = self.second[i][j] / self.mass - gradient[i] * gradient[j];
                (out.hessian[i][j], out.hessian[j][i]) = (value, value);
            }
        }
        out
    }
}

/// Where `slope`, given with its own derivative, crosses zero on its way down, and the standard deviation that this
/// curvature gives. It begins at 0, one of the ends of (`low`, `high`), of which one may be infinite: then steps
/// are doubled from `spread` on.
pub(super) fn mode(slope: impl Fn(f64) -> (f64, f64), (mut low, mut high): (f64, f64), spread: f64) -> (f64, f64) {
    let (mut t, mut at) = (0.0, slope(0.0));
    for step in 1..=TO_MODE {
        let newton = t - at.0 / at.1;
        let halved = step % 3 == 0 && low.is_finite() && high.is_finite();
        let next = if newton > low && newton < high && !(halved && (newton - t).abs() * (-at.1).sqrt() > 1.0) {
            newton
        } else if low.is_infinite() {
            (2.0 * t).min(high - spread)
        } else if high.is_infinite() {
            (2.0 * t).max(low + spread)
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
