//! Finite or refused: what models and transforms answer about rows whose squares are no doubles any more (beyond 1e154,
//! below 1e-160), and what they learn from them.

use super::Step;
use crate::control::Control;
use crate::data::{Covariances, Dataset, GaussianArray, Rows, Targets};
use crate::error::Error;
use crate::model::platt::Sigmoid;
use crate::testing::Numbers;

const N: usize = 40;
const D: usize = 3;
const POWERS: [i32; 14] = [-300, -200, -161, -154, -100, -20, 0, 20, 100, 150, 154, 161, 300, 307];

/// Means around 0 and 1, and error bars; each times a power of ten.
fn rows(means: i32, errors: i32) -> Option<GaussianArray> {
    let mut numbers = Numbers::new(1);
    let of = |power: i32, values: Vec<f64>| Rows::from_vec(values.iter().map(|x| x * 10_f64.powi(power)).collect(), D);
    let values =
        (0..N * D).map(|at: usize| numbers.normal() + f64::from(u8::from((at / D).is_multiple_of(2)))).collect();
    let std = (0..N * D).map(|_| 0.1 + 0.4 * numbers.uniform()).collect();
    let means = of(means, values).ok()?;
    // Errors whose variance is no number are refused here.
    GaussianArray::new(means, Covariances::from_std(of(errors, std).ok()?)).ok()
}

fn data(rows: &GaussianArray, unit: f64) -> Dataset {
    let data = Dataset::classification(rows, (0..N).map(|i: usize| u32::from(i.is_multiple_of(2)))).unwrap();
    let targets = Targets::new((0..N).map(|i| unit * (i as f64).sin()).collect());
    targets.map_or(data.clone(), |targets| data.with_targets(&targets).unwrap())
}

/// Every number that a step answers about these rows, or why not.
fn numbers(step: &Step, rows: &GaussianArray) -> Result<Vec<f64>, Error> {
    let (answers, control) = (step.predictor(), &Control::new());
    let mut found = vec![];
    match answers.about().n_classes {
        None => {
            let out = answers.transform(rows.into(), control)?;
            let d = out.n_features();
            let dense = out.dense()?;
            found.extend(out.means().to_vec());
            // A negative variance, which no trace of a covariance can hide, has no root.
            found.extend(
                (0..out.n_rows())
                    .flat_map(|i| (0..d).map(move |j| (i, j)))
                    .map(|(i, j)| dense[(i * d + j) * d + j].sqrt()),
            );
            found.extend(dense);
        }
        Some(_) => {
            found.extend(answers.decision(rows.into(), control)?);
            if let Ok(shares) = answers.predict_proba(rows.into(), control) {
                assert!(shares.rows().into_iter().all(|p| (p.sum() - 1.0).abs() < 1e-9), "{shares}");
                found.extend(shares);
            }
        }
    }
    Ok(found)
}

fn check(what: &str, found: Result<Vec<f64>, Error>) -> bool {
    match found {
        Err(Error::Internal(why)) => panic!("{what}: {why}"),
        Err(_) => false,
        Ok(found) => {
            assert!(found.iter().all(|x| x.is_finite()), "{what}: {found:?}");
            true
        }
    }
}

/// Fitted to rows of every magnitude and asked about them; fitted to ordinary rows and asked about them.
fn finite_or_refused(kind: &str, params: &str) {
    let usual = rows(0, 0).unwrap();
    let fit = |rows: &GaussianArray, unit: f64| Step::fit(kind, params, &data(rows, unit), &Control::new());
    let ordinary = fit(&usual, 1.0).unwrap();
    let mut answered = 0;
    for power in POWERS {
        for errors in [power, 0, power / 2] {
            let Some(far) = rows(power, errors) else { continue };
            let what = format!("{kind} {params} at 1e{power} +- 1e{errors}");
            answered += usize::from(check(&what, numbers(&ordinary, &far)));
            let found = fit(&far, 1.0).and_then(|step| numbers(&step, &far));
            answered += usize::from(check(&format!("{what}, fitted"), found));
        }
        let found = fit(&usual, 10_f64.powi(power)).and_then(|step| numbers(&step, &usual));
        check(&format!("{kind} {params} of targets of 1e{power}"), found);
    }
    assert!(answered >= 20, "{kind}: {answered}");
}

#[test]
fn feature_machines() {
    finite_or_refused("feature-svc", r#"{"n_components": 12, "tol": 1e-4}"#);
}

#[test]
fn minimax_machines() {
    finite_or_refused("minimax", r#"{"probability": true, "folds": 2}"#);
    finite_or_refused("minimax", r#"{"ridge": 0.0}"#);
}

#[test]
fn subspaces() {
    finite_or_refused("subspace", r#"{"variance": 0.8}"#);
    finite_or_refused("subspace", r#"{"variance": 0.8, "project": "both"}"#);
}

#[test]
fn regressions() {
    finite_or_refused("gsu-regression", r#"{"alpha": 0.01, "tol": 1e-4}"#);
    finite_or_refused("kernel-svr", r#"{"sigma": 1.5, "tol": 1e-4, "max_iter": 500}"#);
    finite_or_refused("kernel-svr", r#"{"sigma": 1.5, "tol": 1e-4, "max_iter": 500, "C": 1e10}"#);
}

#[test]
fn robust_machines() {
    for method in ["usvc", "tsvc", "psvm", "mpsvc"] {
        finite_or_refused("robust", &format!(r#"{{"method": "{method}", "tol": 1e-3}}"#));
    }
}

#[test]
fn denoisers() {
    finite_or_refused("denoiser", "{}");
    finite_or_refused("imputer", "{}");
}

#[test]
fn sigmoids() {
    let mut numbers = Numbers::new(3);
    let scores: Vec<f64> = (0..N).map(|i: usize| numbers.normal() + f64::from(u8::from(i.is_multiple_of(2)))).collect();
    let std: Vec<f64> = (0..N).map(|i| numbers.uniform() * f64::from(u8::from(i % 3 > 0))).collect();
    let targets: Vec<f64> = (0..N).map(|i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 }).collect();
    let of = |power: i32, values: &[f64]| values.iter().map(|x| x * 10_f64.powi(power)).collect::<Vec<f64>>();
    for power in POWERS {
        for errors in POWERS {
            let (means, stds) = (of(power, &scores), of(errors, &std));
            let Ok(sigmoid) = Sigmoid::fit(&means, &stds, &targets, None, &Control::new()) else { continue };
            let what = format!("1e{power} +- 1e{errors}: {sigmoid:?}");
            assert!(sigmoid.a.is_finite() && sigmoid.b.is_finite(), "{what}");
            for (m, s) in means.iter().zip(&stds) {
                let p = sigmoid.probability(*m, *s);
                assert!((0.0..=1.0).contains(&p), "{what}: {p} of {m:e} +- {s:e}");
            }
        }
    }
}
