//! Cut, flipped, foreign and forged files are refused with a reason.

use serde_json::{Value, json};
use uncertain::file::{self, FORMAT_VERSION};
use uncertain::step::Step;

use crate::support::{binary, join, refusal, saved, seal, split, with_header, with_metadata};

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
    assert!(why.contains("format 3, written by version 9.9") && why.contains("reads format 2"), "{why}");
}

#[test]
fn tensors_must_be_the_ones_the_header_promises() {
    let bytes = file::save_to_bytes(&saved()).unwrap();
    let shaped = |name: &str, shape: Value| refusal(&with_header(&bytes, |header| header[name]["shape"] = shape));
    assert!(shaped("2.coef", json!([2, 3])).contains("2 hyperplanes in 3 dimensions"));
    assert!(shaped("2.coef", json!([6, 1])).contains("reports for 6 hyperplanes"));
    assert!(shaped("2.platt", json!([2, 3])).contains("shape [2, 3] instead of [3, 2]"));
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
    assert!(renamed("2.intercept", "2.other").contains("`2.intercept` is missing"));
    assert!(renamed("2.platt", "2.other").contains("unexpected tensor `2.other`"));
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
fn a_header_of_nothing_but_empty_tensors_is_refused_at_once() {
    let mut header = String::from("{\"__metadata__\":{\"uncertain\":\"{}\"}");
    for k in 0..200_000 {
        header += &format!(",\"{k}\":{{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[0,0]}}");
    }
    header.push('}');
    let begin = std::time::Instant::now();
    assert!(refusal(&join(&header, b"")).contains("more than 65536 tensors"));
    assert!(begin.elapsed().as_secs_f64() < 1.0, "{:?}", begin.elapsed());
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
    let Some(Step::Gsu(with)) = model.steps.last_mut() else { panic!() };
    with.model.linear.coef[[0, 0]] = f64::NAN;
    assert!(file::save_to_bytes(&model).unwrap_err().to_string().contains("0.coef is NaN"));
}

#[test]
fn altered_descriptions_are_refused_even_with_a_right_checksum() {
    let bytes = file::save_to_bytes(&saved()).unwrap();
    let altered = |change: &dyn Fn(&mut Value), reason: &str| {
        let why = refusal(&with_metadata(&bytes, change));
        assert!(why.contains(reason), "expected `{reason}` in: {why}");
    };
    altered(&|own| own["steps"][0]["kind"] = json!("pickle"), "kind = \"pickle\": must be one of");
    altered(&|own| own["steps"] = json!([]), "unexpected tensor `0.mean`");
    altered(&|own| drop(own["steps"].as_array_mut().unwrap().pop()), "unexpected tensor `2.coef`");
    altered(&|own| own["steps"][0]["surprise"] = json!(1), "surprise");
    altered(&|own| own["surprise"] = json!(1), "surprise");
    altered(&|own| own["steps"][2]["params"]["surprise"] = json!(1), "surprise");
    altered(&|own| own["steps"][2]["state"]["surprise"] = json!(1), "surprise");
    altered(&|own| drop(own.as_object_mut().unwrap().remove("classes")), "classes");
    altered(&|own| own["classes"] = json!(["a", "b"]), "names 2 classes");
    altered(&|own| own["classes"] = json!(["a", "b", "a"]), "twice");
    altered(&|own| own["classes"] = json!(["a", "b", ["c"]]), "not understood");
    altered(&|own| own["features"] = json!(["a"]), "names 1 features");
    altered(&|own| own["columns"] = json!("[]"), "not a JSON object");
    altered(&|own| own["columns"] = json!("{"), "not JSON");
    altered(&|own| own["columns"] = json!("[".repeat(100_000)), "not JSON");
    altered(&|own| own["steps"][0]["rows"] = json!({ "kind": "zero" }), "without their means");
    altered(&|own| own["steps"][1]["params"]["variance"] = json!(2), "variance = 2");
    altered(&|own| own["steps"][1]["params"]["project"] = json!("nothing"), "nothing");
    altered(&|own| drop(own["steps"][2]["state"]["fits"].as_array_mut().unwrap().pop()), "2 reports for 3");
    altered(&|own| own["steps"][2]["state"]["fits"][0]["status"] = json!("fine"), "status = \"fine\"");
    altered(
        &|own| own["steps"][2]["params"]["options"]["max_iter"] = json!(u64::MAX),
        "max_iter = 18446744073709551615",
    );
    altered(&|own| own["steps"][2]["params"]["calibration"]["folds"] = json!(u64::MAX), "must be at most 2^53");
    altered(&|own| own["steps"][2]["params"]["threads"] = json!(64), "threads");
    altered(&|own| own["steps"][2]["params"]["alpha"] = json!(-1), "alpha = -1");
    altered(&|own| own["steps"][2]["params"]["solver"] = json!("magic"), "magic");
}
