//! What must not change an answer does not: order, origin, units and repetition of the rows, errors that vanish. And
//! whatever the magnitude of the numbers, there is a finite answer or an error.
//!
//! Every kind of step is here, under each of its kernels and methods; a new one fails until it is in SUBJECTS or
//! ELSEWHERE. (tests/python/test_invariants.py does the same for the estimators.) What the definition of a kind forbids
//! stands in a table, with the reason.

mod cases;

use cases::Numbers;
use ndarray::{Array1, Axis};
use uncertain::data::ElementType;
use uncertain::data::{Covariances, Rows};
use uncertain::prelude::*;
use uncertain::step::Step;
use uncertain::{Control, Error, GaussianArray};

const N: usize = 60;
const D: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Wants {
    Classes,
    Targets,
    Outputs,
    Nothing,
}
use Wants::{Classes, Nothing, Outputs};

#[derive(Debug, Clone, Copy)]
struct Subject {
    kind: &'static str,
    params: &'static str,
    wants: Wants,
}

const fn subject(kind: &'static str, wants: Wants, params: &'static str) -> Subject {
    Subject { kind, params, wants }
}

const SUBJECTS: [Subject; 27] = [
    subject("gsu", Classes, r#"{"alpha": 0.01, "tol": 1e-9}"#),
    subject("gsu", Classes, r#"{"alpha": 0.01, "tol": 1e-9, "probability": true, "folds": 2}"#),
    subject("gsu-regression", Wants::Targets, r#"{"alpha": 0.01, "tol": 1e-9}"#),
    subject("robust", Classes, r#"{"method": "usvc", "tol": 1e-9}"#),
    subject("robust", Classes, r#"{"method": "tsvc", "tol": 1e-9}"#),
    subject("robust", Classes, r#"{"method": "ausvc", "tol": 1e-9}"#),
    subject("minimax", Classes, "{}"),
    subject("discriminant", Classes, r#"{"tol": 1e-9, "max_iter": 20000}"#),
    subject("discriminant", Classes, r#"{"tol": 1e-9, "max_iter": 20000, "shared_covariance": false}"#),
    subject("law", Classes, r#"{"alpha": 0.01, "tol": 1e-9, "max_iter": 20000}"#),
    subject("mixture-regression", Wants::Targets, r#"{"tol": 1e-9, "max_iter": 20000}"#),
    subject("kernel-svc", Classes, r#"{"tol": 1e-9, "sigma": 1.5}"#),
    subject("kernel-svc", Classes, r#"{"tol": 1e-9, "sigma": 1.5, "coupling": "independent"}"#),
    subject("feature-svc", Classes, r#"{"n_components": 16, "tol": 1e-9}"#),
    subject("kernel-svr", Wants::Targets, r#"{"tol": 1e-9, "sigma": 1.5}"#),
    subject("huber", Outputs, "{}"),
    subject("scaler", Nothing, "{}"),
    subject("scaler", Nothing, r#"{"spread": "means"}"#),
    subject("log-scaler", Nothing, "{}"),
    subject("subspace", Nothing, r#"{"variance": 0.8}"#),
    subject("collapser", Nothing, "{}"),
    subject("kernel-map", Nothing, r#"{"kernel": "rbf", "gamma": 0.2}"#),
    subject("kernel-map", Nothing, r#"{"kernel": "quadratic"}"#),
    subject("features", Nothing, r#"{"n_components": 20}"#),
    subject("denoiser", Nothing, r#"{"tol": 1e-9, "max_iter": 20000}"#),
    subject("imputer", Nothing, r#"{"tol": 1e-9, "max_iter": 20000}"#),
    subject("linear-map", Nothing, "{}"),
];

/// Kinds that are not fitted by themselves.
const ELSEWHERE: [(&str, &str); 2] =
    [("trees", "made of a fitted learner; tests/rust/file"), ("average", "made of fitted members; tests/rust/file")];

type Exceptions = &'static [(&'static str, &'static str, &'static str)];

/// Kind, a part of its parameters, the reason.
const RANDOM_BY_FEATURE: Exceptions = &[
    ("features", "20}", "frequencies are drawn feature by feature"),
    ("feature-svc", "1e-9}", "frequencies are drawn feature by feature"),
];
const BY_FOLDS: Exceptions = &[("gsu", "folds", "probabilities come from folds of rows by number")];
const FROM_ZERO: Exceptions = &[
    ("kernel-map", "quadratic", "(x'z)^2 has an origin"),
    ("features", "20}", "cosines of w'x have an origin; their inner products have none"),
];
const TURNED: Exceptions = &[("kernel-map", "", "its axes are its pivots, which ties decide")];

/// What follows the units and the origin of the rows; a logarithmic scale leaves rows alone that are not skewed.
const FOLLOWS: [&str; 6] = ["subspace", "collapser", "denoiser", "imputer", "linear-map", "log-scaler"];

fn named(kind: &str, params: &str) -> Subject {
    SUBJECTS.into_iter().find(|s| s.kind == kind && s.params == params).unwrap()
}

fn every(tables: &[Exceptions]) -> impl Iterator<Item = Subject> {
    let excepted = |s: &Subject| {
        tables.iter().any(|table| table.iter().any(|(kind, part, _)| s.kind == *kind && s.params.contains(part)))
    };
    SUBJECTS.into_iter().filter(move |s| !excepted(s)).collect::<Vec<_>>().into_iter()
}

// -- rows

/// Means and standard deviations, row-major; classes differ along every axis.
#[derive(Debug, Clone)]
struct Plain {
    means: Vec<f64>,
    std: Vec<f64>,
}

impl Plain {
    fn new(n: usize, seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let means = (0..n * D).map(|at| 1.5 * numbers.next() + 0.6 * ((at / D % 2) as f64)).collect();
        let std = (0..n * D).map(|_| 0.1 + 0.3 * numbers.next().abs()).collect();
        Self { means, std }
    }

    /// Feature j becomes scale[j] x + shift[j].
    fn moved(&self, scale: [f64; D], shift: [f64; D]) -> Self {
        let means = self.means.iter().enumerate().map(|(at, x)| x * scale[at % D] + shift[at % D]).collect();
        Self { means, std: self.std.iter().enumerate().map(|(at, s)| s * scale[at % D]).collect() }
    }

    fn rows(&self, order: &[usize]) -> Self {
        let pick = |from: &[f64]| order.iter().flat_map(|&i| from[i * D..(i + 1) * D].to_vec()).collect();
        Self { means: pick(&self.means), std: pick(&self.std) }
    }

    fn features(&self, order: [usize; D]) -> Self {
        let pick = |from: &[f64]| from.chunks(D).flat_map(|row| order.map(|j| row[j])).collect();
        Self { means: pick(&self.means), std: pick(&self.std) }
    }

    fn array(&self) -> uncertain::Result<GaussianArray> {
        let std = Covariances::from_std(Rows::from_vec(self.std.clone(), D)?);
        GaussianArray::new(Rows::from_vec(self.means.clone(), D)?, std)
    }
}

fn rows() -> Plain {
    Plain::new(N, 1)
}

/// Rows that no fit has seen.
fn question() -> Plain {
    Plain::new(15, 7)
}

fn order(seed: u64, n: usize) -> Vec<usize> {
    let mut numbers = Numbers(seed);
    let mut keyed: Vec<(f64, usize)> = (0..n).map(|i| (numbers.next(), i)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.into_iter().map(|(_, i)| i).collect()
}

// -- fits and answers

impl Subject {
    /// Fitted to rows, of which `of[i]` is the number that tells their class and target.
    fn fit(self, rows: &GaussianArray, of: &[usize], weights: Option<&[f64]>) -> uncertain::Result<Step> {
        let data = Dataset::new(rows);
        let y: Vec<f64> = of.iter().map(|&i| (i as f64).sin() + (i % 2) as f64).collect();
        let data = match self.wants {
            Classes => Dataset::classification(rows, of.iter().map(|&i| (i % 2) as u32))?.with_classes(2)?,
            Wants::Targets => Dataset::regression(rows, y)?,
            Outputs => data.with_outputs(&Array1::from(y).insert_axis(Axis(1)), 0)?,
            Nothing => data,
        };
        let data = if let Some(weights) = weights { data.with_weights(weights)? } else { data };
        Step::fit(self.kind, self.params, &data, &Control::new().with_threads(1))
    }

    fn fitted(self, rows: &Plain) -> Step {
        let of: Vec<usize> = (0..rows.means.len() / D).collect();
        self.fit(&rows.array().unwrap(), &of, None).unwrap_or_else(|e| panic!("{self:?}: {e}"))
    }

    fn answered(self, step: &Step, rows: &Plain) -> Vec<Vec<f64>> {
        answers(step, &rows.array().unwrap()).unwrap_or_else(|e| panic!("{self:?}: {e}"))
    }
}

/// All numbers that a step says about rows: scores and probabilities, or means and variances.
fn answers(step: &Step, rows: &GaussianArray) -> uncertain::Result<Vec<Vec<f64>>> {
    let (answers, control) = (step.predictor(), Control::new());
    if answers.about().n_classes.is_none() && step.kind() != "features" {
        let moved = answers.transform(rows.into(), &control)?;
        let mut variances = vec![0.0; moved.n_rows() * moved.n_features()];
        for (i, out) in variances.chunks_mut(moved.n_features()).enumerate() {
            moved.covariances().variances(i, out);
        }
        return Ok(vec![moved.means().to_vec(), variances]);
    }
    let mut found = vec![answers.decision(rows.into(), &control)?.into_iter().collect()];
    match answers.predict_proba(rows.into(), &control) {
        Ok(shares) => found.push(shares.into_iter().collect()),
        Err(Error::Data(why)) if why.contains("no probabilities") => {}
        Err(error) => return Err(error),
    }
    Ok(found)
}

fn agree(subject: Subject, found: &[Vec<f64>], expected: &[Vec<f64>], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len(), "{subject:?}");
        let size = expected.iter().fold(1e-300_f64, |m, x| m.max(x.abs()));
        let worst = found.iter().zip(expected).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(worst <= within * size, "{subject:?}: {worst:e} apart, of {size:e}\n{found:?}\n{expected:?}");
    }
}

// -- the suite

#[test]
fn every_kind_is_here() {
    for kind in Step::KINDS {
        let here = SUBJECTS.iter().any(|s| s.kind == *kind) != ELSEWHERE.iter().any(|(other, _)| other == kind);
        assert!(here, "{kind}: add it to SUBJECTS, or to ELSEWHERE with a reason");
    }
    for table in [RANDOM_BY_FEATURE, BY_FOLDS, FROM_ZERO, TURNED] {
        for (kind, part, _) in table {
            assert!(SUBJECTS.iter().any(|s| s.kind == *kind && s.params.contains(part)), "{kind} {part}");
        }
    }
}

#[test]
fn the_order_of_rows() {
    let (x, q, order) = (rows(), question(), order(3, N));
    for subject in every(&[BY_FOLDS, TURNED]) {
        let expected = subject.answered(&subject.fitted(&x), &q);
        let other = subject.fit(&x.rows(&order).array().unwrap(), &order, None).unwrap();
        agree(subject, &subject.answered(&other, &q), &expected, 1e-5);
    }
}

#[test]
fn the_order_of_features() {
    let (x, q, order) = (rows(), question(), [2, 0, 1]);
    for subject in every(&[RANDOM_BY_FEATURE, TURNED]) {
        let mut expected = subject.answered(&subject.fitted(&x), &q);
        let found = subject.answered(&subject.fitted(&x.features(order)), &q.features(order));
        if FOLLOWS.contains(&subject.kind) || subject.kind == "scaler" {
            expected.iter_mut().for_each(|x| *x = x.chunks(D).flat_map(|row| order.map(|j| row[j])).collect());
        }
        agree(subject, &found, &expected, 1e-5);
    }
}

#[test]
fn another_origin() {
    let (x, q, shift) = (rows(), question(), [1e5, -1e5, 1e5]);
    for subject in every(&[FROM_ZERO, TURNED]) {
        let expected = subject.answered(&subject.fitted(&x), &q);
        let step = subject.fitted(&x.moved([1.0; D], shift));
        let mut found = subject.answered(&step, &q.moved([1.0; D], shift));
        if FOLLOWS.contains(&subject.kind) {
            found[0].iter_mut().enumerate().for_each(|(at, x)| *x -= shift[at % D]);
        }
        agree(subject, &found, &expected, 1e-3);
    }
}

#[test]
fn another_unit_behind_a_scaler() {
    let (x, q) = (rows(), question());
    let scaled = |x: &Plain, q: &Plain| {
        let scaler = named("scaler", r#"{"spread": "means"}"#).fitted(x);
        let step =
            |rows: &Plain| scaler.predictor().transform((&rows.array().unwrap()).into(), &Control::new()).unwrap();
        (step(x), step(q))
    };
    let of: Vec<usize> = (0..N).collect();
    for subject in every(&[TURNED]) {
        let answered = |x: &Plain, q: &Plain| {
            let (x, q) = scaled(x, q);
            let step = subject.fit(&x, &of, None).unwrap_or_else(|e| panic!("{subject:?}: {e}"));
            answers(&step, &q).unwrap_or_else(|e| panic!("{subject:?}: {e}"))
        };
        let expected = answered(&x, &q);
        for scale in [[1e-12, 1.0, 1.0], [1.0, 1e7, 1.0], [1e12; D], [1e-150, 1.0, 1e150]] {
            agree(subject, &answered(&x.moved(scale, [0.0; D]), &q.moved(scale, [0.0; D])), &expected, 1e-5);
        }
    }
}

#[test]
fn a_row_twice_is_weight_two() {
    let (x, q) = (rows(), question());
    let weights: Vec<f64> = (0..N)
        .map(|i| {
            if i % 9 == 1 {
                0.0
            } else if i % 4 == 0 {
                2.0
            } else {
                1.0
            }
        })
        .collect();
    let twice: Vec<usize> = (0..N).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let mut weighted = 0;
    for subject in every(&[BY_FOLDS, TURNED]) {
        let of: Vec<usize> = (0..N).collect();
        let Ok(one) = subject.fit(&x.array().unwrap(), &of, Some(&weights)) else {
            panic!("{subject:?} takes no weights")
        };
        let other = subject.fit(&x.rows(&twice).array().unwrap(), &twice, None).unwrap();
        agree(subject, &subject.answered(&one, &q), &subject.answered(&other, &q), 1e-5);
        weighted += 1;
    }
    assert!(weighted > 15);
}

/// The same numbers as float32, and widened again.
fn stored_both_ways(rows: &GaussianArray) -> [GaussianArray; 2] {
    let narrow = rows.stored_as(ElementType::F32).unwrap();
    [narrow.clone(), narrow.stored_as(ElementType::F64).unwrap()]
}

fn bits(answers: &[Vec<f64>]) -> Vec<u64> {
    answers.iter().flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn float32_rows_give_the_bits_of_float64_rows() {
    let of: Vec<usize> = (0..N).collect();
    let same = |subject: Subject, rows: &GaussianArray, question: &GaussianArray, what: &str| {
        let found = [stored_both_ways(rows), stored_both_ways(question)];
        assert_eq!(found[0].clone().map(|x| x.means().element_type()), [ElementType::F32, ElementType::F64]);
        let [narrow, wide] = [0, 1].map(|k| {
            let step = subject.fit(&found[0][k], &of, None).unwrap_or_else(|e| panic!("{subject:?}, {what}: {e}"));
            bits(&answers(&step, &found[1][k]).unwrap())
        });
        assert!(narrow == wide, "{subject:?}, {what}");
    };
    let (x, q) = (rows().array().unwrap(), question().array().unwrap());
    SUBJECTS.into_iter().for_each(|subject| same(subject, &x, &q, "standard deviations"));
    let linear = [
        ("gsu", Classes, ["expected_hinge", "hinge", "squared_hinge"], vec!["newton", "lbfgs", "sgd"]),
        ("gsu-regression", Wants::Targets, ["epsilon_insensitive", "huber", "squared"], vec!["newton", "lbfgs"]),
    ];
    for (kind, wants, losses, solvers) in linear {
        for (loss, solver) in losses.into_iter().flat_map(|loss| solvers.iter().map(move |solver| (loss, solver))) {
            let params = format!(r#"{{"alpha": 0.01, "max_iter": 40, "loss": "{loss}", "solver": "{solver}"}}"#);
            let subject = Subject { kind, params: params.leak(), wants };
            for case in cases::cases(N, D, 11) {
                same(subject, &case.array, &case.array, case.name);
            }
        }
    }
}

#[test]
fn errors_that_vanish() {
    let (x, q) = (rows(), question());
    let small =
        |rows: &Plain, size: f64| Plain { means: rows.means.clone(), std: rows.std.iter().map(|s| s * size).collect() };
    for subject in every(&[]) {
        let expected = subject.answered(&subject.fitted(&small(&x, 0.0)), &small(&q, 0.0));
        for size in [1e-8, 1e-200] {
            let found = subject.answered(&subject.fitted(&small(&x, size)), &small(&q, size));
            // Variances of what has none have nothing to be compared with.
            let parts = if subject.wants == Nothing { 1 } else { expected.len() };
            agree(subject, &found[..parts], &expected[..parts], 1e-5);
        }
    }
}

#[test]
fn probabilities_sum_to_one_anywhere() {
    let x = rows();
    let mut asked = 0;
    for subject in every(&[]) {
        let step = subject.fitted(&x);
        let Some(n_classes) = step.predictor().about().n_classes.filter(|n| *n > 0) else { continue };
        for size in [1.0, 1e4, 1e8, 1e16, 1e40, 1e60] {
            for (std, direction) in [(0.0, [1.0, 1.0, 1.0]), (1.0, [-1.0, 0.0, 1.0]), (size, [0.0, 0.0, -1.0])] {
                let far = Plain { means: direction.map(|x| x * size).to_vec(), std: vec![std; D] };
                let Ok(shares) = step.predictor().predict_proba((&far.array().unwrap()).into(), &Control::new()) else {
                    continue;
                };
                asked += 1;
                assert!(shares.len() == n_classes && shares.iter().all(|p| (0.0..=1.0).contains(p)), "{subject:?}");
                assert!((shares.sum() - 1.0).abs() < 1e-12, "{subject:?}, {size:e}: {shares}");
            }
        }
    }
    assert!(asked > 50);
}

#[test]
fn finite_or_refused_at_every_magnitude() {
    let (x, q) = (rows(), question());
    let of: Vec<usize> = (0..N).collect();
    let (mut fits, mut refused) = (0, 0);
    for subject in every(&[]) {
        let usual = subject.fitted(&x);
        for k in [-300, -160, -150, -12, 12, 150, 154, 300, 307] {
            for columns in [vec![1], vec![0, 1, 2]] {
                let scale = std::array::from_fn(|j| if columns.contains(&j) { 10_f64.powi(k) } else { 1.0 });
                let (Ok(rows), Ok(far)) = (x.moved(scale, [0.0; D]).array(), q.moved(scale, [0.0; D]).array()) else {
                    continue;
                };
                let mut finite = |step: &Step, what: &str| match answers(step, &far) {
                    Err(Error::Internal(why)) => panic!("{subject:?}, 10^{k} in {columns:?}, {what}: {why}"),
                    Err(_) => refused += 1,
                    Ok(found) => {
                        fits += 1;
                        let good = found.iter().flatten().all(|x| x.is_finite());
                        assert!(good, "{subject:?}, 10^{k} in {columns:?}, {what}: {found:?}");
                    }
                };
                finite(&usual, "asked about them");
                match subject.fit(&rows, &of, None) {
                    Err(Error::Internal(why)) => panic!("{subject:?}, 10^{k} in {columns:?}, fitted: {why}"),
                    Err(_) => {}
                    Ok(step) => finite(&step, "fitted to them"),
                }
            }
        }
    }
    assert!(fits > 300 && refused > 20, "{fits} {refused}");
}
