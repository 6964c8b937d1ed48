//! Passes over one column of a matrix: adding it to a vector, alone or while its dot product is taken.

use crate::dispatch::kernel;
use crate::lanes::{LANES, Lanes, fma, multiply_add, reduce};

kernel! {
    /// `out += factor a`
    pub fn add_scaled<const FMA: bool>(factor: f64, a: &[f64], out: &mut [f64]) {
        out.iter_mut().zip(a).for_each(|(o, a)| *o = fma::<FMA>(*a, factor, *o));
    }
}

kernel! {
    /// a'x, and `out += factor a` in the same pass: the product with a symmetric matrix of which each column is read once.
    pub fn dot_and_add<const FMA: bool>(a: &[f64], x: &[f64], factor: f64, out: &mut [f64]) -> f64 {
        let x = x[..a.len()].as_chunks::<LANES>();
        let out = out[..a.len()].as_chunks_mut::<LANES>();
        let a = a.as_chunks::<LANES>();
        let mut sums: Lanes = [0.0; LANES];
        for ((a, x), out) in a.0.iter().zip(x.0).zip(out.0) {
            // Copies: what is written is not known to lie elsewhere.
            let (a, mut sum) = (*a, *out);
            multiply_add::<FMA>(&a, x, &mut sums);
            for l in 0..LANES {
                sum[l] = fma::<FMA>(a[l], factor, sum[l]);
            }
            *out = sum;
        }
        let mut sum = reduce(&sums);
        for ((a, x), out) in a.1.iter().zip(x.1).zip(out.1) {
            sum = fma::<FMA>(*a, *x, sum);
            *out = fma::<FMA>(*a, factor, *out);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_match_plain_sums() {
        for n in [0, 1, 7, 8, 31, 64, 100] {
            let number = |i: usize, k: f64| (k * i as f64 + 0.3).sin();
            let a: Vec<f64> = (0..n).map(|i| number(i, 1.1)).collect();
            let x: Vec<f64> = (0..n).map(|i| number(i, 0.7)).collect();
            let start: Vec<f64> = (0..n).map(|i| number(i, 2.3)).collect();
            let (mut one, mut two) = (start.clone(), start.clone());
            add_scaled(-1.5, &a, &mut one);
            let dot = dot_and_add(&a, &x, -1.5, &mut two);
            let plain: f64 = a.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((dot - plain).abs() < 1e-13 && one == two, "{n}");
            assert!(one.iter().zip(start.iter().zip(&a)).all(|(o, (s, a))| (o - (s - 1.5 * a)).abs() < 1e-15));
        }
    }
}
