//! Averages of pipelines: nested steps, and what they answer together.

use serde_json::{Value, json};
use uncertain::data::{Incomplete, Labels, Targets};
use uncertain::file::{self, Class, Saved};
use uncertain::ndarray::{Array2, Axis, stack};
use uncertain::prelude::*;
use uncertain::step::{Average, Step};
use uncertain::transform::{GaussianImputer, ScalerParams, Spread};
use uncertain::{Control, deconvolution, gsu_regression, mixture_regression};

use crate::kernel_machine::kernel_machines;
use crate::mixture::discriminants;
use crate::support::{data, refusal, saved, seal, split, with_header, with_metadata};

const SHARES: [f64; 3] = [0.5, 0.125, 0.375];

fn classes() -> Vec<Class> {
    vec![Class::from("a"), Class::from("b"), Class::from("c")]
}

/// Scaler, subspace and SVM-GSU beside two discriminants.
fn members() -> Vec<Vec<Step>> {
    std::iter::once(saved()).chain(discriminants()).map(|saved| saved.steps).collect()
}

fn averaged() -> Saved {
    Saved::new(vec![Step::from_model(Average::new(members(), SHARES.to_vec()).unwrap())], classes())
}

fn weighted(parts: &[Array2<f64>], weights: &[f64]) -> Array2<f64> {
    parts.iter().zip(weights).map(|(p, w)| p * *w).reduce(|a, b| a + b).unwrap()
}

fn near(a: &Array2<f64>, b: &Array2<f64>) -> bool {
    a.dim() == b.dim() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-13 * (1.0 + x.abs()))
}

#[test]
fn probabilities_are_the_members_weighted() {
    let saved = averaged();
    let bytes = file::save_to_bytes(&saved).unwrap();
    let loaded = file::load_from_bytes(&bytes).unwrap();
    assert_eq!(loaded, saved);
    assert_eq!(file::save_to_bytes(&loaded).unwrap(), bytes);
    assert_eq!(seal(bytes.clone()), bytes);
    let single = members().into_iter().map(|steps| Saved::new(steps, classes()).predict_proba(&data()).unwrap());
    let expected = weighted(&single.collect::<Vec<_>>(), &SHARES);
    let p = loaded.predict_proba(&data()).unwrap();
    assert!(near(&p, &expected));
    let largest = |row: uncertain::ndarray::ArrayView1<'_, f64>| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b]));
    let codes: Vec<u32> = expected.outer_iter().map(|row| largest(row).unwrap() as u32).collect();
    assert_eq!(loaded.predict(&data()).unwrap().to_vec(), codes);
    assert!(near(&loaded.decision_function(&data()).unwrap(), &expected.mapv(f64::ln)));
    let Step::Average(with) = &loaded.steps[0] else { panic!() };
    assert_eq!((with.model.members(), with.model.weights().row(0).to_vec()), (&members()[..], SHARES.to_vec()));
    assert_eq!(file::step_from_bytes(&file::step_to_bytes(&loaded.steps[0]).unwrap()).unwrap(), loaded.steps[0]);
}

#[test]
fn kernel_machines_bring_their_rows_and_members_of_no_weight_stay() {
    for machine in kernel_machines().into_iter().filter(|machine| machine.classes.len() == 2) {
        let both = vec![machine.steps.clone(), machine.steps.clone()];
        let average = Average::new(both, vec![1.0, 0.0]).unwrap();
        let saved = Saved::new(vec![Step::from_model(average)], machine.classes.clone());
        let loaded = file::load_from_bytes(&file::save_to_bytes(&saved).unwrap()).unwrap();
        assert_eq!(loaded, saved);
        if let Ok(p) = machine.predict_proba(&data()) {
            assert_eq!(loaded.predict_proba(&data()).unwrap(), p);
            let odds = loaded.decision_function(&data()).unwrap();
            assert_eq!(odds.dim(), (36, 1));
            assert!(odds.iter().zip(p.column(1)).all(|(odds, p)| (odds - (p / (1.0 - p)).ln()).abs() < 1e-9));
        }
    }
}

#[test]
fn regressions_mix_their_distributions() {
    let rows = data();
    let fit = |alpha: f64, scaled: bool| {
        let scaler = ScalerParams { spread: Spread::Means }.fit(&Dataset::new(&rows)).unwrap();
        let seen = if scaled { scaler.transform(&rows).unwrap() } else { rows.clone() };
        let targets = Targets::new((0..36).map(|i| f64::from(i % 5) * 0.7).collect()).unwrap();
        let params = gsu_regression::Params::new().alpha(alpha).check().unwrap();
        let model = Step::new(params.fit(&Dataset::new(&seen).with_targets(&targets).unwrap()).unwrap(), params);
        if scaled { vec![Step::from_model(scaler), model] } else { vec![model] }
    };
    let members = vec![fit(0.01, true), fit(1.0, false)];
    let single: Vec<_> =
        members.iter().map(|steps| Saved::new(steps.clone(), vec![]).predict_distribution(&rows).unwrap()).collect();
    let average = Saved::new(vec![Step::from_model(Average::new(members, vec![0.25, 0.75]).unwrap())], vec![]);
    let loaded = file::load_from_bytes(&file::save_to_bytes(&average).unwrap()).unwrap();
    let (means, stds) = loaded.predict_distribution(&rows).unwrap();
    assert_eq!(loaded.predict_targets(&rows).unwrap(), means);
    for i in 0..36 {
        let [(m0, s0), (m1, s1)] = [0, 1].map(|k| (single[k].0[i], single[k].1[i]));
        // E x^2 - (E x)^2 of the mixture
        let mean = 0.25 * m0 + 0.75 * m1;
        let square = 0.25 * (m0 * m0 + s0 * s0) + 0.75 * (m1 * m1 + s1 * s1);
        assert!((means[i] - mean).abs() < 1e-13);
        assert!((stds[i] * stds[i] - (square - mean * mean)).abs() < 1e-12);
    }
    assert!(loaded.predict(&rows).is_err() && loaded.predict_proba(&rows).is_err());
}

#[test]
fn weights_follow_the_noise_of_a_row() {
    let weights = uncertain::ndarray::array![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let rows = data();
    let d = rows.n_features();
    let mut variances = vec![0.0; d];
    rows.covariances().variances(5, &mut variances);
    let ask = |size: f64| {
        let sizes = variances.iter().map(|v| v.sqrt() * size).collect();
        let average = Average::by_level(members(), weights.clone(), sizes).unwrap();
        let saved = Saved::new(vec![Step::from_model(average)], classes());
        let bytes = file::save_to_bytes(&saved).unwrap();
        file::load_from_bytes(&bytes).unwrap().predict_proba(&rows).unwrap().row(5).to_owned()
    };
    let single: Vec<_> = members()
        .into_iter()
        .map(|steps| Saved::new(steps, classes()).predict_proba(&rows).unwrap().row(5).to_owned())
        .collect();
    let close = |a: uncertain::ndarray::Array1<f64>, b: uncertain::ndarray::Array1<f64>| {
        (a - b).iter().all(|x| x.abs() < 1e-12)
    };
    // Errors 2^-1, 2^.25, 2^1 and 2^5 times those of typical rows.
    assert!(close(ask(2.0), single[0].clone()));
    assert!(close(ask(0.25_f64.exp2().recip()), &single[0] * 0.75 + &single[1] * 0.25));
    assert!(close(ask(0.5), single[1].clone()));
    assert!(close(ask(1.0 / 32.0), single[2].clone()));
    assert!(Average::by_level(members(), weights.clone(), vec![1.0; d + 1]).is_err());
    assert!(Average::by_level(members(), weights, vec![-1.0; d]).is_err());
}

#[test]
fn gaps_come_to_members_that_take_them() {
    let rows = data();
    let missing: Vec<bool> = (0..72).map(|p| p % 7 == 5).collect();
    let gaps = Incomplete::new(&rows, &missing).unwrap();
    let denoiser = deconvolution::Params::new().denoiser().fit(&Dataset::new(gaps)).unwrap();
    let filled = [vec![Step::from_model(GaussianImputer::new(denoiser.mixture().clone()))], saved().steps].concat();
    let both = vec![discriminants().remove(0).steps, filled];
    let average = Saved::new(vec![Step::from_model(Average::new(both.clone(), vec![0.5, 0.5]).unwrap())], classes());
    let single = both.into_iter().map(|steps| Saved::new(steps, classes()).predict_proba(gaps).unwrap());
    let views: Vec<_> = single.collect();
    let expected = stack(Axis(0), &[views[0].view(), views[1].view()]).unwrap().mean_axis(Axis(0)).unwrap();
    assert!(near(&average.predict_proba(gaps).unwrap(), &expected));
    let why = averaged().predict_proba(gaps).unwrap_err().to_string();
    assert!(why.contains("need an imputer"), "{why}");
}

#[test]
fn what_does_not_go_together_is_no_average() {
    let refused = |members: Vec<Vec<Step>>, weights: &[f64], reason: &str| {
        let why = Average::new(members, weights.to_vec()).unwrap_err().to_string();
        assert!(why.contains(reason), "{why}");
    };
    refused(vec![], &[], "0 members");
    refused(members(), &[0.5, 0.5], "3 members with 2 weights");
    for weights in [[0.5, 0.5, 0.5], [1.5, -0.5, 0.0], [f64::NAN, 0.5, 0.5], [f64::INFINITY, 0.0, 0.0]] {
        refused(members(), &weights, "sum to 1");
    }
    let nested = vec![averaged().steps, averaged().steps];
    refused(nested, &[0.5, 0.5], "an average itself");
    refused(vec![members()[0][..2].to_vec()], &[1.0], "followed by one classifier");
    refused(vec![vec![]], &[1.0], "followed by one classifier");
    let labels = Labels::new((0..36).map(|i| i % 2).collect(), 2).unwrap();
    let params = uncertain::gsu::Params::new().check().unwrap();
    let two = vec![Step::new(params.fit(&Dataset::new(data()).with_labels(&labels).unwrap()).unwrap(), params)];
    refused(vec![members().remove(1), two], &[0.5, 0.5], "member 1 of the average has another number");
    let mut wrong = averaged();
    wrong.classes.pop();
    assert!(file::save_to_bytes(&wrong).unwrap_err().to_string().contains("names 2 classes"));
}

#[test]
fn altered_averages_are_refused_even_with_a_right_checksum() {
    let bytes = file::save_to_bytes(&averaged()).unwrap();
    let altered = |change: &dyn Fn(&mut Value), reason: &str| {
        let why = refusal(&with_metadata(&bytes, |own| change(&mut own["steps"][0]["state"]["members"])));
        assert!(why.contains(reason), "expected `{reason}` in: {why}");
    };
    altered(&|members| members[1][0]["kind"] = json!("average"), "an average itself");
    altered(&|members| members[1][0]["kind"] = json!("pickle"), "in member 1 of the average, kind = \"pickle\"");
    altered(&|members| members[0][2]["params"]["alpha"] = json!(-1), "in member 0 of the average");
    altered(&|members| members[0][2]["surprise"] = json!(1), "surprise");
    altered(&|members| drop(members.as_array_mut().unwrap().pop()), "2 members with 3 weights");
    altered(&|members| drop(members[0].as_array_mut().unwrap().pop()), "followed by one classifier");
    altered(&|members| members[0].as_array_mut().unwrap().reverse(), "missing");
    altered(&|members| *members = json!([]), "0 members");
    altered(&|members| *members = json!(vec![json!([]); 300]), "300 members");
    altered(&|members| members[1] = members[2].clone(), "in member 1 of the average");

    // A whole file inside, and again: the depth is one.
    let state = |own: &Value| own["steps"][0].clone();
    let deep = with_metadata(&bytes, |own| {
        let inner = state(own);
        own["steps"][0]["state"]["members"][0] = json!([inner]);
    });
    assert!(refusal(&deep).contains("an average itself"));
    let renamed = with_header(&bytes, |header| {
        let tensor = header.as_object_mut().unwrap().remove("0.1.0.means").unwrap();
        header["0.3.0.means"] = tensor;
    });
    assert!(refusal(&renamed).contains("in member 1 of the average, the tensor `0.means` is missing"));
    let weights = SHARES.map(f64::to_le_bytes).concat();
    let at = bytes.len() - split(&bytes).1.len() + split(&bytes).1.windows(24).position(|w| w == weights).unwrap();
    let mut heavier = bytes.clone();
    heavier[at..at + 8].copy_from_slice(&0.75_f64.to_le_bytes());
    assert!(refusal(&seal(heavier)).contains("sum to 1"));
}

#[test]
fn densities_are_mixed_and_have_the_moments_of_the_distribution() {
    let control = Control::new();
    let rows = data();
    let targets = Targets::new((0..36).map(|i| f64::from(i % 5) * 0.7 + f64::from(i % 3)).collect()).unwrap();
    let fit = |k: usize| {
        let em = deconvolution::Params { components: deconvolution::Components::Fixed(k), ..Default::default() };
        let data = Dataset::new(&rows).with_targets(&targets).unwrap();
        vec![Step::from_model(mixture_regression::Params::new().em(em).fit(&data).unwrap())]
    };
    let members = vec![fit(1), fit(2)];
    let single: Vec<_> =
        members.iter().map(|steps| steps[0].predictor().densities((&rows).into(), &control).unwrap()).collect();
    let average = Saved::new(vec![Step::from_model(Average::new(members, vec![0.25, 0.75]).unwrap())], vec![]);
    let loaded = file::load_from_bytes(&file::save_to_bytes(&average).unwrap()).unwrap();
    let mixed = loaded.steps[0].predictor().densities((&rows).into(), &control).unwrap();
    let (means, stds) = mixed.moments();
    let (expected, deviations) = loaded.predict_distribution(&rows).unwrap();
    for i in 0..36 {
        assert!((mixed.row(i).map(|part| part.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((means[i] - expected[i]).abs() < 1e-12 && (stds[i] - deviations[i]).abs() < 1e-9);
        let parts: Vec<_> = mixed.row(i).map(|part| (part.mean, part.std)).collect();
        let own: Vec<_> = single.iter().flat_map(|d| d.row(i)).map(|part| (part.mean, part.std)).collect();
        assert_eq!(parts, own);
    }
    let linear = gsu_regression::Params::new().check().unwrap();
    let linear = vec![Step::new(linear.fit(&Dataset::new(&rows).with_targets(&targets).unwrap()).unwrap(), linear)];
    let without = Average::new(vec![linear], vec![1.0]).unwrap();
    assert!(Step::from_model(without).predictor().densities((&rows).into(), &control).is_err());
}
