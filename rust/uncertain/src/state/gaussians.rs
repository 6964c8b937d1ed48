//! Rows that are Gaussians: `means`, and the arrays that their kind of covariance consists of.

use serde::{Deserialize, Serialize};

use super::{Arrays, Parts};
use crate::data::{Covariances, GaussianArray, Kind, Names, Rows};
use crate::error::{Error, Result};

/// Beyond it the packed triangle of one matrix exceeds the largest file.
const MAX_FEATURES: usize = 1 << 24;

/// Parameters that are no arrays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowsHeader {
    kind: Kind,
}

pub(crate) fn write(data: &GaussianArray, arrays: &mut Arrays) -> RowsHeader {
    let mut matrix = |name: &str, rows: &Rows| arrays.put(name, &[rows.n_rows(), rows.width()], rows.to_vec());
    matrix("means", data.means());
    data.covariances().fields().iter().for_each(|field| matrix(field.name, &field.values));
    RowsHeader { kind: data.covariances().kind() }
}

pub(crate) fn read(header: &RowsHeader, parts: &mut Parts<'_>) -> Result<GaussianArray> {
    let means = rows(parts, "means")?;
    let (Some(means), kind) = (means, header.kind) else {
        return Err(Error::ModelFile("rows of the fit without their means".into()));
    };
    let d = means.width();
    if d > MAX_FEATURES {
        return Err(Error::ModelFile(format!("rows cannot have {d} features")));
    }
    let (mut names, mut failed) = (vec![], None);
    let mut fields = |name: &str| match rows(parts, name) {
        Ok(Some(rows)) => {
            names.push(name.to_owned());
            Some(rows)
        }
        Ok(None) => None,
        Err(error) => {
            failed = Some(error);
            None
        }
    };
    let covariances = Covariances::from_fields(kind, &mut fields, d);
    if let Some(error) = failed {
        return Err(error);
    }
    let Some(covariances) = covariances else {
        return Err(Error::ModelFile(format!("an array is missing of rows of the kind {}", kind.name())));
    };
    let mut names = names.into_iter();
    let mut next = |usual: &str| names.next().unwrap_or_else(|| usual.to_owned());
    let names = Names { means: "means".into(), covariances: next("covariances"), diagonal: next("var") };
    GaussianArray::new_named(means, covariances, &names).map_err(|e| Error::ModelFile(e.to_string()))
}

/// The rows of an array, if it is there.
fn rows(parts: &mut Parts<'_>, name: &str) -> Result<Option<Rows>> {
    let Some(matrix) = parts.optional_matrix(name)? else { return Ok(None) };
    match matrix.ncols() {
        0 => Err(Error::ModelFile(format!("the array {name} is empty"))),
        width => Rows::from_vec(matrix.into_raw_vec_and_offset().0, width).map(Some),
    }
}
