use ndarray::{Array2, Axis};

use super::*;
use crate::control::Control;
use crate::data::{Covariances, GaussianArray, Rows, Targets};
use crate::error::Error;
use crate::estimator::Regressor;
use crate::kernel::probabilistic_rbf::{RbfOptions as Kernel, gram};
use crate::solver::Status;
use crate::solver::smo::{Dense, SmoOptions, Subset};
use crate::testing::Numbers;

fn line(n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut numbers = Numbers::new(1);
    let x: Vec<f64> = (0..n).map(|i| 6.0 * i as f64 / n as f64).collect();
    let targets = x.iter().map(|x| x.sin() + 0.05 * numbers.normal()).collect();
    let kernel = x.iter().flat_map(|a| x.iter().map(move |b| (-(a - b).powi(2)).exp())).collect();
    (x, targets, kernel)
}

fn given(targets: &[f64]) -> Targets {
    Targets::new(targets.to_vec()).unwrap()
}

fn weighted_by(targets: &[f64], weights: &[f64]) -> Targets {
    given(targets).with_weights(weights.to_vec()).unwrap()
}

#[test]
fn a_noisy_sine_is_found_within_the_tube() {
    let n = 80;
    let (x, targets, kernel) = line(n);
    let options = SmoOptions { tol: 1e-6, ..SmoOptions::default() };
    let params = Params::new().c(10.0).epsilon(0.1).options(options).check().unwrap();
    let model = params.fit_kernel(&Dense::new(&kernel, n).unwrap(), &given(&targets), &Control::new()).unwrap();
    assert!(model.support.len() < n / 2 && model.fit.gap < 1e-5 && model.fit.status == Status::Converged);
    let columns = Array2::from_shape_fn((n, model.support.len()), |(i, s)| kernel[i * n + model.support[s] as usize]);
    for (x, fitted) in x.iter().zip(model.predict(columns.view()).unwrap()) {
        assert!((x.sin() - fitted).abs() < 0.2, "{x}: {fitted}");
    }
    assert!(model.predict(columns.slice_axis(Axis(1), (1..).into())).is_err());
}

#[test]
fn rows_without_weight_are_absent() {
    let n = 40;
    let (_, targets, kernel) = line(n);
    let params = Params::new().options(SmoOptions { tol: 1e-12, ..SmoOptions::default() }).check().unwrap();
    let weights: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i >= 10))).collect();
    let all = Dense::new(&kernel, n).unwrap();
    let weighted = params.fit_kernel(&all, &weighted_by(&targets, &weights), &Control::new()).unwrap();
    let rest = Subset::new(&all, (10..40).collect()).unwrap();
    let alone = params.fit_kernel(&rest, &given(&targets[10..]), &Control::new()).unwrap();
    assert_eq!(weighted.dual_coef, alone.dual_coef);
    assert_eq!(weighted.support, alone.support.iter().map(|row| row + 10).collect::<Vec<_>>());
}

#[test]
fn bad_input_is_refused() {
    assert!(Params::new().c(0.0).check().is_err() && Params::new().epsilon(f64::NAN).check().is_err());
    let params = Params::new().check().unwrap();
    let kernel = Dense::new(&[1.0, 0.0, 0.0, 1.0], 2).unwrap();
    let said = params.fit_kernel(&kernel, &given(&[1.0]), &Control::new()).unwrap_err().to_string();
    assert!(said.contains("one per row"));
}

#[test]
fn gaussians_are_their_gram_matrix_whether_it_fits_or_not() {
    let (x, targets, _) = line(60);
    let errors = Rows::from_vec((0..60).map(|i| 0.05 + 0.01 * f64::from(i % 7)).collect(), 1).unwrap();
    let data = GaussianArray::new(Rows::from_vec(x, 1).unwrap(), Covariances::from_std(errors)).unwrap();
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let params = Params::new().c(5.0).sigma(0.7);
    let fit = |params: &Params| {
        params.clone().check().unwrap().fit(&data, &weighted_by(&targets, &weights), &Control::new()).unwrap()
    };
    let model = fit(&params);
    let matrix = gram(&data, None, &Kernel::new(0.7), &Control::new()).unwrap();
    let dense = Dense::new(matrix.as_slice().unwrap(), 60).unwrap();
    let machine = params.clone().check().unwrap();
    let machine = machine.fit_kernel(&dense, &weighted_by(&targets, &weights), &Control::new()).unwrap();
    assert_eq!(model.expansion, machine);
    assert!(machine.support.iter().all(|row| row % 3 != 0));
    let small = SmoOptions { cache_size: 0, ..SmoOptions::default() };
    assert_eq!(fit(&params.options(small)), model);
    let columns: Vec<usize> = machine.support.iter().map(|&row| row as usize).collect();
    let expected = machine.predict(matrix.select(ndarray::Axis(1), &columns).view()).unwrap();
    // Products of matrices in another layout round otherwise.
    let found = Regressor::predict(&model, &data).unwrap();
    assert!(found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-13) && found.len() == 60);
    let wrong = GaussianArray::exact(Rows::from_vec(vec![0.0; 2], 2).unwrap()).unwrap();
    assert!(Regressor::predict(&model, &wrong).is_err());
}

#[test]
fn the_unit_of_the_targets_does_not_matter() {
    let (_, targets, kernel) = line(50);
    let fit = |unit: f64, offset: f64| {
        let targets: Vec<f64> = targets.iter().map(|t| unit * t + offset).collect();
        let params = Params::new().c(3.0 * unit.max(1e-300)).epsilon(0.1 * unit);
        let params = params.options(SmoOptions { tol: 1e-12, ..SmoOptions::default() }).check().unwrap();
        params.fit_kernel(&Dense::new(&kernel, 50).unwrap(), &given(&targets), &Control::new()).unwrap()
    };
    let one = fit(1.0, 0.0);
    for (unit, offset) in [(1e9, 0.0), (1e-9, 0.0), (1.0, 1e6)] {
        let other = fit(unit, offset);
        assert_eq!(other.fit.status, Status::Converged);
        assert_eq!(other.support, one.support);
        let same = other.dual_coef.iter().zip(&one.dual_coef).all(|(a, b)| (a / unit - b).abs() < 1e-6);
        assert!(same, "{unit} {offset}");
    }
    assert!(fit(0.0, 5.0).support.is_empty());
}

#[test]
fn an_objective_beyond_all_numbers_is_refused() {
    let (x, y, _) = line(12);
    let data = GaussianArray::exact(Rows::from_vec(x, 1).unwrap()).unwrap();
    let huge = given(&y.iter().map(|y| y * 1e300).collect::<Vec<_>>());
    let params = Params::new().c(1e10).sigma(1.0).check().unwrap();
    let why = params.fit(&data, &huge, &Control::new()).unwrap_err();
    assert!(matches!(&why, Error::Data(why) if why.contains("look at their unit")), "{why}");
    assert!(params.fit(&data, &given(&y), &Control::new()).unwrap().expansion.fit.objective.is_finite());
}
