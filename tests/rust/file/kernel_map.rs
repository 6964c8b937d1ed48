//! Kernel maps between a scaler and a classifier.

use serde_json::json;
use uncertain::data::Labels;
use uncertain::file::{self, Class, Saved};
use uncertain::gsu::Params;
use uncertain::kernel::PointKernel;
use uncertain::prelude::*;
use uncertain::step::Step;
use uncertain::transform::{KernelMapParams, ScalerParams, Spread};

use crate::support::{data, refusal, with_metadata};

const KERNELS: [PointKernel; 4] = [
    PointKernel::Linear,
    PointKernel::Quadratic,
    PointKernel::Polynomial { degree: 2, gamma: 0.5, coef0: 1.0 },
    PointKernel::Rbf { gamma: 0.3 },
];

/// A scaler and a classifier around each kernel.
fn with_kernel(kernel: PointKernel) -> Saved {
    let data = data();
    let labels = Labels::new((0..36).map(|i| u32::from(i % 3 == 0)).collect(), 2).unwrap();
    let scaler = ScalerParams { spread: Spread::Means }.fit(&Dataset::new(&data)).unwrap();
    let rows = scaler.transform(&data).unwrap();
    let map = KernelMapParams::from(kernel).tol(1e-6).max_rank(Some(9)).fit(&Dataset::new(&rows)).unwrap();
    let params = Params::new().check().unwrap();
    let model = params.fit(&Dataset::new(map.transform(&rows).unwrap()).with_labels(&labels).unwrap()).unwrap();
    let steps = vec![Step::from_model(scaler), Step::from_model(map), Step::new(model, params)];
    let mut saved = Saved::new(steps, vec![Class::from("b"), Class::from("a")]);
    saved.features = vec!["height".into(), "width".into()];
    saved
}

#[test]
fn kernel_maps_come_back_and_must_fit_what_follows() {
    for kernel in KERNELS {
        let saved = with_kernel(kernel);
        let bytes = file::save_to_bytes(&saved).unwrap();
        let loaded = file::load_from_bytes(&bytes).unwrap();
        assert_eq!(loaded, saved);
        assert_eq!(loaded.decision_function(&data()).unwrap(), saved.decision_function(&data()).unwrap());
        let why = refusal(&with_metadata(&bytes, |own| own["steps"][1]["state"]["kernel"] = json!("sigmoid")));
        assert!(why.contains("sigmoid"), "{why}");
        let why = refusal(&with_metadata(&bytes, |own| own["steps"][1]["params"]["tol"] = json!(7)));
        assert!(why.contains("tol = 7"), "{why}");
        let mut twice = saved;
        let again = twice.steps[1].clone();
        twice.steps.insert(1, again);
        let different = twice.steps[1].clone();
        if let Step::KernelMap(map) = different {
            let fits = map.model.rank() == 2;
            assert_eq!(file::save_to_bytes(&twice).is_ok(), fits);
        }
    }
}
