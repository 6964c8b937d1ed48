//! The outer shell: named tensors and one string of metadata in safetensors' layout.
//!
//! Every size is checked against the length of the bytes before anything is allocated, so no file
//! can ask for more memory than it occupies. The safetensors crate checks that the tensors tile the
//! data without holes; what it leaves open is checked here: repeated names (its map keeps the last),
//! element type, shape, finite numbers, and that no tensor is missing or unasked for.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use safetensors::tensor::{Dtype, SafeTensorError, TensorView};
use safetensors::{SafeTensors, serialize};
use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};

use super::MAX_BYTES;
use crate::error::{Error, Result};
use crate::state::Tensor;

/// The one key of the safetensors metadata.
const KEY: &str = "uncertain";
/// Bytes of JSON header that are read at most.
const MAX_HEADER: u64 = 16 << 20;
/// Tensors at most.
const MAX_TENSORS: usize = 1 << 16;

fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(Error::ModelFile(why.into()))
}

/// The bytes of a file; the same input gives the same bytes.
pub(super) fn pack(metadata: String, tensors: &[(String, Tensor)]) -> Result<Vec<u8>> {
    let mut raw = Vec::with_capacity(tensors.len());
    for (name, tensor) in tensors {
        if let Some(at) = tensor.values.iter().position(|x| !x.is_finite()) {
            let value = tensor.values[at];
            return Err(Error::Data(format!("the model cannot be saved: element {at} of {name} is {value}")));
        }
        raw.push(tensor.values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    }
    let internal = |e: SafeTensorError| Error::Internal(format!("packing a model file: {e}"));
    let views = tensors
        .iter()
        .zip(&raw)
        .map(|((name, tensor), bytes)| {
            Ok((name.as_str(), TensorView::new(Dtype::F64, tensor.shape.clone(), bytes).map_err(internal)?))
        })
        .collect::<Result<Vec<_>>>()?;
    let texts = [(KEY.to_owned(), metadata)].into_iter().collect();
    serialize(views, Some(texts)).map_err(internal)
}

/// A file whose outer shell is sound.
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub metadata: String,
    tensors: BTreeMap<String, TensorView<'a>>,
}

impl<'a> Container<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let header = check_length(bytes, bytes.len() as u64)?;
        check_names(&bytes[8..8 + header])?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| explain(&e, bytes.len()))?;
        let files = SafeTensors::deserialize(bytes).map_err(|e| explain(&e, bytes.len()))?;
        let mut keys = metadata.metadata().clone().unwrap_or_default();
        let Some(own) = keys.remove(KEY) else {
            return refuse(
                "it is a safetensors file, but not one that `uncertain` wrote (its metadata has no `uncertain`)",
            );
        };
        if let Some(other) = keys.keys().next() {
            return refuse(format!("its metadata has an unexpected key `{other}`"));
        }
        Ok(Self { metadata: own, tensors: files.tensors().into_iter().collect() })
    }

    /// The tensor of this name, if it is there and was not taken before.
    pub(super) fn take(&mut self, name: &str) -> Result<Option<Tensor>> {
        let Some(view) = self.tensors.remove(name) else { return Ok(None) };
        if view.dtype() != Dtype::F64 {
            return refuse(format!("the tensor `{name}` holds {} numbers instead of F64", view.dtype()));
        }
        let shape = view.shape().to_vec();
        // A size of zero would allow any other beside it.
        let most = shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n.max(1)));
        if most.is_none_or(|most| most as u64 > MAX_BYTES) {
            return refuse(format!("the tensor `{name}` has the shape {shape:?}, which no model has"));
        }
        let values: Vec<f64> =
            view.data().chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or([0xff; 8]))).collect();
        match values.iter().position(|x| !x.is_finite()) {
            Some(at) => refuse(format!("element {at} of the tensor `{name}` is {}", values[at])),
            None => Ok(Some(Tensor { shape, values })),
        }
    }

    /// Every tensor must have been taken.
    pub(super) fn finish(self) -> Result<()> {
        match self.tensors.keys().next() {
            Some(name) => refuse(format!("it holds the unexpected tensor `{name}`")),
            None => Ok(()),
        }
    }
}

/// The length of the header of a file of `length` bytes that begins with `start`.
pub(super) fn check_length(start: &[u8], length: u64) -> Result<usize> {
    let Some((header, _)) = start.split_first_chunk::<8>() else {
        return refuse(format!("it has only {length} bytes: it is empty or truncated"));
    };
    let header = u64::from_le_bytes(*header);
    if header > MAX_HEADER {
        return refuse("it does not begin like a model file; is it a file of another kind?");
    }
    if length > MAX_BYTES {
        return refuse(format!("it has {length} bytes; model files have at most {MAX_BYTES}"));
    }
    // The length that a file is said to have may be less than what was read of it.
    let behind = length.saturating_sub(8);
    if header > behind {
        return refuse(format!("it is truncated: {behind} bytes are there of a header of {header}"));
    }
    Ok(header as usize)
}

/// No name twice: JSON allows it, and readers disagree about which one counts.
fn check_names(header: &[u8]) -> Result<()> {
    struct Names;
    impl<'de> Visitor<'de> for Names {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON object of tensors")
        }
        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
            let mut seen = HashSet::new();
            while let Some((name, IgnoredAny)) = map.next_entry::<String, _>()? {
                if !seen.insert(name.clone()) {
                    return Err(M::Error::custom(format_args!("`{name}` appears twice")));
                }
                if seen.len() > MAX_TENSORS {
                    return Err(M::Error::custom(format_args!("more than {MAX_TENSORS} tensors")));
                }
            }
            Ok(())
        }
    }
    let mut parser = serde_json::Deserializer::from_slice(header);
    parser
        .deserialize_map(Names)
        .and_then(|()| parser.end())
        .or_else(|e| refuse(format!("its header is not that of a model file ({e}); it is damaged or of another kind")))
}

/// safetensors' verdicts in our words.
fn explain(error: &SafeTensorError, len: usize) -> Error {
    use SafeTensorError as E;
    Error::ModelFile(match error {
        E::MetadataIncompleteBuffer => {
            format!("its header does not account for its {len} bytes: it is truncated, or something was appended")
        }
        E::InvalidOffset(name) => format!("the tensor `{name}` overlaps another or leaves a gap"),
        other => format!("its header is damaged ({other})"),
    })
}
