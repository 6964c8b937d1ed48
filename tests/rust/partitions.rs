//! Rows in partitions: sums of partitions are those of all rows, and fits by passes end where fits in one memory end.

mod cases;

use std::sync::atomic::{AtomicUsize, Ordering};

use cases::Numbers;
use uncertain::deconvolution::Mixture;
use uncertain::loss::LossKind;
use uncertain::prelude::*;

use uncertain::data::{Covariances, Incomplete, Labels, Rows, Targets};
use uncertain::partition::{Partition, SideColumns};
use uncertain::state::RemoteRows;
use uncertain::step::Step;
use uncertain::sums::{
    HEADER, LineRequest, LineSums, LinearProblem, RemoteLoss, Request, RowSums, add_partitions, encode, split_sums,
};
use uncertain::{Control, Error, GaussianArray, Result};

const D: usize = 3;

/// Rows with classes, numbers, weights, folds and, where wanted, gaps.
struct Table {
    data: GaussianArray,
    missing: Option<Vec<bool>>,
    codes: Vec<u32>,
    y: Vec<f64>,
    variances: Vec<f64>,
    weights: Vec<f64>,
    folds: Vec<u32>,
}

fn table(n: usize, gaps: bool, smallest: f64) -> Table {
    let mut numbers = Numbers(7);
    let (mut x, mut s, mut codes, mut y) = (vec![], vec![], vec![], vec![]);
    for i in 0..n {
        let code = (i * i % 7 % 3) as u32;
        let row: Vec<f64> = (0..D).map(|j| 2.0 * numbers.next() + if j == code as usize { 1.8 } else { 0.0 }).collect();
        y.push(3.0 + row[0] - 0.5 * row[1] + 0.3 * numbers.next());
        x.extend(row);
        s.extend((0..D).map(|_| smallest + 0.6 * numbers.next().abs()));
        codes.push(code);
    }
    let covariances = Covariances::from_std(Rows::from_vec(s, D).unwrap());
    let data = GaussianArray::new(Rows::from_vec(x, D).unwrap(), covariances).unwrap();
    let positive = |numbers: &mut Numbers| (0..n).map(|_| 0.1 + numbers.next().abs()).collect::<Vec<f64>>();
    let missing = gaps.then(|| (0..n * D).map(|at| at % 11 == 3).collect());
    let (weights, variances) = (positive(&mut numbers), positive(&mut numbers));
    Table { data, missing, codes, y, variances, weights, folds: (0..n as u32).map(|i| i * 7 % 5).collect() }
}

impl Table {
    fn known(&self, rows: &[usize]) -> SideColumns {
        let pick = |values: &[f64]| Some(rows.iter().map(|&i| values[i]).collect());
        let whole = |values: &[u32]| Some(rows.iter().map(|&i| values[i]).collect());
        let marks = |m: &Vec<bool>| rows.iter().flat_map(|&i| m[i * D..(i + 1) * D].to_vec()).collect();
        SideColumns {
            missing: self.missing.as_ref().map(marks),
            codes: whole(&self.codes),
            targets: pick(&self.y),
            variances: pick(&self.variances),
            weights: pick(&self.weights),
            folds: whole(&self.folds),
        }
    }

    fn pieces(&self, count: usize) -> Pieces {
        let n = self.codes.len();
        let piece = |k: usize| {
            let rows: Vec<usize> = (k * n / count..(k + 1) * n / count).collect();
            Partition::new(self.data.take(&rows).unwrap(), self.known(&rows)).unwrap()
        };
        Pieces { parts: (0..count).map(piece).collect(), passes: AtomicUsize::new(0), lost: None }
    }

    fn rows(&self) -> Incomplete<'_> {
        match &self.missing {
            Some(marks) => Incomplete::new(&self.data, marks).unwrap(),
            None => (&self.data).into(),
        }
    }

    fn classes(&self) -> Dataset {
        let classes = 1 + *self.codes.iter().max().unwrap() as usize;
        let labels = Labels::new(self.codes.clone(), classes).unwrap().with_weights(self.weights.clone()).unwrap();
        Dataset::new(self.rows()).with_labels(&labels).unwrap()
    }

    fn numbers(&self) -> Dataset {
        let targets = Targets::new(self.y.clone()).unwrap().with_variances(self.variances.clone()).unwrap();
        let targets = targets.with_weights(self.weights.clone()).unwrap();
        Dataset::new(self.rows()).with_targets(&targets).unwrap()
    }

    fn alone(&self) -> Dataset {
        Dataset::new(self.rows()).with_weights(&self.weights).unwrap()
    }
}

struct Pieces {
    parts: Vec<Partition>,
    passes: AtomicUsize,
    /// Nobody answers from this pass on.
    lost: Option<usize>,
}

impl Pieces {
    /// As processes do it: bytes there, one buffer back.
    fn answer(&self, requests: &[Request], control: &Control) -> Result<Vec<f64>> {
        let bytes = encode(requests)?;
        if self.lost.is_some_and(|last| self.passes.fetch_add(1, Ordering::Relaxed) >= last) {
            return Err(Error::Data("the cluster has gone".into()));
        }
        let answers = self.parts.iter().map(|part| part.answer(&bytes, None, control)).collect::<Result<Vec<_>>>()?;
        add_partitions(&bytes, &answers)
    }
}

impl RowSums for Pieces {
    fn sums(&self, requests: &[Request], control: &Control) -> Result<Vec<Vec<f64>>> {
        split_sums(&self.answer(requests, control)?, requests.len())
    }
}

fn mixture(k: usize) -> Mixture {
    let mut numbers = Numbers(3);
    let means = numbers.take(k * D);
    Mixture::from_packed(vec![1.0 / k as f64; k], means, [1.5, 0.2, 2.0, -0.1, 0.3, 1.0].repeat(k), D).unwrap()
}

/// Every kind of request.
fn every_request() -> Vec<Request> {
    let kind = |kind| RemoteLoss::Kind(kind);
    let problem = |class, held_out, loss| LinearProblem { class, held_out, loss, center: 2.5, scale: 1.7, share: 1e-3 };
    let x = vec![0.7, -0.4, 0.2, 0.1];
    let value = |problem, epsilon, hessian| Request::Value { problem: Some(problem), x: x.clone(), epsilon, hessian };
    let tube = LossKind::EpsilonInsensitive { epsilon: 0.2 };
    vec![
        Request::Counts { classes: 3, folds: 5 },
        Request::Counts { classes: 0, folds: 1 },
        Request::Moments { center: vec![] },
        Request::Moments { center: vec![0.1, 0.2, 0.3] },
        Request::Targets { center: 3.0 },
        value(problem(Some(1), None, kind(LossKind::ExpectedHinge)), 0.0, true),
        value(problem(Some(2), Some(3), kind(LossKind::SquaredHinge)), 0.0, false),
        value(problem(Some(0), Some(0), kind(LossKind::Hinge)), 0.1, true),
        value(problem(Some(0), None, RemoteLoss::WorstCase { radius: 0.8 }), 0.1, false),
        value(problem(None, None, kind(tube)), 0.05, true),
        value(problem(None, None, kind(LossKind::Huber { delta: 0.9 })), 0.0, false),
        value(problem(None, None, kind(LossKind::Squared)), 0.0, true),
        Request::Scores {
            class: 1,
            every: 1,
            planes: (0..5).map(|k| vec![0.1 * f64::from(k), 1.0, -0.5, 0.2]).collect(),
        },
        Request::Em { classes: 0, mixture: mixture(2) },
        Request::Em { classes: 3, mixture: mixture(6) },
        Request::Presence { classes: 3 },
        Request::Presence { classes: 0 },
        Request::Scatter { classes: 3, folds: 5, centers: (0..9).map(|k| 0.2 * f64::from(k)).collect() },
        Request::Scatter { classes: 3, folds: 1, centers: vec![0.0; 9] },
        Request::Density { mixture: mixture(1) },
        line(LineSums::Likelihood),
        line(LineSums::Stage),
        line(LineSums::Squares { gain: vec![0.01; 5 * 9] }),
    ]
}

fn line(ask: LineSums) -> Request {
    let (law, theta, before) = (vec![0.1, 0.4, -0.2, 0.3], vec![0.0, 0.1, 0.0, -0.1, 0.6], vec![0.4, -0.2, 0.3]);
    Request::Line(LineRequest { density: mixture(1), law, unit: 0.5, share: 0.9, theta, before, ask })
}

#[test]
fn sums_of_pieces_are_those_of_all_rows() {
    for gaps in [false, true] {
        let table = table(2003, gaps, 0.05);
        let requests = every_request();
        let whole = table.pieces(1).answer(&requests, &Control::new()).unwrap();
        for cuts in [2, 7] {
            let sums = table.pieces(cuts).answer(&requests, &Control::new()).unwrap();
            assert_eq!(sums.len(), whole.len());
            assert_eq!(sums[1], 2003.0);
            let largest = whole.iter().copied().filter(|x| x.is_finite()).fold(0.0, |a: f64, x| a.max(x.abs()));
            for (a, b) in sums.iter().zip(&whole).skip(HEADER) {
                assert!(a == b || (a - b).abs() <= 1e-13 * b.abs().max(1e-3 * largest), "{cuts}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_part_is_known_by_its_numbers_and_threads_change_no_bit() {
    let table = table(900, false, 0.05);
    let requests = encode(&every_request()).unwrap();
    let rows: Vec<usize> = (0..900).collect();
    let part = || Partition::new(table.data.clone(), table.known(&rows)).unwrap();
    let answer = |threads| part().answer(&requests, Some(threads), &Control::new()).unwrap();
    let (one, two) = (answer(1), answer(2));
    let differ: Vec<usize> = (0..one.len()).filter(|&at| one[at].to_bits() != two[at].to_bits()).collect();
    assert!(differ.is_empty() && one.len() == two.len(), "{differ:?}");
    let mut known = table.known(&rows);
    known.weights.as_mut().unwrap()[17] *= 1.0 + 1e-14;
    assert_ne!(Partition::new(table.data.clone(), known).unwrap().checksum(), part().checksum());
    assert_eq!(part().checksum(), part().checksum());
}

/// What passes find, too: not how the fit went, nor what a line between true values of rows in one memory has beside the law.
fn coefficients(step: &Step) -> Vec<f64> {
    let (_, arrays) = step.arrays().unwrap();
    let found = |name: &str| !["history", "log_likelihood", "naive", "naive_std"].contains(&name);
    arrays.into_iter().filter(|a| found(&a.name)).flat_map(|named| named.tensor.values).collect()
}

fn close(kind: &str, params: &str, here: &Dataset, pieces: &Pieces, sample: &Dataset, tolerance: f64) {
    let control = Control::new();
    let expected = coefficients(&Step::fit(kind, params, here, &control).unwrap());
    let remote = RemoteRows { rows: pieces, sample, whole: false };
    let found = coefficients(&Step::fit_remote(kind, params, &remote, &control).unwrap());
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{kind} {params}: {found:?} {expected:?}");
    }
}

#[test]
fn fits_by_passes_end_where_fits_in_one_memory_end() {
    let table = table(3000, false, 0.05);
    let sample = self::table(300, false, 0.05);
    let pieces = table.pieces(4);
    close("scaler", r#"{"spread": "total"}"#, &table.alone(), &pieces, &sample.alone(), 1e-13);
    for loss in ["expected_hinge", "squared_hinge"] {
        let params = format!(r#"{{"alpha": 0.01, "tol": 1e-10, "loss": "{loss}"}}"#);
        close("gsu", &params, &table.classes(), &pieces, &sample.classes(), 5e-4);
    }
    for loss in [r#""squared""#, r#"{"huber": {"delta": 0.4}}"#, r#"{"epsilon_insensitive": {"epsilon": 0.1}}"#] {
        let params = format!(r#"{{"alpha": 0.001, "tol": 1e-10, "loss": {loss}}}"#);
        close("gsu-regression", &params, &table.numbers(), &pieces, &sample.numbers(), 5e-4);
    }
}

#[test]
fn em_by_passes_ends_where_em_in_one_memory_ends() {
    for gaps in [false, true] {
        let table = table(1500, gaps, 0.05);
        let sample = self::table(400, gaps, 0.05);
        let pieces = table.pieces(3);
        let params = r#"{"n_components": 1, "tol": 1e-13}"#;
        close("denoiser", params, &table.alone(), &pieces, &sample.alone(), 1e-4);
        close("imputer", params, &table.alone(), &pieces, &sample.alone(), 1e-4);
        let params = r#"{"n_components": 1, "shared_covariance": false, "tol": 1e-13}"#;
        close("discriminant", params, &table.classes(), &pieces, &sample.classes(), 1e-4);
    }
}

#[test]
fn moments_of_classes_are_one_pass() {
    let table = table(3000, false, 0.05);
    let sample = self::table(300, false, 0.05);
    for cuts in [1, 2, 7] {
        let pieces = table.pieces(cuts);
        close("minimax", r#"{"ridge": 0.001}"#, &table.classes(), &pieces, &sample.classes(), 1e-12);
    }
    // Only the counts and the moments are asked for: a third pass would be refused.
    let pieces = Pieces { lost: Some(2), ..table.pieces(2) };
    let training = sample.classes();
    let remote = RemoteRows { rows: &pieces, sample: &training, whole: false };
    assert!(Step::fit_remote("minimax", "{}", &remote, &Control::new()).is_ok());
}

#[test]
fn a_law_with_errors_in_both_ends_at_the_same_maximum() {
    for (gaps, errors, tolerance) in [(false, 0.01, 1e-6), (true, 0.01, 1e-6), (false, 1.0, 1e-6)] {
        let known = |n: usize| {
            let mut table = table(n, gaps, 0.05);
            table.variances.iter_mut().for_each(|v| *v *= errors);
            table
        };
        let (table, sample) = (known(3000), known(300));
        for cuts in [1, 2, 7] {
            close("mixture-regression", "{}", &table.numbers(), &table.pieces(cuts), &sample.numbers(), tolerance);
        }
    }
    let params = r#"{"n_components": "auto"}"#;
    let (table, training) = (table(300, false, 0.05), self::table(300, false, 0.05));
    let (pieces, training) = (table.pieces(1), training.numbers());
    let remote = RemoteRows { rows: &pieces, sample: &training, whole: true };
    let refused = Step::fit_remote("mixture-regression", params, &remote, &Control::new()).unwrap_err();
    assert!(refused.to_string().contains("choose it on a sample"), "{refused}");
    let mut known = table.known(&(0..300).collect::<Vec<_>>());
    known.targets = None;
    let without = Partition::new(table.data.clone(), known).unwrap().with_target().unwrap_err();
    assert!(without.to_string().contains("no targets"), "{without}");
}

#[test]
fn probabilities_are_calibrated_on_held_out_rows() {
    let mut table = table(1500, false, 0.05);
    // Two classes that a line separates in part.
    table.codes = table.y.iter().map(|y| u32::from(*y > 3.2)).collect();
    let control = Control::new();
    let params = r#"{"alpha": 0.01, "probability": true}"#;
    let (training, pieces) = (table.classes(), table.pieces(3));
    let remote = RemoteRows { rows: &pieces, sample: &training, whole: true };
    let found = Step::fit_remote("gsu", params, &remote, &control).unwrap();
    let expected = Step::fit("gsu", params, &training, &control).unwrap();
    let proba = |step: &Step| step.predictor().predict_proba(table.rows(), &control).unwrap();
    let (a, b) = (proba(&found), proba(&expected));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 0.02));
    assert!(a.iter().zip(&b).any(|(a, b)| a != b));
}

#[test]
fn rows_without_error_bars_are_certified_or_refused() {
    let control = Control::new();
    let table = table(3000, false, 0.05);
    let exact = table.data.collapse("zero".parse().unwrap()).unwrap();
    let rows: Vec<usize> = (0..3000).collect();
    let pieces = |alone: &GaussianArray| {
        let known = SideColumns { missing: None, ..table.known(&rows) };
        Pieces { parts: vec![Partition::new(alone.clone(), known).unwrap()], passes: AtomicUsize::new(0), lost: None }
    };
    let labels = Labels::new(table.codes.clone(), 1 + *table.codes.iter().max().unwrap() as usize).unwrap();
    let labels = labels.with_weights(table.weights.clone()).unwrap();
    let training = Dataset::new(&exact).with_labels(&labels).unwrap();
    let params = r#"{"alpha": 0.01, "tol": 1e-7}"#;
    for whole in [true, false] {
        let all = pieces(&exact);
        let remote = RemoteRows { rows: &all, sample: &training, whole };
        match Step::fit_remote("gsu", params, &remote, &control) {
            Ok(step) => {
                let header = step.arrays().unwrap().0;
                assert!(header.contains("converged") && !header.contains("no_progress"), "{header}");
            }
            Err(error) => assert!(!whole && error.to_string().contains("certified gap"), "{error}"),
        }
    }
}

#[test]
fn what_goes_wrong_elsewhere_ends_the_fit() {
    let table = table(600, false, 0.05);
    let training = table.classes();
    let params = r#"{"alpha": 0.01, "probability": true}"#;
    for lost in 0..4 {
        let pieces = Pieces { lost: Some(lost), ..table.pieces(2) };
        let remote = RemoteRows { rows: &pieces, sample: &training, whole: true };
        let error = Step::fit_remote("gsu", params, &remote, &Control::new()).unwrap_err();
        assert_eq!(error, Error::Data("the cluster has gone".into()), "{lost}");
    }
    let control = Control::new();
    control.stop();
    let pieces = table.pieces(2);
    let remote = RemoteRows { rows: &pieces, sample: &training, whole: true };
    assert_eq!(Step::fit_remote("gsu", params, &remote, &control).unwrap_err(), Error::Interrupted);
    let refused = Step::fit_remote("kernel-svc", "{}", &remote, &Control::new()).unwrap_err();
    assert!(refused.to_string().contains("in one memory"), "{refused}");
}

#[test]
fn strange_buffers_and_partitions_are_refused() {
    let table = table(50, false, 0.05);
    let partition = &table.pieces(1).parts[0];
    let refused = |bytes: &[u8]| partition.answer(bytes, None, &Control::new()).map(drop).unwrap_err().to_string();
    assert!(refused(&[]).contains("versions"));
    assert!(refused(&[99, 0]).contains("version 99"));
    assert!(refused(&[2, 1, 77, 0]).contains("versions"));
    let one = |request: Request| refused(&encode(&[request]).unwrap());
    assert!(one(Request::Moments { center: vec![0.0; 5] }).contains("5 features"));
    assert!(one(Request::Counts { classes: 2, folds: 5 }).contains("class code"));
    assert!(one(Request::Density { mixture: mixture(2) }).contains("one component"));
    let value = |problem| Request::Value { problem, x: vec![0.0; D + 1], epsilon: 0.0, hessian: false };
    assert!(one(value(None)).contains("no problem"));
    let bytes = encode(&every_request()).unwrap();
    for len in 0..bytes.len() {
        assert!(refused(&bytes[..len]).contains("versions"), "{len}");
    }
    assert!(refused(&[&bytes[..], &[0]].concat()).contains("versions"));
    assert!(add_partitions(&encode(&[]).unwrap(), &[]).unwrap_err().to_string().contains("every partition is empty"));
    for (flat, requests) in [(&[2.0, 1.0][..], 0), (&[2.0, 1.0, 0.0, 2.0, 5.0], 1), (&[2.0, 1.0, 0.0, -1.0, 5.0], 1)] {
        assert!(split_sums(flat, requests).unwrap_err().to_string().contains("versions"), "{flat:?}");
    }
    assert!(split_sums(&[2.0, 1.0, 0.0, 1.0, 5.0, 6.0], 1).is_err() && split_sums(&[1.0, 1.0, 0.0], 0).is_err());
    let rows: Vec<usize> = (0..50).collect();
    let refused = |known: SideColumns| Partition::new(table.data.clone(), known).map(drop).unwrap_err().to_string();
    assert!(refused(SideColumns { codes: Some(vec![0]), ..table.known(&rows) }).contains("labels"));
    assert!(refused(SideColumns { weights: Some(vec![0.0; 50]), ..table.known(&rows) }).contains("zero"));
}
