//! Lower triangle of P'Q for few columns: the outer products of a Hessian.
//!
//! For up to about a hundred columns the result stays in the first-level cache, and what a general
//! matrix product spends on packing its operands is more than the product. Here eight rows of Q are
//! added to a row of the result at a time, so it is loaded and stored once per eight products.

use crate::dispatch::kernel;
use crate::lanes::{LANES, Lanes, fma};

kernel! {
    /// `out += P'Q`, P and Q of k x width row-major, `out` of width x width; the lower triangle counts,
    /// what is above it is undefined. `width` must be a multiple of eight.
    pub fn rank_update_lower<const FMA: bool>(p: &[f64], q: &[f64], width: usize, out: &mut [f64]) {
        debug_assert!(width.is_multiple_of(LANES) && p.len() == q.len() && out.len() == width * width);
        let (mut ps, mut qs) = (p.chunks_exact(LANES * width), q.chunks_exact(LANES * width));
        for (p, q) in (&mut ps).zip(&mut qs) {
            eight_rows::<FMA>(p, q, width, out);
        }
        for (p, q) in ps.remainder().chunks_exact(width).zip(qs.remainder().chunks_exact(width)) {
            for (i, out) in out.chunks_exact_mut(width).enumerate() {
                let end = (i / LANES + 1) * LANES;
                for (o, q) in out[..end].iter_mut().zip(&q[..end]) {
                    *o = fma::<FMA>(p[i], *q, *o);
                }
            }
        }
    }
}

/// c q + sum
#[inline(always)]
fn add<const FMA: bool>(c: f64, q: &Lanes, sum: Lanes) -> Lanes {
    let mut out = sum;
    for l in 0..LANES {
        out[l] = fma::<FMA>(c, q[l], out[l]);
    }
    out
}

#[inline(always)]
fn eight_rows<const FMA: bool>(p: &[f64], q: &[f64], width: usize, out: &mut [f64]) {
    let row = |k: usize| q[k * width..(k + 1) * width].as_chunks::<LANES>().0;
    let [q0, q1, q2, q3, q4, q5, q6, q7] = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
    for (i, out) in out.chunks_exact_mut(width).enumerate() {
        let mut c: Lanes = [0.0; LANES];
        for k in 0..LANES {
            c[k] = p[k * width + i];
        }
        let n = i / LANES + 1;
        let out = &mut out.as_chunks_mut::<LANES>().0[..n];
        let (q0, q1, q2, q3) = (&q0[..n], &q1[..n], &q2[..n], &q3[..n]);
        let (q4, q5, q6, q7) = (&q4[..n], &q5[..n], &q6[..n], &q7[..n]);
        for j in 0..n {
            let sum = add::<FMA>(c[0], &q0[j], out[j]);
            let sum = add::<FMA>(c[1], &q1[j], sum);
            let sum = add::<FMA>(c[2], &q2[j], sum);
            let sum = add::<FMA>(c[3], &q3[j], sum);
            let sum = add::<FMA>(c[4], &q4[j], sum);
            let sum = add::<FMA>(c[5], &q5[j], sum);
            let sum = add::<FMA>(c[6], &q6[j], sum);
            let sum = add::<FMA>(c[7], &q7[j], sum);
            out[j] = sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Numbers;

    #[test]
    fn agrees_with_the_plain_sum() {
        let mut numbers = Numbers::new(2);
        for width in [8, 16, 56] {
            for k in [1, 7, 8, 19] {
                let mut random = || (0..k * width).map(|_| numbers.normal()).collect::<Vec<f64>>();
                let (p, q) = (random(), random());
                let mut out = vec![1.0; width * width];
                rank_update_lower(&p, &q, width, &mut out);
                for i in 0..width {
                    for j in 0..=i {
                        let exact = 1.0 + (0..k).map(|r| p[r * width + i] * q[r * width + j]).sum::<f64>();
                        assert!((out[i * width + j] - exact).abs() < 1e-12);
                    }
                }
            }
        }
    }
}
