//! The quadratic program of one threshold where it is hard: kernels that are nearly singular, residuals that are
//! at the threshold, tiny and huge scales. Every answer meets the conditions of a solution up to the rounding of their
//! own terms, which are summed here in twice the precision.

use super::super::qp::{Point, Problem};
use super::super::reduction::Kept;
use super::super::system::System;
use super::*;
use crate::data::Covariances;
use crate::linalg::dense::Matrix;

/// a - sum g b, with the rounding errors of the products and the sums.
fn residual(a: f64, g: &[f64], b: &[f64]) -> f64 {
    let (mut high, mut low) = (a, 0.0);
    for (g, b) in g.iter().zip(b) {
        let product = -g * b;
        let sum = high + product;
        let rest = sum - high;
        low += (-g).mul_add(*b, -product) + (high - (sum - rest)) + (product - rest);
        high = sum;
    }
    high + low
}

/// Kernel matrices of n rows by a factor (n x n), of any condition.
fn kernel(n: usize, numbers: &mut Numbers) -> (Vec<f64>, Option<Matrix>) {
    let small = 10.0_f64.powf(-16.0 * numbers.uniform());
    let by = |of: &dyn Fn(usize, usize) -> f64| (0..n * n).map(|at| of(at / n, at % n)).collect::<Vec<f64>>();
    match (4.0 * numbers.uniform()) as usize {
        // Rows that are hardly apart.
        0 => (by(&|i, j| if i == j { 1.0 } else { 1.0 - small }), None),
        1 => {
            let step = (n.max(2) - 1) as f64;
            let column = |j: usize| small.powf(0.5 * j as f64 / step);
            let values: Vec<f64> = (0..n * n).map(|at| column(at / n) * numbers.normal()).collect();
            let k = by(&|i, j| (0..n).map(|c| values[c * n + i] * values[c * n + j]).sum());
            (k, Some(Matrix { n_rows: n, n_cols: n, values }))
        }
        2 => {
            let x: Vec<f64> = (0..n).map(|_| numbers.normal()).collect();
            (by(&|i, j| (-small * (x[i] - x[j]).powi(2)).exp()), None)
        }
        // Rows that are there twice.
        _ => {
            let x: Vec<f64> = (0..n).map(|_| (3.0 * numbers.uniform()).floor()).collect();
            (by(&|i, j| (-(x[i] - x[j]).powi(2)).exp()), None)
        }
    }
}

fn targets(n: usize, scale: f64, numbers: &mut Numbers) -> Vec<f64> {
    let kind = (4.0 * numbers.uniform()) as usize;
    let own: Vec<f64> = (0..n).map(|_| numbers.normal()).collect();
    let target = |i: usize| match kind {
        0 => own[0],
        1 => own[i].round(),
        2 => [2.1, -1.9][i % 2],
        _ => own[i],
    };
    (0..n).map(|i| scale * target(i)).collect()
}

#[test]
fn every_answer_meets_the_conditions_of_a_solution() {
    for seed in 0..4000 {
        let mut numbers = Numbers::new(seed);
        let n = 1 + (9.0 * numbers.uniform()) as usize;
        let (k, u) = kernel(n, &mut numbers);
        let alpha = 10.0_f64.powf(13.0 * numbers.uniform() - 10.0);
        let y = targets(n, 10.0_f64.powf(6.0 * numbers.uniform() - 3.0), &mut numbers);
        let weights: Vec<f64> = match seed % 2 {
            0 => vec![1.0; n],
            _ => (0..n).map(|_| 10.0_f64.powf(4.0 * numbers.uniform() - 2.0)).collect(),
        };
        let total: f64 = weights.iter().sum();
        let g: Vec<f64> = k.iter().map(|k| k / alpha).collect();
        let kept = match u.filter(|_| seed % 3 == 0) {
            Some(u) => Kept::Factor(Matrix { values: u.values.iter().map(|u| u / alpha.sqrt()).collect(), ..u }),
            None => Kept::Dense(Matrix { n_rows: n, n_cols: n, values: g.clone() }),
        };
        let mut system = System::new(kept, weights.clone()).unwrap();
        let labels: Vec<usize> = (0..n).collect();
        let problem = |threshold| Problem { labels: &labels, targets: &y, total, threshold };
        let control = Control::new();
        let squared = problem(f64::INFINITY).squared(&mut system, &Point::zero(n), &control).unwrap();
        // At a residual of the squared-loss fit, at half a difference of targets, or anywhere; and hardly beside it.
        let pick = |numbers: &mut Numbers| (n as f64 * numbers.uniform()) as usize;
        let (i, j) = (pick(&mut numbers), pick(&mut numbers));
        let threshold = match (3.0 * numbers.uniform()) as usize {
            0 => 10.0_f64.powf(18.0 * numbers.uniform() - 12.0),
            1 => (y[i] - squared.f[i]).abs(),
            _ => 0.5 * (y[i] - y[j]).abs(),
        };
        let beside =
            [1.0, 1.0 + 1e-15, 1.0 - 1e-15, 1.0 + 1e-12, 1.0 - 1e-9, 0.9975][(6.0 * numbers.uniform()) as usize];
        let threshold = (threshold * beside).max(1e-12);
        let found = problem(threshold).solve(&mut system, squared, &control);
        let found = found.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let largest = y.iter().fold(0.0_f64, |m, y| m.max(y.abs())).min(threshold);
        for i in 0..n {
            let pull = 2.0 * total / weights[i] * found.b[i];
            let error = pull - residual(y[i], &g[i * n..(i + 1) * n], &found.b).clamp(-threshold, threshold);
            let root = |j: usize| g[j * n + j].sqrt();
            let terms: f64 = (0..n).map(|j| root(i) * root(j) * found.b[j].abs()).sum();
            let rounding = f64::EPSILON * (terms + y[i].abs() + pull.abs());
            assert!(error.abs() <= 16.0 * rounding + 2e-13 * largest, "seed {seed}, row {i}: {error:e} {rounding:e}");
        }
    }
}

#[test]
fn two_rows_with_error_bars_of_a_million_have_their_exact_solution() {
    let x = Rows::from_vec(vec![1.0, -1.0], 1).unwrap();
    let std = Rows::from_vec(vec![1e6; 2], 1).unwrap();
    let rows = GaussianArray::new(x, Covariances::from_std(std)).unwrap();
    let y = vec![2.1, -1.9];
    for threshold in [1.99, 1.99002, 1.995, 1.9999] {
        let view = View { graph: Graph::None, ..View::default() };
        let params = Params::new().alpha(1e-4).threshold(Some(threshold)).max_refinements(0).views(vec![view]);
        let model = params.check().unwrap().fit(&rows, std::slice::from_ref(&y), None, None, &Control::new()).unwrap();
        // f is one number F for both rows but for 1e-12 of b. The first row is beyond the threshold, the second
        // is not: b = (xi / 4, (-1.9 - F) / 4) and F = 1e4 (b_1 + b_2).
        let f = (threshold - 1.9) / (1.0 + 4e-4);
        let expected = [threshold / 4.0, (-1.9 - f) / 4.0];
        for i in 0..2 {
            let b = 1e-4 * model.parts[0].coef[[i, 0]];
            assert!((b - expected[i]).abs() < 1e-7, "{threshold} {i}: {b} {}", expected[i]);
        }
    }
}
