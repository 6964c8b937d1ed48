//! Every copy that this machine can run against the plain formula, one pair at a time.

use proptest::prelude::*;

use super::*;
use crate::dispatch::Level;
use crate::tests::under_miri::{one_of, up_to};

/// Numbers in (-1/2, 1/2).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}

/// A row: mean, then its spread times `scale` (F F' for matrices, so that sums of them are covariances).
fn row(d: usize, spread: Spread, scale: f64, numbers: &mut Numbers) -> Vec<f64> {
    let mut row: Vec<f64> = (0..d).map(|_| 2.0 * numbers.next()).collect();
    if spread == Spread::Dense {
        let factor: Vec<f64> = (0..d * d).map(|_| numbers.next()).collect();
        for r in 0..d {
            for c in 0..=r {
                let sum: f64 = (0..d).map(|k| factor[r * d + k] * factor[c * d + k]).sum();
                row.push(scale * sum * 4.0 / (d as f64).sqrt());
            }
        }
    } else {
        row.extend((0..spread.len(d)).map(|_| scale * 2.0 * numbers.next().abs()));
    }
    row
}

/// The spread as a matrix.
fn matrix(row: &[f64], d: usize, spread: Spread) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for r in 0..d {
        for c in 0..=r {
            let x = match spread {
                Spread::None => 0.0,
                Spread::Isotropic if r == c => row[d],
                Spread::Diagonal if r == c => row[d + r],
                Spread::Dense => row[d + r * (r + 1) / 2 + c],
                _ => 0.0,
            };
            (out[r * d + c], out[c * d + r]) = (x, x);
        }
    }
    out
}

/// kappa by Gaussian elimination.
fn plain(x: &[f64], z: &[f64], d: usize, spread: Spread, shared: bool) -> f64 {
    let (a, b) = (matrix(x, d, spread), matrix(z, d, spread));
    let u: Vec<f64> = a.iter().zip(&b).map(|(a, b)| if shared { a - b } else { a + b }).collect();
    let square = |i: usize, j: usize| (0..d).map(|k| u[i * d + k] * u[k * d + j]).sum::<f64>();
    let element = |i: usize, j: usize| f64::from(u8::from(i == j)) + if shared { square(i, j) } else { u[i * d + j] };
    let mut m: Vec<Vec<f64>> = (0..d).map(|i| (0..d).map(|j| element(i, j)).chain([x[i] - z[i]]).collect()).collect();
    let (mut det, mut quad) = (1.0, 0.0);
    for p in 0..d {
        let pivot = m[p].clone();
        det *= pivot[p];
        quad += pivot[d] * pivot[d] / pivot[p];
        for row in &mut m[p + 1..] {
            let f = row[p] / pivot[p];
            (p..=d).for_each(|j| row[j] -= f * pivot[j]);
        }
    }
    (-0.5 * quad).exp() / det.sqrt()
}

fn packs(rows: &[Vec<f64>]) -> Vec<Pack> {
    let width = rows[0].len();
    let mut packs = vec![Pack::ZERO; rows.len().div_ceil(LANES) * width];
    for (i, row) in rows.iter().enumerate() {
        for (k, x) in row.iter().enumerate() {
            packs[i / LANES * width + k].0[i % LANES] = *x;
        }
    }
    packs
}

/// All pairs of a tile with 9 and 11 rows, on every level.
fn check(d: usize, spread: Spread, scales: [f64; 2], shared: bool, seed: u64) {
    let mut numbers = Numbers(seed);
    let mut rows =
        |n: usize, scale: f64| -> Vec<Vec<f64>> { (0..n).map(|_| row(d, spread, scale, &mut numbers)).collect() };
    let (x, z) = (rows(9, scales[0]), rows(11, scales[1]));
    let (x_rows, z_packs) = (x.concat(), packs(&z));
    for level in Level::all() {
        let (mut workspace, mut out) = (Workspace::default(), vec![f64::NAN; 9 * 16]);
        let tile = Tile {
            x: &x_rows,
            z: &z_packs,
            d,
            spread,
            shared,
            rows: 0..9,
            packs: 0..2,
            triangle: false,
            workspace: &mut workspace,
            out: &mut out,
            stride: 16,
        };
        tile.fill_on(level);
        for (i, x) in x.iter().enumerate() {
            for (j, z) in z.iter().enumerate() {
                let (found, expected) = (out[i * 16 + j], plain(x, z, d, spread, shared));
                let what = format!("{level:?}, d = {d}, {spread:?}, shared: {shared}, {scales:?}: [{i}, {j}]");
                assert!((found - expected).abs() <= 1e-13 * (1.0 + d as f64), "{what} is {found} and not {expected}");
            }
        }
    }
}

const SPREADS: [Spread; 4] = [Spread::None, Spread::Isotropic, Spread::Diagonal, Spread::Dense];

#[test]
fn every_dimension() {
    for d in (1..=33).chain([47, 64, 96]).take(up_to(36)).step_by(one_of(4)) {
        for shared in [true, false] {
            check(d, Spread::Dense, [1.0, 1.5], shared, d as u64);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200 / one_of(100) as u32, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_copy_is_the_formula(
        d in 1usize..21, kind in 0usize..4, left in 0usize..4, right in 0usize..4, shared: bool, seed: u64,
    ) {
        let scale = |k: usize| [0.0, 1e-9, 0.3, 3.0][k];
        check(d, SPREADS[kind], [scale(left), scale(right)], shared, seed);
    }
}

/// Threads of a pool have two megabytes, and builds without optimisation have the largest frames.
#[test]
fn a_small_stack_is_enough() {
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let work = || {
        for (d, shared) in [(2, true), (5, true), (5, false), (10, true), (10, false), (12, true), (12, false)] {
            check(d, Spread::Dense, [1.0, 1.5], shared, 1);
        }
    };
    small.spawn(work).unwrap().join().unwrap();
}

#[test]
fn a_row_with_itself_is_one_to_the_last_bit() {
    for spread in SPREADS {
        for d in (1..=up_to(20)).step_by(one_of(4)) {
            let mut numbers = Numbers(3);
            let rows: Vec<Vec<f64>> = (0..8).map(|_| row(d, spread, 1.0, &mut numbers)).collect();
            let (x, z) = (rows.concat(), packs(&rows));
            for level in Level::all() {
                let (mut workspace, mut out) = (Workspace::default(), vec![0.0; 64]);
                let tile = Tile {
                    x: &x,
                    z: &z,
                    d,
                    spread,
                    shared: true,
                    rows: 0..8,
                    packs: 0..1,
                    triangle: true,
                    workspace: &mut workspace,
                    out: &mut out,
                    stride: 8,
                };
                tile.fill_on(level);
                (0..8).for_each(|i| assert_eq!(out[i * 9], 1.0, "{level:?}, d = {d}, {spread:?}"));
            }
        }
    }
}
