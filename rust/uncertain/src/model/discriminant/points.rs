//! Fixed points that stand for draws from a standard normal distribution in any number of dimensions.
//!
//! A Kronecker sequence, k sqrt(p_j) mod 1 with the j-th prime p_j, through the inverse of the normal distribution.
//! It goes from -k to k around 1/2: with every point its mirror image is there, so odd functions have mean 0 exactly.
//! Coordinates are made orthogonal and scaled to variance 1, so that linear functions have their exact variance too
//! (some pairs of primes leave a correlation of 0.08 else). Fixed, because two calls should give the same answer,
//! and rather than random draws because those err several times as much in few dimensions, and no less in many.
//! Rejected: good lattices (as accurate, and a table of numbers for a fixed count of dimensions).

use crate::linalg::dot;
use crate::special::quantile;

/// Points on either side of the middle.
const HALF: usize = 2047;

/// How many points there are.
pub(super) const POINTS: usize = 2 * HALF + 1;

/// Coordinates that are made orthogonal; beyond, that would cost more than all else.
const ORTHOGONAL: usize = 256;

/// [`POINTS`] x `dims`; the point in the middle is 0.
pub(super) fn normal_points(dims: usize) -> Vec<f64> {
    // The upper half of every coordinate; its sum of squares is half of all.
    let half = 0.5 * POINTS as f64;
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(dims);
    for prime in primes().take(dims) {
        let step = (prime as f64).sqrt().fract();
        let mut z: Vec<f64> = (1..=HALF).map(|k| quantile((0.5 + (k as f64 * step).fract()).fract())).collect();
        if columns.len() < ORTHOGONAL {
            for other in &columns {
                let share = dot(other, &z) / half;
                z.iter_mut().zip(other).for_each(|(z, o)| *z -= share * o);
            }
        }
        let scale = (half / dot(&z, &z)).sqrt();
        z.iter_mut().for_each(|z| *z *= scale);
        columns.push(z);
    }
    let mut out = vec![0.0; POINTS * dims];
    for (j, column) in columns.iter().enumerate() {
        for (k, z) in column.iter().enumerate() {
            out[(HALF + 1 + k) * dims + j] = *z;
            out[(HALF - 1 - k) * dims + j] = -z;
        }
    }
    out
}

fn primes() -> impl Iterator<Item = u64> {
    let mut found: Vec<u64> = vec![];
    (2..).filter(move |n| {
        let prime = found.iter().take_while(|p| *p * *p <= *n).all(|p| n % p != 0);
        if prime {
            found.push(*n);
        }
        prime
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_normal_numbers() {
        let dims = 12;
        let z = normal_points(dims);
        assert_eq!(z.len(), POINTS * dims);
        assert!(z.iter().all(|z| z.is_finite()) && z[HALF * dims..][..dims].iter().all(|z| *z == 0.0));
        let mean = |f: &dyn Fn(&[f64]) -> f64| z.chunks_exact(dims).map(f).sum::<f64>() / POINTS as f64;
        for i in 0..dims {
            assert!(mean(&|z| z[i]).abs() < 1e-14 && (mean(&|z| z[i] * z[i]) - 1.0).abs() < 1e-12);
            assert!((mean(&|z| z[i].powi(4)) - 3.0).abs() < 0.1, "{}", mean(&|z| z[i].powi(4)));
            (0..i).for_each(|j| assert!(mean(&|z| z[i] * z[j]).abs() < 1e-12, "{i}, {j}"));
        }
        assert_eq!(primes().take(6).collect::<Vec<_>>(), [2, 3, 5, 7, 11, 13]);
    }
}
