//! Boosted trees in files: what they answer, and what is no tree.

use ndarray::array;
use serde_json::{Value, json};
use uncertain::data::{Covariances, Incomplete, Rows};
use uncertain::file::{self, Class, Saved};
use uncertain::prelude::*;
use uncertain::state::HasPredictor;
use uncertain::step::Step;
use uncertain::trees::{Columns, ErrorColumns, Link, Model, ResidualForest, TreeArrays};
use uncertain::{Control, GaussianArray, MixtureArray};

use crate::support::{refusal, seal, split, with_metadata};

/// Three trees: x_0 <= 1 ? (log size of x_1 <= -1.5 ? 10 : 20) : 30, missing x_0 to the right and missing sizes to the
/// left; the correlation <= 0 ? -1 : 1; one leaf of 0.25.
fn nodes() -> TreeArrays {
    TreeArrays {
        column: vec![0.0, 3.0, -1.0, -1.0, -1.0, 4.0, -1.0, -1.0, -1.0],
        value: vec![1.0, -1.5, 10.0, 20.0, 30.0, 0.0, -1.0, 1.0, 0.25],
        right: vec![4.0, 3.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0],
        missing_left: vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    }
}

const SIZES: [f64; 3] = [5.0, 3.0, 1.0];

fn model(link: Link, baseline: Vec<f64>) -> Model {
    let columns = ErrorColumns::new(Columns::Correlations, vec![1.0, 2.0]).unwrap();
    Model::new(columns, baseline, nodes().trees(&SIZES).unwrap(), link, [0.5, 8.0]).unwrap()
}

fn saved(link: Link, baseline: Vec<f64>, classes: &[&str]) -> Saved {
    let classes = classes.iter().map(|&name| Class::from(name)).collect();
    Saved::new(vec![Step::from_model(model(link, baseline))], classes)
}

/// Rows as (means, (variance, covariance, variance)).
fn rows(given: &[([f64; 2], [f64; 3])]) -> GaussianArray {
    let means = given.iter().flat_map(|row| row.0).collect();
    let cov = given.iter().flat_map(|(_, [a, b, c])| [*a, *b, *b, *c]).collect();
    let names = uncertain::data::Names::default();
    let cov = Covariances::from_cov(Rows::from_vec(cov, 4).unwrap(), &names).unwrap();
    GaussianArray::new(Rows::from_vec(means, 2).unwrap(), cov).unwrap()
}

#[test]
fn rows_fall_to_the_leaves_that_their_errors_and_correlations_say() {
    let loaded =
        file::load_from_bytes(&file::save_to_bytes(&saved(Link::Identity, vec![100.0], &[])).unwrap()).unwrap();
    // sizes of x_1 in units of 2: 0.05 -> log10 0.025 < -1.5; 0.1 -> log10 0.05 > -1.5; exact -> log10 1e-9
    let data = rows(&[
        ([1.0, 0.0], [0.01, 0.0, 0.0025]),
        ([1.0, 0.0], [0.01, 0.005, 0.01]),
        ([1.5, 0.0], [0.01, -0.005, 0.01]),
        ([-9.0, 0.0], [0.0, 0.0, 0.0]),
    ]);
    assert_eq!(loaded.predict_targets(&data).unwrap().to_vec(), [109.25, 121.25, 129.25, 109.25]);
    // A missing x_0 goes right; the size of a missing x_1 left, and it has no correlation.
    let missing = [true, false, false, true, false, true, false, false];
    let gaps = Incomplete::new(&data, &missing).unwrap();
    assert_eq!(loaded.predict_targets(gaps).unwrap().to_vec(), [129.25, 109.25, 129.25, 109.25]);
    let wrong = GaussianArray::exact(Rows::from_vec(vec![1.0; 3], 3).unwrap()).unwrap();
    assert!(loaded.predict_targets(&wrong).is_err());
}

#[test]
fn links_make_predictions_and_probabilities_of_scores() {
    let data = rows(&[([1.0, 0.0], [0.01, 0.0, 0.0025]), ([1.5, 0.0], [0.01, 0.005, 0.01])]);
    let same = |saved: &Saved| {
        let loaded = file::load_from_bytes(&file::save_to_bytes(saved).unwrap()).unwrap();
        assert_eq!(&loaded, saved);
        loaded
    };
    let log = same(&saved(Link::Log, vec![-9.0], &[]));
    assert_eq!(log.predict_targets(&data).unwrap().to_vec(), [0.25f64.exp(), 22.25f64.exp()]);

    let two = same(&saved(Link::Logit, vec![-9.25], &["a", "b"]));
    let p = two.predict_proba(&data).unwrap();
    assert_eq!(p.row(0).to_vec(), [0.5, 0.5]);
    assert!((p[[1, 0]] - (-22.0f64).exp()).abs() < 1e-15 && (p.row(1).sum() - 1.0).abs() < 1e-15);
    assert_eq!(two.predict(&data).unwrap().to_vec(), [0, 1]);

    let three = same(&saved(Link::Softmax, vec![0.0, 11.0, 9.75], &["a", "b", "c"]));
    let p = three.predict_proba(&data).unwrap();
    let whole = 2.0 + 1.0; // scores 10, 10, 10 and 30, 12, 10
    assert!((p[[0, 2]] - 1.0 / whole).abs() < 1e-15, "{p}");
    assert!((p[[1, 1]] / p[[1, 0]] - (-18.0f64).exp()).abs() < 1e-20);
    assert_eq!(three.predict(&data).unwrap().to_vec(), [0, 0]);
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads_and_stop_when_asked() {
    let model = model(Link::Identity, vec![0.125]);
    let row =
        |i: usize| ([(i % 7) as f64 - 3.0, 0.0], [0.1, (i % 3) as f64 * 0.01 - 0.01, 0.002 + 1e-3 * (i % 11) as f64]);
    let data = rows(&(0..5000).map(row).collect::<Vec<_>>());
    let with =
        |threads| uncertain::parallel::install(Some(threads), || Regressor::predict(&model, &data)).unwrap().unwrap();
    assert_eq!(with(1), with(3));
    let stopped = Control::new();
    stopped.stop();
    let asked = model.predictor().decision((&data).into(), &stopped);
    assert_eq!(asked, Err(uncertain::Error::Interrupted));
}

#[test]
fn a_sum_beyond_the_largest_number_is_an_error() {
    let mut nodes = nodes();
    nodes.value[4] = 1e308;
    let columns = ErrorColumns::new(Columns::Correlations, vec![1.0, 2.0]).unwrap();
    let trees = nodes.trees(&SIZES).unwrap();
    let large = Model::new(columns, vec![1e308], trees, Link::Identity, [1.0, 1.0]).unwrap();
    let data = rows(&[([1.0, 0.0], [0.01, 0.0, 0.0025]), ([1.5, 0.0], [0.01, 0.005, 0.01])]);
    let why = Regressor::predict(&large, &data).unwrap_err().to_string();
    assert!(why.starts_with("row 1: the values of its leaves"), "{why}");
    let why = Regressor::predict(&model(Link::Log, vec![701.0]), &data).unwrap_err().to_string();
    assert!(why.starts_with("row 0"), "{why}");
}

/// One tree: the prediction (the column behind the five) <= 9 ? leaf 0 : leaf 1.
fn forest(change: impl Fn(&mut TreeArrays, &mut [Vec<f64>; 2])) -> uncertain::Result<ResidualForest> {
    let mut nodes = TreeArrays {
        column: vec![5.0, -1.0, -1.0],
        value: vec![9.0, 0.0, 1.0],
        right: vec![2.0, 0.0, 0.0],
        missing_left: vec![0.0; 3],
    };
    let mut bins = [vec![-1.0, 1.0], vec![0.5, 0.25]];
    change(&mut nodes, &mut bins);
    ResidualForest::new(&nodes, &[3.0], array![[0.25, 0.75], [1.0, 0.0]], bins)
}

#[test]
fn a_density_travels_with_the_trees() {
    let plain = model(Link::Identity, vec![0.5]);
    let dense = plain.clone().with_residuals(forest(|_, _| ()).unwrap()).unwrap();
    let saved = Saved::new(vec![Step::from_model(dense)], vec![]);
    let bytes = file::save_to_bytes(&saved).unwrap();
    assert_eq!(file::load_from_bytes(&bytes).unwrap(), saved);
    let data = rows(&[([1.0, 0.0], [0.01, 0.0, 0.0025])]);
    let own = file::load_from_bytes(&bytes).unwrap().predict_targets(&data).unwrap();
    assert_eq!(own, Regressor::predict(&plain, &data).unwrap());

    let classes = model(Link::Logit, vec![0.0]);
    assert!(classes.with_residuals(forest(|_, _| ()).unwrap()).is_err());
    let far = forest(|nodes, _| nodes.column[0] = 6.0).unwrap();
    assert!(plain.with_residuals(far).unwrap_err().to_string().contains("column 6"));
    type Damage = fn(&mut TreeArrays, &mut [Vec<f64>; 2]);
    let refused: [Damage; 5] = [
        |nodes, _| nodes.value[2] = 2.0,
        |nodes, _| nodes.value[1] = 1.0,
        |_, bins| bins[1][0] = 0.0,
        |_, bins| bins[0][1] = f64::NAN,
        |_, bins| bins[0].push(1.0),
    ];
    assert!(refused.into_iter().all(|change| forest(change).is_err()));
}

#[test]
fn altered_descriptions_are_refused() {
    let bytes = file::save_to_bytes(&saved(Link::Logit, vec![0.0], &["a", "b"])).unwrap();
    let altered = |change: &dyn Fn(&mut Value), reason: &str| {
        let why = refusal(&with_metadata(&bytes, change));
        assert!(why.contains(reason), "expected `{reason}` in: {why}");
    };
    altered(&|own| own["steps"][0]["state"]["link"] = json!("softmax"), "1 scores do not go with the link softmax");
    altered(&|own| own["steps"][0]["state"]["link"] = json!("identity"), "names 2 classes");
    altered(&|own| own["steps"][0]["state"]["link"] = json!("exec"), "exec");
    altered(&|own| own["steps"][0]["state"]["columns"] = json!("errors"), "asks for column 4 of 4");
    altered(&|own| own["steps"][0]["state"]["factors"] = json!([2.0, 1.0]), "factors");
    altered(&|own| own["steps"][0]["state"]["factors"] = json!([1.0]), "not understood");
    altered(&|own| own["steps"][0]["state"]["more"] = json!(1), "more");
    altered(&|own| own["steps"][0]["params"]["more"] = json!(1), "more");
    altered(&|own| own["features"] = json!(["a"]), "names 1 features");
}

/// Every number of the file replaced by strange ones: refused, or a model that still answers every row.
#[test]
fn whatever_a_file_holds_no_walk_is_endless_or_leaves_the_tree() {
    let bytes = file::save_to_bytes(&saved(Link::Softmax, vec![0.0, 1.0, 2.0], &["a", "b", "c"])).unwrap();
    let numbers = split(&bytes).1.len() / 8;
    let begin = bytes.len() - 8 * numbers;
    let data = rows(&[([1.0, 0.0], [0.01, 0.0, 0.0025]), ([1.5, 0.0], [0.01, 0.005, 0.01])]);
    let missing = [true, true, false, true];
    let strange =
        [-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 8.0, 0.5, 1e18, -1e300, f64::MAX, 4294967295.0, 4294967296.0];
    let (mut refused, mut answered) = (0, 0);
    for (at, new) in (0..numbers).flat_map(|at| strange.map(|new| (at, new))) {
        let mut altered = bytes.clone();
        altered[begin + 8 * at..begin + 8 * at + 8].copy_from_slice(&new.to_le_bytes());
        match file::load_from_bytes(&seal(altered)) {
            Err(_) => refused += 1,
            Ok(loaded) => {
                answered += 1;
                for rows in [Incomplete::from(&data), Incomplete::new(&data, &missing).unwrap()] {
                    if let Ok(p) = loaded.predict_proba(rows) {
                        assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{at} {new}: {p}");
                    }
                }
            }
        }
    }
    assert!(refused > 250 && answered > 100, "{refused} {answered}");
}

/// Rows that are mixtures: moments, and the skewness behind the sizes.
#[test]
fn rows_of_several_gaussians_have_moments_and_skewness() {
    let columns = ErrorColumns::new(Columns::Skewness, vec![1.0]).unwrap();
    assert_eq!(columns.n_columns(), 3);
    // Right where the skewness is above 0.1, or missing.
    let nodes = TreeArrays {
        column: vec![2.0, -1.0, -1.0],
        value: vec![0.1, -1.0, 1.0],
        right: vec![2.0, 0.0, 0.0],
        missing_left: vec![0.0; 3],
    };
    let trees = nodes.trees(&[3.0]).unwrap();
    let model = Model::new(columns, vec![0.0], trees, Link::Identity, [1.0, 1.0]).unwrap();
    let saved = Saved::new(vec![Step::from_model(model)], vec![]);
    let loaded = file::load_from_bytes(&file::save_to_bytes(&saved).unwrap()).unwrap();
    // Two components of shares .8 and .2 lean to the right, the same mirrored to the left, equal ones nowhere.
    let means = Rows::from_vec(vec![0.0, 3.0, 0.0, -3.0, 0.0, 3.0, 5.0], 1).unwrap();
    let std = Covariances::from_std(Rows::from_vec(vec![0.1; 7], 1).unwrap());
    let parts = GaussianArray::new(means, std).unwrap();
    let weights = vec![0.8, 0.2, 0.8, 0.2, 0.5, 0.5, 1.0];
    let data = MixtureArray::new(parts, vec![0, 2, 4, 6, 7], weights).unwrap();
    let skewness = data.skewness().unwrap();
    assert!((skewness[0] + skewness[1]).abs() < 1e-12 && (skewness[0] - 1.48).abs() < 0.05, "{skewness:?}");
    assert_eq!(loaded.predict_targets(Incomplete::from(&data)).unwrap().to_vec(), [1.0, -1.0, -1.0, -1.0]);
    let missing = data.marks_of_components(&[false, true, false, false]).unwrap();
    let rows = Incomplete::from(&data).with_missing(&missing).unwrap();
    assert_eq!(loaded.predict_targets(rows).unwrap().to_vec(), [1.0, 1.0, -1.0, -1.0]);
    assert_eq!(loaded.predict_targets(data.components()).unwrap().to_vec(), [-1.0; 7]);
}
