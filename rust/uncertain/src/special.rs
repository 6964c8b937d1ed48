//! The standard normal distribution, to full relative accuracy in both tails, and the gamma function.

pub use crate::simd::normal::{cdf, pdf};

/// log(2 pi) / 2
pub(crate) const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

/// Phi^-1(p) for 0 < p < 1; minus and plus infinity at the ends.
///
/// A rational first guess (Abramowitz, Stegun 26.2.23) and three Halley steps on [`cdf`].
pub fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -quantile(1.0 - p);
    }
    if !(p > 0.0) {
        return if p == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    }
    let t = (-2.0 * p.ln()).sqrt();
    let mut z =
        (2.515_517 + t * (0.802_853 + t * 0.010_328)) / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308))) - t;
    for _ in 0..3 {
        let e = (cdf(z) - p) / pdf(z).max(f64::MIN_POSITIVE);
        z -= e / (1.0 + 0.5 * z * e);
    }
    z
}

/// log Phi(-w), and the Mills ratio's inverse phi(w) / Phi(-w), for any w.
pub(crate) fn log_upper_tail(w: f64) -> (f64, f64) {
    if w < 25.0 {
        let tail = cdf(-w);
        return (tail.ln(), pdf(w) / tail);
    }
    // Beyond it the continued fraction w + 1/(w + 2/(w + ...)) has all digits after a few terms.
    let inverse = (1..=8).rev().fold(w, |rest, k| w + f64::from(k) / rest);
    (-0.5 * w * w - HALF_LOG_TAU - inverse.ln(), inverse)
}

/// Remainder of Stirling's formula for log Gamma(x), x > 0, and its first two derivatives:
/// R = log Gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2.
///
/// The asymptotic series (Abramowitz, Stegun 6.1.41) from x >= 12 on, the recurrence below.
pub(crate) fn stirling_rest(x: f64) -> [f64; 3] {
    if x < 12.0 {
        let [rest, d, dd] = stirling_rest(x + 1.0);
        // log Gamma(x) = log Gamma(x + 1) - log x
        let grown = (x + 0.5) * (1.0 / x).ln_1p();
        return [
            rest + grown - 1.0,
            d + (1.0 / x).ln_1p() - (x + 0.5) / (x * (x + 1.0)),
            dd + 0.5 / (x * x * (x + 1.0) * (x + 1.0)),
        ];
    }
    const C: [f64; 6] = [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let (mut sums, mut power) = ([0.0; 3], 1.0 / x);
    for (k, c) in C.iter().enumerate() {
        let n = 2.0 * k as f64 + 1.0;
        sums[0] += c * power;
        sums[1] -= c * n * power / x;
        sums[2] += c * n * (n + 1.0) * power / (x * x);
        power /= x * x;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_inverts_the_distribution() {
        // mpmath, 30 digits
        for (p, z) in [
            (0.5, 0.0),
            (0.025, -1.959_963_984_540_054_2),
            (1e-10, -6.361_340_902_404_057),
            (0.9, 1.281_551_565_544_600_5),
        ] {
            assert!((quantile(p) - z).abs() < 1e-14, "{p}: {}", quantile(p));
        }
        for k in 1..300 {
            let p = 10f64.powi(-k);
            assert!((cdf(quantile(p)) / p - 1.0).abs() < 1e-11, "{p}");
        }
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert!(quantile(-1.0).is_nan() && quantile(f64::NAN).is_nan());
    }

    #[test]
    fn the_gamma_function_has_its_derivatives() {
        // SciPy: log Gamma, digamma, trigamma.
        for (x, log, psi, psi1) in [
            (0.1, 2.252_712_651_734_206, -10.423_754_940_411_076, 101.433_299_150_792_75),
            (2.5, 0.284_682_870_472_919_2, 0.703_156_640_645_243_2, 0.490_357_756_100_234_9),
            (40.0, 106.631_760_260_643_46, 3.676_327_374_034_842_8, 0.025_315_103_841_291_032),
        ] {
            let [rest, d, dd] = stirling_rest(x);
            assert!(((x - 0.5) * x.ln() - x + HALF_LOG_TAU + rest - log).abs() < 1e-12 * log.abs(), "{x}");
            assert!((x.ln() - 0.5 / x + d - psi).abs() < 1e-12 * psi.abs(), "{x}");
            assert!((1.0 / x + 0.5 / (x * x) + dd - psi1).abs() < 1e-12 * psi1, "{x}");
        }
    }

    #[test]
    fn the_upper_tail_has_its_logarithm_everywhere() {
        for w in [-3.0, 0.0, 8.0, 24.999] {
            assert!((log_upper_tail(w).0 - cdf(-w).ln()).abs() < 1e-13);
        }
        let (below, above) = (log_upper_tail(24.999_999_999), log_upper_tail(25.000_000_001));
        assert!((below.0 - above.0).abs() < 1e-6 && (below.1 - above.1).abs() < 1e-7);
        assert!((above.0 + 316.639_408_003_345).abs() < 1e-6);
        assert!(log_upper_tail(1e100).0.is_finite());
    }
}
