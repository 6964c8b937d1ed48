//! Gram matrices against plain per-pair code: every pair of kinds, every size, both couplings.

mod cases;

use std::time::{Duration, Instant};

use cases::{Case, Numbers, cases, chunked, gram as product};
use ndarray::Array2;
use proptest::prelude::*;
use uncertain::data::{Covariances, Names, Rows};
use uncertain::kernel::probabilistic_rbf::{Coupling, RbfOptions, gram};
use uncertain::{Control, Error, GaussianArray, parallel};

const SIGMA: f64 = 1.3;

fn options(coupling: Coupling) -> RbfOptions {
    RbfOptions { sigma: SIGMA, coupling, max_bytes: None }
}

fn kernel(x: &GaussianArray, z: Option<&GaussianArray>, coupling: Coupling) -> Array2<f64> {
    gram(x, z, &options(coupling), &Control::new()).unwrap()
}

/// Eigenvalues and eigenvectors (columns) by Jacobi rotations.
fn jacobi(matrix: &[f64], d: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut a, mut v) = (matrix.to_vec(), vec![0.0; d * d]);
    (0..d).for_each(|i| v[i * d + i] = 1.0);
    for _ in 0..12 {
        for p in 0..d {
            for q in p + 1..d {
                if a[p * d + q] == 0.0 {
                    continue;
                }
                let theta = (a[q * d + q] - a[p * d + p]) / (2.0 * a[p * d + q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let (c, s) = (1.0 / t.hypot(1.0), t / t.hypot(1.0));
                let rotate = |x: &mut f64, y: &mut f64| (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                for k in 0..d {
                    let (mut x, mut y) = (a[p * d + k], a[q * d + k]);
                    rotate(&mut x, &mut y);
                    (a[p * d + k], a[q * d + k]) = (x, y);
                }
                for k in 0..d {
                    for m in [&mut a, &mut v] {
                        let (mut x, mut y) = (m[k * d + p], m[k * d + q]);
                        rotate(&mut x, &mut y);
                        (m[k * d + p], m[k * d + q]) = (x, y);
                    }
                }
                (a[p * d + q], a[q * d + p]) = (0.0, 0.0);
            }
        }
    }
    ((0..d).map(|i| a[i * d + i]).collect(), v)
}

fn root(matrix: &[f64], d: usize) -> Vec<f64> {
    let (values, v) = jacobi(matrix, d);
    // The root of a zero eigenvalue's rounding would be noise of 1e-8.
    let zero = values.iter().copied().fold(0.0, f64::max) * d as f64 * f64::EPSILON;
    let value = |k: usize| if values[k] > zero { values[k].sqrt() } else { 0.0 };
    let at = |i: usize, j: usize| (0..d).map(|k| v[i * d + k] * value(k) * v[j * d + k]).sum();
    (0..d * d).map(|p| at(p / d, p % d)).collect()
}

/// The kernel of one pair by Gaussian elimination; `a`, `b` are roots or covariances.
fn pair(x: &[f64], a: &[f64], z: &[f64], b: &[f64], coupling: Coupling) -> f64 {
    let d = x.len();
    let mut m = vec![0.0; d * (d + 1)];
    for i in 0..d {
        for j in 0..d {
            let u = |i: usize, j: usize| (a[i * d + j] - b[i * d + j]) / SIGMA;
            let square = match coupling {
                Coupling::Shared => (0..d).map(|k| u(i, k) * u(k, j)).sum(),
                Coupling::Independent => (a[i * d + j] + b[i * d + j]) / SIGMA.powi(2),
            };
            m[i * (d + 1) + j] = f64::from(u8::from(i == j)) + square;
        }
        m[i * (d + 1) + d] = (x[i] - z[i]) / SIGMA;
    }
    let right: Vec<f64> = (0..d).map(|i| m[i * (d + 1) + d]).collect();
    let mut det = 1.0;
    for p in 0..d {
        det *= m[p * (d + 1) + p];
        for i in 0..d {
            if i != p {
                let f = m[i * (d + 1) + p] / m[p * (d + 1) + p];
                (p..=d).for_each(|j| m[i * (d + 1) + j] -= f * m[p * (d + 1) + j]);
            }
        }
    }
    let quad: f64 = (0..d).map(|i| right[i] * m[i * (d + 1) + d] / m[i * (d + 1) + i]).sum();
    (-0.5 * quad).exp() / det.sqrt()
}

/// Roots or covariances of a case, n of d x d.
fn spreads(case: &Case, coupling: Coupling) -> Vec<f64> {
    let d = case.array.n_features();
    match coupling {
        Coupling::Shared => case.dense.chunks(d * d).flat_map(|s| root(s, d)).collect(),
        Coupling::Independent => case.dense.clone(),
    }
}

fn check(x: &Case, z: &Case, symmetric: bool, coupling: Coupling) {
    let (d, what) = (x.array.n_features(), format!("{} with {}, {coupling:?}", x.name, z.name));
    let found = kernel(&x.array, (!symmetric).then_some(&z.array), coupling);
    let (a, b) = (spreads(x, coupling), spreads(z, coupling));
    for i in 0..x.array.n_rows() {
        for j in 0..z.array.n_rows() {
            let (own, other) = (&a[i * d * d..(i + 1) * d * d], &b[j * d * d..(j + 1) * d * d]);
            let expected = pair(&x.array.means().row(i), own, &z.array.means().row(j), other, coupling);
            let error = (found[[i, j]] - expected).abs();
            assert!(error <= 1e-12, "{what}, d = {d}: [{i}, {j}] is {} and not {expected}", found[[i, j]]);
        }
    }
}

const COUPLINGS: [Coupling; 2] = [Coupling::Shared, Coupling::Independent];

#[test]
fn every_pair_of_kinds() {
    for d in [1, 3] {
        let (left, right) = (cases(11, d, 1), cases(18, d, 2));
        for coupling in COUPLINGS {
            for x in &left {
                check(x, x, true, coupling);
                right.iter().for_each(|z| check(x, z, false, coupling));
            }
        }
    }
}

#[test]
fn every_size() {
    for d in (1..=17).chain([20, 23, 30, 31, 32, 33, 48, 64, 95, 96, 97, 101]) {
        // Spreads of about one sigma in every dimension.
        let mut numbers = Numbers(d as u64);
        let n = if d > 32 { 5 } else { 19 };
        let means = chunked(&numbers.take(n * d).iter().map(|x| x / (d as f64).sqrt()).collect::<Vec<_>>(), d);
        let factor: Vec<f64> = numbers.take(n * d * d).iter().map(|x| 1.5 * x / (d as f64).sqrt()).collect();
        let dense = product(&factor, n, d, d);
        let full = Covariances::from_cov(chunked(&dense, d * d), &Names::default()).unwrap();
        let case = Case { name: "full", array: GaussianArray::new(means, full).unwrap(), dense };
        for coupling in COUPLINGS {
            check(&case, &case, true, coupling);
            let (once, twice) = (kernel(&case.array, None, coupling), kernel(&case.array, Some(&case.array), coupling));
            assert!(once.iter().zip(&twice).all(|(a, b)| (a - b).abs() <= 1e-12), "d = {d}, {coupling:?}");
        }
    }
}

#[test]
fn without_covariances_it_is_the_rbf_kernel() {
    for d in [1, 2, 5, 40, 100] {
        let mut numbers = Numbers(3);
        // Far from the origin, where |x|^2 + |z|^2 - 2 x'z would cancel.
        let means = chunked(&numbers.take(30 * d).iter().map(|x| 1e4 + x).collect::<Vec<_>>(), d);
        let zero = |cov| GaussianArray::new(means.clone(), cov).unwrap();
        let rows = |width: usize| chunked(&vec![0.0; 30 * width], width);
        let names = Names::default();
        let all = [
            zero(Covariances::Zero),
            zero(Covariances::from_var(rows(1))),
            zero(Covariances::from_std(rows(d))),
            zero(Covariances::from_cov(rows(d * d), &names).unwrap()),
            zero(Covariances::from_factor(rows(d), 1, None, &names).unwrap()),
            zero(Covariances::shared(&vec![0.0; d * d], &names).unwrap()),
        ];
        for coupling in COUPLINGS {
            for array in &all {
                let found = kernel(array, None, coupling);
                for i in 0..30 {
                    for j in 0..30 {
                        let (x, z) = (means.row(i), means.row(j));
                        let squares = x.iter().zip(&*z).map(|(a, b)| (a / SIGMA - b / SIGMA).powi(2));
                        let expected = (-0.5 * squares.sum::<f64>()).exp();
                        assert!((found[[i, j]] - expected).abs() <= 1e-13, "d = {d}");
                    }
                }
            }
        }
    }
}

#[test]
fn symmetric_with_unit_diagonal_and_positive_semi_definite() {
    for d in [1, 2, 4, 9] {
        for case in cases(33, d, 5) {
            for coupling in COUPLINGS {
                let k = kernel(&case.array, None, coupling);
                assert_eq!(k, k.t(), "{}", case.name);
                if coupling == Coupling::Shared {
                    assert!(k.diag().iter().all(|&k| k == 1.0), "{}", case.name);
                } else {
                    assert!(k.diag().iter().all(|&k| k <= 1.0));
                }
                let (values, _) = jacobi(&k.iter().copied().collect::<Vec<_>>(), 33);
                assert!(values.iter().all(|&v| v > -1e-12), "{} {coupling:?}: {values:?}", case.name);
            }
        }
    }
}

#[test]
fn it_is_the_mean_over_draws() {
    let case = &cases(2, 3, 8)[8];
    let mut numbers = Numbers(17);
    // Sums of 12 uniform numbers are near enough to normal ones for this tolerance; the pair test is the sharp one.
    let mut normal = || numbers.take(12).iter().sum::<f64>() / 2.0;
    for coupling in COUPLINGS {
        let roots: Vec<f64> = spreads(case, Coupling::Shared);
        let mut sum = 0.0;
        let count = 100_000;
        for _ in 0..count {
            let e: [f64; 3] = std::array::from_fn(|_| normal());
            let f = if coupling == Coupling::Shared { e } else { std::array::from_fn(|_| normal()) };
            let draw = |row: usize, e: &[f64; 3]| -> Vec<f64> {
                let image = |i: usize| (0..3).map(|j| roots[row * 9 + i * 3 + j] * e[j]).sum::<f64>();
                (0..3).map(|i| case.array.means().row(row)[i] + image(i)).collect()
            };
            let (a, b) = (draw(0, &e), draw(1, &f));
            let squares: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
            sum += (-squares / (2.0 * SIGMA * SIGMA)).exp();
        }
        let expected = kernel(&case.array, None, coupling)[[0, 1]];
        assert!(
            (sum / f64::from(count) - expected).abs() < 0.005,
            "{coupling:?}: {} {expected}",
            sum / f64::from(count)
        );
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    for case in cases(150, 5, 9) {
        let with = |threads| parallel::install(Some(threads), || kernel(&case.array, None, Coupling::Shared)).unwrap();
        assert_eq!(with(1), with(3), "{}", case.name);
    }
}

#[test]
fn enormous_spreads_give_numbers() {
    for d in [2, 3, 5, 100] {
        for scale in [1e10, 1e20, 1e34] {
            let mut numbers = Numbers(4);
            let means = chunked(&numbers.take(9 * d).iter().map(|x| x * scale).collect::<Vec<_>>(), d);
            let factor: Vec<f64> = numbers.take(9 * d).iter().map(|x| x * scale).collect();
            let covariances = Covariances::from_factor(chunked(&factor, d), 1, None, &Names::default()).unwrap();
            let array = GaussianArray::new(means, covariances).unwrap();
            for coupling in COUPLINGS {
                let k = kernel(&array, None, coupling);
                assert!(k.iter().all(|k| (0.0..=1.0).contains(k)), "d = {d}, {scale:e} {coupling:?}: {k}");
            }
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let x = &cases(5, 2, 1)[7].array;
    let z = &cases(5, 3, 1)[7].array;
    let refused = |z: Option<&GaussianArray>, sigma: f64, max_bytes| {
        let options = RbfOptions { sigma, coupling: Coupling::Shared, max_bytes };
        gram(x, z, &options, &Control::new()).unwrap_err().to_string()
    };
    assert!(refused(Some(z), 1.0, None).contains("2 features"));
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-80] {
        assert!(refused(None, sigma, None).contains("sigma"), "{sigma}");
    }
    assert!(refused(None, 1.0, Some(50)).contains("50 are allowed (max_bytes)"));
    let control = Control::new();
    control.stop();
    assert_eq!(gram(x, None, &RbfOptions::new(1.0), &control), Err(Error::Interrupted));
    let empty = x.slice(0..0);
    assert_eq!(kernel(&empty, None, Coupling::Shared).dim(), (0, 0));
    assert_eq!(kernel(x, Some(&empty), Coupling::Shared).dim(), (5, 0));
}

#[test]
fn a_stop_is_heard_soon() {
    // While roots are taken and among the pairs, in dimensions small and large: a second of work at least.
    for (d, n) in [(12, 6000), (30, 3000), (90, 500), (120, 300)] {
        let mut numbers = Numbers(6);
        let means = chunked(&numbers.take(n * d), d);
        let factor = chunked(&numbers.take(n * d), d);
        let covariances = Covariances::from_factor(factor, 1, None, &Names::default()).unwrap();
        let array = GaussianArray::new(means, covariances).unwrap();
        for wait in [1, 30] {
            let control = Control::new();
            let options = RbfOptions { sigma: SIGMA, coupling: Coupling::Shared, max_bytes: Some(8 << 30) };
            std::thread::scope(|scope| {
                let work = scope.spawn(|| (gram(&array, None, &options, &control), Instant::now()));
                std::thread::sleep(Duration::from_millis(wait));
                let asked = Instant::now();
                control.stop();
                let (result, heard) = work.join().unwrap();
                // 100 ms on a quiet machine; on a busy one the threads may have to wait for their turn.
                let delay = heard.saturating_duration_since(asked);
                assert!(result == Err(Error::Interrupted), "d = {d}: over in {wait} ms?");
                assert!(delay < Duration::from_secs(1), "d = {d}: {delay:?}");
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_sizes(n in 1usize..20, m in 1usize..20, d in 1usize..12, seed: u64, which in 0usize..12, other in 0usize..12) {
        let (x, z) = (cases(n, d, seed), cases(m, d, seed ^ 1));
        for coupling in COUPLINGS {
            check(&x[which], &z[other], false, coupling);
        }
    }
}

/// n rows with full covariances.
fn full(n: usize, d: usize, numbers: &mut Numbers) -> GaussianArray {
    let means = Rows::from_vec((0..n * d).map(|_| numbers.next()).collect(), d).unwrap();
    let factor = Rows::from_vec((0..n * d * d).map(|_| numbers.next()).collect(), d * d).unwrap();
    GaussianArray::new(means, Covariances::from_factor(factor, d, None, &Names::default()).unwrap()).unwrap()
}

#[test]
fn many_rows_are_those_of_few() {
    // Many rows are computed where they belong, few in a buffer. Columns: whole packs, an odd one, and more than a tile.
    for (d, columns) in [(1, 1), (2, 1043), (3, 1032), (5, 203), (10, 77), (13, 21)] {
        let mut numbers = Numbers(d as u64);
        let (x, z) = (full(300, d, &mut numbers), full(columns, d, &mut numbers));
        for coupling in [Coupling::Shared, Coupling::Independent] {
            let whole = kernel(&x, Some(&z), coupling);
            for rows in [0..100, 100..300] {
                let part = kernel(&x.slice(rows.clone()), Some(&z), coupling);
                for (i, row) in rows.zip(part.rows()) {
                    assert_eq!(whole.row(i), row, "d = {d}, row {i}");
                }
            }
        }
    }
}
