use ndarray::Axis;

use super::*;
use crate::control::Control;
use crate::data::Labels;
use crate::data::{Covariances, GaussianArray, Rows};
use crate::error::{Error, Result};
use crate::estimator::Classifier;
use crate::kernel::probabilistic_rbf::{self, Coupling};
use crate::solver::Status;
use crate::solver::smo::Dense;
use crate::testing::Numbers;

/// K classes on a circle, noisy rows with error bars in two directions.
fn circle(n: usize, k: u32) -> (GaussianArray, Labels) {
    let mut numbers = Numbers::new(4);
    let codes: Vec<u32> = (0..n as u32).map(|i| i % k).collect();
    let (mut means, mut errors) = (vec![], vec![]);
    for &code in &codes {
        let angle = f64::from(code) * 6.3 / f64::from(k);
        for x in [1.4 * angle.cos(), 1.4 * angle.sin()] {
            let error = 0.2 + 0.6 * numbers.uniform();
            means.push(x + error * numbers.normal());
            errors.push(error);
        }
    }
    let rows = |v| Rows::from_vec(v, 2).unwrap();
    let data = GaussianArray::new(rows(means), Covariances::from_std(rows(errors))).unwrap();
    (data, Labels::new(codes, k as usize).unwrap())
}

fn fit_on(threads: usize, params: Params, data: &GaussianArray, labels: &Labels) -> Model {
    params.check().unwrap().fit(data, labels, &Control::new().with_threads(threads)).unwrap()
}

fn fit(params: Params, data: &GaussianArray, labels: &Labels) -> Model {
    fit_on(2, params, data, labels)
}

/// The exact C-SVM on the Gram matrix of the features: the same problem, by another algorithm.
fn on_gram(gram: &ndarray::Array2<f64>, labels: &Labels, c: f64) -> crate::kernel_svc::SvcExpansion {
    let values = gram.as_standard_layout().into_owned();
    let dense = Dense::new(values.as_slice().unwrap(), gram.nrows()).unwrap();
    let params = crate::kernel_svc::Params::new().c(c).tol(1e-10).check().unwrap();
    params.fit_kernel(&dense, labels, &Control::new()).unwrap()
}

#[test]
fn the_optimum_is_that_of_the_dual_solver_on_the_same_features() {
    for (k, c) in [(2, 0.3), (2, 20.0), (3, 2.0)] {
        let (data, mut labels) = circle(150, k);
        if k == 3 {
            labels = labels.with_weights((0..150).map(|i| f64::from(i % 4)).collect()).unwrap();
        }
        {
            for coupling in [Coupling::Shared, Coupling::Independent] {
                let params = Params::new().c(c).n_components(40).coupling(coupling);
                let model = fit(params.tol(1e-9), &data, &labels);
                assert!(model.fits.iter().all(|f| f.status == Status::Converged && f.gap <= 1e-9));
                let z = model.map.transform(&data, &Control::new()).unwrap();
                let exact = on_gram(&z.dot(&z.t()), &labels, c);
                for (a, b) in model.fits.iter().zip(&exact.fits) {
                    assert!((a.objective / b.objective - 1.0).abs() < 1e-6, "{} {}", a.objective, b.objective);
                }
                let kernel = z.dot(&z.t());
                let columns: Vec<usize> = exact.support.iter().map(|&s| s as usize).collect();
                let expected = exact.decision(kernel.select(Axis(1), &columns).view()).unwrap();
                let scores = model.decision(&data, &Control::new()).unwrap();
                assert_eq!(scores.dim(), expected.dim());
                assert!((scores - expected).iter().all(|e| e.abs() < 2e-3), "{k} {c} {coupling:?}");
            }
        }
    }
}

#[test]
fn more_features_come_closer_to_the_exact_kernel_machine() {
    let (data, labels) = circle(120, 2);
    let options =
        probabilistic_rbf::RbfOptions { coupling: Coupling::Shared, ..probabilistic_rbf::RbfOptions::new(1.0) };
    let gram = probabilistic_rbf::gram(&data, None, &options, &Control::new()).unwrap();
    let exact = on_gram(&gram, &labels, 1.0);
    let params = Params::new().n_components(120).tol(1e-9);
    let error = |r| {
        (fit(params.clone().n_components(r), &data, &labels).fits[0].objective / exact.fits[0].objective - 1.0).abs()
    };
    let (few, many) = (error(10), error(600));
    assert!(many < 0.05 && many < few, "{few} {many}");
}

#[test]
fn probabilities_are_calibrated_on_rows_not_seen() {
    for k in [2, 3] {
        let (data, labels) = circle(240, k);
        let model = fit(Params::new().n_components(100).probability(true).tol(1e-4), &data, &labels);
        let p = model.predict_proba(&data, &Control::new()).unwrap();
        let classes = Classifier::predict(&model, &data).unwrap();
        assert_eq!(p.dim(), (240, k as usize));
        assert!(p.outer_iter().all(|row| (row.sum() - 1.0).abs() < 1e-12 && row.iter().all(|p| *p >= 0.0)));
        let (mut hits, mut sum) = (0.0, 0.0);
        for (i, &code) in labels.codes().iter().enumerate() {
            hits += f64::from(u8::from(classes[i] == code));
            sum += p[[i, code as usize]];
        }
        assert!(hits > 0.75 * 240.0 && (sum - hits).abs() < 0.15 * 240.0, "{k}: {sum} {hits}");
    }
}

#[test]
fn threads_change_nothing_and_rows_without_weight_are_absent() {
    let (data, labels) = circle(600, 3);
    {
        let params = Params::new().n_components(30).probability(true).tol(1e-5);
        let one = fit_on(1, params.clone(), &data, &labels);
        let two = fit_on(3, params.clone(), &data, &labels);
        assert_eq!((&one.coef, &one.intercept, &one.platt), (&two.coef, &two.intercept, &two.platt));
        let weights: Vec<f64> = (0..600).map(|i| if i % 5 == 0 { 0.0 } else { 2.0 }).collect();
        let kept: Vec<usize> = (0..600).filter(|i| i % 5 != 0).collect();
        let weighted = fit(params.clone().c(0.5), &data, &labels.clone().with_weights(weights).unwrap());
        let alone = fit(params, &data.take(&kept).unwrap(), &labels.take(&kept).unwrap());
        assert!((&weighted.coef - &alone.coef).iter().all(|e| e.abs() < 1e-9), "weights");
    }
}

#[test]
fn a_model_is_its_numbers() {
    let (data, labels) = circle(60, 3);
    let model = fit(Params::new().n_components(10).probability(true), &data, &labels);
    let map = &model.map;
    let map = crate::kernel::features::RandomFeatures::from_parts(
        2,
        map.frequencies().to_vec(),
        map.noise().map(<[f64]>::to_vec),
    );
    let map = map.unwrap();
    let parts = |coef, intercept| Model::from_parts(map.clone(), 1.0, 3, coef, intercept, model.platt.clone());
    let again = parts(model.coef.clone(), model.intercept.clone()).unwrap();
    assert_eq!(again.predict_proba(&data, &Control::new()), model.predict_proba(&data, &Control::new()));
    assert!(parts(model.coef.clone(), vec![0.0]).is_err());
    assert!(parts(ndarray::Array2::zeros((3, 7)), model.intercept.clone()).is_err());
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let (data, labels) = circle(30, 2);
    let said = |result: Result<Model>| result.unwrap_err().to_string();
    let run = |params: Params, labels: &Labels| params.check().unwrap().fit(&data, labels, &Control::new());
    assert!(said(run(Params::new(), &Labels::new(vec![0; 30], 2).unwrap())).contains("one class"));
    assert!(said(run(Params::new(), &labels.take(&[0, 1, 2]).unwrap())).contains("30"));
    let lonely = Labels::new((0..30).map(|i| u32::from(i == 3)).collect(), 2).unwrap();
    assert!(said(run(Params::new().probability(true), &lonely)).contains("class 1 has 1"));
    for bad in [
        Params::new().c(0.0),
        Params::new().sigma(f64::NAN),
        Params::new().n_components(0),
        Params::new().folds(1),
        Params::new().tol(-1.0),
    ] {
        assert!(bad.check().is_err());
    }
    let model = run(Params::new().n_components(5), &labels).unwrap();
    assert!(model.memory > 0);
    assert!(model.predict_proba(&data, &Control::new()).is_err());
    let narrow = GaussianArray::exact(Rows::from_vec(vec![0.0; 3], 1).unwrap()).unwrap();
    assert!(model.decision(&narrow, &Control::new()).is_err());
    let control = Control::new();
    control.stop();
    assert_eq!(Params::new().check().unwrap().fit(&data, &labels, &control).unwrap_err(), Error::Interrupted);
}
