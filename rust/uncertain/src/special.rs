//! The standard normal distribution, to full relative accuracy in both tails.

pub use crate::simd::normal::{cdf, pdf};

/// log(2 pi) / 2
pub(crate) const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

/// Phi^-1(p) for 0 < p < 1; minus and plus infinity at the ends.
///
/// A rational first guess (Abramowitz, Stegun 26.2.23) and three Halley steps on [`cdf`].
#[must_use]
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
}
