//! What is written is read back, whatever the steps.

use uncertain::file::{self, Class, Saved};
use uncertain::prelude::*;
use uncertain::step::Step;
use uncertain::transform::GaussianScaler;

use crate::kernel_machine::kernel_machines;
use crate::support::{binary, data, saved, seal, split};

#[test]
fn what_goes_in_comes_out_and_the_bytes_are_always_the_same() {
    for saved in [saved(), binary()].into_iter().chain(kernel_machines()) {
        let bytes = file::save_to_bytes(&saved).unwrap();
        let loaded = file::load_from_bytes(&bytes).unwrap();
        assert_eq!(loaded, saved);
        assert_eq!(file::save_to_bytes(&loaded).unwrap(), bytes);
        assert_eq!(seal(bytes.clone()), bytes);
        assert_eq!(split(&bytes).1.as_ptr() as usize % 8, bytes.as_ptr() as usize % 8);
    }
}

#[test]
fn the_number_of_threads_is_not_part_of_a_model() {
    let mut threaded = binary();
    let Some(Step::Gsu(with)) = threaded.steps.last_mut() else { panic!() };
    with.params = with.params.params().clone().control(uncertain::Control::new().with_threads(3)).check().unwrap();
    assert_eq!(file::save_to_bytes(&threaded).unwrap(), file::save_to_bytes(&binary()).unwrap());
}

#[test]
fn a_loaded_model_predicts_what_the_pipeline_predicted() {
    let saved = saved();
    let loaded = file::load_from_bytes(&file::save_to_bytes(&saved).unwrap()).unwrap();
    let rows = loaded.transform(&data()).unwrap();
    let codes = loaded.predict(&data()).unwrap();
    assert_eq!(codes, saved.model().unwrap().predict(&rows).unwrap());
    assert_eq!(loaded.predict_proba(&data()).unwrap(), saved.predict_proba(&data()).unwrap());
    assert_eq!(loaded.decision_function(&data()).unwrap(), saved.decision_function(&data()).unwrap());
    let classes = loaded.predict_classes(&data()).unwrap();
    assert!(classes.iter().zip(&codes).all(|(class, &code)| **class == saved.classes[code as usize]));
}

#[test]
fn a_gap_that_is_not_known_survives() {
    let mut model = binary();
    let Some(Step::Gsu(with)) = model.steps.last_mut() else { panic!() };
    with.model.linear.fits[0].gap = f64::NAN;
    let loaded = file::load_from_bytes(&file::save_to_bytes(&model).unwrap()).unwrap();
    assert!(loaded.model().unwrap().linear.fits[0].gap.is_nan());
}

#[test]
fn parts_that_do_not_fit_cannot_be_saved() {
    let refused = |change: &dyn Fn(&mut Saved), reason: &str| {
        let mut saved = saved();
        change(&mut saved);
        let why = file::save_to_bytes(&saved).unwrap_err().to_string();
        assert!(why.contains(reason), "{why}");
    };
    refused(&|s| drop(s.steps.pop()), "followed by one classifier");
    refused(&|s| s.steps.reverse(), "followed by one classifier");
    refused(&|s| s.classes[2] = Class::from(f64::NAN), "not a finite number");
    refused(&|s| s.columns = format!("{{\"a\": \"{}\"}}", "x".repeat(1 << 20)), "bytes of 1048576");
    refused(&|s| s.steps[0] = Step::from_model(GaussianScaler::new(vec![0.0], vec![1.0]).unwrap()), "1 and 2");
}

#[test]
fn files_are_written_whole_and_read_back() {
    let directory = std::env::temp_dir().join(format!("uncertain-file-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("model.safetensors");
    file::write(&path, &saved()).unwrap();
    file::write(&path, &binary()).unwrap();
    assert_eq!(file::read(&path).unwrap(), binary());
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "drafts must not stay behind");
    let missing = file::read(directory.join("missing")).unwrap_err().to_string();
    assert!(missing.contains("cannot be read"), "{missing}");
    let nowhere = file::write(directory.join("no/such/place"), &binary()).unwrap_err().to_string();
    assert!(nowhere.contains("cannot be written"), "{nowhere}");

    // A huge file is refused by its first bytes or its length; it is sparse, reading it would take long.
    let huge = directory.join("huge");
    std::fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap();
    assert!(file::read(&huge).unwrap_err().to_string().contains("at most"));
    // Neither a folder nor what never ends.
    for other in [directory.clone(), "/dev/zero".into()].iter().filter(|path| path.exists()) {
        let why = file::read(other).unwrap_err().to_string();
        assert!(why.contains("no file") || why.contains("cannot be read"), "{why}");
    }
    std::fs::remove_dir_all(&directory).unwrap();
}
