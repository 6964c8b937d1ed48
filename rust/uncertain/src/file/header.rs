//! The JSON inside the metadata. Its first field is the checksum, where [`checksum`](super::checksum) looks for it.

use serde::{Deserialize, Serialize};

use super::checksum::BLANK;
use super::{Class, Saved};
use crate::error::{Error, Result};
use crate::step::StepHeader;

/// The format this version writes, and the only one it reads.
pub const FORMAT_VERSION: u32 = 2;
const FORMAT: &str = "uncertain model";

/// Everything but the numbers in tensors.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    checksum: String,
    format: String,
    format_version: u32,
    /// Version of the crate that wrote the file.
    pub library: String,
    pub steps: Vec<StepHeader>,
    pub classes: Vec<Class>,
    pub features: Vec<String>,
    /// A JSON object in text form, so that it comes back to the letter.
    pub columns: String,
}

impl Header {
    pub(super) fn new(saved: &Saved, steps: Vec<StepHeader>) -> Self {
        Self {
            checksum: BLANK.to_owned(),
            format: FORMAT.to_owned(),
            format_version: FORMAT_VERSION,
            library: env!("CARGO_PKG_VERSION").to_owned(),
            steps,
            classes: saved.classes.clone(),
            features: saved.features.clone(),
            columns: saved.columns.clone(),
        }
    }

    pub(super) fn to_json(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::Internal(format!("header of a model file: {e}")))
    }

    pub(super) fn from_json(json: &str) -> Result<Self> {
        serde_json::from_str(json).map_err(|e| Error::ModelFile(format!("its description is not understood ({e})")))
    }
}

/// Is this a version that can be read? Looks at nothing else, because other versions may have other fields.
pub(super) fn check_version(json: &str) -> Result<()> {
    #[derive(Deserialize)]
    struct Preamble {
        format: String,
        format_version: u32,
        library: String,
    }
    let refuse = |why: String| Err(Error::ModelFile(why));
    match serde_json::from_str::<Preamble>(json) {
        Err(e) => refuse(format!("its metadata does not say what it is ({e})")),
        Ok(p) if p.format != FORMAT => refuse(format!("it calls itself `{}` instead of `{FORMAT}`", p.format)),
        Ok(p) if p.format_version != FORMAT_VERSION => refuse(format!(
            "it has format {}, written by version {} of this library; this is version {}, which reads format {FORMAT_VERSION}",
            p.format_version,
            p.library,
            env!("CARGO_PKG_VERSION")
        )),
        Ok(_) => Ok(()),
    }
}
