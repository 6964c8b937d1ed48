//! Between the kinds: arrays below each other, dense matrices, variances alone.
//!
//! Kinds are promoted to the cheapest one that holds all pieces: zero < isotropic < diagonal <
//! low-rank (with a diagonal beside the factor) < full. A kind may join its pieces in a cheaper form (equal
//! shared matrices stay one); a shared matrix beside anything else becomes full: nothing cheaper holds both.

use ndarray::Array3;

use crate::data::covariance::{
    Diagonal, Field, FieldShape, Isotropic, LowRank, Storage, Structure, packed_len, unpack_into,
};
use crate::data::{Covariances, GaussianArray, Rows, Unit};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::{parallel, with_kind};

impl GaussianArray {
    /// The covariance matrix of every row, n x d x d.
    ///
    /// # Errors
    /// Too little memory.
    pub fn cov(&self) -> Result<Array3<f64>> {
        let shape = (self.n_rows(), self.n_features(), self.n_features());
        Array3::from_shape_vec(shape, self.dense()?).map_err(|e| Error::Internal(format!("covariances: {e}")))
    }

    /// The covariances as n dense d x d matrices, row-major, one after the other.
    #[doc(hidden)]
    pub fn dense(&self) -> Result<Vec<f64>> {
        let d = self.n_features();
        let packed = || vec![0.0; packed_len(d)];
        parallel::new_rows_with(self.n_rows(), d * d, packed, |packed, row, out| {
            self.covariances().triangle(row, d, packed);
            unpack_into(packed, d, out);
            Ok(())
        })
    }

    /// Converts every covariance to a full (packed) matrix per row.
    #[doc(hidden)]
    pub fn to_full(&self) -> Result<GaussianArray> {
        let values = triangles(self)?;
        Ok(GaussianArray::from_checked(self.means().clone(), Covariances::triangles_unchecked(values)))
    }

    /// These Gaussians with every matrix as its triangle: arrays of the same numbers are equal then.
    pub(crate) fn with_triangles(self) -> Result<GaussianArray> {
        let square = self.covariances().fields().iter().any(|field| field.shape == FieldShape::Square);
        if square { self.to_full() } else { Ok(self) }
    }

    /// The arguments that make these covariances, as users give them: matrices are square.
    #[doc(hidden)]
    pub fn arguments(&self) -> Result<Vec<Field>> {
        let d = self.n_features();
        let square = |field: Field| match field.shape {
            FieldShape::Packed => {
                let values = field.values.mapped(d * d, |packed, out| unpack_into(packed, d, out))?;
                Ok(Field { values, shape: FieldShape::Square, ..field })
            }
            _ => Ok(field),
        };
        self.covariances().fields().into_iter().map(square).collect()
    }

    /// The trace of every covariance, n numbers.
    pub fn traces(&self) -> Result<Vec<f64>> {
        let d = self.n_features();
        parallel::new_rows(self.n_rows(), 1, |row, out| {
            out[0] = self.covariances().trace(row, d);
            Ok(())
        })
    }

    /// The arrays below each other, their kinds promoted to the cheapest that holds all; memory is
    /// shared where nothing has to be converted. All must have the same number of features.
    pub fn concat(pieces: &[GaussianArray]) -> Result<GaussianArray> {
        let Some(first) = pieces.first() else {
            return Err(Error::Data("nothing to concatenate: the list of arrays is empty".into()));
        };
        let d = first.n_features();
        if let Some((at, other)) = pieces.iter().enumerate().find(|(_, p)| p.n_features() != d) {
            let what = format!("array {at} of the list to concatenate");
            return Err(Error::shape(what, format!("{d} features"), other.n_features()));
        }
        let means = Rows::concat(pieces.iter().map(|p| p.means().clone()), d)?;
        // Empty pieces have no covariances to preserve.
        let filled: Vec<&GaussianArray> = pieces.iter().filter(|p| p.n_rows() > 0).collect();
        let covariances = match filled.as_slice() {
            [] => first.covariances().clone(),
            filled => concat_covariances(filled, d)?,
        };
        let mut joined = GaussianArray::from_checked(means, covariances);
        joined.add_warnings(pieces.iter().flat_map(|p| p.warnings()));
        Ok(joined)
    }
}

fn concat_covariances(pieces: &[&GaussianArray], d: usize) -> Result<Covariances> {
    let all: Vec<&Covariances> = pieces.iter().map(|p| p.covariances()).collect();
    if let Some(joined) = with_kind!(all[0], k => k.joined(&all[1..])) {
        return joined;
    }
    let gather = |width: usize, rows: &dyn Fn(&GaussianArray) -> Result<Rows>| -> Result<Rows> {
        let parts = pieces.iter().map(|p| rows(p)).collect::<Result<Vec<_>>>()?;
        Rows::concat(parts, width)
    };
    let structures = || all.iter().map(|c| c.structure());
    let unit = common_unit(&all);
    Ok(match structures().max_by_key(|s| s.order()).unwrap_or(Structure::Zero) {
        Structure::Zero => Covariances::Zero,
        Structure::Isotropic => Isotropic { values: gather(1, &|p| scalars(p, 1, unit))?, unit }.into(),
        Structure::Diagonal => Diagonal { values: gather(d, &|p| scalars(p, d, unit))?, unit }.into(),
        Structure::Factor(_) => {
            let rank = structures().map(|s| if let Structure::Factor(k) = s { k.rank } else { 1 }).max().unwrap_or(1);
            let beside = structures().any(|s| match s {
                Structure::Factor(k) => k.diagonal.is_some(),
                other => !matches!(other, Structure::Zero),
            });
            let diagonal = if beside { Some(gather(d, &|p| scalars(p, d, Unit::Variance))?) } else { None };
            LowRank { factor: gather(d * rank, &|p| padded(p, rank))?, rank, diagonal }.into()
        }
        Structure::Dense => Covariances::triangles_unchecked(gather(packed_len(d), &triangles)?),
    })
}

/// The unit all variances and deviations share, else variances.
pub(super) fn common_unit(all: &[&Covariances]) -> Unit {
    let mut units = all.iter().filter_map(|c| with_kind!(c, k => k.scalars()).map(|(_, unit)| unit));
    match units.next() {
        Some(unit) if units.all(|u| u == unit) => unit,
        _ => Unit::Variance,
    }
}

/// n x width (1 or d): the isotropic, diagonal or beside-the-factor part in this unit.
pub(super) fn scalars(piece: &GaussianArray, width: usize, unit: Unit) -> Result<Rows> {
    let n = piece.n_rows();
    let Some((values, from)) = with_kind!(piece.covariances(), k => k.scalars()) else {
        return Ok(Rows::from_owned(zeros(n, width)?, n, width));
    };
    if from == unit && values.width() == width {
        return Ok(values.clone());
    }
    values.mapped(width, |source, out| {
        for j in 0..width {
            let x = source[if source.len() == 1 { 0 } else { j }];
            out[j] = if from == unit { x } else { from.variance(x) };
        }
    })
}

/// n x (d rank): the factor with columns of zeros behind.
fn padded(piece: &GaussianArray, rank: usize) -> Result<Rows> {
    let (n, d) = (piece.n_rows(), piece.n_features());
    match piece.covariances().structure() {
        Structure::Factor(k) if k.rank == rank => Ok(k.factor.clone()),
        Structure::Factor(k) => k.factor.mapped(d * rank, |f, out| {
            out.chunks_exact_mut(rank).zip(f.chunks_exact(k.rank)).for_each(|(o, f)| o[..k.rank].copy_from_slice(f));
        }),
        _ => Ok(Rows::from_owned(zeros(n, d * rank)?, n, d * rank)),
    }
}

/// n packed triangles, whatever the kind.
fn triangles(piece: &GaussianArray) -> Result<Rows> {
    let (n, d) = (piece.n_rows(), piece.n_features());
    if let [Field { shape: FieldShape::Packed, shared: false, values, .. }] = piece.covariances().fields().as_slice() {
        return Ok(values.clone());
    }
    Rows::written(n, packed_len(d), |row, out| {
        piece.covariances().triangle(row, d, out);
        Ok(())
    })
}
