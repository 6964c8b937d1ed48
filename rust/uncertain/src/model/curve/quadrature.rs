//! Rules of integration: Gauss-Hermite, and a pair of Gauss and Kronrod for panels.

use crate::error::Result;
use crate::linalg::Eigh;

/// Nodes t and weights w of int g(t) e^{-t^2} dt, by the eigenvectors of the Jacobi matrix (G. H. Golub, J. H. Welsch,
/// Calculation of Gauss quadrature rules, Mathematics of Computation 23, 1969).
pub(super) fn gauss_hermite(n: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut jacobi = vec![0.0; n * n];
    for i in 1..n {
        jacobi[i * n + i - 1] = (i as f64 / 2.0).sqrt();
        jacobi[(i - 1) * n + i] = jacobi[i * n + i - 1];
    }
    let mut eigh = Eigh::new(n);
    eigh.decompose(|i| &jacobi[i * n..(i + 1) * n])?;
    let nodes: Vec<f64> = (0..n).map(|k| (eigh.values[k] - eigh.values[n - 1 - k]) / 2.0).collect();
    // The weight is 1 / sum of the squared orthonormal polynomials, with more digits in the tails than the eigenvectors have.
    let weight = |t: f64| {
        let (mut last, mut p, mut sum) = (0.0, std::f64::consts::PI.powf(-0.25), 0.0);
        for i in 0..n {
            sum += p * p;
            let next = t * (2.0 / (i as f64 + 1.0)).sqrt() * p - (i as f64 / (i as f64 + 1.0)).sqrt() * last;
            (last, p) = (p, next);
        }
        1.0 / sum
    };
    let weights = nodes.iter().map(|&t| weight(t)).collect();
    Ok((nodes, weights))
}

/// Places and weights of a product rule in k dimensions: (t (k numbers), log of its weight + |t|^2).
pub(super) fn product(n: usize, k: usize) -> Result<Vec<(Vec<f64>, f64)>> {
    let (nodes, weights) = gauss_hermite(n)?;
    let place = |mut at: usize| {
        let (mut t, mut log) = (vec![0.0; k], 0.0);
        for t in &mut t {
            *t = nodes[at % n];
            log += weights[at % n].ln() + t.powi(2);
            at /= n;
        }
        (t, log)
    };
    Ok((0..n.pow(k as u32)).map(place).collect())
}

/// Kronrod's 15 nodes on [-1, 1] with their weights, and those of the 7 of Gauss among them (QUADPACK's qk15).
pub(super) const KRONROD: [(f64, f64, f64); 15] = {
    const X: [f64; 8] = [
        0.991_455_371_120_812_6,
        0.949_107_912_342_758_5,
        0.864_864_423_359_769_1,
        0.741_531_185_599_394_4,
        0.586_087_235_467_691_1,
        0.405_845_151_377_397_2,
        0.207_784_955_007_898_47,
        0.0,
    ];
    const W: [f64; 8] = [
        0.022_935_322_010_529_224,
        0.063_092_092_629_978_55,
        0.104_790_010_322_250_18,
        0.140_653_259_715_525_92,
        0.169_004_726_639_267_9,
        0.190_350_578_064_785_4,
        0.204_432_940_075_298_9,
        0.209_482_141_084_727_82,
    ];
    const G: [f64; 8] = [
        0.0,
        0.129_484_966_168_869_7,
        0.0,
        0.279_705_391_489_276_64,
        0.0,
        0.381_830_050_505_118_9,
        0.0,
        0.417_959_183_673_469_4,
    ];
    let mut rule = [(0.0, 0.0, 0.0); 15];
    let mut i = 0;
    while i < 15 {
        let (k, sign) = if i < 8 { (i, -1.0) } else { (14 - i, 1.0) };
        rule[i] = (sign * X[k], W[k], G[k]);
        i += 1;
    }
    rule
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_the_normal_distribution() {
        for n in [1, 7, 9, 15, 33] {
            let (t, w) = gauss_hermite(n).unwrap();
            let moment =
                |p: i32| t.iter().zip(&w).map(|(t, w)| w * t.powi(p)).sum::<f64>() / std::f64::consts::PI.sqrt();
            let mut exact = 1.0;
            for p in 0..n.min(12) {
                assert!((moment(2 * p as i32) / exact - 1.0).abs() < 1e-12, "{n} nodes, power {}", 2 * p);
                exact *= (2 * p + 1) as f64 / 2.0;
            }
        }
    }

    #[test]
    fn kronrod_integrates_powers() {
        for p in (0..=22).step_by(2) {
            let exact = 2.0 / (p as f64 + 1.0);
            let kronrod: f64 = KRONROD.iter().map(|(x, w, _)| w * x.powi(p)).sum();
            let gauss: f64 = KRONROD.iter().map(|(x, _, g)| g * x.powi(p)).sum();
            assert!((kronrod - exact).abs() < 1e-14);
            assert!(p > 12 || (gauss - exact).abs() < 1e-14);
        }
    }
}
