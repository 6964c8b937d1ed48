//! The denoiser, the imputer and the discriminant: steps with a mixture.

use serde_json::json;
use uncertain::data::{Labels, Targets};
use uncertain::deconvolution::{self, Components};
use uncertain::file::{self, Class, Saved};
use uncertain::gsu::Params;
use uncertain::prelude::*;
use uncertain::state::Parameters as _;
use uncertain::step::Step;
use uncertain::transform::GaussianImputer;
use uncertain::{Control, discriminant, mixture_regression};

use crate::support::{data, refusal, seal, with_header, with_metadata};

#[test]
fn mixtures_come_back_and_must_be_distributions() {
    let data = data();
    let labels = Labels::new((0..36).map(|i| i % 2).collect(), 2).unwrap();
    let em = deconvolution::Params { components: Components::Fixed(2), ..Default::default() };
    let denoiser = em.denoiser().fit(&Dataset::new(&data)).unwrap();
    let imputer = GaussianImputer::new(denoiser.mixture().clone());
    let rows = denoiser.transform(&data).unwrap();
    let params = Params::new().check().unwrap();
    let model = params.fit(&Dataset::new(&rows).with_labels(&labels).unwrap()).unwrap();
    let steps = vec![Step::from_model(imputer), Step::from_model(denoiser), Step::new(model, params)];
    let saved = Saved::new(steps, vec![Class::from(false), Class::from(true)]);
    let bytes = file::save_to_bytes(&saved).unwrap();
    let again = file::load_from_bytes(&bytes).unwrap();
    assert_eq!(again, saved);
    assert_eq!(file::save_to_bytes(&again).unwrap(), bytes);
    assert_eq!(again.predict(&data).unwrap(), saved.predict(&data).unwrap());
    // Shares 1/2 and 1/2 become 1/2 and 0: a sealed file, but no distribution.
    let share = again
        .steps
        .iter()
        .find_map(|s| if let Step::Denoiser(d) = s { Some(d.model.mixture().weights()[1]) } else { None });
    let share = share.unwrap().to_le_bytes();
    let at = bytes.windows(8).position(|w| w == share).unwrap();
    let mut altered = bytes.clone();
    altered[at..at + 8].copy_from_slice(&0.0_f64.to_le_bytes());
    assert!(refusal(&seal(altered)).contains("shares of a mixture"));
}

/// Three classes with two components each, priors given, behind a denoiser.
pub(crate) fn discriminants() -> Vec<Saved> {
    let data = data();
    let labels = Labels::new((0..36).map(|i| i % 3).collect(), 3).unwrap();
    let em = deconvolution::Params { components: Components::Fixed(2), max_iter: 7, seed: 3, ..Default::default() };
    let classes = || vec![Class::from("a"), Class::from("b"), Class::from("c")];
    let fit = |params: discriminant::Params| {
        let params = params.check().unwrap();
        let model = params.fit(&Dataset::new(&data).with_labels(&labels).unwrap()).unwrap();
        Step::new(model, params)
    };
    let quadratic = discriminant::Params { shared: false, priors: Some(vec![1.0, 2.0, 3.0]), em };
    let em =
        deconvolution::Params { acceleration: None, control: Control::new().with_threads(2), ..Default::default() };
    let linear = discriminant::Params { em, ..discriminant::Params::new() };
    vec![Saved::new(vec![fit(quadratic)], classes()), Saved::new(vec![fit(linear)], classes())]
}

#[test]
fn discriminants_come_back_with_the_way_they_were_fitted() {
    let data = data();
    for saved in discriminants() {
        let bytes = file::save_to_bytes(&saved).unwrap();
        let again = file::load_from_bytes(&bytes).unwrap();
        assert_eq!(again, saved);
        assert_eq!(file::save_to_bytes(&again).unwrap(), bytes);
        let Some(Step::Discriminant(with)) = saved.steps.last() else { panic!() };
        let model = &with.model;
        assert!(model.report().unwrap().history.len() > 1);
        let proba = again.predict_proba(&data).unwrap();
        assert_eq!(proba, model.predict_proba(&data).unwrap());
        assert!(proba.rows().into_iter().all(|p| (p.sum() - 1.0).abs() < 1e-12));
        let codes = again.predict(&data).unwrap();
        assert!(codes.iter().zip(proba.rows()).all(|(&c, p)| p.iter().all(|x| *x <= p[c as usize])));
        assert_eq!(again.decision_function(&data).unwrap().mapv(f64::exp), proba);
        assert!(again.predict_targets(&data).is_err() && again.model().is_err());
    }
}

#[test]
fn altered_discriminants_are_refused() {
    let all = discriminants();
    let altered = |which: usize, key: &[&str], value: serde_json::Value, reason: &str| {
        let bytes = file::save_to_bytes(&all[which]).unwrap();
        let why = refusal(&with_metadata(&bytes, |own| {
            let place = key.iter().fold(&mut own["steps"][0], |at, key| &mut at[*key]);
            *place = value;
        }));
        assert!(why.contains(reason), "expected `{reason}` in: {why}");
    };
    altered(0, &["state", "n_classes"], json!(4), "for each of 4 classes");
    altered(0, &["state", "n_classes"], json!(u64::MAX), "cannot be");
    altered(0, &["params", "em", "n_components"], json!(0), "n_components = 0");
    altered(0, &["params", "em", "n_components"], json!(3), "cannot be Fixed(3)");
    altered(0, &["state", "progress"], json!(null), "unexpected tensor `0.history`");
    altered(0, &["state", "progress", "status"], json!("fine"), "status = \"fine\"");
    altered(0, &["params", "priors"], json!([1.0, 2.0]), "priors");
    altered(0, &["params", "priors"], json!([1.0, 2.0, -1.0]), "priors = -1");
    altered(1, &["params", "em", "tol"], json!(-1), "tol = -1");
    altered(1, &["params", "em", "reg_covar"], json!(2), "reg_covar = 2");
    altered(1, &["surprise"], json!(1), "surprise");
}

#[test]
fn regressions_with_errors_in_both_come_back() {
    let data = data();
    let y = (0..36).map(|i| data.means().row(i)[0] + f64::from(i as u32 % 5)).collect();
    let targets = Targets::new(y).unwrap().with_variances(vec![0.1; 36]).unwrap();
    for k in [1, 2] {
        let em = deconvolution::Params { components: Components::Fixed(k), ..Default::default() };
        let params = mixture_regression::Params::new().em(em).check().unwrap();
        let model = params.fit(&Dataset::new(&data).with_targets(&targets).unwrap()).unwrap();
        assert_eq!(model.law().is_some(), k == 1);
        let saved = Saved::new(vec![Step::new(model.clone(), params)], vec![]);
        let bytes = file::save_to_bytes(&saved).unwrap();
        let again = file::load_from_bytes(&bytes).unwrap();
        assert_eq!(again, saved);
        assert_eq!(file::save_to_bytes(&again).unwrap(), bytes);
        let (means, stds) = again.predict_distribution(&data).unwrap();
        assert_eq!((means.to_vec(), stds.to_vec()), model.predict_density(&data).unwrap().moments());
        assert_eq!(again.predict_targets(&data).unwrap(), model.predict(&data).unwrap());
        if k == 1 {
            let renamed = with_header(&bytes, |header| {
                let tensor = header.as_object_mut().unwrap().remove("0.coef").unwrap();
                header["0.slope"] = tensor;
            });
            assert!(refusal(&renamed).contains("`0.coef` is missing"));
        }
    }
}
