//! The model file: what goes in comes out, and nothing else is let in.

use std::path::PathBuf;

use serde_json::{Value, json};
use uncertain::deconvolution::{self, Components};
use uncertain::file::{self, Class, FORMAT_VERSION, Saved, Step};
use uncertain::gsu::Params;
use uncertain::gsu_regression::{self, ResidualLoss};
use uncertain::kernel::PointKernel;
use uncertain::probabilistic_kernel::{Bandwidth, Coupling};
use uncertain::transform::{
    GaussianDenoiser, GaussianImputer, GaussianScaler, KernelMap, KernelMapOptions, Project, Spread, SubspaceProjector,
};
use uncertain::{Control, Covariances, Error, GaussianArray, Labels, Names, Rows, kernel_svc, kernel_svr};

fn data() -> GaussianArray {
    let means: Vec<f64> = (0..36).flat_map(|i| [f64::from(i % 3) * 4.0 + f64::from(i % 5), f64::from(i % 7)]).collect();
    let stds = (0..72).map(|i| 0.1 + f64::from(i % 4) / 4.0).collect();
    let stds = Covariances::from_std(Rows::from_vec(stds, 2).unwrap());
    GaussianArray::new(Rows::from_vec(means, 2).unwrap(), stds).unwrap()
}

/// All kinds of steps, three classes of different types, probabilities.
fn saved() -> Saved {
    let data = data();
    let labels = Labels::new((0..36).map(|i| i % 3).collect(), 3).unwrap();
    let scaler = GaussianScaler::fit(&data, None, Spread::Total).unwrap();
    let subspace = SubspaceProjector::new(0.9, Project::Covariance).unwrap();
    let rows = scaler.transform(&data).and_then(|rows| subspace.transform(&rows, &Control::new())).unwrap();
    let params = Params::new().probability(true).folds(3).seed(u64::MAX).check().unwrap();
    let model = params.fit(&rows, &labels, &Control::new()).unwrap();
    let steps = vec![Step::Scaler(scaler), Step::Subspace(subspace), Step::gsu(model, params)];
    let mut saved = Saved::new(steps, vec![Class::from("é \"quoted\""), Class::from(-7), Class::from(0.1)]);
    saved.features = vec!["height".into(), "width".into()];
    saved.columns = r#"{ "mean": ["height", "width"], "z": 1e300, "a": 18446744073709551617 }"#.into();
    saved
}

fn binary() -> Saved {
    let data = GaussianArray::points(Rows::from_vec(vec![1.0, 2.0, 3.0, 4.5], 1).unwrap()).unwrap();
    let labels = Labels::new(vec![0, 0, 1, 1], 2).unwrap();
    let params = Params::new().max_iter(Some(50)).check().unwrap();
    let model = params.fit(&data, &labels, &Control::new()).unwrap();
    Saved::new(vec![Step::gsu(model, params)], vec![Class::from(false), Class::from(true)])
}

/// Support rows of every kind, in a classifier of three classes and in a regressor.
fn kernel_machines() -> Vec<Saved> {
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
    let targets: Vec<f64> = (0..n).map(|i| means().row(i)[0]).collect();
    let mut all = vec![];
    for (k, spread) in spreads.into_iter().enumerate() {
        let rows = GaussianArray::new(means(), spread).unwrap();
        let params = kernel_svc::Params::new().c(2.0).sigma(1.5).probability(k != 0).folds(3).seed(7);
        let params = if k % 2 == 0 { params.sigma(Bandwidth::Median) } else { params.coupling(Coupling::Independent) };
        let params = params.max_iter(Some(10_000)).check().unwrap();
        let model = params.fit(&rows, &labels, &Control::new()).unwrap();
        let classes = vec![Class::from("a"), Class::from("b"), Class::from("c")];
        all.push(Saved::new(vec![Step::kernel_svc(model, params)], classes));
        let params = kernel_svr::Params::new().c(3.0).epsilon(0.2).sigma(2.0).check().unwrap();
        let model = params.fit(&rows, &targets, None, &Control::new()).unwrap();
        all.push(Saved::new(vec![Step::kernel_svr(model, params)], vec![]));
    }
    // No support rows at all.
    let rows = GaussianArray::points(means()).unwrap();
    let params = kernel_svr::Params::new().check().unwrap();
    let model = params.fit(&rows, &vec![5.0; n], None, &Control::new()).unwrap();
    all.push(Saved::new(vec![Step::kernel_svr(model, params)], vec![]));
    all
}

fn refusal(bytes: &[u8]) -> String {
    match file::load_from_bytes(bytes) {
        Err(Error::ModelFile(why)) => why,
        other => panic!("must be refused: {other:?}"),
    }
}

/// CRC-64 of the whole file with 16 zeros as checksum, written in their place: the rule of the format, written anew.
fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let mark = br#"\"checksum\":\""#;
    let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
    bytes[at..at + 16].fill(b'0');
    let mut crc = u64::MAX;
    for byte in &bytes {
        crc ^= u64::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xC96C_5795_D787_0F42 * (crc & 1));
        }
    }
    bytes[at..at + 16].copy_from_slice(format!("{:016x}", !crc).as_bytes());
    bytes
}

fn split(bytes: &[u8]) -> (&str, &[u8]) {
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (std::str::from_utf8(&bytes[8..8 + n]).unwrap(), &bytes[8 + n..])
}

fn join(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// A file whose outer header was changed as JSON, with a correct checksum.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (header, data) = split(bytes);
    let mut header: Value = serde_json::from_str(header).unwrap();
    change(&mut header);
    seal(join(&header.to_string(), data))
}

/// A file whose own metadata was changed, with a correct checksum.
fn with_metadata(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    with_header(bytes, |header| {
        let own = header["__metadata__"]["uncertain"].as_str().unwrap();
        let mut own: Value = serde_json::from_str(own).unwrap();
        change(&mut own);
        header["__metadata__"]["uncertain"] = Value::String(own.to_string());
    })
}

/// A scaler and a classifier around each kernel.
fn with_kernel(kernel: PointKernel) -> Saved {
    let (data, control) = (data(), Control::new());
    let labels = Labels::new((0..36).map(|i| u32::from(i % 3 == 0)).collect(), 2).unwrap();
    let scaler = GaussianScaler::fit(&data, None, Spread::Means).unwrap();
    let rows = scaler.transform(&data).unwrap();
    let map = KernelMap::fit(&rows, kernel, &KernelMapOptions { tol: 1e-6, max_rank: Some(9) }, &control).unwrap();
    let params = Params::new().check().unwrap();
    let model = params.fit(&map.transform(&rows, &control).unwrap(), &labels, &control).unwrap();
    let steps = vec![Step::Scaler(scaler), Step::KernelMap(Box::new(map)), Step::gsu(model, params)];
    let mut saved = Saved::new(steps, vec![Class::from("b"), Class::from("a")]);
    saved.features = vec!["height".into(), "width".into()];
    saved
}

const KERNELS: [PointKernel; 4] = [
    PointKernel::Linear,
    PointKernel::Quadratic,
    PointKernel::Polynomial { degree: 2, gamma: 0.5, coef0: 1.0 },
    PointKernel::Rbf { gamma: 0.3 },
];

#[test]
fn regressions_come_back_and_have_no_classes() {
    let (data, control) = (data(), Control::new());
    let targets: Vec<f64> = (0..36).map(|i| f64::from(i % 5) * 0.7).collect();
    for loss in
        [ResidualLoss::EpsilonInsensitive { epsilon: 0.2 }, ResidualLoss::Huber { delta: 0.5 }, ResidualLoss::Squared]
    {
        let params = gsu_regression::Params::new().loss(loss).seed(9).check().unwrap();
        let model = params.fit(&data, &targets, None, None, &control).unwrap();
        let expected = model.predict_distribution(&data).unwrap();
        let mut saved = Saved::new(vec![Step::regression(model, params)], vec![]);
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

#[test]
fn kernel_maps_come_back_and_must_fit_what_follows() {
    for kernel in KERNELS {
        let saved = with_kernel(kernel);
        let bytes = file::save_to_bytes(&saved).unwrap();
        let loaded = file::load_from_bytes(&bytes).unwrap();
        assert_eq!(loaded, saved);
        assert_eq!(loaded.decision(&data()).unwrap(), saved.decision(&data()).unwrap());
        let why = refusal(&with_metadata(&bytes, |own| own["steps"][1]["kernel"] = json!("sigmoid")));
        assert!(why.contains("sigmoid"), "{why}");
        let why = refusal(&with_metadata(&bytes, |own| own["steps"][1]["rank"] = json!(77)));
        assert!(why.contains("1.points"), "{why}");
        let mut twice = saved;
        let again = twice.steps[1].clone();
        twice.steps.insert(1, again);
        let different = twice.steps[1].clone();
        if let Step::KernelMap(map) = different {
            let fits = map.rank() == 2;
            assert_eq!(file::save_to_bytes(&twice).is_ok(), fits);
        }
    }
}

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
    let Some(Step::Gsu { params, .. }) = threaded.steps.last_mut() else { panic!() };
    **params = params.params().clone().threads(Some(3)).check().unwrap();
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
    assert_eq!(loaded.decision(&data()).unwrap(), saved.decision(&data()).unwrap());
    let classes = loaded.predict_classes(&data()).unwrap();
    assert!(classes.iter().zip(&codes).all(|(class, &code)| **class == saved.classes[code as usize]));
}

#[test]
fn kernel_machines_answer_as_before() {
    let data = data();
    for saved in kernel_machines() {
        let loaded = file::load_from_bytes(&file::save_to_bytes(&saved).unwrap()).unwrap();
        match saved.steps.last() {
            Some(Step::KernelSvc { model, .. }) => {
                assert_eq!(loaded.predict(&data).unwrap(), model.predict(&data).unwrap());
                assert_eq!(loaded.decision(&data).unwrap(), model.decision(&data).unwrap());
                assert_eq!(loaded.predict_proba(&data).is_ok(), model.expansion.platt.is_some());
                assert!(loaded.predict_targets(&data).is_err() && loaded.model().is_err());
            }
            Some(Step::KernelSvr { model, .. }) => {
                assert_eq!(loaded.predict_targets(&data).unwrap(), model.predict(&data).unwrap());
                assert!(loaded.predict(&data).is_err() && loaded.decision(&data).is_err());
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
    let huge = json!(u64::MAX);
    altered(4, &|step| step["n_support"] = json!([1, 1]), "make no classifier");
    altered(4, &|step| step["n_support"] = json!([u64::MAX, 1, 1]), "make no classifier");
    altered(4, &|step| step["n_support"] = json!([]), "make no classifier");
    altered(4, &|step| drop(step["fits"].as_array_mut().unwrap().pop()), "make no classifier");
    altered(4, &|step| step["platt"] = json!(false), "unexpected tensor `0.platt`");
    altered(4, &|step| step["basis"]["sigma"] = json!(0.0), "sigma = 0");
    altered(4, &|step| step["basis"]["coupling"] = json!("both"), "coupling");
    altered(4, &|step| step["params"]["c"] = json!(-1.0), "C = -1");
    altered(4, &|step| step["basis"]["rows"]["kind"] = json!("round"), "`round` is not a kind");
    altered(4, &|step| step["basis"]["rows"]["kind"] = json!("zero"), "unexpected tensor `0.spread`");
    altered(4, &|step| step["basis"]["rows"]["n_features"] = json!(0), "make no rows");
    altered(6, &|step| step["basis"]["rows"]["rank"] = json!(0), "make no rows");
    altered(6, &|step| step["basis"]["rows"]["rank"] = huge.clone(), "make no rows");
    altered(5, &|step| step["basis"]["rows"]["n_rows"] = huge.clone(), "instead of");
    altered(14, &|step| step["basis"]["rows"]["n_features"] = json!(1 << 30), "make no rows");
    altered(5, &|step| step["fit"]["status"] = json!("fine"), "`fine` is not a way");
    altered(5, &|step| step["params"]["epsilon"] = json!(-1), "epsilon = -1");
    for (which, name, value, reason) in
        [(4, "0.spread", -1.0_f64, "spread: row 0"), (5, "0.support", 0.5, "0.5 is not the number of a row")]
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

#[test]
fn a_file_cut_at_any_byte_is_refused() {
    let bytes = file::save_to_bytes(&saved()).unwrap();
    for n in 0..bytes.len() {
        let why = refusal(&bytes[..n]);
        assert!(why.contains("truncated"), "{n} bytes: {why}");
    }
    let longer = [bytes.as_slice(), b"\0"].concat();
    assert!(refusal(&longer).contains("appended"));
}

#[test]
fn a_flip_of_any_bit_is_refused() {
    let mut bytes = file::save_to_bytes(&binary()).unwrap();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        refusal(&bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    let at = bytes.len() - 1;
    bytes[at] ^= 1;
    assert!(refusal(&bytes).contains("checksum"));
}

#[test]
fn foreign_files_are_refused() {
    assert!(refusal(b"").contains("0 bytes"));
    assert!(refusal(b"mean,cov,label\n1,2,3\n").contains("another kind"));
    assert!(refusal(b"PK\x03\x04 this is a zip archive").contains("another kind"));
    assert!(refusal(&[0x80, 4, 0x95, 0, 0, 0, 0, 0, 0, 0, 0, 0]).contains("header"));
    assert!(refusal(&join("not json", b"")).contains("header"));
    assert!(refusal(&join("[1, 2]", b"")).contains("header"));
    assert!(refusal(&join("{}", b"")).contains("not one that `uncertain` wrote"));
    let plain = r#"{"weight":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    assert!(refusal(&join(plain, &[0; 8])).contains("not one that `uncertain` wrote"));
    let other = r#"{"__metadata__":{"uncertain":"{\"format\":\"something\",\"format_version\":1,\"library\":\"\"}"}}"#;
    assert!(refusal(&join(other, b"")).contains("calls itself `something`"));
    let nothing = r#"{"__metadata__":{"uncertain":"[]"}}"#;
    assert!(refusal(&join(nothing, b"")).contains("does not say what it is"));
}

#[test]
fn other_versions_are_named() {
    let bytes = file::save_to_bytes(&binary()).unwrap();
    let newer = with_metadata(&bytes, |own| {
        own["format_version"] = json!(FORMAT_VERSION + 1);
        own["library"] = json!("9.9");
        own["something new"] = json!(true);
    });
    let why = refusal(&newer);
    assert!(why.contains("format 2, written by version 9.9") && why.contains("reads format 1"), "{why}");
}

#[test]
fn tensors_must_be_the_ones_the_header_promises() {
    let bytes = file::save_to_bytes(&saved()).unwrap();
    let shaped = |name: &str, shape: Value| refusal(&with_header(&bytes, |header| header[name]["shape"] = shape));
    assert!(shaped("2.coef", json!([2, 3])).contains("shape [2, 3] instead of [3, 2]"));
    assert!(shaped("2.coef", json!([6])).contains("shape [6]"));
    assert!(shaped("0.mean", json!([3])).contains("damaged"));
    assert!(shaped("0.mean", json!([1u64 << 40, 1u64 << 40])).contains("damaged"));
    assert!(shaped("0.mean", json!([u64::MAX])).contains("damaged"));

    let renamed = |from: &str, to: &str| {
        refusal(&with_header(&bytes, |header| {
            let tensor = header.as_object_mut().unwrap().remove(from).unwrap();
            header[to] = tensor;
        }))
    };
    assert!(renamed("2.platt", "2.other").contains("`2.platt` is missing"));
    let integers = with_header(&bytes, |header| header["0.mean"]["dtype"] = json!("I64"));
    assert!(refusal(&integers).contains("I64 numbers instead of F64"));
    let overlap =
        with_header(&bytes, |header| header["0.mean"]["data_offsets"] = header["0.scale"]["data_offsets"].clone());
    assert!(refusal(&overlap).contains("overlaps"));

    let (header, data) = split(&bytes);
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["3.extra"] = json!({ "dtype": "F64", "shape": [1], "data_offsets": [data.len(), data.len() + 8] });
    let extra = seal(join(&header.to_string(), &[data, &[0; 8]].concat()));
    assert!(refusal(&extra).contains("unexpected tensor `3.extra`"));
}

#[test]
fn repeated_names_are_refused_not_guessed() {
    let bytes = file::save_to_bytes(&binary()).unwrap();
    let (header, data) = split(&bytes);
    let coef = r#""0.coef":{"dtype":"F64","shape":[1,1],"data_offsets":[0,8]}"#;
    assert!(header.contains(coef), "{header}");
    let twice = header.replace(coef, &format!("{coef},{coef}"));
    assert!(refusal(&seal(join(&twice, data))).contains("`0.coef` appears twice"));
    let more = with_header(&bytes, |header| header["__metadata__"]["pt"] = json!("x"));
    assert!(refusal(&more).contains("unexpected key `pt`"));
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    let bytes = file::save_to_bytes(&saved()).unwrap();
    let n = bytes.len();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut bytes = bytes.clone();
        bytes[n - 8..].copy_from_slice(&bad.to_le_bytes());
        let why = refusal(&seal(bytes));
        assert!(why.contains(&format!("is {bad}")) && why.contains("of the tensor"), "{why}");
    }
    let mut model = binary();
    let Some(Step::Gsu { model: inner, .. }) = model.steps.last_mut() else { panic!() };
    inner.coef[[0, 0]] = f64::NAN;
    assert!(file::save_to_bytes(&model).unwrap_err().to_string().contains("0.coef is NaN"));
}

#[test]
fn a_gap_that_is_not_known_survives() {
    let mut model = binary();
    let Some(Step::Gsu { model: inner, .. }) = model.steps.last_mut() else { panic!() };
    inner.fits[0].gap = f64::NAN;
    let loaded = file::load_from_bytes(&file::save_to_bytes(&model).unwrap()).unwrap();
    assert!(loaded.model().unwrap().fits[0].gap.is_nan());
}

#[test]
fn altered_descriptions_are_refused_even_with_a_right_checksum() {
    let bytes = file::save_to_bytes(&saved()).unwrap();
    let altered = |change: &dyn Fn(&mut Value), reason: &str| {
        let why = refusal(&with_metadata(&bytes, change));
        assert!(why.contains(reason), "expected `{reason}` in: {why}");
    };
    altered(&|own| own["steps"][0]["kind"] = json!("pickle"), "unknown variant `pickle`");
    altered(&|own| own["steps"] = json!([]), "unexpected tensor `0.mean`");
    altered(&|own| drop(own["steps"].as_array_mut().unwrap().pop()), "unexpected tensor `2.coef`");
    altered(&|own| own["steps"][0]["surprise"] = json!(1), "surprise");
    altered(&|own| own["surprise"] = json!(1), "surprise");
    altered(&|own| drop(own.as_object_mut().unwrap().remove("classes")), "classes");
    altered(&|own| own["classes"] = json!(["a", "b"]), "names 2 classes");
    altered(&|own| own["classes"] = json!(["a", "b", "a"]), "twice");
    altered(&|own| own["classes"] = json!(["a", "b", ["c"]]), "not understood");
    altered(&|own| own["features"] = json!(["a"]), "names 1 features");
    altered(&|own| own["columns"] = json!("[]"), "not a JSON object");
    altered(&|own| own["columns"] = json!("{"), "not JSON");
    altered(&|own| own["columns"] = json!("[".repeat(100_000)), "not JSON");
    altered(&|own| own["steps"][0]["n_features"] = json!(3), "shape [2] instead of [3]");
    altered(&|own| own["steps"][0]["n_features"] = json!(u64::MAX), "shape [2] instead of");
    altered(&|own| own["steps"][1]["variance"] = json!(2), "variance = 2");
    altered(&|own| own["steps"][1]["project"] = json!("nothing"), "nothing");
    altered(&|own| own["steps"][2]["hyperplanes"] = json!(2), "2 hyperplanes");
    altered(&|own| own["steps"][2]["hyperplanes"] = json!(4), "3 reports for 4");
    altered(&|own| own["steps"][2]["platt"] = json!(false), "unexpected tensor `2.platt`");
    altered(&|own| own["steps"][2]["fits"][0]["status"] = json!("fine"), "`fine` is not a way");
    altered(&|own| own["steps"][2]["params"]["alpha"] = json!(-1), "alpha = -1");
    altered(&|own| own["steps"][2]["params"]["solver"] = json!("magic"), "magic");
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
    refused(&|s| s.steps[0] = Step::Scaler(GaussianScaler::new(vec![0.0], vec![1.0]).unwrap()), "1 and 2");
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
    std::fs::remove_dir_all(&directory).unwrap();
}

fn golden_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/golden")
        .join(format!("model_v{FORMAT_VERSION}.safetensors"))
}

fn golden_kernel_path() -> PathBuf {
    golden_path().with_file_name("model_v1_kernel.safetensors")
}

/// Scaled rows with full covariances, three classes, probabilities.
fn golden_kernel() -> Saved {
    let mut saved = kernel_machines().swap_remove(10);
    saved.steps.insert(0, Step::Scaler(GaussianScaler::new(vec![0.5, 1.0], vec![2.0, 1.5]).unwrap()));
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
fn the_golden_file_of_version_1_still_loads() {
    let golden = file::read(golden_path()).unwrap();
    let today = saved();
    assert_eq!((golden.classes.clone(), golden.features.clone()), (today.classes.clone(), today.features.clone()));
    assert_eq!(golden.columns, today.columns);
    assert_eq!(golden.version, "0.1.0");
    let ([Step::Scaler(scaler), Step::Subspace(subspace), Step::Gsu { params, .. }], Step::Gsu { params: same, .. }) =
        (golden.steps.as_slice(), &today.steps[2])
    else {
        panic!("{golden:?}")
    };
    assert_eq!(scaler.mean(), [5.944444444444445, 2.9166666666666665]);
    assert_eq!((subspace.variance(), subspace.project()), (0.9, Project::Covariance));
    assert_eq!(params, same);
    // The numbers of the file itself, not of a fit made today.
    let model = golden.model().unwrap();
    assert_eq!(model.coef.row(2).to_vec(), [5.045070522617943, -0.34591295757724777]);
    assert_eq!(model.intercept[0], -2.3022199563787753);
    assert_eq!(model.fits[2].objective, 0.17932813843074413);
    let p = golden.predict_proba(&data()).unwrap();
    for (k, expected) in [0.520209789929331, 0.28669748561746444, 0.19309272445320444].into_iter().enumerate() {
        assert!((p[[1, k]] - expected).abs() < 1e-9, "{k}: {}", p[[1, k]]);
    }
}

#[test]
fn the_golden_kernel_classifier_still_loads() {
    let golden = file::read(golden_kernel_path()).unwrap();
    let (today, labels) = (golden_kernel(), ["a", "b", "c"].map(Class::from));
    assert_eq!(golden.classes, labels);
    let ([_, Step::KernelSvc { model, params }], Step::KernelSvc { params: same, .. }) =
        (golden.steps.as_slice(), &today.steps[1])
    else {
        panic!("{golden:?}")
    };
    assert_eq!(params, same);
    // The numbers of the file itself, not of a fit made today.
    assert_eq!((model.basis.sigma(), model.basis.coupling()), (1.5, Coupling::Independent));
    assert_eq!(model.expansion.n_support, [9, 11, 11]);
    assert_eq!(model.expansion.support[..5], [0, 3, 6, 9, 18]);
    assert_eq!(model.expansion.intercept[1], -0.015456522887998808);
    assert_eq!(model.expansion.dual_coef[[0, 2]], 0.6628933752398781);
    let p = golden.predict_proba(&data()).unwrap();
    for (k, expected) in [0.7502016782613727, 0.16606166438734235, 0.08373665735128494].into_iter().enumerate() {
        assert!((p[[1, k]] - expected).abs() < 1e-9, "{k}: {}", p[[1, k]]);
    }
}

#[test]
fn mixtures_come_back_and_must_be_distributions() {
    let (data, control) = (data(), Control::new());
    let labels = Labels::new((0..36).map(|i| i % 2).collect(), 2).unwrap();
    let em = deconvolution::Params { components: Components::Fixed(2), ..Default::default() };
    let (denoiser, _) = GaussianDenoiser::fit(&em, &data, None, &control).unwrap();
    let imputer = GaussianImputer::new(denoiser.mixture().clone());
    let rows = denoiser.transform(&data, &control).unwrap();
    let params = Params::new().check().unwrap();
    let model = params.fit(&rows, &labels, &control).unwrap();
    let steps = vec![Step::Imputer(imputer), Step::Denoiser(denoiser), Step::gsu(model, params)];
    let saved = Saved::new(steps, vec![Class::from(false), Class::from(true)]);
    let bytes = file::save_to_bytes(&saved).unwrap();
    let again = file::load_from_bytes(&bytes).unwrap();
    assert_eq!(again, saved);
    assert_eq!(file::save_to_bytes(&again).unwrap(), bytes);
    assert_eq!(again.predict(&data).unwrap(), saved.predict(&data).unwrap());
    // Shares 1/2 and 1/2 become 1/2 and 0: a sealed file, but no distribution.
    let share =
        again.steps.iter().find_map(|s| if let Step::Denoiser(d) = s { Some(d.mixture().weights()[1]) } else { None });
    let share = share.unwrap().to_le_bytes();
    let at = bytes.windows(8).position(|w| w == share).unwrap();
    let mut altered = bytes.clone();
    altered[at..at + 8].copy_from_slice(&0.0_f64.to_le_bytes());
    assert!(refusal(&seal(altered)).contains("shares of a mixture"));
}
