use super::*;
use crate::control::Control;
use crate::data::{Covariances, GaussianArray, Names, Rows, Targets};
use crate::loss::LossKind;
use crate::solver::{SolverKind, Status};
use crate::testing::Numbers;

const LOSSES: [LossKind; 4] = [
    LossKind::EpsilonInsensitive { epsilon: 0.3 },
    LossKind::EpsilonInsensitive { epsilon: 0.0 },
    LossKind::Huber { delta: 0.5 },
    LossKind::Squared,
];

/// Rows around a plane, with outliers, and the spreads of a kind.
fn rows(n: usize, d: usize, kind: &str) -> (GaussianArray, Vec<f64>) {
    let mut numbers = Numbers::new(17);
    let x: Vec<f64> = (0..n * d).map(|_| numbers.normal()).collect();
    let y = x.chunks(d).map(|x| 2.0 * x[0] - x[1 % d] + 5.0 + 0.4 * numbers.normal()).collect::<Vec<f64>>();
    let y = y.iter().enumerate().map(|(i, y)| if i % 11 == 0 { y + 9.0 } else { *y }).collect();
    let mut positive =
        |len: usize, width| Rows::from_vec((0..len).map(|_| 0.1 + 0.5 * numbers.uniform()).collect(), width).unwrap();
    let covariances = match kind {
        "zero" => Covariances::Zero,
        "isotropic" => Covariances::from_std(positive(n, 1)),
        "diagonal" => Covariances::from_std(positive(n * d, d)),
        "some exact" => Covariances::from_std(
            Rows::from_vec((0..n * d).map(|k| if (k / d).is_multiple_of(5) { 0.0 } else { 0.4 }).collect(), d).unwrap(),
        ),
        _ => Covariances::from_factor(positive(n * d * 2, d * 2), 2, None, &Names::default()).unwrap(),
    };
    (GaussianArray::new(Rows::from_vec(x, d).unwrap(), covariances).unwrap(), y)
}

fn targets(values: &[f64]) -> Targets {
    Targets::new(values.to_vec()).unwrap()
}

#[test]
fn every_loss_is_solved_to_a_certified_optimum_by_both_solvers() {
    for kind in ["isotropic", "diagonal", "some exact", "low-rank", "zero"] {
        let (data, y) = rows(300, 4, kind);
        let variances: Vec<f64> = (0..300).map(|i| 0.04 * f64::from(i % 3)).collect();
        for loss in LOSSES {
            for variances in [None, Some(&variances)] {
                let fit = |solver| {
                    let params = Params::new().alpha(1e-2).loss(loss).solver(solver).check().unwrap();
                    let targets = targets(&y);
                    let targets = match variances {
                        Some(variances) => targets.with_variances(variances.clone()).unwrap(),
                        None => targets,
                    };
                    params.fit(&data, &targets, &Control::new()).unwrap()
                };
                let (a, b) = (fit(SolverKind::Newton), fit(SolverKind::Lbfgs));
                let what = format!("{kind} {loss:?} {} {} {:?} {:?}", variances.is_some(), a.fit.gap, a.fit, b.fit);
                assert_eq!(a.fit.status, Status::Converged, "{what}");
                // L-BFGS needs a smooth function; Newton is what "auto" takes.
                let smooth = kind != "zero" && kind != "some exact" || loss.name() != "epsilon_insensitive";
                assert!(!smooth || b.fit.status == Status::Converged, "{what}");
                let slack = 1.1e-6 + a.fit.gap.max(b.fit.gap);
                assert!((a.fit.objective / b.fit.objective - 1.0).abs() <= slack, "{what}");
            }
        }
    }
}

#[test]
fn the_squared_loss_is_ridge_regression_with_the_mean_covariance() {
    // (X'X/n + mean S + alpha I) w = X'y/n for centred data.
    let (n, d, alpha) = (200, 3, 0.05);
    let (data, y) = rows(n, d, "diagonal");
    let model = Params::new().alpha(alpha).loss(LossKind::Squared).tol(1e-12).check().unwrap();
    let model = model.fit(&data, &targets(&y), &Control::new()).unwrap();
    let x = data.means().to_vec();
    let mean_x: Vec<f64> = (0..d).map(|j| (0..n).map(|i| x[i * d + j]).sum::<f64>() / n as f64).collect();
    let mean_y = y.iter().sum::<f64>() / n as f64;
    let mut variances = vec![0.0; d];
    for j in 0..d {
        let mut residual = 0.0;
        for i in 0..n {
            let own: f64 = (0..d).map(|k| model.coef[k] * (x[i * d + k] - mean_x[k])).sum();
            residual += (x[i * d + j] - mean_x[j]) * (own - (y[i] - mean_y)) / n as f64;
            data.covariances().variances(i, &mut variances);
            residual += variances[j] * model.coef[j] / n as f64;
        }
        assert!((residual + alpha * model.coef[j]).abs() < 1e-7, "{j}: {residual}");
    }
}

#[test]
fn units_of_the_targets_do_not_matter() {
    let (data, y) = rows(150, 3, "diagonal");
    let k = 1e5;
    let moved: Vec<f64> = y.iter().map(|y| k * y - 3e6).collect();
    let cases = [
        (LOSSES[0], LossKind::EpsilonInsensitive { epsilon: 0.3 * k }, 0.01 / k, k),
        (LOSSES[2], LossKind::Huber { delta: 0.5 * k }, 0.01, k * k),
        (LOSSES[3], LossKind::Squared, 0.01, k * k),
    ];
    for (small, large, alpha, factor) in cases {
        let fit = |loss, alpha, y: &[f64]| {
            let params = Params::new().loss(loss).alpha(alpha).tol(1e-10).check().unwrap();
            params.fit(&data, &targets(y), &Control::new()).unwrap()
        };
        let (a, b) = (fit(small, 0.01, &y), fit(large, alpha, &moved));
        assert!((b.fit.objective / (factor * a.fit.objective) - 1.0).abs() < 1e-8, "{small:?}");
        assert!((b.coef[0] / (k * a.coef[0]) - 1.0).abs() < 1e-4);
    }
}

#[test]
fn weights_count_rows_and_targets_may_be_equal() {
    let (data, y) = rows(60, 2, "isotropic");
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> = (0..60).flat_map(|i| vec![i; i % 3]).collect();
    for loss in LOSSES {
        let params = Params::new().loss(loss).alpha(0.1).tol(1e-10).check().unwrap();
        let a = params.fit(&data, &targets(&y).with_weights(weights.clone()).unwrap(), &Control::new()).unwrap();
        let rows = data.take(&repeated).unwrap();
        let own: Vec<f64> = repeated.iter().map(|&i| y[i]).collect();
        let b = params.fit(&rows, &targets(&own), &Control::new()).unwrap();
        assert!((a.fit.objective / b.fit.objective - 1.0).abs() < 1e-9, "{loss:?}");
        let flat = params.fit(&data, &targets(&[7.5; 60]), &Control::new()).unwrap();
        assert!(flat.coef.iter().all(|w| w.abs() < 1e-6) && (flat.intercept - 7.5).abs() < 1e-6, "{loss:?} {flat:?}");
        assert_eq!(flat.fit.status, Status::Converged);
    }
}

#[test]
fn without_an_intercept_the_plane_goes_through_zero() {
    let (data, y) = rows(80, 2, "diagonal");
    for loss in LOSSES {
        let params = Params::new().loss(loss).fit_intercept(false).check().unwrap();
        let model = params.fit(&data, &targets(&y), &Control::new()).unwrap();
        assert_eq!(model.intercept, 0.0);
        assert_eq!(model.fit.status, Status::Converged, "{loss:?}");
    }
}

#[test]
fn bad_input_is_refused() {
    let (data, y) = rows(10, 2, "zero");
    let message = |params: Params| params.check().unwrap_err().to_string();
    assert!(message(Params::new().alpha(0.0)).contains("alpha"));
    assert!(message(Params::new().solver(SolverKind::Sgd)).contains("sgd"));
    assert!(message(Params::new().loss(LossKind::Huber { delta: 0.0 })).contains("delta"));
    assert!(message(Params::new().loss(LossKind::EpsilonInsensitive { epsilon: -1.0 })).contains("epsilon"));
    assert!(message(Params::new().loss(LossKind::Hinge)).contains("huber"));
    let params = Params::new().check().unwrap();
    let refusal = params.fit(&data, &targets(&y[1..]), &Control::new()).unwrap_err().to_string();
    assert!(refusal.contains("targets"));
    let control = Control::new();
    control.stop();
    assert_eq!(params.fit(&data, &targets(&y), &control).unwrap_err(), crate::Error::Interrupted);
}

/// Few exact points, where the kinks of the tube are all there is: the optimum of the linear program's dual form is
/// certified, and both halves of a row keep its weight.
#[test]
fn the_tube_on_few_exact_points_is_solved() {
    for (n, d) in [(3, 1), (8, 1), (8, 3), (6, 20), (40, 5)] {
        let (data, y) = rows(n, d, "zero");
        let weights: Vec<f64> = (0..n).map(|i| f64::from(u32::from(i % 3 != 1)) + 0.5).collect();
        for epsilon in [0.0, 0.1, 2.0] {
            for alpha in [1e-6, 1e-2] {
                for fit_intercept in [true, false] {
                    let params = Params::new().alpha(alpha).loss(LossKind::EpsilonInsensitive { epsilon });
                    let params = params.fit_intercept(fit_intercept).check().unwrap();
                    let model = params
                        .fit(&data, &targets(&y).with_weights(weights.clone()).unwrap(), &Control::new())
                        .unwrap();
                    let what = format!("{n} {d} {epsilon} {alpha} {fit_intercept}: {:?}", model.fit);
                    assert_eq!(model.fit.status, Status::Converged, "{what}");
                    assert!(model.fit.n_iter <= 60, "{what}");
                    let total: f64 = weights.iter().sum();
                    let predicted = model.predict(&data).unwrap();
                    let losses = (0..n).map(|i| weights[i] / total * ((y[i] - predicted[i]).abs() - epsilon).max(0.0));
                    let penalty = 0.5 * alpha * model.coef.iter().map(|w| w * w).sum::<f64>();
                    let value = penalty + losses.sum::<f64>();
                    assert!((value - model.fit.objective).abs() <= 1e-9 * value, "{what}: {value}");
                }
            }
        }
    }
}

#[test]
fn targets_inside_one_tube_cost_nothing() {
    let (data, _) = rows(10, 2, "zero");
    let y: Vec<f64> = (0..10).map(|i| 7.0 + 0.1 * f64::from(i % 3)).collect();
    let params = Params::new().loss(LossKind::EpsilonInsensitive { epsilon: 0.11 }).check().unwrap();
    let model = params.fit(&data, &targets(&y), &Control::new()).unwrap();
    assert_eq!((model.fit.objective, model.fit.status), (0.0, Status::Converged));
    assert!(model.coef == [0.0, 0.0] && (model.intercept - 7.1).abs() < 1e-12);
}
