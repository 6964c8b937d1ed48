//! Cosine and sine of many numbers at a time, with an amplitude: the features of random waves.
//!
//! Idea: r = x - n pi/2 with the nearest n, pi/2 in three pieces of which the first two have 33 bits, so
//! that their products with n <= 2^20 are exact, with and without fused multiply-add; then both Taylor
//! series on |r| <= pi/4 (the terms left out are below 2^-60), and the quadrant decides which is which and
//! with what sign. Errors are absolute, about 2e-16: what sums of features need. Numbers beyond 2^20 go
//! through the standard library one by one.

use crate::dispatch::kernel;
use crate::lanes::{LANES, Lanes, each, fma};
use crate::normal::exp;

/// Phases up to which n stays small enough.
const FAR: f64 = 1_048_576.0;

kernel! {
    /// `cos[k] = a cos(phase[k])` and `sin[k] = a sin(phase[k])` with a = `scale`, or with damping q >= 0 per element
    /// a = `scale` exp(-q / 2).
    pub fn waves<const FMA: bool>(
        phase: &[f64],
        damping: Option<&[f64]>,
        scale: f64,
        cos: &mut [f64],
        sin: &mut [f64],
    ) {
        for start in (0..phase.len()).step_by(LANES) {
            let end = phase.len().min(start + LANES);
            let x = load(&phase[start..end]);
            let amplitude = match damping {
                None => [scale; LANES],
                Some(q) => {
                    let q = load(&q[start..end]);
                    let e = exp::<FMA>(&each(|l| (-0.5 * q[l]).clamp(-800.0, 0.0)), &[0.0; LANES]);
                    each(|l| scale * e[l])
                }
            };
            let (c, s) = if x.iter().all(|x| x.abs() < FAR) {
                cos_sin::<FMA>(&x)
            } else {
                let both = x.map(f64::sin_cos);
                (each(|l| both[l].1), each(|l| both[l].0))
            };
            let (c, s) = (each(|l| amplitude[l] * c[l]), each(|l| amplitude[l] * s[l]));
            cos[start..end].copy_from_slice(&c[..end - start]);
            sin[start..end].copy_from_slice(&s[..end - start]);
        }
    }
}

#[inline(always)]
fn load(x: &[f64]) -> Lanes {
    match x.try_into() {
        Ok(lanes) => lanes,
        Err(_) => {
            let mut lanes = [0.0; LANES];
            lanes[..x.len()].copy_from_slice(x);
            lanes
        }
    }
}

/// pi / 2 in pieces of 33, 33 and 53 bits.
const HALF_PI: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
/// -1/3!, 1/5!, ...
const SIN: [f64; 7] = [
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5_040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];
/// 1/4!, -1/6!, ...
const COS: [f64; 7] = [
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 20_922_789_888_000.0,
];

/// (cos x, sin x) for |x| < [`FAR`].
#[inline(always)]
fn cos_sin<const FMA: bool>(x: &Lanes) -> (Lanes, Lanes) {
    // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let shifted = each(|l| fma::<FMA>(x[l], std::f64::consts::FRAC_2_PI, MAGIC));
    let n = each(|l| shifted[l] - MAGIC);
    let r = each(|l| {
        let r = fma::<FMA>(-n[l], HALF_PI[0], x[l]);
        fma::<FMA>(-n[l], HALF_PI[2], fma::<FMA>(-n[l], HALF_PI[1], r))
    });
    let square = each(|l| r[l] * r[l]);
    let (s, c) = (horner::<FMA>(&SIN, &square), horner::<FMA>(&COS, &square));
    let s = each(|l| fma::<FMA>(r[l] * square[l], s[l], r[l]));
    let c = each(|l| fma::<FMA>(square[l] * square[l], c[l], fma::<FMA>(-0.5, square[l], 1.0)));
    // Quadrants 1 and 3 swap the two; the sign bits are those of the quadrant.
    let cos = each(|l| {
        let n = shifted[l].to_bits();
        let swap = (n & 1).wrapping_neg();
        f64::from_bits(((s[l].to_bits() & swap) | (c[l].to_bits() & !swap)) ^ ((n.wrapping_add(1) & 2) << 62))
    });
    let sin = each(|l| {
        let n = shifted[l].to_bits();
        let swap = (n & 1).wrapping_neg();
        f64::from_bits(((c[l].to_bits() & swap) | (s[l].to_bits() & !swap)) ^ ((n & 2) << 62))
    });
    (cos, sin)
}

#[inline(always)]
fn horner<const FMA: bool>(c: &[f64; 7], z: &Lanes) -> Lanes {
    let mut sum = [c[6]; LANES];
    for k in (0..6).rev() {
        sum = each(|l| fma::<FMA>(sum[l], z[l], c[k]));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::under_miri::one_of;
    use proptest::prelude::*;

    fn check(x: &[f64], damping: Option<&[f64]>, scale: f64) {
        let (mut cos, mut sin) = (vec![f64::NAN; x.len()], vec![f64::NAN; x.len()]);
        waves(x, damping, scale, &mut cos, &mut sin);
        for k in 0..x.len() {
            let a = scale * damping.map_or(1.0, |q| (-0.5 * q[k]).exp());
            let (s, c) = x[k].sin_cos();
            let tolerance = 4e-16 * scale.abs();
            assert!((cos[k] - a * c).abs() <= tolerance, "cos {}: {} {}", x[k], cos[k], a * c);
            assert!((sin[k] - a * s).abs() <= tolerance, "sin {}: {} {}", x[k], sin[k], a * s);
        }
    }

    proptest! {
        #[test]
        fn every_length_and_size_is_that_of_the_standard_library(
            x in prop::collection::vec((-1.0f64..1.0, 0i32..30), 0..40),
            q in 0.0f64..2000.0,
            scale in 0.01f64..2.0,
        ) {
            let x: Vec<f64> = x.into_iter().map(|(m, e)| m * f64::from(e).exp2()).collect();
            check(&x, None, scale);
            check(&x, Some(&x.iter().map(|x| q / (1.0 + x.abs())).collect::<Vec<_>>()), scale);
        }

        #[test]
        fn fused_and_plain_arithmetic_agree(x in -1e6f64..1e6) {
            let (a, b) = (cos_sin::<true>(&[x; LANES]), cos_sin::<false>(&[x; LANES]));
            prop_assert!((a.0[0] - b.0[0]).abs() < 3e-16 && (a.1[0] - b.1[0]).abs() < 3e-16);
        }
    }

    #[test]
    fn the_borders_of_the_quadrants() {
        let quarter = std::f64::consts::FRAC_PI_4;
        let near: Vec<f64> = (-4000..4000).step_by(one_of(400)).map(|n| f64::from(n) * quarter).collect();
        check(&near, None, 1.0);
        check(&[0.0, -0.0, 1e-300, FAR, -FAR, FAR * 1.5, 1e15, 1e300], None, 1.0);
        check(&[1.0, 2.0], Some(&[f64::INFINITY, 0.0]), 1.0);
    }
}
