use ndarray::{Array2, ArrayView2};
use serde::Deserialize;

use super::*;
use crate::control::Control;
use crate::data::Labels;
use crate::data::{Covariances, GaussianArray, Rows};
use crate::error::{Error, Result};
use crate::estimator::Classifier;
use crate::kernel::probabilistic_rbf::{Bandwidth, Coupling, RbfOptions, gram as gram_of};
use crate::model::one_vs_rest;
use crate::solver::Status;
use crate::solver::smo::{Dense, Subset};
use crate::testing::Numbers;

#[derive(Deserialize)]
struct Golden {
    x: Vec<[f64; 2]>,
    new: Vec<[f64; 2]>,
    weight: Vec<f64>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    codes: Vec<u32>,
    weighted: bool,
    support: Vec<u32>,
    n_support: Vec<usize>,
    dual_coef: Vec<Vec<f64>>,
    intercept: Vec<f64>,
    decision: Vec<Vec<f64>>,
}

fn gram(a: &[[f64; 2]], b: &[[f64; 2]]) -> Array2<f64> {
    let distance = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    Array2::from_shape_fn((a.len(), b.len()), |(i, j)| (-0.5 * distance(a[i], b[j])).exp())
}

fn dense(gram: &Array2<f64>) -> Dense<'_> {
    Dense::new(gram.as_slice().unwrap(), gram.nrows()).unwrap()
}

fn at_support(gram: ArrayView2<'_, f64>, model: &SvcExpansion) -> Array2<f64> {
    let columns: Vec<usize> = model.support.iter().map(|&s| s as usize).collect();
    gram.select(ndarray::Axis(1), &columns)
}

fn tight() -> Params {
    Params::new().c(2.0).tol(1e-12)
}

#[test]
fn every_number_is_that_of_scikit_learn() {
    let golden: Golden = serde_json::from_str(include_str!("../../../../../tests/golden/kernel_svc.json")).unwrap();
    let (k, new) = (gram(&golden.x, &golden.x), gram(&golden.new, &golden.x));
    assert_eq!(golden.cases.len(), 6);
    for case in &golden.cases {
        let n_classes = case.n_support.len();
        let mut labels = Labels::new(case.codes.clone(), n_classes).unwrap();
        if case.weighted {
            labels = labels.with_weights(golden.weight.clone()).unwrap();
        }
        let model = tight().check().unwrap().fit_kernel(&dense(&k), &labels, &Control::new()).unwrap();
        assert_eq!(model.support, case.support);
        assert_eq!(model.n_support, case.n_support);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + b.abs());
        for (line, expected) in model.dual_coef.outer_iter().zip(&case.dual_coef) {
            assert!(line.iter().zip(expected).all(|(a, b)| near(*a, *b)), "{line} {expected:?}");
        }
        assert_eq!(model.intercept.len(), case.intercept.len());
        assert!(model.intercept.iter().zip(&case.intercept).all(|(a, b)| near(*a, *b)));
        let decision = model.decision(at_support(new.view(), &model).view()).unwrap();
        assert_eq!(decision.ncols(), case.decision[0].len());
        for (row, expected) in decision.outer_iter().zip(&case.decision) {
            assert!(row.iter().zip(expected).all(|(a, b)| near(*a, *b)), "{row} {expected:?}");
        }
        assert!(model.fits.iter().all(|fit| fit.status == Status::Converged && fit.gap < 1e-7));
    }
}

/// Three classes on a circle.
fn three(n: usize) -> (Array2<f64>, Labels) {
    let mut numbers = Numbers::new(2);
    let codes: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let x: Vec<[f64; 2]> = codes
        .iter()
        .map(|&code| {
            let angle = f64::from(code) * 2.1;
            [1.5 * angle.cos() + numbers.normal(), 1.5 * angle.sin() + numbers.normal()]
        })
        .collect();
    (gram(&x, &x), Labels::new(codes, 3).unwrap())
}

#[test]
fn probabilities_are_calibrated_and_agree_with_the_classes() {
    let n = 240;
    let (k, labels) = three(n);
    let params = Params::new().probability(true).check().unwrap();
    let model = params.fit_kernel(&dense(&k), &labels, &Control::new()).unwrap();
    let kernel = at_support(k.view(), &model);
    let p = model.predict_proba(kernel.view()).unwrap();
    let classes = one_vs_rest::classes(model.decision(kernel.view()).unwrap().view());
    let (mut hits, mut agreements, mut sum) = (0, 0, 0.0);
    for (i, row) in p.outer_iter().enumerate() {
        assert!((row.sum() - 1.0).abs() < 1e-12 && row.iter().all(|p| (0.0..=1.0).contains(p)));
        let likeliest = (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        hits += usize::from(classes[i] == labels.codes()[i]);
        agreements += usize::from(classes[i] as usize == likeliest);
        sum += row[labels.codes()[i] as usize];
    }
    assert!(hits > n * 7 / 10 && agreements > n * 9 / 10, "{hits} {agreements}");
    // On average, the true class has about the probability with which it is predicted.
    assert!((sum / n as f64 - hits as f64 / n as f64).abs() < 0.15, "{sum} {hits}");
}

#[test]
fn threads_and_computed_rows_change_nothing() {
    let (k, labels) = three(90);
    let params = Params::new().probability(true).cache_size(0).check().unwrap();
    let fit = |threads| params.fit_kernel(&dense(&k), &labels, &Control::new().with_threads(threads)).unwrap();
    let one = fit(1);
    assert_eq!(fit(3), one);
    let matrix = dense(&k);
    let computed = Subset::new(&matrix, (0..90).collect()).unwrap();
    assert_eq!(params.fit_kernel(&computed, &labels, &Control::new()).unwrap(), one);
}

#[test]
fn rows_without_weight_are_absent() {
    let (k, labels) = three(60);
    let weights: Vec<f64> = (0..60).map(|i| if i % 5 == 0 { 0.0 } else { 2.0 }).collect();
    let kept: Vec<usize> = (0..60).filter(|i| i % 5 != 0).collect();
    let rest = k.select(ndarray::Axis(1), &kept).select(ndarray::Axis(0), &kept);
    let rest = rest.as_standard_layout().into_owned();
    let with = |params: Params, k: &Array2<f64>, labels: &Labels| {
        params.probability(true).check().unwrap().fit_kernel(&dense(k), labels, &Control::new()).unwrap()
    };
    let weighted = with(tight(), &k, &labels.clone().with_weights(weights).unwrap());
    let alone = with(tight().c(4.0), &rest, &labels.take(&kept).unwrap());
    assert_eq!((&weighted.dual_coef, &weighted.intercept), (&alone.dual_coef, &alone.intercept));
    assert_eq!(weighted.platt, alone.platt);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let (k, labels) = three(30);
    let said = |result: Result<SvcExpansion>| result.unwrap_err().to_string();
    let fit = |params: Params, labels: &Labels| params.check().unwrap().fit_kernel(&dense(&k), labels, &Control::new());
    assert!(said(fit(tight(), &Labels::new(vec![0; 30], 2).unwrap())).contains("one class"));
    assert!(said(fit(tight(), &labels.take(&[0, 1, 2]).unwrap())).contains("30"));
    let lonely = Labels::new((0..30).map(|i| u32::from(i == 3)).collect(), 2).unwrap();
    assert!(fit(tight(), &lonely).is_ok());
    assert!(said(fit(tight().probability(true), &lonely)).contains("class 1 has 1"));
    assert!(Params::new().c(f64::INFINITY).check().is_err());
    assert!(Params::new().folds(1).check().is_err());
    assert!(Params::new().tol(-1.0).check().is_err());
    let model = fit(tight(), &labels).unwrap();
    assert!(model.decision(k.view()).is_err());
    assert!(model.predict_proba(at_support(k.view(), &model).view()).is_err());
    let control = Control::new();
    control.stop();
    assert_eq!(tight().check().unwrap().fit_kernel(&dense(&k), &labels, &control), Err(Error::Interrupted));
}

/// Three clouds with different error bars.
fn gaussians(n: usize, seed: u64) -> (GaussianArray, Labels) {
    let mut numbers = Numbers::new(seed);
    let centers = [[1.5, 0.0], [-1.5, 0.8], [0.0, -1.5]];
    let codes: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
    let means = codes.iter().flat_map(|&c| centers[c as usize]).map(|x| x + 0.8 * numbers.normal()).collect();
    let stds = (0..2 * n).map(|_| 0.05 + 0.6 * numbers.uniform()).collect();
    let stds = Covariances::from_std(Rows::from_vec(stds, 2).unwrap());
    let data = GaussianArray::new(Rows::from_vec(means, 2).unwrap(), stds).unwrap();
    (data, Labels::new(codes, 3).unwrap())
}

#[test]
fn gaussians_are_their_gram_matrix() {
    let (data, labels) = gaussians(90, 1);
    let (new, _) = gaussians(40, 2);
    for coupling in [Coupling::Shared, Coupling::Independent] {
        let params = tight().sigma(1.2).coupling(coupling).probability(true).check().unwrap();
        let model = params.fit(&data, &labels, &Control::new()).unwrap();
        let options = RbfOptions { coupling, ..RbfOptions::new(1.2) };
        let kernel = gram_of(&data, None, &options, &Control::new()).unwrap();
        let mut machine = params.fit_kernel(&dense(&kernel), &labels, &Control::new()).unwrap();
        machine.platt.clone_from(&model.expansion.platt); // a kernel matrix has no content to hold rows out by
        assert_eq!(model.expansion, machine);
        assert_eq!((model.n_features(), model.n_classes()), (2, 3));
        assert_eq!(model.basis.as_ref().unwrap().rows().n_rows(), machine.support.len());
        let across = gram_of(&new, Some(model.basis.as_ref().unwrap().rows()), &options, &Control::new()).unwrap();
        assert_eq!(model.decision_function(&new).unwrap(), machine.decision(across.view()).unwrap());
        assert_eq!(model.predict_proba(&new).unwrap(), machine.predict_proba(across.view()).unwrap());
        let (means, stds) = model.decision_distribution(&new, &Control::new()).unwrap();
        assert_eq!(means, machine.pair_scores(across.view()).unwrap());
        assert!(stds.dim() == (40, 3) && stds.iter().all(|s| *s > 0.0 && s.is_finite()));
        assert!(model.predict(&GaussianArray::exact(Rows::from_vec(vec![0.0; 3], 3).unwrap()).unwrap()).is_err());
    }
}

#[test]
fn a_matrix_that_does_not_fit_changes_nothing() {
    let (data, labels) = gaussians(120, 3);
    let two = Labels::new(labels.codes().iter().map(|&c| u32::from(c == 0)).collect(), 2).unwrap();
    for (labels, probability) in [(&labels, true), (&two, false)] {
        let fit = |bytes: usize, threads: usize| {
            let params = Params::new().probability(probability).cache_size(bytes);
            params.check().unwrap().fit(&data, labels, &Control::new().with_threads(threads)).unwrap()
        };
        let whole = fit(1 << 30, 1);
        for (bytes, threads) in [(0, 1), (10_000, 1), (40_000, 3)] {
            assert_eq!(fit(bytes, threads), whole, "{bytes} bytes");
        }
    }
}

#[test]
fn gaussians_without_weight_are_absent() {
    let (data, labels) = gaussians(90, 5);
    let weights: Vec<f64> = (0..90).map(|i| if i % 4 == 0 { 0.0 } else { 1.0 + f64::from(i % 2) }).collect();
    let kept: Vec<usize> = (0..90).filter(|i| i % 4 != 0).collect();
    let labels = labels.with_weights(weights).unwrap();
    let params = tight().sigma(Bandwidth::Median).check().unwrap();
    let model = params.fit(&data, &labels, &Control::new()).unwrap();
    let rest = params.fit(&data.take(&kept).unwrap(), &labels.take(&kept).unwrap(), &Control::new()).unwrap();
    assert_eq!(model.basis, rest.basis);
    assert_eq!(model.expansion.dual_coef, rest.expansion.dual_coef);
    let numbers: Vec<u32> = rest.expansion.support.iter().map(|&row| kept[row as usize] as u32).collect();
    assert_eq!(model.expansion.support, numbers);
}

#[test]
fn what_gaussians_cannot_be_fitted_with_is_refused() {
    let (data, labels) = gaussians(30, 1);
    for sigma in [0.0, -1.0, f64::NAN] {
        assert!(Params::new().sigma(sigma).check().unwrap_err().to_string().contains("sigma"));
    }
    let params = Params::new().check().unwrap();
    assert!(params.fit(&data, &labels.take(&[0, 1, 2]).unwrap(), &Control::new()).is_err());
    let control = Control::new();
    control.stop();
    assert_eq!(params.fit(&data, &labels, &control), Err(Error::Interrupted));
    let model = params.fit(&data, &labels, &Control::new()).unwrap();
    assert_eq!(model.decision_distribution(&data, &control), Err(Error::Interrupted));
    assert!(model.predict_proba(&data).unwrap_err().to_string().contains("probability = true"));
}
