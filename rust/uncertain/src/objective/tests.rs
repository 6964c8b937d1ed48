pub(crate) mod partitioned;

use std::sync::Arc;

use super::*;
use crate::data::GaussianArray;
use crate::data::covariance::{Diagonal, Full, Isotropic, Layout, LowRank, Shared};
use crate::data::{Covariances, Rows, Unit, Weights};
use crate::loss::{EllipsoidHinge, ExpectedHinge, Hinge, Smoothness};
use crate::parallel;
use crate::testing::Numbers;
use partitioned::PartitionedRows;

/// Rows of every kind, in two pieces, with +-1 targets that the means half explain.
fn every_kind(n: usize, d: usize) -> Vec<(GaussianArray, Vec<f64>)> {
    let mut numbers = Numbers::new(7);
    let targets: Vec<f64> = (0..n).map(|_| if numbers.uniform() < 0.4 { -1.0 } else { 1.0 }).collect();
    let means: Vec<f64> = (0..n * d).map(|k| numbers.normal() + 0.7 * targets[k / d]).collect();
    let rows = |values: Vec<f64>, width: usize| {
        let cut = n / 3 * width;
        let (a, b) = (values[..cut].to_vec(), values[cut..].to_vec());
        Rows::concat([Rows::from_vec(a, width).unwrap(), Rows::from_vec(b, width).unwrap()], width).unwrap()
    };
    let mut square = vec![];
    let mut packed = vec![];
    for _ in 0..n {
        let f: Vec<f64> = (0..d * d).map(|_| 0.5 * numbers.normal()).collect();
        let s = |i: usize, j: usize| (0..d).map(|k| f[i * d + k] * f[j * d + k]).sum::<f64>();
        (0..d).for_each(|i| (0..d).for_each(|j| square.push(s(i, j))));
        (0..d).for_each(|i| (0..=i).for_each(|j| packed.push(s(i, j))));
    }
    let shared: Arc<[f64]> = packed[..d * (d + 1) / 2].into();
    let mut positive = |len: usize| (0..len).map(|_| 0.1 + numbers.uniform()).collect::<Vec<f64>>();
    let kinds = [
        Covariances::Isotropic(Isotropic { values: rows(positive(n), 1), unit: Unit::StandardDeviation }),
        Covariances::Diagonal(Diagonal { values: rows(positive(n * d), d), unit: Unit::Variance }),
        Covariances::Diagonal(Diagonal { values: rows(positive(n * d), d), unit: Unit::StandardDeviation }),
        Covariances::LowRank(LowRank {
            factor: rows(positive(n * d * 2), d * 2),
            rank: 2,
            diagonal: Some(rows(positive(n * d), d)),
        }),
        Covariances::LowRank(LowRank { factor: rows(positive(n * d), d), rank: 1, diagonal: None }),
        Covariances::LowRank(LowRank { factor: rows(positive(n * d * 3), d * 3), rank: 3, diagonal: None }),
        Covariances::Full(Full { values: rows(square, d * d), layout: Layout::Square }),
        Covariances::Full(Full { values: rows(packed, d * (d + 1) / 2), layout: Layout::Packed }),
        Covariances::Shared(Shared { packed: shared }),
        Covariances::Zero,
    ];
    kinds.map(|k| (GaussianArray::new(rows(means.clone(), d), k).unwrap(), targets.clone())).into()
}

/// Losses with a certificate, for n rows.
fn losses(n: usize) -> [Box<dyn Loss>; 3] {
    let radii: Vec<f64> = (0..n).map(|i| 0.5 * (i % 5) as f64).collect();
    [Box::new(ExpectedHinge), Box::new(Hinge), Box::new(EllipsoidHinge::worst(&radii))]
}

fn problem<'a>(data: &'a GaussianArray, targets: &'a [f64], weights: Option<&'a Weights>) -> LinearObjective<'a> {
    with_loss(data, targets, weights, &ExpectedHinge)
}

fn with_loss<'a>(
    data: &'a GaussianArray,
    targets: &'a [f64],
    weights: Option<&'a Weights>,
    loss: &'a dyn Loss,
) -> LinearObjective<'a> {
    Problem { data, targets: targets.into(), weights, alpha: 0.3, fit_intercept: true, loss }.check().unwrap()
}

#[test]
fn gradient_and_hessian_agree_with_differences_for_every_kind() {
    let (n, d, control) = (300, 11, Control::new());
    let weights = Weights::new((0..n).map(|i| (i % 4) as f64).collect()).unwrap();
    let mut numbers = Numbers::new(3);
    let x: Vec<f64> = (0..=d).map(|_| 0.4 * numbers.normal()).collect();
    let all = every_kind(n, d);
    let losses = losses(n);
    for ((data, targets), loss) in all.iter().flat_map(|data| losses.iter().map(move |loss| (data, loss))) {
        let objective = with_loss(data, targets, Some(&weights), &**loss);
        for epsilon in [0.0, 0.5] {
            let kinked = loss.smoothness() == Smoothness::Kinked || data.covariances().kind() == crate::Kind::Zero;
            if epsilon == 0.0 && kinked {
                continue; // a hinge has no second derivative
            }
            let at = |x: &[f64], want| objective.evaluate(x, epsilon, want, &control).unwrap();
            let (dense, plain) = (at(&x, Derivatives::Hessian), at(&x, Derivatives::Gradient));
            assert_eq!(dense.gradient, plain.gradient);
            assert!(dense.objective <= dense.smoothed && dense.bound <= dense.objective);
            let hessian = dense.hessian.unwrap();
            for j in 0..=d {
                let h = 1e-5;
                let shifted = |h: f64| {
                    at(
                        &x.iter().enumerate().map(|(k, x)| if k == j { x + h } else { *x }).collect::<Vec<_>>(),
                        Derivatives::Gradient,
                    )
                };
                let (up, down) = (shifted(h), shifted(-h));
                let slope = (up.smoothed - down.smoothed) / (2.0 * h);
                assert!(
                    (slope - dense.gradient[j]).abs() < 1e-8,
                    "{:?} {j}: {slope} {}",
                    data.covariances().kind(),
                    dense.gradient[j]
                );
                for i in 0..=d {
                    let difference = (up.gradient[i] - down.gradient[i]) / (2.0 * h);
                    let element = hessian[i.max(j) * (d + 1) + i.min(j)];
                    assert!((difference - element).abs() < 1e-8, "{:?} {i} {j}", data.covariances().kind());
                }
            }
        }
    }
}

#[test]
fn results_are_bit_identical_for_any_number_of_threads() {
    for (data, targets) in every_kind(2000, 9) {
        let objective = problem(&data, &targets, None);
        let x: Vec<f64> = (0..10).map(|k| 0.1 * f64::from(k) - 0.3).collect();
        let on = |threads| {
            parallel::install(Some(threads), || objective.evaluate(&x, 0.1, Derivatives::Hessian, &Control::new()))
                .unwrap()
                .unwrap()
        };
        let (one, three) = (on(1), on(3));
        assert_eq!(one.gradient, three.gradient);
        assert_eq!(one.hessian, three.hessian);
        assert_eq!((one.objective, one.bound), (three.objective, three.bound));
    }
}

#[test]
fn the_bound_holds_at_any_point_and_for_any_class_balance() {
    let mut numbers = Numbers::new(11);
    for (data, targets) in every_kind(200, 3) {
        for loss in losses(200) {
            let objective = with_loss(&data, &targets, None, &*loss);
            let (mut best, mut bound) = (f64::INFINITY, f64::NEG_INFINITY);
            for _ in 0..200 {
                let x: Vec<f64> = (0..4).map(|_| numbers.normal()).collect();
                let e =
                    objective.evaluate(&x, 0.2 * numbers.uniform(), Derivatives::Gradient, &Control::new()).unwrap();
                (best, bound) = (best.min(e.objective), bound.max(e.bound));
                assert!(e.smoothing_gap <= e.objective - e.bound + 1e-12, "{loss:?}");
            }
            assert!(bound > 0.0 && bound <= best, "{loss:?}: {bound} {best}");
        }
    }
}

#[test]
fn a_stopped_pass_says_so() {
    let (data, targets) = every_kind(50, 2).remove(0);
    let control = Control::new();
    control.stop();
    let result = problem(&data, &targets, None).evaluate(&[0.0; 3], 0.0, Derivatives::Gradient, &control);
    assert_eq!(result.unwrap_err(), Error::Interrupted);
}

#[test]
fn bad_problems_are_refused() {
    let (data, targets) = every_kind(50, 2).remove(0);
    let base = Problem {
        data: &data,
        targets: (&targets).into(),
        weights: None,
        alpha: 1.0,
        fit_intercept: true,
        loss: &ExpectedHinge,
    };
    assert!(base.check().is_ok());
    assert!(Problem { alpha: 0.0, ..base }.check().is_err());
    assert!(Problem { targets: targets[1..].into(), ..base }.check().is_err());
    assert!(Problem { targets: (&[0.5; 50]).into(), ..base }.check().is_err());
    assert!(Problem { weights: Some(&Weights::new(vec![1.0; 49]).unwrap()), ..base }.check().is_err());
}

/// Wherever the rows are, their sums are the same.
#[test]
fn sums_do_not_depend_on_how_rows_are_cut() {
    let (n, d, control) = (900, 7, Control::new());
    let weights = Weights::new((0..n).map(|i| (i % 4) as f64).collect()).unwrap();
    let mut numbers = Numbers::new(4);
    let mut vector = || (0..=d).map(|_| 0.4 * numbers.normal()).collect::<Vec<f64>>();
    let (x, v) = (vector(), vector());
    let losses = losses(n);
    for (data, targets) in every_kind(n, d) {
        for loss in &losses {
            let whole = with_loss(&data, &targets, Some(&weights), &**loss);
            let requests = [
                Request::Value { problem: None, x: x.clone(), epsilon: 0.3, hessian: true },
                Request::Value { problem: None, x: v.clone(), epsilon: 0.0, hessian: false },
            ];
            let one = whole.rows.sums(&requests, &control).unwrap();
            assert_eq!([one[0].len(), one[1].len()], [true, false].map(|hessian| Request::value_len(d, hessian)));
            let one = one.concat();
            let largest = one.iter().filter(|a| a.is_finite()).fold(1.0, |a: f64, b| a.max(b.abs()));
            for pieces in [1, 2, 7] {
                let cut = PartitionedRows::objective(&whole, pieces).rows.sums(&requests, &control).unwrap().concat();
                let near = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-13 * largest;
                assert!(one.iter().zip(&cut).all(|(a, b)| near(*a, *b)), "{loss:?} {pieces}");
            }
        }
    }
}
