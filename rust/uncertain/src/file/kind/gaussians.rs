//! Rows that are Gaussians: tensors `means`, and by kind `spread` or `factor` and `diagonal`.

use serde::{Deserialize, Serialize};

use super::{TakeTensor, Tensors};
use crate::data::covariance::{Diagonal, Full, Isotropic, Kind, Layout, LowRank, Shared, packed_len};
use crate::data::{Covariances, GaussianArray, Names, Rows, Unit};
use crate::error::{Error, Result};
use crate::file::container::Tensor;

/// Beyond it the packed triangle of one matrix exceeds the largest file.
const MAX_FEATURES: usize = 1 << 24;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub n_rows: usize,
    pub n_features: usize,
    kind: String,
    /// Isotropic, diagonal: are the numbers standard deviations?
    #[serde(default, skip_serializing_if = "is_false")]
    std: bool,
    /// Low-rank: columns of a factor.
    #[serde(default, skip_serializing_if = "is_zero")]
    rank: usize,
    /// Low-rank: are there variances beside the factor?
    #[serde(default, skip_serializing_if = "is_false")]
    diagonal: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_zero(value: &usize) -> bool {
    *value == 0
}

fn matrix(rows: &Rows) -> Tensor {
    Tensor { shape: vec![rows.n_rows(), rows.width()], values: rows.to_vec() }
}

pub(super) fn write(data: &GaussianArray) -> (Header, Tensors) {
    let kind = data.covariances().kind().name().to_owned();
    let (n_rows, n_features) = (data.n_rows(), data.n_features());
    let mut header = Header { n_rows, n_features, kind, std: false, rank: 0, diagonal: false };
    let mut tensors = vec![("means", matrix(data.means()))];
    match data.covariances() {
        Covariances::Zero => {}
        Covariances::Isotropic(Isotropic { values, unit }) | Covariances::Diagonal(Diagonal { values, unit }) => {
            header.std = *unit == Unit::StandardDeviation;
            tensors.push(("spread", matrix(values)));
        }
        Covariances::LowRank(low) => {
            header.rank = low.rank;
            header.diagonal = low.diagonal.is_some();
            tensors.push(("factor", matrix(&low.factor)));
            tensors.extend(low.diagonal.iter().map(|values| ("diagonal", matrix(values))));
        }
        Covariances::Full(full) => {
            // A square that has passed the checks is symmetric: its lower triangle will do.
            let d = data.n_features();
            let mut values = vec![0.0; n_rows * packed_len(d)];
            for (row, out) in values.chunks_exact_mut(packed_len(d)).enumerate() {
                let matrix = full.values.row(row);
                for i in 0..d {
                    out[packed_len(i)..packed_len(i + 1)]
                        .copy_from_slice(&matrix[full.layout.row_start(i, d)..][..i + 1]);
                }
            }
            tensors.push(("spread", Tensor { shape: vec![n_rows, packed_len(d)], values }));
        }
        Covariances::Shared(shared) => tensors.push(("spread", Tensor::vector(&shared.packed))),
    }
    (header, tensors)
}

pub(super) fn read(header: &Header, take: &mut TakeTensor<'_>) -> Result<GaussianArray> {
    let (n, d) = (header.n_rows, header.n_features);
    let kinds = [Kind::Zero, Kind::Isotropic, Kind::Diagonal, Kind::LowRank, Kind::Full, Kind::Shared];
    let Some(kind) = kinds.into_iter().find(|kind| kind.name() == header.kind) else {
        return Err(Error::ModelFile(format!("`{}` is not a kind of covariance", header.kind)));
    };
    if d == 0 || d.max(header.rank) > MAX_FEATURES || (header.rank == 0) != (kind != Kind::LowRank) {
        return Err(Error::ModelFile(format!("{d} features with a factor of rank {} make no rows", header.rank)));
    }
    let mut rows = |name: &str, width: usize| Rows::from_vec(take(name, &[n, width])?, width);
    let unit = if header.std { Unit::StandardDeviation } else { Unit::Variance };
    let means = rows("means", d)?;
    let covariances = match kind {
        Kind::Zero => Covariances::Zero,
        Kind::Isotropic => Covariances::Isotropic(Isotropic { values: rows("spread", 1)?, unit }),
        Kind::Diagonal => Covariances::Diagonal(Diagonal { values: rows("spread", d)?, unit }),
        Kind::LowRank => Covariances::LowRank(LowRank {
            factor: rows("factor", d * header.rank)?,
            rank: header.rank,
            diagonal: if header.diagonal { Some(rows("diagonal", d)?) } else { None },
        }),
        Kind::Full => Covariances::Full(Full { values: rows("spread", packed_len(d))?, layout: Layout::Packed }),
        Kind::Shared => Covariances::Shared(Shared { packed: take("spread", &[packed_len(d)])?.into() }),
    };
    let names = Names { means: "means".into(), covariances: "spread".into(), diagonal: "diagonal".into() };
    GaussianArray::new_named(means, covariances, &names).map_err(|e| Error::ModelFile(e.to_string()))
}
