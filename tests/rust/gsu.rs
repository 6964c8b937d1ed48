//! SVM-GSU: optimum against other programs, invariances, probabilities, online fitting, errors.

use ndarray::{Array2, Axis, s};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::{Arc, Mutex};

use uncertain::data::{Covariances, Labels, Names, RowTargets, Rows};
use uncertain::gsu::{Model, Params};
use uncertain::model::probability::expected_sigmoid;
use uncertain::prelude::*;
use uncertain::solver::{SolverKind, Status};
use uncertain::{Control, Error, GaussianArray};

fn array(means: Array2<f64>, variances: Array2<f64>) -> GaussianArray {
    GaussianArray::new(Rows::from(means), Covariances::from_var(Rows::from(variances))).unwrap()
}

fn fit(params: Params, data: &GaussianArray, labels: &Labels) -> Model {
    params.fit(&Dataset::new(data).with_labels(labels).unwrap()).unwrap()
}

fn close(a: &Model, b: &Model, tolerance: f64) {
    let distance = (&a.linear.coef - &b.linear.coef).mapv(f64::abs).into_iter().fold(0.0, f64::max);
    let offset = a.linear.intercept.iter().zip(&b.linear.intercept).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(distance < tolerance && offset < tolerance, "{a:?}\n{b:?}");
}

/// Blobs around (+-center) in d dimensions with random diagonal variances; codes 0 to n_classes - 1.
fn blobs(n: usize, d: usize, n_classes: u32, center: f64, seed: u64) -> (Array2<f64>, Array2<f64>, Vec<u32>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let codes: Vec<u32> = (0..n as u32).map(|i| i % n_classes).collect();
    let means = Array2::from_shape_fn((n, d), |(i, j)| {
        let noise: f64 = StandardNormal.sample(&mut rng);
        noise + if j as u32 == codes[i] % d as u32 { center } else { 0.0 }
    });
    let variances = Array2::from_shape_fn((n, d), |_| rng.random_range(0.01..2.0));
    (means, variances, codes)
}

fn precise() -> Params {
    Params::new().alpha(0.01).tol(1e-11)
}

mod golden {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Optimum {
        objective: f64,
        w: Vec<f64>,
        b: f64,
    }

    /// tests/golden/gsu_optimum.json
    #[derive(serde::Deserialize)]
    struct Golden {
        alpha: f64,
        x: Vec<Vec<f64>>,
        var: Vec<Vec<f64>>,
        y: Vec<f64>,
        weight: Vec<f64>,
        svm: Optimum,
        svm_weighted: Optimum,
        gsu: Optimum,
        gsu_weighted: Optimum,
    }

    fn rows(values: &[Vec<f64>]) -> Rows {
        Rows::from_vec(values.concat(), values[0].len()).unwrap()
    }

    #[test]
    fn optima_of_other_programs_are_reached() {
        let golden: Golden = serde_json::from_str(include_str!("../golden/gsu_optimum.json")).unwrap();
        let codes: Vec<u32> = golden.y.iter().map(|&y| u32::from(y > 0.0)).collect();
        let labels = Labels::new(codes, 2).unwrap();
        let weighted = labels.clone().with_weights(golden.weight.clone()).unwrap();
        let spread = GaussianArray::new(rows(&golden.x), Covariances::from_var(rows(&golden.var))).unwrap();
        let points = GaussianArray::exact(rows(&golden.x)).unwrap();
        let cases = [
            (&points, &labels, &golden.svm),
            (&points, &weighted, &golden.svm_weighted),
            (&spread, &labels, &golden.gsu),
            (&spread, &weighted, &golden.gsu_weighted),
        ];
        for solver in [SolverKind::Auto, SolverKind::Newton, SolverKind::Lbfgs] {
            for (data, labels, expected) in &cases {
                let model = fit(Params::new().alpha(golden.alpha).solver(solver).tol(1e-8), data, labels);
                let report = &model.linear.fits[0];
                let excess = report.objective / expected.objective - 1.0;
                assert!(excess.abs() < 1e-7, "{solver:?}: {report:?}, expected {}", expected.objective);
                assert!(report.gap < 1e-8 && report.status == Status::Converged, "{report:?}");
                for (a, b) in
                    model.linear.coef.iter().chain(&model.linear.intercept).zip(expected.w.iter().chain([&expected.b]))
                {
                    assert!((a - b).abs() < 1e-3, "{a} {b}");
                }
            }
        }
    }
}

#[test]
fn weights_count_rows_and_have_no_scale() {
    let (means, variances, codes) = blobs(60, 3, 2, 1.0, 1);
    let data = array(means.clone(), variances.clone());
    let weights: Vec<f64> = (0..60).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
    let labels = Labels::new(codes.clone(), 2).unwrap().with_weights(weights.clone()).unwrap();
    let weighted = fit(precise(), &data, &labels);

    let rows: Vec<usize> = (0..60).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let repeated = array(means.select(Axis(0), &rows), variances.select(Axis(0), &rows));
    let repeated_labels = Labels::new(rows.iter().map(|&i| codes[i]).collect(), 2).unwrap();
    close(&weighted, &fit(precise(), &repeated, &repeated_labels), 1e-5);

    let scaled = Labels::new(codes, 2).unwrap().with_weights(weights.iter().map(|c| 1e-9 * c).collect()).unwrap();
    close(&weighted, &fit(precise(), &data, &scaled), 1e-6);
}

#[test]
fn rows_without_weight_are_absent_from_probabilities_too() {
    let (means, variances, codes) = blobs(80, 2, 2, 1.0, 2);
    let keep: Vec<usize> = (0..80).filter(|i| i % 5 != 0).collect();
    let weights = (0..80).map(|i| f64::from(u8::from(i % 5 != 0))).collect();
    let labels = Labels::new(codes.clone(), 2).unwrap().with_weights(weights).unwrap();
    let full = array(means, variances);
    let masked = fit(precise().probability(true), &full, &labels);
    let kept = full.take(&keep).unwrap();
    let fewer = Labels::new(keep.iter().map(|&i| codes[i]).collect(), 2).unwrap();
    let removed = fit(precise().probability(true), &kept, &fewer);
    let (a, b) = (masked.predict_proba(&full).unwrap(), removed.predict_proba(&full).unwrap());
    assert!((a - b).mapv(f64::abs).into_iter().fold(0.0, f64::max) < 1e-5);
}

#[test]
fn swapping_the_labels_mirrors_the_model() {
    let (means, variances, codes) = blobs(100, 3, 2, 1.0, 3);
    let data = array(means, variances);
    let model = fit(precise(), &data, &Labels::new(codes.clone(), 2).unwrap());
    let swapped = Labels::new(codes.iter().map(|c| 1 - c).collect(), 2).unwrap();
    let mut mirror = fit(precise(), &data, &swapped);
    mirror.linear.coef.mapv_inplace(|w| -w);
    mirror.linear.intercept.iter_mut().for_each(|b| *b = -*b);
    close(&model, &mirror, 1e-5);
}

#[test]
fn separable_blobs_of_several_classes_are_told_apart() {
    let (means, variances, codes) = blobs(150, 3, 3, 8.0, 4);
    let data = array(means, variances);
    let labels = Labels::new(codes.clone(), 3).unwrap();
    let model = fit(Params::new().alpha(1e-2).probability(true), &data, &labels);
    assert_eq!((model.linear.coef.dim(), model.linear.fits.len(), model.linear.n_classes()), ((3, 3), 3, 3));
    assert_eq!(model.predict(&data).unwrap().to_vec(), codes);
    let p = model.predict_proba(&data).unwrap();
    assert_eq!(p.dim(), (150, 3));
    for (row, &code) in p.outer_iter().zip(&codes) {
        assert!((row.sum() - 1.0).abs() < 1e-12);
        assert!(row.iter().all(|&q| q >= 0.0 && q <= row[code as usize]));
    }
}

#[test]
fn a_model_turns_with_its_data() {
    let (n, d) = (200, 3);
    let (means, variances, codes) = blobs(n, d, 2, 1.5, 5);
    let labels = Labels::new(codes, 2).unwrap();
    // A rotation about (1, 1, 1), by an angle that is no symmetry.
    let (sin, cos) = 0.7_f64.sin_cos();
    let k = 1.0 / 3.0_f64.sqrt();
    let turn = Array2::from_shape_fn((d, d), |(i, j)| {
        let cross = if i == j {
            0.0
        } else if (i + 1) % 3 == j {
            -k
        } else {
            k
        };
        (1.0 - cos) * k * k + if i == j { cos } else { sin * cross }
    });
    let matrices = |change: &dyn Fn(&Array2<f64>) -> Array2<f64>| {
        let all = (0..n).flat_map(|i| change(&Array2::from_diag(&variances.row(i))).into_iter().collect::<Vec<_>>());
        Covariances::from_cov(Rows::from_vec(all.collect(), d * d).unwrap(), &Names::default()).unwrap()
    };
    let plain = GaussianArray::new(Rows::from(means.clone()), matrices(&|s| s.clone())).unwrap();
    let turned = GaussianArray::new(
        Rows::from(means.dot(&turn.t())),
        matrices(&|s| {
            let s = turn.dot(s).dot(&turn.t());
            (&s + &s.t()) / 2.0
        }),
    )
    .unwrap();
    let (model, other) = (fit(precise(), &plain, &labels), fit(precise(), &turned, &labels));
    let mut back = other.clone();
    back.linear.coef = other.linear.coef.dot(&turn);
    close(&model, &back, 1e-5);
    assert!((model.linear.fits[0].objective / other.linear.fits[0].objective - 1.0).abs() < 1e-9);
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let (means, variances, codes) = blobs(1500, 4, 3, 1.0, 6);
    let data = array(means, variances);
    let labels = Labels::new(codes, 3).unwrap();
    for solver in [SolverKind::Auto, SolverKind::Lbfgs, SolverKind::Sgd] {
        let params = Params::new().solver(solver).probability(true).max_iter(Some(200)).folds(3);
        let on = |threads| fit(params.clone().control(Control::new().with_threads(threads)), &data, &labels);
        let one = on(1);
        for threads in [2, 5] {
            assert_eq!(one, on(threads), "{solver:?}, {threads}");
        }
    }
}

#[test]
fn probabilities_are_those_of_the_simulated_truth() {
    let (n, slope, offset) = (6000, 1.6, 0.4);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let means = Array2::from_shape_fn((n, 2), |_| 1.5 * rng.sample::<f64, _>(StandardNormal));
    // Every second row is nearly exact, the others are wide.
    let variances = Array2::from_shape_fn((n, 2), |(i, _)| if i % 2 == 0 { 0.01_f64 } else { 4.0 });
    let truth: Vec<f64> =
        (0..n).map(|i| expected_sigmoid(slope * means[[i, 0]] + offset, slope * variances[[i, 0]].sqrt())).collect();
    let codes = truth.iter().map(|&p| u32::from(rng.random::<f64>() < p)).collect();
    let data = array(means, variances);
    let model = fit(Params::new().probability(true), &data, &Labels::new(codes, 2).unwrap());
    let p = model.predict_proba(&data).unwrap();
    for kind in 0..2 {
        let errors: Vec<f64> = (kind..n).step_by(2).map(|i| (p[[i, 1]] - truth[i]).abs()).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!(mean < 0.02, "rows of kind {kind}: {mean}");
    }
    assert!(p.outer_iter().all(|row| (row[0] + row[1] - 1.0).abs() < 1e-15));
}

#[test]
fn score_distributions_are_those_of_the_linear_form() {
    let (means, variances, codes) = blobs(700, 3, 2, 1.0, 8);
    let data = array(means.clone(), variances.clone());
    let model = fit(Params::new(), &data, &Labels::new(codes, 2).unwrap());
    let (m, s) = model.decision_distribution(&data).unwrap();
    let w = model.linear.coef.row(0);
    for i in 0..700 {
        let mean = means.row(i).dot(&w) + model.linear.intercept[0];
        let std = variances.row(i).dot(&w.mapv(|w| w * w)).sqrt();
        assert!((m[[i, 0]] - mean).abs() < 1e-12 && (s[[i, 0]] - std).abs() < 1e-12, "row {i}");
    }
    let predicted = model.predict(&data).unwrap();
    assert!(predicted.iter().zip(m.slice(s![.., 0])).all(|(&code, &m)| (code == 1) == (m > 0.0)));
}

#[test]
fn online_batches_approach_the_optimum() {
    let (means, variances, codes) = blobs(2000, 3, 3, 1.0, 9);
    let data = array(means, variances);
    let labels = Labels::new(codes, 3).unwrap();
    let params = Params::new().alpha(0.01).solver(SolverKind::Sgd).batch_size(10);
    let mut model: Option<Model> = None;
    for epoch in 0..5 {
        for batch in 0..4 {
            let rows: Vec<usize> = (batch * 500..(batch + 1) * 500).collect();
            let (x, y) = (data.take(&rows).unwrap(), labels.take(&rows).unwrap());
            model = Some(params.partial_fit(model.as_ref(), &Dataset::new(&x).with_labels(&y).unwrap()).unwrap());
        }
        assert_eq!(model.as_ref().unwrap().steps, 200 * (epoch + 1));
    }
    let model = model.unwrap();
    let best = fit(Params::new().alpha(0.01), &data, &labels);
    for k in 0..3 {
        let (w, b) = (model.linear.coef.row(k), model.linear.intercept[k]);
        let excess = (objective(&data, labels.targets(k), w.to_vec(), b) / best.linear.fits[k].objective) - 1.0;
        assert!((-1e-6..0.05).contains(&excess), "class {k}: {excess}");
    }
    // A step from a solved problem stays near it.
    let more = params.partial_fit(Some(&best), &Dataset::new(&data).with_labels(&labels).unwrap()).unwrap();
    close(&more, &best, 0.3);
}

fn objective(data: &GaussianArray, targets: RowTargets<'_>, mut x: Vec<f64>, b: f64) -> f64 {
    use uncertain::objective::{Derivatives, Problem};
    let loss = &uncertain::loss::ExpectedHinge;
    let problem = Problem { data, targets, weights: None, alpha: 0.01, fit_intercept: true, loss };
    x.push(b);
    problem.check().unwrap().evaluate(&x, 0.0, Derivatives::Gradient, &Control::new()).unwrap().objective
}

#[test]
fn a_batch_may_lack_classes_but_not_features() {
    let params = Params::new();
    let data = GaussianArray::exact(Rows::from_vec(vec![1.0, 2.0, 3.0, 4.0], 2).unwrap()).unwrap();
    let labels = Labels::new(vec![1, 1], 3).unwrap();
    let model = params.partial_fit(None, &Dataset::new(&data).with_labels(&labels).unwrap()).unwrap();
    assert_eq!(model.linear.coef.dim(), (3, 2));
    let narrow = GaussianArray::exact(Rows::from_vec(vec![1.0, 2.0], 1).unwrap()).unwrap();
    let error = params.partial_fit(Some(&model), &Dataset::new(&narrow).with_labels(&labels).unwrap()).unwrap_err();
    assert!(error.to_string().contains("2 features"), "{error}");
    let binary = Labels::new(vec![1, 0], 2).unwrap();
    let error = params.partial_fit(Some(&model), &Dataset::new(&data).with_labels(&binary).unwrap()).unwrap_err();
    assert!(error.to_string().contains("3 classes"), "{error}");
}

#[test]
fn progress_names_class_and_fold_and_a_stop_ends_the_fit() {
    let (means, variances, codes) = blobs(120, 3, 3, 1.0, 10);
    let data = array(means, variances);
    let labels = Labels::new(codes, 3).unwrap();
    let params = Params::new().probability(true).folds(2);
    let data = Dataset::new(&data).with_labels(&labels).unwrap();
    let tasks = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&tasks);
    let control = Control::new().with_listener(move |p| seen.lock().unwrap().push(p.task.clone()));
    params.clone().control(control).fit(&data).unwrap();
    let tasks = tasks.lock().unwrap();
    assert!(tasks.iter().any(|task| task == "class 1 of 3"));
    assert!(tasks.iter().any(|task| task == "class 3 of 3, fold 2 of 2"), "{tasks:?}");

    let control = Control::new();
    control.stop();
    let params = params.control(control);
    assert_eq!(params.fit(&data), Err(Error::Interrupted));
    assert_eq!(params.partial_fit(None, &data), Err(Error::Interrupted));
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let data = GaussianArray::exact(Rows::from_vec(vec![1.0, 2.0, 3.0, 4.0], 1).unwrap()).unwrap();
    let refused = |params: Params, labels: Labels| {
        let result = Dataset::new(&data).with_labels(&labels).and_then(|data| params.fit(&data));
        result.expect_err("must be refused").to_string()
    };
    let labels = || Labels::new(vec![0, 0, 1, 1], 2).unwrap();
    assert!(refused(Params::new(), Labels::new(vec![1; 4], 2).unwrap()).contains("one class"));
    assert!(refused(Params::new(), Labels::new(vec![0, 1], 2).unwrap()).contains("expected 4"));
    let weightless = labels().with_weights(vec![0.0, 0.0, 1.0, 1.0]).unwrap();
    assert!(refused(Params::new(), weightless).contains("one class"));
    assert!(labels().with_weights(vec![0.0; 4]).is_err());
    assert!(refused(Params::new().alpha(0.0), labels()).contains("alpha = 0"));
    assert!(refused(Params::new().alpha(f64::NAN), labels()).contains("alpha = NaN"));
    assert!(refused(Params::new().tol(-1.0), labels()).contains("tol = -1"));
    assert!(refused(Params::new().batch_size(0), labels()).contains("batch_size"));
    assert!(refused(Params::new().max_iter(Some(0)), labels()).contains("max_iter"));
    assert!(refused(Params::new().folds(1), labels()).contains("folds = 1"));
    let one_row = Labels::new(vec![0, 1, 1, 1], 2).unwrap();
    assert!(refused(Params::new().probability(true), one_row).contains("class 0 has 1"));

    let model = fit(Params::new(), &data, &labels());
    assert!(model.predict_proba(&data).unwrap_err().to_string().contains("probability = true"));
    let wide = GaussianArray::exact(Rows::from_vec(vec![1.0, 2.0], 2).unwrap()).unwrap();
    assert!(model.predict(&wide).unwrap_err().to_string().contains("1 features"));
}
