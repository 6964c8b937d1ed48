//! Gaussians of every kind of covariance beside their dense matrices, for the conformance tests.
#![allow(dead_code)]

use uncertain::GaussianArray;
use uncertain::data::covariance::{Full, Layout, packed_len};
use uncertain::data::{Covariances, Names, Rows};

/// Numbers in (-1, 1) from a seed; good enough to be unlike each other.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn take(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// Rows in several pieces of memory, cut at odd places.
pub(crate) fn chunked(values: &[f64], width: usize) -> Rows {
    let n = values.len() / width;
    let cuts = [0, n / 7, n / 7, n / 3 + 1, n];
    let piece = |w: &[usize]| Rows::from_vec(values[w[0].min(n) * width..w[1].min(n) * width].to_vec(), width).unwrap();
    Rows::concat(cuts.windows(2).map(piece), width).unwrap()
}

pub(crate) struct Case {
    pub name: &'static str,
    pub array: GaussianArray,
    /// n matrices of d x d, computed here and not by the library.
    pub dense: Vec<f64>,
}

pub(crate) fn diagonals(n: usize, d: usize, variance: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..n * d * d)
        .map(|p| {
            let (row, i, j) = (p / (d * d), p / d % d, p % d);
            if i == j { variance(row, i) } else { 0.0 }
        })
        .collect()
}

pub(crate) fn gram(factor: &[f64], n: usize, d: usize, rank: usize) -> Vec<f64> {
    let f = |row: usize, i: usize, k: usize| factor[(row * d + i) * rank + k];
    (0..n * d * d).map(|p| (0..rank).map(|k| f(p / (d * d), p / d % d, k) * f(p / (d * d), p % d, k)).sum()).collect()
}

pub(crate) fn cases(n: usize, d: usize, seed: u64) -> Vec<Case> {
    let mut numbers = Numbers(seed);
    let means = chunked(&numbers.take(n * d), d);
    let names = Names::default();
    let one: Vec<f64> = numbers.take(n).iter().map(|x| x.abs()).collect();
    let each: Vec<f64> = numbers.take(n * d).iter().map(|x| x.abs()).collect();
    let mut out = vec![];
    let mut add = |name, covariances, dense| {
        let array = GaussianArray::new(means.clone(), covariances).unwrap();
        assert!(array.warnings().is_empty(), "{name}");
        out.push(Case { name, array, dense });
    };
    add("zero", Covariances::Zero, vec![0.0; n * d * d]);
    add("isotropic var", Covariances::from_var(chunked(&one, 1)), diagonals(n, d, |i, _| one[i]));
    add("isotropic std", Covariances::from_std(chunked(&one, 1)), diagonals(n, d, |i, _| one[i] * one[i]));
    add("diagonal var", Covariances::from_var(chunked(&each, d)), diagonals(n, d, |i, j| each[i * d + j]));
    add("diagonal std", Covariances::from_std(chunked(&each, d)), diagonals(n, d, |i, j| each[i * d + j].powi(2)));
    for (name, rank) in [("low-rank 1", 1), ("low-rank 3", 3)] {
        let f = numbers.take(n * d * rank);
        let cov = Covariances::from_factor(chunked(&f, d * rank), rank, None, &names).unwrap();
        add(name, cov, gram(&f, n, d, rank));
    }
    let f = numbers.take(n * d * 2);
    let cov = Covariances::from_factor(chunked(&f, d * 2), 2, Some(chunked(&each, d)), &names).unwrap();
    let diagonal = diagonals(n, d, |i, j| each[i * d + j]);
    let both = gram(&f, n, d, 2).iter().zip(&diagonal).map(|(a, b)| a + b).collect();
    add("low-rank 2 + diagonal", cov, both);
    let full = gram(&numbers.take(n * d * d), n, d, d);
    add("full", Covariances::from_cov(chunked(&full, d * d), &names).unwrap(), full.clone());
    let triangles: Vec<f64> =
        full.chunks(d * d).flat_map(|s| (0..d).flat_map(move |i| s[i * d..=i * d + i].iter().copied())).collect();
    let packed = Full { values: chunked(&triangles, packed_len(d)), layout: Layout::Packed };
    add("full packed", Covariances::Full(packed), full.clone());
    let singular = gram(&numbers.take(n * d * 2), n, d, 2);
    add("full singular", Covariances::from_cov(chunked(&singular, d * d), &names).unwrap(), singular);
    let shared = gram(&numbers.take(d * d), 1, d, d);
    add("shared", Covariances::shared(&shared, &names).unwrap(), shared.repeat(n));
    out
}

pub(crate) fn close(a: &[f64], b: &[f64], scale: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= 1e-12 * (scale + b.abs()), "{what}: element {k} is {a}, not {b}");
    }
}
