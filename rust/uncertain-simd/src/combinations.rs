//! Several weighted sums of the same long columns: each column is read once for four or eight of them.
//!
//! Sums of two registers each are held while a chunk of columns goes by: eight of them where there are 32 registers, so
//! that every two loads serve sixteen multiply-adds, else four. A chunk stays in the second-level cache for the next sums. Terms are added in the order of the
//! columns, one fused multiply-add each: the bits are those of one sum at a time ([`add_rows`](crate::add_rows)).

use crate::vector::{Vector, Wide, dispatch_wide};

/// Columns of a chunk.
const DEPTH: usize = 16;

/// `sums[s] += sum over k of coef[s][k] columns[k]` for columns of `len` numbers, one after the other.
pub fn add_combinations(columns: &[f64], len: usize, coef: &[&[f64]], sums: &mut [Vec<f64>]) {
    debug_assert!(coef.len() == sums.len() && sums.iter().all(|sum| sum.len() == len));
    debug_assert!(coef.iter().all(|coef| coef.len() * len == columns.len()));
    if len > 0 {
        dispatch_wide(Combinations { columns, len, coef, sums });
    }
}

struct Combinations<'a> {
    columns: &'a [f64],
    len: usize,
    coef: &'a [&'a [f64]],
    sums: &'a mut [Vec<f64>],
}

impl Wide for Combinations<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector>(self) {
        for (chunk, columns) in self.columns.chunks(DEPTH * self.len).enumerate() {
            let first = chunk * DEPTH;
            let (mut coef, mut sums) = (self.coef, &mut *self.sums);
            while !sums.is_empty() {
                let taken = match sums.len() {
                    8.. if V::WIDTH == 8 => some::<V, 8>(columns, first, coef, sums),
                    4.. => some::<V, 4>(columns, first, coef, sums),
                    3 => some::<V, 3>(columns, first, coef, sums),
                    2 => some::<V, 2>(columns, first, coef, sums),
                    _ => some::<V, 1>(columns, first, coef, sums),
                };
                (coef, sums) = (&coef[taken..], &mut sums[taken..]);
            }
        }
    }
}

/// The first S of the sums; `first` is the number of the first column.
#[inline(always)]
fn some<V: Vector, const S: usize>(columns: &[f64], first: usize, coef: &[&[f64]], sums: &mut [Vec<f64>]) -> usize {
    let len = sums[0].len();
    let n = columns.len() / len;
    let mut factors = [[0.0; DEPTH]; S];
    for s in 0..S {
        factors[s][..n].copy_from_slice(&coef[s][first..first + n]);
    }
    let mut at = 0;
    while at + 2 * V::WIDTH <= len {
        let mut here = [[V::splat(0.0); 2]; S];
        for s in 0..S {
            here[s] = [V::load(&sums[s][at..]), V::load(&sums[s][at + V::WIDTH..])];
        }
        for k in 0..n {
            let column = &columns[k * len + at..][..2 * V::WIDTH];
            let (x, y) = (V::load(column), V::load(&column[V::WIDTH..]));
            for s in 0..S {
                let c = V::splat(factors[s][k]);
                here[s] = [c.mul_add(x, here[s][0]), c.mul_add(y, here[s][1])];
            }
        }
        for s in 0..S {
            here[s][0].store(&mut sums[s][at..]);
            here[s][1].store(&mut sums[s][at + V::WIDTH..]);
        }
        at += 2 * V::WIDTH;
    }
    // The rest, one number in a register.
    let mut register = [0.0; 8];
    while at < len {
        for s in 0..S {
            let mut here = V::splat(sums[s][at]);
            for k in 0..n {
                here = V::splat(factors[s][k]).mul_add(V::splat(columns[k * len + at]), here);
            }
            here.store(&mut register);
            sums[s][at] = register[0];
        }
        at += 1;
    }
    S
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Level;
    use crate::testing::Numbers;
    use proptest::prelude::*;

    proptest! {
        /// On every instruction set, the bits of one sum at a time, and the sum that a plain loop finds.
        #[test]
        fn each_is_the_sum_of_its_own(len in 1usize..70, n in 0usize..40, m in 0usize..18, seed in 0u64..1000) {
            let mut numbers = Numbers::new(seed);
            let mut normals = |n: usize| (0..n).map(|_| numbers.normal()).collect::<Vec<f64>>();
            let columns = normals(n * len);
            let coef: Vec<Vec<f64>> = (0..m).map(|_| normals(n)).collect();
            let start: Vec<Vec<f64>> = (0..m).map(|_| normals(len)).collect();
            let slices: Vec<&[f64]> = coef.iter().map(Vec::as_slice).collect();
            let picks: Vec<u32> = (0..n as u32).collect();
            for level in Level::all() {
                level.during(|| {
                    let mut sums = start.clone();
                    add_combinations(&columns, len, &slices, &mut sums);
                    for (s, sum) in sums.iter().enumerate() {
                        let mut alone = start[s].clone();
                        crate::add_rows(crate::Stored::F64(&columns), 0, &picks, &coef[s], crate::Power::One, &mut alone);
                        for (j, x) in sum.iter().enumerate() {
                            let plain = start[s][j] + (0..n).map(|k| coef[s][k] * columns[k * len + j]).sum::<f64>();
                            assert!(x.to_bits() == alone[j].to_bits() && (x - plain).abs() < 1e-12, "{level:?} {s}");
                        }
                    }
                });
            }
        }
    }
}
