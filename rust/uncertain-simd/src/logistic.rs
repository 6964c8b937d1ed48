//! The trapezoid sums of a sigmoid averaged over a normal distribution, eight nodes at a time.
//!
//! A sum over 27 to 87 nodes has two exponentials at each, and calls of the C library's are most of its time.

use crate::dispatch::kernel;
use crate::lanes::{LANES, each, fma, reduce};
use crate::normal::exp;

/// 1 / sqrt(2 pi)
const INV_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
/// exp(-FAR) is below the smallest double.
const FAR: f64 = 800.0;

kernel! {
    /// Sums over the nodes z = h k, |k| <= n, of h phi(z) times sigmoid(x), sigmoid(-x), their product, and z times their
    /// product, at x = a + b z.
    pub fn logistic_normal<const FMA: bool>(a: f64, b: f64, h: f64, n: usize) -> [f64; 4] {
        let mut sums = [[0.0; LANES]; 4];
        let nodes = 2 * n + 1;
        for first in (0..nodes).step_by(LANES) {
            let z = each(|l| h * ((first + l) as f64 - n as f64));
            let density = exp::<FMA>(&each(|l| (-0.5 * (z[l] * z[l])).max(-FAR)), &[0.0; LANES]);
            let weight = each(|l| if first + l < nodes { h * INV_SQRT_2PI * density[l] } else { 0.0 });
            let x = each(|l| fma::<FMA>(b, z[l], a));
            let e = exp::<FMA>(&each(|l| (-x[l].abs()).max(-FAR)), &[0.0; LANES]);
            let large = each(|l| 1.0 / (1.0 + e[l]));
            let small = each(|l| e[l] * large[l]);
            for l in 0..LANES {
                let (p, q) = if x[l] >= 0.0 { (large[l], small[l]) } else { (small[l], large[l]) };
                let product = weight[l] * (large[l] * small[l]);
                sums[0][l] = fma::<FMA>(weight[l], p, sums[0][l]);
                sums[1][l] = fma::<FMA>(weight[l], q, sums[1][l]);
                sums[2][l] += product;
                sums[3][l] = fma::<FMA>(product, z[l], sums[3][l]);
            }
        }
        sums.map(|sum| reduce(&sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_over_the_nodes() {
        for (a, b, h, n) in [(0.0, 0.1, 0.7, 13), (-2.5, 1.0, 0.5, 18), (40.0, 3.0, 0.21, 43), (-900.0, 3.0, 0.21, 43)]
        {
            let mut expected = [0.0; 4];
            for k in -(n as i64)..=n as i64 {
                let z = h * k as f64;
                let weight = h * INV_SQRT_2PI * f64::exp(-0.5 * z * z);
                let (p, q) = (1.0 / (1.0 + f64::exp(-a - b * z)), 1.0 / (1.0 + f64::exp(a + b * z)));
                let terms = [p, q, p * q, p * q * z];
                expected.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
            }
            for (found, expected) in logistic_normal(a, b, h, n).iter().zip(expected) {
                // The last sum is of both signs: at a = 0 it is rounding.
                assert!((found - expected).abs() <= 1e-14 * expected.abs() + 1e-16, "{a} {b}: {found} {expected}");
            }
        }
    }
}
