//! Models to be saved, and files altered behind the back of the format.

use serde_json::Value;
use uncertain::data::{Covariances, Labels, Rows};
use uncertain::file::{self, Class, Saved};
use uncertain::gsu::Params;
use uncertain::prelude::*;
use uncertain::step::Step;
use uncertain::transform::{Project, ScalerParams, Spread, SubspaceProjector};
use uncertain::{Error, GaussianArray};

pub(crate) fn data() -> GaussianArray {
    let means: Vec<f64> = (0..36).flat_map(|i| [f64::from(i % 3) * 4.0 + f64::from(i % 5), f64::from(i % 7)]).collect();
    let stds = (0..72).map(|i| 0.1 + f64::from(i % 4) / 4.0).collect();
    let stds = Covariances::from_std(Rows::from_vec(stds, 2).unwrap());
    GaussianArray::new(Rows::from_vec(means, 2).unwrap(), stds).unwrap()
}

/// All kinds of steps, three classes of different types, probabilities.
pub(crate) fn saved() -> Saved {
    let data = data();
    let labels = Labels::new((0..36).map(|i| i % 3).collect(), 3).unwrap();
    let scaler = ScalerParams { spread: Spread::Total }.fit(&Dataset::new(&data)).unwrap();
    let subspace = SubspaceProjector::new(0.9, Project::Covariance).unwrap();
    let rows = scaler.transform(&data).and_then(|rows| subspace.transform(&rows)).unwrap();
    let params = Params::new().probability(true).folds(3).seed(u64::MAX).check().unwrap();
    let model = params.fit(&Dataset::new(&rows).with_labels(&labels).unwrap()).unwrap();
    let steps = vec![Step::from_model(scaler), Step::from_model(subspace), Step::new(model, params)];
    let mut saved = Saved::new(steps, vec![Class::from("é \"quoted\""), Class::from(-7), Class::from(0.1)]);
    saved.features = vec!["height".into(), "width".into()];
    saved.columns = r#"{ "mean": ["height", "width"], "z": 1e300, "a": 18446744073709551617 }"#.into();
    saved
}

pub(crate) fn binary() -> Saved {
    let data = GaussianArray::exact(Rows::from_vec(vec![1.0, 2.0, 3.0, 4.5], 1).unwrap()).unwrap();
    let labels = Labels::new(vec![0, 0, 1, 1], 2).unwrap();
    let params = Params::new().max_iter(Some(50)).check().unwrap();
    let model = params.fit(&Dataset::new(&data).with_labels(&labels).unwrap()).unwrap();
    Saved::new(vec![Step::new(model, params)], vec![Class::from(false), Class::from(true)])
}

pub(crate) fn refusal(bytes: &[u8]) -> String {
    match file::load_from_bytes(bytes) {
        Err(Error::ModelFile(why)) => why,
        other => panic!("must be refused: {other:?}"),
    }
}

/// CRC-64 of the whole file with 16 zeros as checksum, written in their place: the rule of the format, written anew.
pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
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

pub(crate) fn split(bytes: &[u8]) -> (&str, &[u8]) {
    let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (std::str::from_utf8(&bytes[8..8 + n]).unwrap(), &bytes[8 + n..])
}

pub(crate) fn join(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// A file whose outer header was changed as JSON, with a correct checksum.
pub(crate) fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (header, data) = split(bytes);
    let mut header: Value = serde_json::from_str(header).unwrap();
    change(&mut header);
    seal(join(&header.to_string(), data))
}

/// A file whose own metadata was changed, with a correct checksum.
pub(crate) fn with_metadata(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    with_header(bytes, |header| {
        let own = header["__metadata__"]["uncertain"].as_str().unwrap();
        let mut own: Value = serde_json::from_str(own).unwrap();
        change(&mut own);
        header["__metadata__"]["uncertain"] = Value::String(own.to_string());
    })
}
