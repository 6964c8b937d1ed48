//! Everything that a model can be asked, about rows of every kind of magnitude.

use uncertain::GaussianArray;
use uncertain::data::{Covariances, Rows};
use uncertain::file::{Saved, load_from_bytes, save_to_bytes};

/// Numbers of ordinary and extreme rows.
const VALUES: [f64; 8] = [0.0, 1.0, -3.5, 1e-300, 1e9, -1e154, 1e300, -0.0];
/// Wider models are not asked: a file of a megabyte can make one of a hundred thousand features.
const WIDEST: usize = 64;

pub(crate) fn everything(saved: &Saved) {
    // What was loaded can be saved, and is the same again.
    let bytes = save_to_bytes(saved).expect("a loaded model can be saved");
    let again = load_from_bytes(&bytes).and_then(|again| save_to_bytes(&again)).expect("and loaded again");
    assert!(again == bytes, "what is loaded is not what was saved");
    // Some transforms take any number of features.
    let d = saved.steps.iter().find_map(|step| step.predictor().about().n_features).unwrap_or(1);
    if d == 0 || d > WIDEST {
        return;
    }
    let n = VALUES.len();
    let numbers = |shift: usize| (0..n * d).map(|i| VALUES[(i * 5 + i / d + shift) % n]).collect::<Vec<f64>>();
    let means = || Rows::from_vec(numbers(0), d).expect("n rows of d numbers");
    let errors: Vec<f64> = numbers(3).into_iter().map(f64::abs).collect();
    let errors = Rows::from_vec(errors, d).expect("n rows of d numbers");
    for covariances in [Covariances::Zero, Covariances::from_std(errors)] {
        let Ok(rows) = GaussianArray::new(means(), covariances) else { continue };
        if let Ok(p) = saved.predict_proba(&rows) {
            assert!(p.iter().all(|p| (0.0..=1.0 + 1e-9).contains(p)), "probabilities {p}");
        }
        let _ = (saved.predict(&rows), saved.decision_function(&rows), saved.predict_classes(&rows));
        if let Ok(targets) = saved.predict_targets(&rows) {
            assert!(targets.iter().all(|y| y.is_finite()), "targets {targets:?}");
        }
        let _ = (saved.predict_distribution(&rows), saved.transform(&rows));
    }
}
