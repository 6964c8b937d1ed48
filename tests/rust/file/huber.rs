//! Huber regression and classification.

use ndarray::Array2;
use serde_json::{Value, json};
use uncertain::GaussianArray;
use uncertain::data::Rows;
use uncertain::file::{self, Class, Saved};
use uncertain::huber::{self, Graph, Kernel, Operator, View};
use uncertain::kernel::probabilistic_rbf::Coupling;
use uncertain::prelude::*;
use uncertain::step::Step;

use crate::support::{data, refusal, seal, split, with_metadata};

/// Every kernel and graph of Huber regression, some labels missing: regressions, two and three classes.
fn huber_machines() -> Vec<Saved> {
    let rows = data();
    let points = GaussianArray::exact(rows.means().clone()).unwrap();
    let squares: Vec<f64> = (0..36 * 36).map(|at| f64::from(u8::from(at / 36 == at % 36))).collect();
    let gram = GaussianArray::exact(Rows::from_vec(squares.clone(), 36).unwrap()).unwrap();
    let cubic = Kernel::Polynomial { degree: 3, gamma: None, coef0: 0.5 };
    let rbf = |gamma, coupling| Kernel::Rbf { gamma, coupling };
    let knn = Graph::Neighbors { count: 4, gamma: None };
    let given = Graph::Given { matrix: Operator::Dense { n: 36, values: squares }, regulariser: true };
    let columns = |kernel, column, graph| View { columns: Some(vec![column]), kernel, weight: 0.4, graph };
    let one = |kernel, graph| vec![View { kernel, graph, ..View::default() }];
    let several = vec![
        columns(rbf(Some(0.2), Coupling::Shared), 0, knn.clone()),
        columns(Kernel::Linear, 1, Graph::Full { gamma: Some(2.0) }),
    ];
    let cases = [
        (&rows, one(rbf(None, Coupling::Independent), knn.clone()), 3),
        (&points, one(cubic, Graph::None), 2),
        (&points, one(Kernel::Quadratic, Graph::Full { gamma: None }), 0),
        (&gram, one(Kernel::Precomputed, Graph::None), 2),
        (&rows, several, 0),
        (&points, one(Kernel::Linear, given), 0),
    ];
    let mut all = vec![];
    for (rows, views, n_classes) in cases {
        let codes: Vec<usize> = (0..36).map(|i| if n_classes == 2 { i % 2 } else { i % 3 }).collect();
        let target = |k: usize| {
            let value = |i: usize| match n_classes {
                _ if i % 6 == 5 => f64::NAN,
                0 => rows.means().row(i)[0] + if i % 11 == 3 { 20.0 } else { 0.0 },
                2 => [-1.0, 1.0][codes[i]],
                _ => [-1.0, 1.0][usize::from(codes[i] == k)],
            };
            (0..36).map(value).collect::<Vec<f64>>()
        };
        let targets: Vec<Vec<f64>> = (0..if n_classes == 3 { 3 } else { 1 }).map(target).collect();
        let params = huber::Params::new().alpha(1e-2).delta(0.5).views(views).probability(n_classes > 0).seed(3);
        let params = params.check().unwrap();
        let outputs = Array2::from_shape_vec((targets.len(), 36), targets.concat()).unwrap();
        let machine = params.fit(&Dataset::partial(rows, &outputs.t(), n_classes).unwrap()).unwrap();
        let classes = (0..n_classes as i64).map(Class::from).collect();
        all.push(Saved::new(vec![Step::new(machine, params)], classes));
    }
    all
}

#[test]
fn huber_machines_come_back_and_answer_as_before() {
    for saved in huber_machines() {
        let Some(Step::Huber(with)) = saved.steps.last() else { panic!() };
        let (machine, params) = (&with.model, &with.params);
        let bytes = file::save_to_bytes(&saved).unwrap();
        let loaded = file::load_from_bytes(&bytes).unwrap();
        let Some(Step::Huber(again)) = loaded.steps.last() else { panic!() };
        assert_eq!(&again.model, machine);
        let given = matches!(params.params().views[0].graph, Graph::Given { .. });
        assert_eq!(&again.params == params, !given);
        assert_eq!(file::save_to_bytes(&loaded).unwrap(), bytes);
        let new = machine.rows().map_or_else(
            || GaussianArray::exact(Rows::from_vec((0..72).map(f64::from).collect(), 36).unwrap()).unwrap(),
            |rows| rows.slice(3..8),
        );
        if machine.n_classes() == 0 {
            assert_eq!(loaded.predict_targets(&new).unwrap(), Regressor::predict(machine, &new).unwrap());
            assert!(loaded.predict(&new).is_err() && loaded.decision_function(&new).is_err());
        } else {
            assert_eq!(loaded.decision_function(&new).unwrap(), machine.decision_function(&new).unwrap());
            assert_eq!(loaded.predict(&new).unwrap(), Classifier::predict(machine, &new).unwrap());
            assert_eq!(loaded.predict_proba(&new).unwrap(), machine.predict_proba(&new).unwrap());
            assert!(loaded.predict_targets(&new).is_err());
        }
    }
}

#[test]
fn altered_huber_machines_are_refused() {
    let all = huber_machines();
    let altered = |which: usize, change: &dyn Fn(&mut Value), reason: &str| {
        let bytes = file::save_to_bytes(&all[which]).unwrap();
        let why = refusal(&with_metadata(&bytes, |own| change(&mut own["steps"][0])));
        assert!(why.contains(reason), "expected `{reason}` in: {why}");
    };
    let huge = json!(u64::MAX);
    altered(0, &|step| step["state"]["n_classes"] = json!(4), "a model of 4 classes cannot");
    altered(0, &|step| step["state"]["n_classes"] = json!(0), "a model of 0 classes cannot");
    altered(1, &|step| step["state"]["n_classes"] = json!(0), "probabilities");
    altered(0, &|step| drop(step.as_object_mut().unwrap().remove("rows")), "without the rows");
    altered(0, &|step| step["state"]["outcomes"] = json!([]), "cannot have");
    altered(0, &|step| drop(step["state"]["outcomes"].as_array_mut().unwrap().pop()), "cannot have");
    altered(0, &|step| step["params"]["views"] = json!([]), "views");
    altered(0, &|step| step["params"]["views"][0]["weight"] = json!(0), "view_weights");
    altered(0, &|step| step["state"]["gammas"][0] = json!(-1), "gamma");
    altered(0, &|step| step["state"]["gammas"][0] = Value::Null, "not the scale of a rbf kernel");
    altered(0, &|step| step["params"]["views"][0]["kernel"]["rbf"]["coupling"] = json!("both"), "coupling");
    altered(0, &|step| step["params"]["views"][0]["kernel"] = json!("sigmoid"), "sigmoid");
    altered(0, &|step| step["params"]["views"][0]["kernel"] = json!("precomputed"), "not the scale");
    altered(0, &|step| step["params"]["alpha"] = json!(0), "alpha = 0");
    altered(4, &|step| step["params"]["views"][1]["columns"] = json!([2]), "feature 2");
    altered(4, &|step| step["params"]["views"][1]["columns"] = json!([]), "without features");
    altered(4, &|step| step["state"]["outcomes"][0]["ending"] = json!("tired"), "status = \"tired\"");
    altered(4, &|step| step["state"]["outcomes"][0]["history"] = json!([]), "thresholds.0");
    altered(4, &|step| step["state"]["outcomes"][0]["history"][0]["dropped"] = huge.clone(), "not those of its");
    let mut bytes = file::save_to_bytes(&all[4]).unwrap();
    let (header, data) = split(&bytes);
    let header: Value = serde_json::from_str(header).unwrap();
    let at = bytes.len() - data.len() + header["0.removed.0"]["data_offsets"][0].as_u64().unwrap() as usize;
    bytes[at..at + 8].copy_from_slice(&36.0_f64.to_le_bytes());
    assert!(refusal(&seal(bytes)).contains("36 is not a row number"));
}
