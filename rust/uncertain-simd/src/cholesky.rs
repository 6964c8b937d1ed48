//! Cholesky factorisation of small matrices in place: the cheap proof of positive definiteness.
//!
//! Row i of U loses the multiples of all rows above it, four at a time: the inner loops run along
//! contiguous rows without a horizontal sum, and the row stays in the first cache. Of eight matrices at a time each has a
//! lane, so that no loop is shorter than a register; that pays until their triangles leave the second cache.

use crate::dispatch::kernel;
use crate::lanes::{LANES, Lanes, Pack, each, fma};

kernel! {
    /// U with A = U'U in place of the upper triangle of a (d x d, row-major); the rest is not read.
    ///
    /// False as soon as a pivot is not positive (or not a number): A is not positive definite.
    #[must_use]
    pub fn factor_upper<const FMA: bool>(a: &mut [f64], d: usize) -> bool {
        for i in 0..d {
            let (above, below) = a.split_at_mut(i * d);
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

/// Columns up to which eight matrices at a time are faster than one after the other.
pub const TOGETHER: usize = 64;

kernel! {
    /// Are matrices with these upper triangles positive definite? Matrix l is lane l of `a`, row i of the triangle from
    /// column i on behind row i - 1; what is left there are the factors of those that are.
    #[must_use]
    pub fn factor_upper_together<const FMA: bool>(a: &mut [Pack], d: usize) -> [bool; LANES] {
        debug_assert!(a.len() == d * (d + 1) / 2);
        let start = |i: usize| i * d - i * i.saturating_sub(1) / 2;
        let mut good = [true; LANES];
        for i in 0..d {
            let n = d - i;
            let (above, below) = a.split_at_mut(start(i));
            let row = &mut below[..n];
            let line = |k: usize| &above[start(k) + i - k..][..n];
            let body = i / 4 * 4;
            for k in (0..body).step_by(4) {
                let (p, q, r, s) = (line(k), line(k + 1), line(k + 2), line(k + 3));
                let (cp, cq, cr, cs) = (p[0].0, q[0].0, r[0].0, s[0].0);
                for j in 0..n {
                    let x = subtract::<FMA>(&cp, &p[j].0, row[j].0);
                    let x = subtract::<FMA>(&cq, &q[j].0, x);
                    let x = subtract::<FMA>(&cr, &r[j].0, x);
                    row[j].0 = subtract::<FMA>(&cs, &s[j].0, x);
                }
            }
            for k in body..i {
                let p = line(k);
                let c = p[0].0;
                for j in 0..n {
                    row[j].0 = subtract::<FMA>(&c, &p[j].0, row[j].0);
                }
            }
            let pivot = row[0].0;
            (0..LANES).for_each(|l| good[l] &= pivot[l] > 0.0);
            let scale = each(|l| 1.0 / pivot[l].sqrt());
            row.iter_mut().for_each(|x| x.0 = each(|l| x.0[l] * scale[l]));
        }
        good
    }
}

kernel! {
    /// Put matrices, one of d x d numbers after the other, into the lanes that [`factor_upper_together`] takes: row i of
    /// the upper triangle from column i on behind row i - 1. Lanes without a matrix hold the identity.
    pub fn put_together<const FMA: bool>(matrices: &[f64], d: usize, a: &mut [Pack]) {
        debug_assert!(a.len() == d * (d + 1) / 2);
        let mut lanes: [&[f64]; LANES] = [&[]; LANES];
        lanes.iter_mut().zip(matrices.chunks_exact(d * d)).for_each(|(lane, matrix)| *lane = matrix);
        let mut rest = a;
        for i in 0..d {
            let (row, below) = rest.split_at_mut(d - i);
            rest = below;
            let lines = lanes.map(|matrix| matrix.get(i * d + i..(i + 1) * d).unwrap_or(&[]));
            let body = if lines[LANES - 1].is_empty() { 0 } else { (d - i) / LANES * LANES };
            for j in (0..body).step_by(LANES) {
                // Eight numbers of each of eight matrices at a time: registers that are turned.
                let block = lines.map(|line| line[j..].first_chunk::<LANES>().copied().unwrap_or_default());
                for (k, pack) in row[j..j + LANES].iter_mut().enumerate() {
                    pack.0 = each(|l| block[l][k]);
                }
            }
            for (j, pack) in row.iter_mut().enumerate().skip(body) {
                pack.0 = each(|l| lines[l].get(j).copied().unwrap_or(f64::from(u8::from(j == 0))));
            }
        }
    }
}

kernel! {
    /// Do all elements of a d x d matrix differ from their mirror images by `most` at most? No, where one is no number
    /// or infinite.
    #[must_use]
    pub fn is_mirrored<const FMA: bool>(matrix: &[f64], d: usize, most: f64) -> bool {
        let mut fine = most < f64::INFINITY;
        for (i, row) in matrix.chunks_exact(d).enumerate() {
            let mut line = row[i].abs() < f64::INFINITY;
            for (x, mirrored) in row[..i].iter().zip(matrix[i..].iter().step_by(d)) {
                line &= (x - mirrored).abs() <= most;
            }
            fine &= line;
        }
        fine
    }
}

/// sum - a b
#[inline(always)]
fn subtract<const FMA: bool>(a: &Lanes, b: &Lanes, sum: Lanes) -> Lanes {
    each(|l| fma::<FMA>(-a[l], b[l], sum[l]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::under_miri::up_to;

    #[test]
    fn matrices_together_are_judged_as_each_of_them() {
        for d in 1..up_to(40) {
            // D + 1 / (1 + |i - j|): positive definite, or not, or NaN.
            let element = |l: usize, i: usize, j: usize| {
                let bad = [f64::INFINITY, 0.0, 0.0, -3.0, 0.0, f64::NAN, 0.0, 0.0][l];
                let diagonal = if i != j {
                    0.0
                } else if i == d - 1 && l % 2 == 1 {
                    bad
                } else {
                    1.0 + l as f64
                };
                diagonal + 1.0 / (1.0 + i.abs_diff(j) as f64)
            };
            let mut together = vec![];
            for i in 0..d {
                together.extend((i..d).map(|j| Pack(each(|l| element(l, i, j)))));
            }
            let good = factor_upper_together(&mut together, d);
            for l in 0..LANES {
                let mut one: Vec<f64> = (0..d * d).map(|at| element(l, at / d, at % d)).collect();
                assert_eq!(good[l], factor_upper(&mut one, d), "{d} {l}");
                let mut rest = together.iter();
                for i in 0..d {
                    for (j, pack) in (i..d).zip(&mut rest) {
                        assert!(!good[l] || (pack.0[l] - one[i * d + j]).abs() < 1e-13);
                    }
                }
            }
        }
    }

    #[test]
    fn lanes_hold_the_upper_triangles() {
        for d in 1..up_to(27) {
            for n in [1, 3, LANES] {
                let matrices: Vec<f64> = (0..n * d * d).map(|at| at as f64).collect();
                let mut packs = vec![Pack([f64::NAN; LANES]); d * (d + 1) / 2];
                put_together(&matrices, d, &mut packs);
                let mut rest = packs.iter();
                for i in 0..d {
                    for (j, pack) in (i..d).zip(&mut rest) {
                        let identity = if i == j { 1.0 } else { 0.0 };
                        let expected = |l: usize| matrices.get((l * d + i) * d + j).copied().unwrap_or(identity);
                        assert_eq!(pack.0, each(expected), "{d} {n} {i} {j}");
                    }
                }
            }
        }
    }

    #[test]
    fn mirror_images_are_compared() {
        for d in 1..up_to(20) {
            let matrix: Vec<f64> = (0..d * d).map(|at| ((at / d) as f64 + 1.0) * ((at % d) as f64 + 1.0)).collect();
            assert!(is_mirrored(&matrix, d, 0.0));
            for at in 0..d * d {
                let (i, j) = (at / d, at % d);
                let with = |x: f64| {
                    let mut matrix = matrix.clone();
                    matrix[at] = x;
                    matrix
                };
                assert_eq!(is_mirrored(&with(matrix[at] + 0.5), d, 0.4), i == j, "{d} {at}");
                assert!(is_mirrored(&with(matrix[at] + 0.5), d, 0.6));
                for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    assert!(!is_mirrored(&with(x), d, 1.0), "{d} {at} {x}");
                }
                // Both of a pair.
                let mut both = with(f64::INFINITY);
                both[j * d + i] = f64::INFINITY;
                assert!(!is_mirrored(&both, d, 1.0) && !is_mirrored(&matrix, d, f64::INFINITY));
            }
        }
    }

    #[test]
    fn factors_and_refuses() {
        for d in 1..up_to(40) {
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
