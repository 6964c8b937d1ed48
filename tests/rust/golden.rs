//! Fits and answers of every kind of step under every kind of covariance, and lines and curves, against
//! tests/golden/fits.txt to 1e-9. `make golden-rust BASE=commit` compares the fits of two commits bit by bit.
//!
//! `GOLDEN_WRITE=file cargo test --release --test golden` writes all numbers, each the shortest decimal that reads back to the
//! same bits; `GOLDEN_RECORD=1` writes the first numbers of every fit to the record, for a change that must change some.

mod cases;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cases::Numbers;
use ndarray::{Array1, Axis};
use uncertain::data::Modes;
use uncertain::data::{Covariances, Labels, Rows, Targets};
use uncertain::model::line::{self, ErrorScale, LineFit, Outliers, SharedErrors};
use uncertain::prelude::*;
use uncertain::state::Parameters as _;
use uncertain::step::Step;
use uncertain::{Control, GaussianArray, curve};

const N: usize = 60;
const D: usize = 3;
/// Rows of the fit whose answers are recorded.
const ASKED: usize = 4;
/// Numbers of a fit on record, at most.
const RECORDED: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Wants {
    Classes(u32),
    Targets,
    Counts,
    Outputs,
    Nothing,
}
use Wants::{Classes, Counts, Nothing, Outputs};

const SUBJECTS: &[(&str, Wants, &str)] = &[
    ("gsu", Classes(2), r#"{"alpha": 0.01}"#),
    ("gsu", Classes(3), r#"{"alpha": 0.01, "probability": true, "folds": 2}"#),
    ("gsu", Classes(2), r#"{"alpha": 0.01, "loss": "hinge", "solver": "newton"}"#),
    ("gsu", Classes(2), r#"{"alpha": 0.01, "loss": "squared_hinge", "solver": "lbfgs"}"#),
    ("gsu", Classes(2), r#"{"alpha": 0.01, "solver": "sgd", "max_iter": 5}"#),
    ("gsu-regression", Wants::Targets, r#"{"alpha": 0.01}"#),
    ("gsu-regression", Wants::Targets, r#"{"alpha": 0.01, "loss": "epsilon_insensitive"}"#),
    ("gsu-regression", Wants::Targets, r#"{"alpha": 0.01, "loss": "squared"}"#),
    ("robust", Classes(2), r#"{"method": "usvc"}"#),
    ("robust", Classes(2), r#"{"method": "tsvc"}"#),
    ("robust", Classes(2), r#"{"method": "ausvc"}"#),
    ("robust", Classes(2), r#"{"method": "mpsvc"}"#),
    ("robust", Classes(2), r#"{"method": "psvm"}"#),
    ("minimax", Classes(2), "{}"),
    ("discriminant", Classes(2), "{}"),
    ("discriminant", Classes(3), r#"{"shared_covariance": false, "n_components": 2}"#),
    ("law", Classes(2), r#"{"alpha": 0.01}"#),
    ("law", Counts, r#"{"alpha": 0.01, "family": "poisson"}"#),
    ("law", Counts, r#"{"alpha": 0.01, "family": "gamma"}"#),
    ("mixture-regression", Wants::Targets, "{}"),
    ("mixture-regression", Wants::Targets, r#"{"n_components": 2}"#),
    ("kernel-svc", Classes(3), r#"{"sigma": 1.5, "probability": true, "folds": 2}"#),
    ("kernel-svc", Classes(2), r#"{"sigma": 1.5, "coupling": "independent"}"#),
    ("feature-svc", Classes(2), r#"{"n_components": 16}"#),
    ("kernel-svr", Wants::Targets, r#"{"sigma": 1.5}"#),
    ("huber", Outputs, "{}"),
    ("scaler", Nothing, "{}"),
    ("log-scaler", Nothing, "{}"),
    ("subspace", Nothing, r#"{"variance": 0.8}"#),
    ("collapser", Nothing, "{}"),
    ("kernel-map", Nothing, r#"{"kernel": "rbf", "gamma": 0.2}"#),
    ("kernel-map", Nothing, r#"{"kernel": "quadratic"}"#),
    ("features", Nothing, r#"{"n_components": 20}"#),
    ("denoiser", Nothing, "{}"),
    ("imputer", Nothing, "{}"),
    ("linear-map", Nothing, "{}"),
];

/// Fits of more rows, which begin with a sample.
const LARGE: &[(&str, Wants, &str)] = &[
    ("gsu", Classes(2), r#"{"alpha": 0.001}"#),
    ("gsu", Classes(5), r#"{"alpha": 0.001, "probability": true, "folds": 2}"#),
    ("gsu-regression", Wants::Targets, r#"{"alpha": 0.001, "loss": "epsilon_insensitive"}"#),
    ("robust", Classes(2), r#"{"method": "usvc"}"#),
    ("mixture-regression", Wants::Targets, "{}"),
];

fn fit(kind: &str, wants: Wants, params: &str, rows: &GaussianArray) -> uncertain::Result<Step> {
    let data = Dataset::new(rows);
    let n = rows.n_rows();
    let y: Vec<f64> = (0..n)
        .map(|i| {
            let row = rows.means().row(i);
            2.0 * row[0] - row[1] + 0.3 * (i as f64).sin()
        })
        .collect();
    let data = match wants {
        Classes(k) => {
            // By the rank of y, with every eleventh row in the wrong class.
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| y[a].total_cmp(&y[b]));
            let mut codes = vec![0; n];
            order.iter().enumerate().for_each(|(rank, &i)| codes[i] = (rank * k as usize / n) as u32);
            codes.iter_mut().step_by(11).for_each(|code| *code = (*code + 1) % k);
            data.with_labels(&Labels::new(codes, k as usize)?)?
        }
        Wants::Targets => data.with_targets(&Targets::new(y)?.with_variances(vec![0.01; n])?)?,
        Counts => data.with_targets(&Targets::new(y.iter().map(|y| (0.5 * y).exp().round() + 1.0).collect())?)?,
        Outputs => data.with_outputs(&Array1::from(y).insert_axis(Axis(1)), 0)?,
        Nothing => data,
    };
    Step::fit(kind, params, &data, &Control::new().with_threads(1))
}

/// Everything that a step says about rows.
fn answers(step: &Step, rows: &GaussianArray) -> Vec<f64> {
    let (model, control) = (step.predictor(), Control::new());
    let mut out = vec![];
    if let Ok(moved) = model.transform(rows.into(), &control) {
        for i in 0..moved.n_rows() {
            let at = out.len();
            out.resize(at + 2 * moved.n_features(), 0.0);
            let (mean, variance) = out[at..].split_at_mut(moved.n_features());
            mean.copy_from_slice(&moved.means().row(i));
            moved.covariances().variances(i, variance);
        }
    }
    let tables = [model.decision(rows.into(), &control), model.predict_proba(rows.into(), &control)];
    tables.into_iter().flatten().for_each(|table| out.extend(table));
    if let Ok((mean, std)) = model.decision_distribution(rows.into(), &control) {
        out.extend(mean.into_iter().chain(std));
    }
    if let Ok(likelihoods) = model.log_likelihood(rows.into(), &control) {
        out.extend(likelihoods);
    }
    out
}

fn take(rows: &GaussianArray, n: usize) -> GaussianArray {
    rows.take(&(0..n).collect::<Vec<_>>()).unwrap()
}

fn record_line(fit: &LineFit) -> Vec<f64> {
    let noise = fit.noise.iter().chain(&fit.error_scale).chain(&fit.feature_error_scale);
    let mut out = vec![fit.scatter, fit.scatter_std, fit.log_likelihood];
    out.extend(fit.law.iter().chain(&fit.covariance).chain(&fit.profile).chain(&fit.modes));
    noise.for_each(|(value, std)| out.extend([value, std]));
    out
}

fn lines(out: &mut BTreeMap<String, Vec<f64>>, name: &str, rows: &GaussianArray) {
    let y: Vec<f64> = (0..N)
        .map(|i| {
            let row = rows.means().row(i);
            2.0 * row[0] - row[1] + 0.3 * (i as f64).sin()
        })
        .collect();
    let targets = Targets::new(y.clone()).unwrap().with_variances((0..N).map(|i| 0.01 + 0.001 * i as f64).collect());
    let targets = targets.unwrap();
    let asked = [
        ("plain", line::Params::new(), SharedErrors::default()),
        ("student", line::Params::new().outliers(Some(Outliers::Student)), SharedErrors::default()),
        ("scale", line::Params::new().error_scale(Some(ErrorScale::Fit)).profile(Some(0.9)), SharedErrors::default()),
        (
            "shared",
            line::Params::new(),
            SharedErrors { modes: Modes { k: 1, of_targets: vec![0.1; N], of_features: vec![] }, groups: None },
        ),
    ];
    for (kind, params, shared) in asked {
        if let Ok(fit) = params.check().unwrap().fit_line(rows.into(), &targets, &shared, &Control::new()) {
            out.insert(format!("line {kind} | {name}"), record_line(&fit));
        }
    }
    let bend = |x: &[f64], p: &[f64]| p[0] * (1.0 + 0.1 * x[0]).exp() + p[1] * x[1];
    let outputs = curve::Outputs { values: y, n_outputs: 1, ..curve::Outputs::default() };
    let start = curve::InitialParameters::new(vec![1.0, 1.0]);
    if let Ok(fit) = curve::fit(&curve::Params::new().check().unwrap(), &bend, &start, rows, &outputs, &Control::new())
    {
        let mut record = vec![fit.loglikelihood];
        record.extend(fit.parameters);
        record.extend(fit.covariance);
        out.insert(format!("curve | {name}"), record);
    }
}

fn all() -> BTreeMap<String, Vec<f64>> {
    let mut out = BTreeMap::new();
    for case in cases::cases(N, D, 11) {
        let asked = take(&case.array, ASKED);
        for (kind, wants, params) in SUBJECTS {
            let name = format!("{kind} {wants:?} {params} | {}", case.name);
            // A refusal is recorded, too.
            let step = fit(kind, *wants, params, &case.array);
            out.insert(name, step.map_or_else(|_| vec![], |step| answers(&step, &asked)));
        }
        lines(&mut out, case.name, &case.array);
    }
    let (n, d) = (3000, 5);
    let mut numbers = Numbers(5);
    let means = Rows::from_vec(numbers.take(n * d), d).unwrap();
    let std = Rows::from_vec(numbers.take(n * d).iter().map(|x| 0.3 * x.abs()).collect(), d).unwrap();
    let arrays = [
        ("zero", GaussianArray::exact(means.clone()).unwrap()),
        ("diagonal std", GaussianArray::new(means, Covariances::from_std(std)).unwrap()),
    ];
    for ((kind, wants, params), (name, rows)) in LARGE.iter().flat_map(|s| arrays.iter().map(move |a| (s, a))) {
        let step = fit(kind, *wants, params, rows).unwrap();
        out.insert(format!("{kind} {wants:?} {params} | {n} rows {name}"), answers(&step, &take(rows, ASKED)));
    }
    out
}

/// How near the numbers of a fit are to those on record, which another machine made.
fn tolerance(name: &str) -> f64 {
    // An interior-point method of a kinked loss ends anywhere within its gap of 1e-6, which moves w by its root; a sigmoid
    // on its scores follows them.
    if name.starts_with("robust") || name.contains("probability") {
        return 1e-3;
    }
    // Newton's method and EM end within their own tolerances.
    if ["law", "curve", "line", "mixture-regression"].iter().any(|kind| name.starts_with(kind)) {
        return 1e-6;
    }
    1e-9
}

fn written(fits: &BTreeMap<String, Vec<f64>>, line: impl Fn(&[f64]) -> String) -> String {
    let mut text = String::new();
    fits.iter().for_each(|(name, numbers)| writeln!(text, "{name}\t{}", line(numbers)).unwrap());
    text
}

#[test]
fn fits_are_those_on_record() {
    let fits = all();
    if let Some(path) = std::env::var_os("GOLDEN_WRITE") {
        let line = |numbers: &[f64]| numbers.iter().map(|x| format!("{x:e} ")).collect();
        return std::fs::write(path, written(&fits, line)).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/fits.txt");
    if std::env::var_os("GOLDEN_RECORD").is_some() {
        let first =
            |numbers: &[f64]| -> String { numbers.iter().take(RECORDED).map(|x| format!(" {x:.12e}")).collect() };
        return std::fs::write(path, written(&fits, |numbers| format!("{}{}", numbers.len(), first(numbers)))).unwrap();
    }
    let record = std::fs::read_to_string(path).unwrap();
    let record: BTreeMap<&str, &str> = record.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert!(record.keys().copied().eq(fits.keys().map(String::as_str)), "other fits than on record");
    let mut wrong = vec![];
    for (name, found) in &fits {
        let mut expected = record[name.as_str()].split(' ').map(|x| x.parse::<f64>().unwrap());
        assert_eq!(expected.next(), Some(found.len() as f64), "{name}");
        let expected: Vec<f64> = expected.collect();
        let size = expected.iter().filter(|x| x.is_finite()).fold(1.0_f64, |m, x| m.max(x.abs()));
        let within = tolerance(name) * size;
        let near = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= within;
        if !found.iter().zip(&expected).all(near) {
            wrong.push(format!("{name}: {:?} and not {expected:?}", &found[..expected.len()]));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} of {}", wrong.join("\n"), wrong.len(), fits.len());
}
