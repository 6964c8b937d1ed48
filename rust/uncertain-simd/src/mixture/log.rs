//! Logarithms of eight numbers: the C library's takes as long for one as a row's arithmetic in three dimensions.

use std::sync::atomic::{Ordering, compiler_fence};

use crate::lanes::{LANES, Lanes, Pack, each, fma};

const MANTISSA: u64 = (1 << 52) - 1;
const ONE: u64 = 1023 << 52;

/// ln m for m in [1, 2), with an error below 4e-16 that vanishes at 1.
///
/// ln m = 2 artanh s with s = (m - 1) / (m + 1); from sqrt 2 on of m / 2, so that |s| < 0.172 and eleven terms of the
/// series are enough.
#[inline(always)]
fn ln_mantissa<const FMA: bool>(m: &Lanes) -> Lanes {
    let upper = each(|l| if m[l] > std::f64::consts::SQRT_2 { 1.0 } else { 0.0 });
    let m = each(|l| fma::<FMA>(-0.5 * upper[l], m[l], m[l]));
    let s = each(|l| (m[l] - 1.0) / (m[l] + 1.0));
    let square = each(|l| s[l] * s[l]);
    let mut sum = [1.0 / 23.0; LANES];
    for k in (0..11).rev() {
        let c = 1.0 / f64::from(2 * k + 1);
        sum = each(|l| fma::<FMA>(sum[l], square[l], c));
    }
    each(|l| fma::<FMA>(2.0 * s[l], sum[l], upper[l] * std::f64::consts::LN_2))
}

/// ln x for normal numbers x > 0; NaN for NaN and infinity.
#[inline(always)]
pub(super) fn ln<const FMA: bool>(x: &Lanes) -> Lanes {
    let m = each(|l| f64::from_bits((x[l].to_bits() & MANTISSA) | ONE));
    let log = ln_mantissa::<FMA>(&m);
    each(|l| {
        let exponent = (x[l].to_bits() >> 52) as i64 - 1023;
        fma::<FMA>(exponent as f64, std::f64::consts::LN_2, log[l]) + 0.0 * x[l]
    })
}

/// The logarithm of a product of positive numbers that may leave the range of doubles: exponents are
/// counted apart, so that one logarithm is enough. NaN when a factor was not positive.
#[inline(always)]
pub(super) fn log_product<const FMA: bool>(factors: &[Pack]) -> Lanes {
    let (mut mantissa, mut exponent) = ([1.0; LANES], [0_i64; LANES]);
    let (mut least, mut most) = ([1.0_f64; LANES], [1.0_f64; LANES]);
    for factor in factors {
        let x = &factor.0;
        least = each(|l| if x[l] < least[l] { x[l] } else { least[l] });
        most = each(|l| if x[l] > most[l] { x[l] } else { most[l] });
        let product = each(|l| mantissa[l] * x[l]);
        for l in 0..LANES {
            exponent[l] += (product[l].to_bits() >> 52) as i64;
        }
        mantissa = each(|l| f64::from_bits((product[l].to_bits() & MANTISSA) | ONE));
        compiler_fence(Ordering::AcqRel);
    }
    let bias = 1023 * factors.len() as i64;
    let log = ln_mantissa::<FMA>(&mantissa);
    each(|l| {
        // A factor that is not a number makes the quadratic form one that is not either.
        if least[l] > 1e-290 && most[l] < 1e290 {
            fma::<FMA>((exponent[l] - bias) as f64, std::f64::consts::LN_2, log[l])
        } else {
            f64::NAN
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::under_miri::one_of;

    #[test]
    fn logarithms() {
        for k in (0..4000).step_by(one_of(200)) {
            let x = (f64::from(k - 2000) * 0.34).exp() * (1.0 + f64::from(k % 7) * 0.1);
            let found = [ln::<true>(&[x; 8])[3], ln::<false>(&[x; 8])[3], log_product::<true>(&[Pack([x; 8])])[3]];
            for y in &found[..if (1e-290..1e290).contains(&x) { 3 } else { 2 }] {
                assert!((y - x.ln()).abs() <= 5e-16 * (1.0 + x.ln().abs()), "{x}: {y}, not {}", x.ln());
            }
        }
        // Near 1 the digits of x - 1 count.
        for k in 1..40 {
            let x = 1.0 + 0.5_f64.powi(k);
            assert!((ln::<true>(&[x; 8])[0] / x.ln() - 1.0).abs() < 1e-15, "{x}");
        }
        assert_eq!(ln::<true>(&[1.0; 8]), [0.0; 8]);
        assert!(ln::<true>(&[f64::NAN; 8])[0].is_nan() && ln::<true>(&[f64::INFINITY; 8])[0].is_nan());
    }

    #[test]
    fn products_beyond_the_range_of_doubles() {
        let factors: Vec<Pack> =
            (0..40).map(|k| Pack([1e20 + f64::from(k), 1e-20, 3.0, -1.0, 0.0, 1.0, 1e280, 1e-300])).collect();
        let logs = log_product::<true>(&factors);
        for (l, expected) in [(0, 800.0 * 10f64.ln()), (1, -800.0 * 10f64.ln()), (2, 40.0 * 3f64.ln()), (5, 0.0)] {
            assert!((logs[l] - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{l}: {}", logs[l]);
        }
        assert!((logs[6] / (40.0 * 1e280_f64.ln()) - 1.0).abs() < 1e-14);
        assert!([3, 4, 7].iter().all(|&l| logs[l].is_nan()));
    }
}
