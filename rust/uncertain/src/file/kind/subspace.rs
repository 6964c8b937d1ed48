//! A subspace projector: no tensors.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::transform::SubspaceProjector;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::file) struct Header {
    variance: f64,
    project: String,
}

pub(super) fn write(projector: &SubspaceProjector) -> Header {
    Header { variance: projector.variance(), project: projector.project().name().to_owned() }
}

pub(super) fn read(header: &Header) -> Result<SubspaceProjector> {
    let project = header.project.parse();
    project
        .and_then(|project| SubspaceProjector::new(header.variance, project))
        .map_err(|e| Error::ModelFile(e.to_string()))
}
