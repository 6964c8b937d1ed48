//! Pairs whose M is a number, a diagonal, or 2 x 2: closed forms without cancellation.

use super::{Lanes, Pack, Pairs, difference, finish, joint};
use crate::simd::lanes::{LANES, each, fma};

/// Exact points: the RBF kernel. The distance is summed from differences, so it does not cancel.
pub(super) struct Points {
    pub d: usize,
}

impl Pairs for Points {
    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, own: &[f64], other: &[Pack]) -> Lanes {
        finish::<FMA>(&[1.0; LANES], &squared_distance::<FMA>(own, other, self.d))
    }
}

#[inline(always)]
fn squared_distance<const FMA: bool>(own: &[f64], other: &[Pack], d: usize) -> Lanes {
    let mut sum = [0.0; LANES];
    for k in 0..d {
        let x = difference(own, other, k);
        sum = each(|l| fma::<FMA>(x[l], x[l], sum[l]));
    }
    sum
}

/// 1 / (1 + u^2) or 1 / (1 + v)
#[inline(always)]
fn shrink<const FMA: bool, const SHARED: bool>(u: &Lanes) -> Lanes {
    if SHARED { each(|l| 1.0 / fma::<FMA>(u[l], u[l], 1.0)) } else { each(|l| 1.0 / (1.0 + u[l])) }
}

/// M = m I.
pub(super) struct Isotropic<const SHARED: bool> {
    pub d: usize,
}

impl<const SHARED: bool> Pairs for Isotropic<SHARED> {
    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, own: &[f64], other: &[Pack]) -> Lanes {
        let t = shrink::<FMA, SHARED>(&joint::<SHARED>(own, other, self.d));
        let distance = squared_distance::<FMA>(own, other, self.d);
        // t^d by squaring.
        let (mut power, mut base, mut left) = ([1.0; LANES], t, self.d);
        while left > 0 {
            if left % 2 == 1 {
                power = each(|l| power[l] * base[l]);
            }
            base = each(|l| base[l] * base[l]);
            left /= 2;
        }
        finish::<FMA>(&power, &each(|l| distance[l] * t[l]))
    }
}

/// M = diag(m).
pub(super) struct Diagonal<const SHARED: bool> {
    pub d: usize,
}

impl<const SHARED: bool> Pairs for Diagonal<SHARED> {
    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, own: &[f64], other: &[Pack]) -> Lanes {
        let (mut product, mut sum) = ([1.0; LANES], [0.0; LANES]);
        for k in 0..self.d {
            let t = shrink::<FMA, SHARED>(&joint::<SHARED>(own, other, self.d + k));
            let x = difference(own, other, k);
            product = each(|l| product[l] * t[l]);
            sum = each(|l| fma::<FMA>(x[l] * x[l], t[l], sum[l]));
        }
        finish::<FMA>(&product, &sum)
    }
}

/// 2 x 2. With B = U^2 or S_i + S_j: |I + B| = 1 + tr B + |B| and adj(I + B) = I + adj(B), where
/// |U^2| = |U|^2 and adj(U^2) = adj(U)^2: sums of squares only, and one division.
pub(super) struct Two<const SHARED: bool>;

impl<const SHARED: bool> Pairs for Two<SHARED> {
    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, own: &[f64], other: &[Pack]) -> Lanes {
        let (own, other): (&[f64; 5], &[Pack; 5]) = match (own.try_into(), other.try_into()) {
            (Ok(own), Ok(other)) => (own, other),
            _ => return [0.0; LANES],
        };
        let (x, y) = (difference(own, other, 0), difference(own, other, 1));
        let a = joint::<SHARED>(own, other, 2);
        let b = joint::<SHARED>(own, other, 3);
        let c = joint::<SHARED>(own, other, 4);
        let minor = each(|l| fma::<FMA>(a[l], c[l], -b[l] * b[l]));
        let distance = each(|l| fma::<FMA>(x[l], x[l], y[l] * y[l]));
        let (det, form) = if SHARED {
            let trace = each(|l| fma::<FMA>(a[l], a[l], fma::<FMA>(2.0 * b[l], b[l], c[l] * c[l])));
            let p = each(|l| fma::<FMA>(c[l], x[l], -b[l] * y[l]));
            let q = each(|l| fma::<FMA>(a[l], y[l], -b[l] * x[l]));
            (
                each(|l| fma::<FMA>(minor[l], minor[l], 1.0 + trace[l])),
                each(|l| fma::<FMA>(p[l], p[l], fma::<FMA>(q[l], q[l], distance[l]))),
            )
        } else {
            // |B| >= 0 and adj(B) >= 0 up to rounding.
            let cross = each(|l| fma::<FMA>(-2.0 * b[l] * x[l], y[l], c[l] * x[l] * x[l] + a[l] * y[l] * y[l]));
            (each(|l| 1.0 + (a[l] + c[l]) + minor[l].max(0.0)), each(|l| distance[l] + cross[l].max(0.0)))
        };
        let inverse = each(|l| 1.0 / det[l]);
        finish::<FMA>(&inverse, &each(|l| form[l] * inverse[l]))
    }
}
