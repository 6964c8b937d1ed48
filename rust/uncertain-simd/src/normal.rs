//! Normal density, distribution and expected hinge, without cancellation, many at a time.
//!
//! Idea: for x >= 0 the two small quantities
//! ```text
//! R(x) = Phi(-x) / phi(x)                        (Mills' ratio)
//! G(x) = (phi(x) - x Phi(-x)) / phi(x)           (expected hinge at -x, over phi)
//! ```
//! are smooth and of one sign, so each is a polynomial in z = A + B / (x + 4.5), which runs over
//! [-1, 1] as x runs over [0, 40]; beyond 40 phi is below the smallest double. Everything else is
//! a product with phi(x), so relative accuracy survives where `d Phi(u) + s phi(u)` has lost all
//! digits (near u = -8). phi(x) itself needs x^2 to more than 53 bits at x = 35: the square and the
//! quotient u = d / s are kept with their rounding errors.
//!
//! The coefficients are Chebyshev fits to 60-digit values (tests/golden/normal.py makes them);
//! their largest relative error over [0, 40] is 7e-16. Rejected: `erfc` of libm (7 ns a call, not
//! vectorised, and 1 - x R(x) cancels by x^2).

use crate::dispatch::kernel;
use crate::lanes::{LANES, Lanes, each, fma};

const POLE: f64 = 4.5;
const A: f64 = 1.225;
const B: f64 = -10.0125;
/// (x + 2) R(x) in powers of z.
#[rustfmt::skip]
const MILLS: [f64; 24] = [
    1.449041060445992,
    -0.6342271478491538,
    0.3300708022177559,
    -0.1130583884091022,
    0.009469067455914274,
    0.015981224029090378,
    -0.010722998626111554,
    0.0029448835088652695,
    9.0552506332507e-05,
    -0.0003070315045106349,
    4.460644424784359e-05,
    2.7374339720339952e-05,
    -7.29218259328542e-06,
    -2.900789912104158e-06,
    9.205853829409149e-07,
    3.901988036133124e-07,
    -1.0136479633626227e-07,
    -6.089164882143784e-08,
    8.424390210119595e-09,
    9.522127068768401e-09,
    -2.340479756351924e-10,
    -1.2461838922668158e-09,
    -3.6834249582785054e-11,
    9.653652375471358e-11,
];
/// (x + 2)^2 G(x) in powers of z.
#[rustfmt::skip]
const HINGE: [f64; 25] = [
    1.9883320846657906,
    -1.4418015420590327,
    0.7164263758081785,
    -0.11212540822879527,
    -0.12845798817601442,
    0.11117056674814696,
    -0.03328006793532529,
    -0.005731757541411618,
    0.007868584983101053,
    -0.001578331673526989,
    -0.0007282053548163535,
    0.00033007096205098517,
    6.598466833037377e-05,
    -5.034722369097086e-05,
    -8.471845072780263e-06,
    7.2537604736209895e-06,
    1.6171035866722583e-06,
    -9.896334681630095e-07,
    -3.5239599435069253e-07,
    1.1642713462822816e-07,
    7.063942347601826e-08,
    -9.724289672251506e-09,
    -1.091771808056992e-08,
    3.6465906236868086e-10,
    9.347806202543132e-10,
];

/// 1 / sqrt(2 pi)
const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
/// phi(40) < 1e-347: no double is that small.
const FAR: f64 = 40.0;

/// phi(x), R(x) and G(x) for 0 <= x <= [`FAR`], where x + x_low is the exact argument.
#[inline(always)]
fn parts<const FMA: bool>(x: &Lanes, x_low: &Lanes) -> (Lanes, Lanes, Lanes) {
    let z = each(|l| fma::<FMA>(B, 1.0 / (x[l] + POLE), A));
    let (r, g) = (horner::<FMA, 24>(&MILLS, &z), horner::<FMA, 25>(&HINGE, &z));
    let inverse = each(|l| 1.0 / (x[l] + 2.0));
    let square = each(|l| x[l] * x[l]);
    let low = each(|l| x[l].mul_add(x[l], -square[l]) + 2.0 * x[l] * x_low[l]);
    let e = exp::<FMA>(&each(|l| -0.5 * square[l]), &each(|l| -0.5 * low[l]));
    (
        each(|l| if x[l] < FAR { INV_SQRT_2PI * e[l] } else { 0.0 }),
        each(|l| r[l] * inverse[l]),
        each(|l| g[l] * (inverse[l] * inverse[l])),
    )
}

#[inline(always)]
fn horner<const FMA: bool, const N: usize>(c: &[f64; N], z: &Lanes) -> Lanes {
    let mut sum = [c[N - 1]; LANES];
    for k in (0..N - 1).rev() {
        for l in 0..LANES {
            sum[l] = fma::<FMA>(sum[l], z[l], c[k]);
        }
    }
    sum
}

/// exp(x + low) for -800 <= x <= 0, below one unit in the last place; 0 when it underflows.
#[inline(always)]
pub(super) fn exp<const FMA: bool>(x: &Lanes, low: &Lanes) -> Lanes {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let shifted = each(|l| fma::<FMA>(x[l], std::f64::consts::LOG2_E, MAGIC));
    let n = each(|l| shifted[l] - MAGIC);
    let r = each(|l| fma::<FMA>(-n[l], LN2_LOW, fma::<FMA>(-n[l], LN2_HIGH, x[l])) + low[l]);
    let tail = horner::<FMA, 12>(&EXP, &r);
    each(|l| {
        // 2^n in two factors, so that results below 2^-1022 are reached within the exponent range.
        let n = (shifted[l].to_bits() as i64) - (MAGIC.to_bits() as i64);
        let half = n >> 1;
        let power = |k: i64| f64::from_bits(((k + 1023) << 52) as u64);
        (fma::<FMA>(r[l] * r[l], tail[l], r[l]) + 1.0) * power(half) * power(n - half)
    })
}

/// 1/2!, 1/3!, ...
const EXP: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

/// Rows done at once: enough to fill the vector units, few enough to stay on the stack.
pub const BLOCK: usize = 64;

/// The expected hinge of up to [`BLOCK`] rows and everything its derivatives are made of.
#[derive(Debug)]
pub struct HingeParts {
    /// d Phi(u) + s phi(u)
    pub value: [f64; BLOCK],
    /// u = d / s, cut to [-40, 40]
    pub u: [f64; BLOCK],
    /// Phi(u)
    pub cdf: [f64; BLOCK],
    /// phi(u)
    pub pdf: [f64; BLOCK],
}

impl Default for HingeParts {
    #[inline]
    fn default() -> Self {
        Self { value: [0.0; BLOCK], u: [0.0; BLOCK], cdf: [0.0; BLOCK], pdf: [0.0; BLOCK] }
    }
}

/// (value, u, Phi(u), phi(u)) at eight pairs (d, s).
#[inline(always)]
fn hinge_parts<const FMA: bool>(d: &Lanes, s: &Lanes) -> (Lanes, Lanes, Lanes, Lanes) {
    // `max` and `min` turn the 0 / 0 of a point on the margin into -40: no loss, no gradient.
    #[allow(clippy::manual_clamp)] // `clamp` would keep the NaN
    let u = each(|l| (d[l] / s[l]).max(-FAR).min(FAR));
    let x = each(|l| u[l].abs());
    // The rounding error of the quotient; meaningless where u was cut or d - u s is subnormal.
    let low = each(|l| {
        let low = (-u[l]).mul_add(s[l], d[l]) / s[l];
        let low = if u[l] < 0.0 { -low } else { low };
        if x[l] < FAR && s[l] > 1e-290 { low } else { 0.0 }
    });
    let (pdf, r, g) = parts::<FMA>(&x, &low);
    // 0 times an infinite s must not become NaN.
    let smooth = each(|l| if pdf[l] > 0.0 { s[l] * (pdf[l] * g[l]) } else { 0.0 });
    let tail = each(|l| pdf[l] * r[l]);
    (each(|l| d[l].max(0.0) + smooth[l]), u, each(|l| if u[l] < 0.0 { tail[l] } else { 1.0 - tail[l] }), pdf)
}

kernel! {
    /// [`HingeParts`] of up to [`BLOCK`] pairs (d, s).
    pub fn expected_hinge<const FMA: bool>(d: &[f64], s: &[f64], out: &mut HingeParts) {
        let n = d.len().min(s.len()).min(BLOCK);
        for start in (0..n).step_by(LANES) {
            let end = n.min(start + LANES);
            let (mut d8, mut s8) = ([0.0; LANES], [1.0; LANES]);
            d8[..end - start].copy_from_slice(&d[start..end]);
            s8[..end - start].copy_from_slice(&s[start..end]);
            let (value, u, cdf, pdf) = hinge_parts::<FMA>(&d8, &s8);
            out.value[start..start + LANES].copy_from_slice(&value);
            out.u[start..start + LANES].copy_from_slice(&u);
            out.cdf[start..start + LANES].copy_from_slice(&cdf);
            out.pdf[start..start + LANES].copy_from_slice(&pdf);
        }
    }
}

kernel! {
    /// phi(x), R(x), G(x) at one x >= 0, in the copy with fused multiply-add: elsewhere each is a call.
    fn parts_at<const FMA: bool>(x: f64) -> (f64, f64, f64) {
        let (pdf, r, g) = parts::<FMA>(&[x.min(FAR); LANES], &[0.0; LANES]);
        (pdf[0], r[0], g[0])
    }
}

/// phi(u), the standard normal density.
#[must_use]
pub fn pdf(u: f64) -> f64 {
    parts_at(u.abs()).0
}

/// Phi(u), the standard normal distribution function, to full relative accuracy in the lower tail.
#[must_use]
pub fn cdf(u: f64) -> f64 {
    let (pdf, r, _) = parts_at(u.abs());
    if u < 0.0 { pdf * r } else { 1.0 - pdf * r }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::under_miri::one_of;

    fn one(d: f64, s: f64) -> (f64, f64, f64, f64) {
        let mut out = HingeParts::default();
        expected_hinge(&[d], &[s], &mut out);
        (out.value[0], out.u[0], out.cdf[0], out.pdf[0])
    }

    #[test]
    fn known_values() {
        // mpmath, 30 digits
        assert!((cdf(0.0) - 0.5).abs() < 2e-16);
        assert!((cdf(-8.0) / 6.220_960_574_271_785e-16 - 1.0).abs() < 2e-15);
        assert!((cdf(-35.0) / 1.124_910_706_472_406e-268 - 1.0).abs() < 1e-14);
        assert!((pdf(1.0) - 0.241_970_724_519_143_35).abs() < 2e-16);
    }

    #[test]
    fn the_limits_are_the_hinge_and_never_nan() {
        assert_eq!(one(2.0, 0.0), (2.0, 40.0, 1.0, 0.0));
        assert_eq!(one(-2.0, 0.0), (0.0, -40.0, 0.0, 0.0));
        assert_eq!(one(0.0, 0.0).0, 0.0);
        for d in [0.0, 5e-324, -5e-324, 1e-300, 1.0, -1.0, 1e300, -1e300] {
            for s in [0.0, 5e-324, 1e-310, 1e-300, 1.0, 1e300] {
                let (value, _, cdf, pdf) = one(d, s);
                assert!(!value.is_nan() && !cdf.is_nan() && !pdf.is_nan() && value >= d.max(0.0));
            }
        }
    }

    #[test]
    fn with_and_without_fused_multiply_add_agree() {
        for k in (-350..=350).step_by(one_of(50)) {
            let u = f64::from(k) / 10.0;
            let (a, b) =
                (hinge_parts::<true>(&[u; LANES], &[1.0; LANES]), hinge_parts::<false>(&[u; LANES], &[1.0; LANES]));
            assert!((a.0[0] / b.0[0] - 1.0).abs() < 1e-13 && (a.2[0] / b.2[0] - 1.0).abs() < 1e-13, "{u}");
        }
    }
}
