//! Cholesky factorisation of one small matrix in place: the cheap proof of positive definiteness.
//!
//! Row i of U loses the multiples of all rows above it, four at a time: the inner loops run along
//! contiguous rows without a horizontal sum, and the row stays in the first cache.

use crate::dispatch::{Kernel, dispatch};
use crate::lanes::fma;

/// U with A = U'U in place of the upper triangle of a (d x d, row-major); the rest is not read.
///
/// False as soon as a pivot is not positive (or not a number): A is not positive definite.
#[must_use]
pub fn factor_upper(a: &mut [f64], d: usize) -> bool {
    dispatch(FactorUpper { a, d })
}

struct FactorUpper<'a> {
    a: &'a mut [f64],
    d: usize,
}

impl Kernel for FactorUpper<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<const FMA: bool>(self) -> bool {
        let d = self.d;
        for i in 0..d {
            let (above, below) = self.a.split_at_mut(i * d);
            let row = &mut below[i..d];
            let n = row.len();
            let line = |k: usize| &above[k * d + i..][..n];
            let body = i / 4 * 4;
            for k in (0..body).step_by(4) {
                let (p, q, r, s) = (line(k), line(k + 1), line(k + 2), line(k + 3));
                let (cp, cq, cr, cs) = (-p[0], -q[0], -r[0], -s[0]);
                for j in 0..n {
                    let x = fma::<FMA>(cp, p[j], row[j]);
                    let x = fma::<FMA>(cq, q[j], x);
                    let x = fma::<FMA>(cr, r[j], x);
                    row[j] = fma::<FMA>(cs, s[j], x);
                }
            }
            for k in body..i {
                let p = line(k);
                let c = -p[0];
                for j in 0..n {
                    row[j] = fma::<FMA>(c, p[j], row[j]);
                }
            }
            let pivot = row[0];
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            let scale = 1.0 / pivot.sqrt();
            row.iter_mut().for_each(|x| *x *= scale);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_and_refuses() {
        for d in 1..40 {
            // 1 / (1 + |i - j|) + I is positive definite.
            let a: Vec<f64> = (0..d * d)
                .map(|p: usize| 1.0 / (1.0 + (p / d).abs_diff(p % d) as f64) + f64::from(u8::from(p / d == p % d)))
                .collect();
            let mut u = a.clone();
            assert!(factor_upper(&mut u, d));
            for i in 0..d {
                for j in i..d {
                    let sum: f64 = (0..=i).map(|k| u[k * d + i] * u[k * d + j]).sum();
                    assert!((sum - a[i * d + j]).abs() < 1e-13);
                }
            }
            let mut bad = a;
            bad[d * d - 1] = if d == 1 { -1.0 } else { 0.0 };
            assert!(!factor_upper(&mut bad, d), "d = {d}");
        }
        assert!(!factor_upper(&mut [f64::NAN], 1));
    }
}
