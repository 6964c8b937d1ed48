//! SVM-GSU for regression.

use serde_json::json;
use uncertain::Collapse;
use uncertain::data::{Incomplete, Targets};
use uncertain::deconvolution;
use uncertain::file::{self, Class, Saved};
use uncertain::gsu_regression;
use uncertain::loss::LossKind;
use uncertain::prelude::*;
use uncertain::step::Step;
use uncertain::transform::GaussianCollapser;

use crate::support::{data, refusal, with_metadata};

#[test]
fn regressions_come_back_and_have_no_classes() {
    let data = data();
    let targets = Targets::new((0..36).map(|i| f64::from(i % 5) * 0.7).collect()).unwrap();
    for loss in [LossKind::EpsilonInsensitive { epsilon: 0.2 }, LossKind::Huber { delta: 0.5 }, LossKind::Squared] {
        let params = gsu_regression::Params::new().loss(loss).seed(9).check().unwrap();
        let model = params.fit(&Dataset::new(&data).with_targets(&targets).unwrap()).unwrap();
        let expected = model.predict_distribution(&data).unwrap();
        let mut saved = Saved::new(vec![Step::new(model, params)], vec![]);
        let bytes = file::save_to_bytes(&saved).unwrap();
        let loaded = file::load_from_bytes(&bytes).unwrap();
        assert_eq!(loaded, saved);
        assert_eq!(loaded.predict_distribution(&data).unwrap(), expected);
        assert!(loaded.predict(&data).is_err() && loaded.model().is_err());
        let why = refusal(&with_metadata(&bytes, |own| own["steps"][0]["params"]["alpha"] = json!(0)));
        assert!(why.contains("alpha = 0"), "{why}");
        saved.classes.push(Class::from(1));
        assert!(file::save_to_bytes(&saved).unwrap_err().to_string().contains("class"));
    }
}

/// y = 2 z from readings of z with noise: slope 2 behind denoiser and collapser, and deviations sqrt(w'C w).
#[test]
fn a_collapser_takes_covariances_from_the_regression_alone() {
    let rows = crate::support::data();
    let missing: Vec<bool> = (0..72).map(|p| p == 5).collect();
    let denoiser = deconvolution::Params::new().denoiser().fit(&Dataset::new(&rows)).unwrap();
    let posterior = denoiser.transform(&rows).unwrap();
    let means = posterior.means().to_vec();
    let targets = Targets::new(means.chunks_exact(2).map(|m| 2.0 * m[0] - m[1] + 3.0).collect()).unwrap();
    let params = gsu_regression::Params::new().loss(LossKind::Squared).alpha(1e-9).check().unwrap();
    let collapser = GaussianCollapser::new(Collapse::Zero);
    let model =
        params.fit(&Dataset::new(collapser.transform(&posterior).unwrap()).with_targets(&targets).unwrap()).unwrap();
    let saved =
        Saved::new(vec![Step::from_model(denoiser), Step::from_model(collapser), Step::new(model, params)], vec![]);
    let loaded = file::load_from_bytes(&file::save_to_bytes(&saved).unwrap()).unwrap();
    assert_eq!(loaded, saved);
    assert_eq!(loaded.transform(&rows).unwrap(), posterior.collapse(Collapse::Zero).unwrap());
    let (predicted, stds) = loaded.predict_distribution(&rows).unwrap();
    assert_eq!(predicted, loaded.predict_targets(&rows).unwrap());
    let dense = posterior.dense().unwrap();
    for (i, s) in dense.chunks_exact(4).enumerate() {
        assert!((predicted[i] - (2.0 * means[2 * i] - means[2 * i + 1] + 3.0)).abs() < 1e-4);
        let variance = 4.0 * s[0] - 2.0 * (s[1] + s[2]) + s[3];
        assert!((stds[i] - variance.sqrt()).abs() < 1e-4 * variance.sqrt(), "{i}: {} {variance}", stds[i]);
    }
    let gap = Incomplete::new(&rows, &missing).unwrap();
    assert!(loaded.predict_targets(gap).unwrap().iter().all(|y| y.is_finite()));
}
