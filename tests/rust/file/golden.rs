//! Files of earlier days still load.

use std::path::PathBuf;

use uncertain::file::{self, Class, FORMAT_VERSION, Saved};
use uncertain::probabilistic_kernel::Coupling;
use uncertain::step::Step;
use uncertain::transform::{GaussianScaler, Project};

use crate::kernel_machine::kernel_machines;
use crate::support::{data, saved};

fn golden_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/golden")
        .join(format!("model_v{FORMAT_VERSION}.safetensors"))
}

fn golden_kernel_path() -> PathBuf {
    golden_path().with_file_name(format!("model_v{FORMAT_VERSION}_kernel.safetensors"))
}

/// Scaled rows with full covariances, three classes, probabilities.
fn golden_kernel() -> Saved {
    let mut saved = kernel_machines().swap_remove(10);
    saved.steps.insert(0, Step::from_model(GaussianScaler::new(vec![0.5, 1.0], vec![2.0, 1.5]).unwrap()));
    saved
}

/// Run once: `cargo test --release --test file -- --ignored write_kernel_golden`.
#[test]
#[ignore = "writes the golden file of a kernel classifier"]
fn write_kernel_golden() {
    assert!(!golden_kernel_path().exists(), "golden files are never replaced");
    file::write(golden_kernel_path(), &golden_kernel()).unwrap();
}

/// Run once when the format gets a new version: `cargo test --release --test file -- --ignored write_golden`.
#[test]
#[ignore = "writes the golden file of a new format version"]
fn write_golden() {
    assert!(!golden_path().exists(), "golden files are never replaced");
    file::write(golden_path(), &saved()).unwrap();
}

#[test]
fn the_golden_file_still_loads() {
    let golden = file::read(golden_path()).unwrap();
    let today = saved();
    assert_eq!((golden.classes.clone(), golden.features.clone()), (today.classes.clone(), today.features.clone()));
    assert_eq!(golden.columns, today.columns);
    assert_eq!(golden.version, "0.1.0");
    let ([Step::Scaler(scaler), Step::Subspace(subspace), Step::Gsu(gsu)], Step::Gsu(same)) =
        (golden.steps.as_slice(), &today.steps[2])
    else {
        panic!("{golden:?}")
    };
    assert_eq!(scaler.model.mean(), [5.944444444444445, 2.9166666666666665]);
    assert_eq!((subspace.model.variance(), subspace.model.project()), (0.9, Project::Covariance));
    assert_eq!(gsu.params, same.params);
    // The numbers of the file itself, not of a fit made today.
    let model = golden.model().unwrap();
    assert_eq!(model.linear.coef.row(2).to_vec(), [5.045075204090496, -0.3459138465301426]);
    assert_eq!(model.linear.intercept[0], -2.3021881480324917);
    assert_eq!(model.linear.fits[2].objective, 0.1793281384310074);
    let p = golden.predict_proba(&data()).unwrap();
    for (k, expected) in [0.4315803550401637, 0.4082247082375569, 0.1601949367222793].into_iter().enumerate() {
        assert!((p[[1, k]] - expected).abs() < 1e-9, "{k}: {}", p[[1, k]]);
    }
}

#[test]
fn the_golden_kernel_classifier_still_loads() {
    let golden = file::read(golden_kernel_path()).unwrap();
    let (today, labels) = (golden_kernel(), ["a", "b", "c"].map(Class::from));
    assert_eq!(golden.classes, labels);
    let ([_, Step::KernelSvc(svc)], Step::KernelSvc(same)) = (golden.steps.as_slice(), &today.steps[1]) else {
        panic!("{golden:?}")
    };
    assert_eq!(svc.params, same.params);
    let model = &svc.model;
    let basis = model.basis.as_ref().unwrap();
    // The numbers of the file itself, not of a fit made today.
    assert_eq!((basis.sigma(), basis.coupling()), (1.5, Coupling::Independent));
    assert_eq!(model.expansion.n_support, [9, 11, 11]);
    assert_eq!(model.expansion.support[..5], [0, 3, 6, 9, 18]);
    assert_eq!(model.expansion.intercept[1], -0.015456522904329478);
    assert_eq!(model.expansion.dual_coef[[0, 2]], 0.6628933740509971);
    let p = golden.predict_proba(&data()).unwrap();
    for (k, expected) in [0.7502016782613727, 0.16606166438734235, 0.08373665735128494].into_iter().enumerate() {
        assert!((p[[1, k]] - expected).abs() < 1e-9, "{k}: {}", p[[1, k]]);
    }
}
