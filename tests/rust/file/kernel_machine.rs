//! Classifiers and regressors with support rows.

use serde_json::{Value, json};
use uncertain::data::{Covariances, Labels, Names, Rows, Targets};
use uncertain::file::{self, Class, Saved};
use uncertain::kernel::probabilistic_rbf::{Bandwidth, Coupling};
use uncertain::prelude::*;
use uncertain::step::Step;
use uncertain::{GaussianArray, kernel_svc, kernel_svr};

use crate::support::{data, refusal, seal, split, with_metadata};

/// Support rows of every kind, in a classifier of three classes and in a regressor.
pub(crate) fn kernel_machines() -> Vec<Saved> {
    let plain = data();
    let (n, d) = (plain.n_rows(), plain.n_features());
    let names = Names::default();
    let means = || plain.means().clone();
    let values = |width: usize| {
        let all = (0..n * width).map(|i| 0.1 + (i * 7 % 11) as f64 / 20.0).collect();
        Rows::from_vec(all, width).unwrap()
    };
    let matrix = vec![0.5, 0.1, 0.1, 0.3];
    let spreads = [
        Covariances::Zero,
        Covariances::from_std(values(1)),
        Covariances::from_var(values(d)),
        Covariances::from_factor(values(3 * d), 3, None, &names).unwrap(),
        Covariances::from_factor(values(d), 1, Some(values(d)), &names).unwrap(),
        Covariances::from_cov(Rows::from_vec(matrix.repeat(n), 4).unwrap(), &names).unwrap(),
        Covariances::shared(&matrix, &names).unwrap(),
    ];
    let labels = Labels::new((0..36).map(|i| i % 3).collect(), 3).unwrap();
    let targets = Targets::new((0..n).map(|i| means().row(i)[0]).collect()).unwrap();
    let mut all = vec![];
    for (k, spread) in spreads.into_iter().enumerate() {
        let rows = GaussianArray::new(means(), spread).unwrap();
        let params = kernel_svc::Params::new().c(2.0).sigma(1.5).probability(k != 0).folds(3).seed(7);
        let params = if k % 2 == 0 { params.sigma(Bandwidth::Median) } else { params.coupling(Coupling::Independent) };
        let params = params.max_iter(Some(10_000)).check().unwrap();
        let model = params.fit(&Dataset::new(&rows).with_labels(&labels).unwrap()).unwrap();
        let classes = vec![Class::from("a"), Class::from("b"), Class::from("c")];
        all.push(Saved::new(vec![Step::new(model, params)], classes));
        let params = kernel_svr::Params::new().c(3.0).epsilon(0.2).sigma(2.0).check().unwrap();
        let model = params.fit(&Dataset::new(&rows).with_targets(&targets).unwrap()).unwrap();
        all.push(Saved::new(vec![Step::new(model, params)], vec![]));
    }
    // No support rows at all.
    let rows = GaussianArray::exact(means()).unwrap();
    let params = kernel_svr::Params::new().check().unwrap();
    let model = params.fit(&Dataset::regression(&rows, vec![5.0; n]).unwrap()).unwrap();
    all.push(Saved::new(vec![Step::new(model, params)], vec![]));
    all
}

#[test]
fn kernel_machines_answer_as_before() {
    let data = data();
    for saved in kernel_machines() {
        let loaded = file::load_from_bytes(&file::save_to_bytes(&saved).unwrap()).unwrap();
        match saved.steps.last() {
            Some(Step::KernelSvc(with)) => {
                let model = &with.model;
                assert_eq!(loaded.predict(&data).unwrap(), model.predict(&data).unwrap());
                assert_eq!(loaded.decision_function(&data).unwrap(), model.decision_function(&data).unwrap());
                assert_eq!(loaded.predict_proba(&data).is_ok(), model.expansion.platt.is_some());
                assert!(loaded.predict_targets(&data).is_err() && loaded.model().is_err());
            }
            Some(Step::KernelSvr(with)) => {
                let model = &with.model;
                assert_eq!(loaded.predict_targets(&data).unwrap(), model.predict(&data).unwrap());
                assert!(loaded.predict(&data).is_err() && loaded.decision_function(&data).is_err());
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn altered_kernel_machines_are_refused() {
    let all = kernel_machines();
    let altered = |which: usize, change: &dyn Fn(&mut Value), reason: &str| {
        let bytes = file::save_to_bytes(&all[which]).unwrap();
        let why = refusal(&with_metadata(&bytes, |own| change(&mut own["steps"][0])));
        assert!(why.contains(reason), "expected `{reason}` in: {why}");
    };
    altered(4, &|step| step["state"]["n_support"] = json!([1, 1]), "do not fit together");
    altered(4, &|step| step["state"]["n_support"] = json!([u64::MAX, 1, 1]), "do not fit together");
    altered(4, &|step| step["state"]["n_support"] = json!([]), "do not fit together");
    altered(4, &|step| drop(step["state"]["fits"].as_array_mut().unwrap().pop()), "do not fit together");
    altered(4, &|step| step["state"]["basis"]["sigma"] = json!(0.0), "sigma = 0");
    altered(4, &|step| step["state"]["basis"]["coupling"] = json!("both"), "coupling");
    altered(4, &|step| step["state"]["basis"] = Value::Null, "rows that do not belong to it");
    altered(4, &|step| step["params"]["C"] = json!(-1.0), "C = -1");
    altered(4, &|step| step["params"]["c"] = json!(1.0), "unknown field `c`");
    altered(4, &|step| step["rows"]["kind"] = json!("round"), "kind = \"round\"");
    altered(4, &|step| step["rows"]["kind"] = json!("zero"), "unexpected tensor `0.var`");
    altered(4, &|step| step["rows"]["kind"] = json!("low-rank"), "an array is missing of rows of the kind low-rank");
    altered(4, &|step| drop(step.as_object_mut().unwrap().remove("rows")), "has lost the rows");
    altered(5, &|step| step["state"]["fit"]["status"] = json!("fine"), "status = \"fine\"");
    altered(5, &|step| step["params"]["epsilon"] = json!(-1), "epsilon = -1");
    for (which, name, value, reason) in
        [(4, "0.var", -1.0_f64, "var: row 0"), (5, "0.support", 0.5, "0.5 is not a row number")]
    {
        let mut bytes = file::save_to_bytes(&all[which]).unwrap();
        let (header, data) = split(&bytes);
        let header: Value = serde_json::from_str(header).unwrap();
        let at = bytes.len() - data.len() + header[name]["data_offsets"][0].as_u64().unwrap() as usize;
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let why = refusal(&seal(bytes));
        assert!(why.contains(reason), "{why}");
    }
}
