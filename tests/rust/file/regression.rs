//! SVM-GSU for regression.

use serde_json::json;
use uncertain::file::{self, Class, Saved, Step};
use uncertain::gsu_regression;
use uncertain::loss::LossKind;
use uncertain::{Control, Targets};

use crate::support::{data, refusal, with_metadata};

#[test]
fn regressions_come_back_and_have_no_classes() {
    let (data, control) = (data(), Control::new());
    let targets = Targets::new((0..36).map(|i| f64::from(i % 5) * 0.7).collect()).unwrap();
    for loss in [LossKind::EpsilonInsensitive { epsilon: 0.2 }, LossKind::Huber { delta: 0.5 }, LossKind::Squared] {
        let params = gsu_regression::Params::new().loss(loss).seed(9).check().unwrap();
        let model = params.fit(&data, &targets, &control).unwrap();
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
