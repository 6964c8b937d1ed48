//! The model file: transforms and a model, read and written without running anybody's code.
//!
//! Layout: safetensors (<https://github.com/huggingface/safetensors>), whose metadata has one key, `uncertain`, with
//! JSON (`header`): format version, the steps with their parameters, classes, feature names, and whatever the
//! caller wants kept about columns. Every array is a tensor of f64 named `step.array`, such as `1.coef`.
//! A model gives the same bytes on every machine and from every language.
//!
//! Reading trusts nothing: the checks go from the outside in (sizes, names, version, checksum,
//! structure, shapes, finite numbers), each failure is one sentence in [`Error::ModelFile`], and
//! nothing larger than the file itself is allocated. A step is looked up in a closed list, never by
//! a name that could reach other code.
//!
//! To add a step: implement [`Fitted`](crate::state::Fitted) beside the model, and one line in the list of [`Step`](crate::step).
//! A change that old readers would misunderstand needs a new [`FORMAT_VERSION`], and new golden files in the tests.

mod checksum;
mod class;
mod container;
#[cfg(feature = "files")]
mod disk;
mod header;
mod saved;

pub use class::Class;
#[cfg(feature = "files")]
pub use disk::{read, write};
pub use header::FORMAT_VERSION;
pub use saved::Saved;

use container::{Container, pack};
use header::Header;

use crate::error::{Error, Result};
use crate::step::Step;

/// Files beyond this many bytes are refused.
pub const MAX_BYTES: u64 = 1 << 30;

/// The bytes of a model file.
///
/// # Errors
/// [`Error::Data`] when the parts do not fit together or a number is not finite.
pub fn save_to_bytes(saved: &Saved) -> Result<Vec<u8>> {
    saved.check().map_err(|why| Error::Data(format!("the model cannot be saved: {why}")))?;
    packed(saved)
}

/// The model in the bytes of a file.
///
/// # Errors
/// [`Error::ModelFile`] with the reason for a truncated, altered or foreign file.
pub fn load_from_bytes(bytes: &[u8]) -> Result<Saved> {
    let saved = unpacked(bytes)?;
    saved.check().map_err(Error::ModelFile)?;
    Ok(saved)
}

/// The bytes of one step, whatever it is: a model file that needs no classes and no other steps, for pickling.
///
/// # Errors
/// [`Error::Data`] when a number is not finite.
pub fn step_to_bytes(step: &Step) -> Result<Vec<u8>> {
    packed(&Saved::new(vec![step.clone()], vec![]))
}

/// Inverse of [`step_to_bytes`].
///
/// # Errors
/// As in [`load_from_bytes`].
pub fn step_from_bytes(bytes: &[u8]) -> Result<Step> {
    let only = unpacked(bytes)?.steps.pop();
    only.ok_or_else(|| Error::ModelFile("it has no steps".into()))
}

fn packed(saved: &Saved) -> Result<Vec<u8>> {
    let (mut steps, mut tensors) = (Vec::new(), Vec::new());
    for (k, step) in saved.steps.iter().enumerate() {
        steps.push(step.header()?);
        tensors.extend(step.tensors().into_iter().map(|named| (format!("{k}.{}", named.name), named.tensor)));
    }
    let header = Header::new(saved, steps);
    let mut bytes = pack(header.to_json()?, &tensors)?;
    checksum::seal(&mut bytes)?;
    Ok(bytes)
}

fn unpacked(bytes: &[u8]) -> Result<Saved> {
    let mut container = Container::open(bytes)?;
    header::check_version(&container.metadata)?;
    checksum::check(bytes)?;
    let mut header = Header::from_json(&container.metadata)?;
    let mut steps = Vec::with_capacity(header.steps.len());
    for (k, step) in header.steps.drain(..).enumerate() {
        steps.push(Step::read(&step, k, &mut |name| container.take(&format!("{k}.{name}")))?);
    }
    container.finish()?;
    let Header { classes, features, columns, library: version, .. } = header;
    Ok(Saved { steps, classes, features, columns, version })
}
