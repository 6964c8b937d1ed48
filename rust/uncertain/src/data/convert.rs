//! Between the kinds: arrays below each other, dense matrices, variances alone.
//!
//! Kinds are promoted to the cheapest one that holds all pieces: zero < isotropic < diagonal <
//! low-rank (with a diagonal beside the factor) < full. A shared matrix beside anything else
//! becomes full: nothing cheaper holds both.

use crate::data::covariance::{Diagonal, Full, Isotropic, Kind, Layout, LowRank, Shared, packed_index, packed_len};
use crate::data::validate::unpack_into;
use crate::data::{Covariances, GaussianArray, Rows, Unit};
use crate::error::{Error, Result};
use crate::memory::zeros;
use crate::parallel;

impl Covariances {
    /// The diagonal of S of one row, d variances.
    pub fn variances(&self, row: usize, out: &mut [f64]) {
        let d = out.len();
        match self {
            Self::Zero => out.fill(0.0),
            Self::Isotropic(k) => out.fill(k.variance(row)),
            Self::Diagonal(k) => {
                let square = k.unit == Unit::StandardDeviation;
                out.iter_mut().zip(k.values.row(row)).for_each(|(o, x)| *o = if square { x * x } else { *x });
            }
            Self::LowRank(k) => {
                match &k.diagonal {
                    Some(diagonal) => out.copy_from_slice(diagonal.row(row)),
                    None => out.fill(0.0),
                }
                for (o, f) in out.iter_mut().zip(k.factor.row(row).chunks_exact(k.rank)) {
                    *o += f.iter().map(|f| f * f).sum::<f64>();
                }
            }
            Self::Full(k) => {
                let s = k.values.row(row);
                (0..d).for_each(|i| out[i] = s[k.layout.row_start(i, d) + i]);
            }
            Self::Shared(k) => (0..d).for_each(|i| out[i] = k.packed[packed_index(i, i)]),
        }
    }
}

impl GaussianArray {
    /// The covariances as n dense d x d matrices, row-major, one after the other.
    pub fn dense(&self) -> Result<Vec<f64>> {
        let d = self.n_features();
        let mut out = zeros(self.n_rows(), d * d)?;
        parallel::fill_rows(&mut out, d * d, |rows, out| {
            let mut packed = vec![0.0; packed_len(d)];
            for (row, out) in rows.zip(out.chunks_exact_mut(d * d)) {
                packed.fill(0.0);
                self.covariances().add_to(row, 1.0, d, &mut packed);
                unpack_into(&packed, d, out);
            }
            Ok(())
        })?;
        Ok(out)
    }

    /// The same Gaussians with a full (packed) matrix per row, whatever their kind.
    pub fn to_full(&self) -> Result<GaussianArray> {
        let full = Full { values: packed(self)?, layout: Layout::Packed };
        Ok(GaussianArray::from_checked(self.means().clone(), Covariances::Full(full)))
    }

    /// The trace of every covariance, n numbers.
    pub fn traces(&self) -> Result<Vec<f64>> {
        let d = self.n_features();
        let mut out = zeros(self.n_rows(), 1)?;
        parallel::fill_rows(&mut out, 1, |rows, out| {
            out.iter_mut().zip(rows).for_each(|(o, row)| *o = self.covariances().trace(row, d));
            Ok(())
        })?;
        Ok(out)
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
    let covariances = || pieces.iter().map(|p| p.covariances());
    let gather = |width: usize, rows: &dyn Fn(&GaussianArray) -> Result<Rows>| -> Result<Rows> {
        let parts = pieces.iter().map(|p| rows(p)).collect::<Result<Vec<_>>>()?;
        Rows::concat(parts, width)
    };
    match covariances().map(Covariances::kind).reduce(promote).unwrap_or(Kind::Zero) {
        Kind::Zero => Ok(Covariances::Zero),
        Kind::Isotropic => {
            let unit = common_unit(covariances());
            Ok(Covariances::Isotropic(Isotropic { values: gather(1, &|p| scalars(p, 1, unit))?, unit }))
        }
        Kind::Diagonal => {
            let unit = common_unit(covariances());
            Ok(Covariances::Diagonal(Diagonal { values: gather(d, &|p| scalars(p, d, unit))?, unit }))
        }
        Kind::LowRank => {
            let rank_of = |c: &Covariances| if let Covariances::LowRank(k) = c { k.rank } else { 1 };
            let rank = covariances().map(rank_of).max().unwrap_or(1);
            let beside = |c: &Covariances| match c {
                Covariances::LowRank(k) => k.diagonal.is_some(),
                other => other.kind() != Kind::Zero,
            };
            let diagonal =
                if covariances().any(beside) { Some(gather(d, &|p| scalars(p, d, Unit::Variance))?) } else { None };
            Ok(Covariances::LowRank(LowRank { factor: gather(d * rank, &|p| padded(p, rank))?, rank, diagonal }))
        }
        Kind::Full => {
            let square = |c: &Covariances| matches!(c, Covariances::Full(Full { layout: Layout::Square, .. }));
            let layout = if covariances().all(square) { Layout::Square } else { Layout::Packed };
            let values = gather(layout.width(d), &|p| match p.covariances() {
                Covariances::Full(k) if k.layout == layout => Ok(k.values.clone()),
                _ => packed(p),
            })?;
            Ok(Covariances::Full(Full { values, layout }))
        }
        Kind::Shared => {
            let mut all = covariances().filter_map(|c| if let Covariances::Shared(k) = c { Some(k) } else { None });
            match all.next() {
                Some(first) if all.all(|k| k.packed == first.packed) => {
                    Ok(Covariances::Shared(Shared { packed: first.packed.clone() }))
                }
                _ => Ok(Covariances::Full(Full { values: gather(packed_len(d), &packed)?, layout: Layout::Packed })),
            }
        }
    }
}

fn promote(a: Kind, b: Kind) -> Kind {
    let order = |kind| match kind {
        Kind::Zero => 0,
        Kind::Isotropic => 1,
        Kind::Diagonal => 2,
        Kind::LowRank => 3,
        Kind::Full | Kind::Shared => 4,
    };
    match (a, b) {
        (Kind::Shared, Kind::Shared) => Kind::Shared,
        (Kind::Shared, _) | (_, Kind::Shared) => Kind::Full,
        _ if order(a) >= order(b) => a,
        _ => b,
    }
}

/// The unit all isotropic and diagonal pieces share, else variances.
fn common_unit<'a>(covariances: impl Iterator<Item = &'a Covariances>) -> Unit {
    let mut units = covariances.filter_map(|c| match c {
        Covariances::Isotropic(k) => Some(k.unit),
        Covariances::Diagonal(k) => Some(k.unit),
        _ => None,
    });
    match units.next() {
        Some(unit) if units.all(|u| u == unit) => unit,
        _ => Unit::Variance,
    }
}

/// n x width (1 or d): the isotropic, diagonal or beside-the-factor part in this unit.
fn scalars(piece: &GaussianArray, width: usize, unit: Unit) -> Result<Rows> {
    let n = piece.n_rows();
    let (values, from) = match piece.covariances() {
        Covariances::Isotropic(k) => (&k.values, k.unit),
        Covariances::Diagonal(k) => (&k.values, k.unit),
        Covariances::LowRank(LowRank { diagonal: Some(values), .. }) => (values, Unit::Variance),
        _ => return Ok(Rows::from_owned(zeros(n, width)?, n, width)),
    };
    if from == unit && values.width() == width {
        return Ok(values.clone());
    }
    let mut out = zeros(n, width)?;
    for (row, out) in out.chunks_exact_mut(width).enumerate() {
        let source = values.row(row);
        for j in 0..width {
            let x = source[if source.len() == 1 { 0 } else { j }];
            out[j] = if from == unit { x } else { x * x };
        }
    }
    Ok(Rows::from_owned(out, n, width))
}

/// n x (d rank): the factor with columns of zeros after its own.
fn padded(piece: &GaussianArray, rank: usize) -> Result<Rows> {
    let (n, d) = (piece.n_rows(), piece.n_features());
    let mut out = match piece.covariances() {
        Covariances::LowRank(k) if k.rank == rank => return Ok(k.factor.clone()),
        _ => zeros(n, d * rank)?,
    };
    if let Covariances::LowRank(k) = piece.covariances() {
        for (row, out) in out.chunks_exact_mut(d * rank).enumerate() {
            for (out, f) in out.chunks_exact_mut(rank).zip(k.factor.row(row).chunks_exact(k.rank)) {
                out[..k.rank].copy_from_slice(f);
            }
        }
    }
    Ok(Rows::from_owned(out, n, d * rank))
}

/// n packed triangles, whatever the kind.
fn packed(piece: &GaussianArray) -> Result<Rows> {
    let (n, d) = (piece.n_rows(), piece.n_features());
    let width = packed_len(d);
    let mut out = zeros(n, width)?;
    parallel::fill_rows(&mut out, width, |rows, out| {
        for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
            piece.covariances().add_to(row, 1.0, d, out);
        }
        Ok(())
    })?;
    Ok(Rows::from_owned(out, n, width))
}
