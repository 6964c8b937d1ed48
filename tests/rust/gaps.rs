//! Rows with gaps in the denoiser, the discriminant, the scaler and model files, against the observed block alone
//! (tests/golden/gaps.py).

use serde::Deserialize;
use uncertain::data::{Covariances, Incomplete, Labels, Names, Rows, Weights};
use uncertain::deconvolution::{Components, Mixture, Params};
use uncertain::file::{self, Class, Saved};
use uncertain::prelude::*;
use uncertain::step::Step;
use uncertain::transform::{GaussianDenoiser, GaussianImputer, LinearMap, ScalerParams, Spread};
use uncertain::{GaussianArray, Kind, discriminant, gsu};

mod cases;
use cases::{Numbers, cases};

#[derive(Deserialize)]
struct Golden {
    x: Vec<Vec<Option<f64>>>,
    cov: Vec<Vec<f64>>,
    priors: Vec<f64>,
    mixtures: Vec<Parts>,
    posterior_means: Vec<Vec<f64>>,
    posterior_covariances: Vec<Vec<f64>>,
    log_likelihoods: Vec<f64>,
    log_odds: Vec<f64>,
}

#[derive(Deserialize)]
struct Parts {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covariances: Vec<Vec<f64>>,
}

impl Parts {
    fn packed(&self) -> Vec<f64> {
        let d = self.means[0].len();
        let lower = |t: &Vec<f64>| (0..d).flat_map(|i| t[i * d..=i * d + i].to_vec()).collect::<Vec<f64>>();
        self.covariances.iter().flat_map(lower).collect()
    }

    fn mixture(&self) -> Mixture {
        Mixture::from_packed(self.weights.clone(), self.means.concat(), self.packed(), self.means[0].len()).unwrap()
    }
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../golden/gaps.json")).unwrap()
}

impl Golden {
    fn rows(&self) -> (GaussianArray, Vec<bool>) {
        let d = self.x[0].len();
        let x = self.x.iter().flatten().map(|v| v.unwrap_or(1e3)).collect();
        let covariances = Covariances::from_cov(Rows::from_vec(self.cov.concat(), d * d).unwrap(), &Names::default());
        let data = GaussianArray::new(Rows::from_vec(x, d).unwrap(), covariances.unwrap()).unwrap();
        (data, self.x.iter().flatten().map(Option::is_none).collect())
    }

    fn discriminant(&self) -> discriminant::Model {
        let joint = |(p, m): (&f64, &Parts)| m.weights.iter().map(|w| w * p).collect::<Vec<f64>>();
        let weights = self.priors.iter().zip(&self.mixtures).flat_map(joint).collect();
        let means = self.mixtures.iter().flat_map(|m| m.means.concat()).collect();
        let covariances = self.mixtures.iter().flat_map(Parts::packed).collect();
        discriminant::Model::new(Mixture::from_packed(weights, means, covariances, 3).unwrap(), 2).unwrap()
    }
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a}, not {b}");
}

#[test]
fn posteriors_and_log_odds_are_those_of_the_observed_block() {
    let golden = golden();
    let (data, missing) = golden.rows();
    let rows = Incomplete::new(&data, &missing).unwrap();
    let denoiser = GaussianDenoiser::new(golden.mixtures[0].mixture());
    let out = denoiser.transform(rows).unwrap();
    let dense = out.dense().unwrap();
    let likelihoods = denoiser.log_likelihood(rows).unwrap();
    let model = golden.discriminant();
    let odds = model.decision_function(rows).unwrap();
    let codes = model.predict(rows).unwrap();
    for i in 0..data.n_rows() {
        (0..3).for_each(|j| near(out.means().row(i)[j], golden.posterior_means[i][j], 1e-10));
        (0..9).for_each(|p| near(dense[i * 9 + p], golden.posterior_covariances[i][p], 1e-10));
        near(likelihoods[i], golden.log_likelihoods[i], 1e-10);
        near(odds[[i, 0]], golden.log_odds[i], 1e-10);
        assert_eq!(codes[i] == 1, golden.log_odds[i] > 0.0);
    }
    assert!(missing.chunks_exact(3).any(|m| m.iter().all(|m| *m)), "a row of gaps alone is among them");
    // What stands in a gap is never looked at.
    let other = GaussianArray::new(
        Rows::from_vec(data.means().to_vec().iter().map(|x| if *x == 1e3 { -7.0 } else { *x }).collect(), 3).unwrap(),
        data.covariances().clone(),
    );
    let other = other.unwrap();
    assert_eq!(denoiser.transform(Incomplete::new(&other, &missing).unwrap()).unwrap(), out);
}

#[test]
fn every_kind_is_its_dense_matrix_and_marks_of_nothing_change_nothing() {
    let (n, d) = (40, 5);
    let some: Vec<bool> = Numbers(3).take(n * d).iter().map(|x| *x > 0.4).collect();
    let labels = Labels::new((0..n as u32).map(|i| i % 2).collect(), 2).unwrap();
    let em = Params::new().max_iter(6);
    for case in cases(n, d, 6) {
        let names = Names::default();
        let dense = Covariances::from_cov(Rows::from_vec(case.dense.clone(), d * d).unwrap(), &names).unwrap();
        let full = GaussianArray::new(case.array.means().clone(), dense).unwrap();
        let (rows, same) = (Incomplete::new(&case.array, &some).unwrap(), Incomplete::new(&full, &some).unwrap());
        let denoiser = em.clone().denoiser().fit(&Dataset::new(rows)).unwrap();
        assert!(denoiser.report().unwrap().history.windows(2).all(|h| h[1] >= h[0]));
        let (a, b) = (denoiser.transform(rows).unwrap(), denoiser.transform(same).unwrap());
        a.means().to_vec().iter().zip(b.means().to_vec()).for_each(|(a, b)| near(*a, b, 1e-9));
        a.dense().unwrap().iter().zip(b.dense().unwrap()).for_each(|(a, b)| near(*a, b, 1e-9));
        // Valid for whoever checks it again.
        GaussianArray::new(a.means().clone(), a.covariances().clone()).unwrap();
        let params = discriminant::Params { em: em.clone(), ..discriminant::Params::new() };
        let model = params.check().unwrap().fit(&Dataset::new(rows).with_labels(&labels).unwrap()).unwrap();
        let (a, b) = (model.decision_function(rows).unwrap(), model.decision_function(same).unwrap());
        a.iter().zip(&b).for_each(|(a, b)| near(*a, *b, 1e-9));
        let none = vec![false; n * d];
        let whole = Incomplete::new(&case.array, &none).unwrap();
        assert!(whole.missing().is_none());
        assert_eq!(denoiser.transform(whole).unwrap(), denoiser.transform(&case.array).unwrap(), "{}", case.name);
        if case.array.covariances().kind() == Kind::Zero {
            let filled = GaussianImputer::new(denoiser.mixture().clone())
                .transform(Incomplete::new(&case.array, &some).unwrap());
            assert_eq!(denoiser.transform(rows).unwrap(), filled.unwrap());
        }
    }
}

#[test]
fn what_nobody_can_learn_is_refused() {
    let n = 30;
    let data = points(n, 3);
    let refused = |missing: &[bool], codes: Vec<u32>| {
        let rows = Incomplete::new(&data, missing).unwrap();
        let labels = Labels::new(codes, 2).unwrap();
        let params = discriminant::Params::new();
        params.check().unwrap().fit(&Dataset::new(rows).with_labels(&labels).unwrap()).unwrap_err().to_string()
    };
    let codes: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
    let of_class: Vec<bool> = (0..n * 3).map(|p| p % 3 == 1 && p / 3 % 2 == 1).collect();
    assert!(refused(&of_class, codes.clone()).contains("feature 1 is missing in every row of class 1"));
    let never: Vec<bool> = (0..n * 3).map(|p| p % 3 == 2).collect();
    assert!(refused(&never, codes).contains("feature 2 is missing in every row;"));
    let rows = Incomplete::new(&data, &never).unwrap();
    let why = Params::new().denoiser().fit(&Dataset::new(rows)).unwrap_err().to_string();
    assert!(why.contains("feature 2 is missing in every row;"));
    assert!(
        ScalerParams { spread: Spread::Means }.fit(&Dataset::new(rows)).unwrap_err().to_string().contains("feature 2")
    );
    assert!(Incomplete::new(&data, &never[1..]).unwrap_err().to_string().contains("30 x 3"));
    // Cross-validation must meet every feature in every fold.
    let rare: Vec<bool> = (0..n * 3).map(|p| p % 3 == 2 && p > 3).collect();
    let auto = Params::new().components(Components::Auto).max_components(3);
    let rows = Incomplete::new(&data, &rare).unwrap();
    let why = auto.denoiser().fit(&Dataset::new(rows)).unwrap_err().to_string();
    assert!(why.contains("feature 2") && why.contains("pass a number"), "{why}");
}

/// Exact points.
fn points(n: usize, d: usize) -> GaussianArray {
    GaussianArray::new(Rows::from_vec(Numbers(9).take(n * d), d).unwrap(), Covariances::Zero).unwrap()
}

#[test]
fn the_scaler_looks_at_what_is_there() {
    let (n, d) = (50, 2);
    let means = Rows::from_vec(Numbers(5).take(n * d), d).unwrap();
    let std: Vec<f64> = Numbers(6).take(n * d).iter().map(|x| 0.1 + x.abs()).collect();
    let data =
        GaussianArray::new(means.clone(), Covariances::from_std(Rows::from_vec(std.clone(), d).unwrap())).unwrap();
    let missing: Vec<bool> = Numbers(7).take(n * d).iter().map(|x| *x > 0.3).collect();
    let weights = Weights::new(Numbers(8).take(n).iter().map(|x| x.abs()).collect()).unwrap();
    let scaler = ScalerParams { spread: Spread::Total }
        .fit(&Dataset::new(Incomplete::new(&data, &missing).unwrap()).with_weights(&weights[..]).unwrap())
        .unwrap();
    for j in 0..d {
        let seen: Vec<usize> = (0..n).filter(|i| !missing[i * d + j]).collect();
        let total: f64 = seen.iter().map(|&i| weights[i]).sum();
        let average = |f: &dyn Fn(usize) -> f64| seen.iter().map(|&i| weights[i] * f(i)).sum::<f64>() / total;
        let mean = average(&|i| means.row(i)[j]);
        let variance = average(&|i| (means.row(i)[j] - mean).powi(2) + std[i * d + j].powi(2));
        near(scaler.mean()[j], mean, 1e-13);
        near(scaler.scale()[j], variance.sqrt(), 1e-13);
    }
}

#[test]
fn model_files_answer_for_rows_with_gaps() {
    let golden = golden();
    let (data, missing) = golden.rows();
    let rows = Incomplete::new(&data, &missing).unwrap();
    let labels = Labels::new(golden.log_odds.iter().map(|x| u32::from(*x > 0.0)).collect(), 2).unwrap();
    let classes = || vec![Class::from(false), Class::from(true)];
    let scaler = ScalerParams { spread: Spread::Means }.fit(&Dataset::new(rows)).unwrap();
    let moved = scaler.transform(&data).unwrap();
    let scaled = Incomplete::new(&moved, &missing).unwrap();
    let params = discriminant::Params::new().check().unwrap();
    let model = params.fit(&Dataset::new(scaled).with_labels(&labels).unwrap()).unwrap();
    let step = Step::new(model.clone(), params);
    let saved = Saved::new(vec![Step::from_model(scaler), step], classes());
    let again = file::load_from_bytes(&file::save_to_bytes(&saved).unwrap()).unwrap();
    assert_eq!(again.decision_function(rows).unwrap(), model.decision_function(scaled).unwrap());
    assert_eq!(again.predict(rows).unwrap(), model.predict(scaled).unwrap());
    assert_eq!(again.predict_proba(rows).unwrap(), model.predict_proba(scaled).unwrap());
    assert_eq!(again.predict(&data).unwrap(), model.predict(&moved).unwrap());
    assert!(again.transform(rows).unwrap_err().to_string().contains("still gaps"));

    let denoiser = GaussianDenoiser::new(golden.mixtures[0].mixture());
    let clean = denoiser.transform(rows).unwrap();
    let params = gsu::Params::new().check().unwrap();
    let svm = params.fit(&Dataset::new(&clean).with_labels(&labels).unwrap()).unwrap();
    let imputer = GaussianImputer::new(golden.mixtures[0].mixture());
    let filled = imputer.transform(Incomplete::new(&data, &missing).unwrap()).unwrap();
    for (step, expected) in [(Step::from_model(denoiser), &clean), (Step::from_model(imputer), &filled)] {
        let saved = Saved::new(vec![step, Step::new(svm.clone(), params.clone())], classes());
        let again = file::load_from_bytes(&file::save_to_bytes(&saved).unwrap()).unwrap();
        assert_eq!(again.transform(rows).unwrap(), *expected);
        assert_eq!(again.predict(rows).unwrap(), svm.predict(expected).unwrap());
    }
    let alone = Saved::new(vec![Step::new(svm, params)], classes());
    assert!(alone.predict(rows).unwrap_err().to_string().contains("need an imputer, a denoiser or a discriminant"));
}

#[test]
fn gaps_and_limits_go_with_the_features_that_are_selected() {
    let golden = golden();
    let (data, missing) = golden.rows();
    let picked = [2, 0];
    let limits: Vec<i8> = missing.iter().enumerate().map(|(at, gone)| i8::from(*gone && at % 2 == 0)).collect();
    let of = |at: usize| at / 2 * 3 + picked[at % 2];
    let (part, n) = (data.columns(&picked).unwrap(), 2 * data.n_rows());
    let (own, flags): (Vec<_>, Vec<_>) = (0..n).map(|at| (missing[of(at)], limits[of(at)])).unzip();
    let expected = Incomplete::new(&part, &own).unwrap().with_limits(&flags).unwrap();
    let labels = Labels::new(golden.log_odds.iter().map(|x| u32::from(*x > 0.0)).collect(), 2).unwrap();
    let params = discriminant::Params::new().check().unwrap();
    let model = params.fit(&Dataset::new(expected).with_labels(&labels).unwrap()).unwrap();

    let rows = Incomplete::new(&data, &missing).unwrap().with_limits(&limits).unwrap();
    let behind = |matrix: [[f64; 2]; 3]| {
        let map = Step::from_model(LinearMap::new(&ndarray::arr2(&matrix)).unwrap());
        Saved::new(vec![map, Step::from_model(model.clone())], vec![Class::from(false), Class::from(true)])
    };
    let saved = behind([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]);
    assert_eq!(saved.decision_function(rows).unwrap(), model.decision_function(expected).unwrap());
    for other in [[[0.0, 1.0], [0.0, 0.5], [1.0, 0.0]], [[0.0, -1.0], [0.0, 0.0], [1.0, 0.0]]] {
        assert!(behind(other).decision_function(rows).is_err());
    }
}
