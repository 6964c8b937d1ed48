//! Features beside each other: rows that were measured independently, as one Gaussian with separate blocks.

use crate::data::convert::{common_unit, scalars};
use crate::data::covariance::{Diagonal, LowRank, Structure, packed_index, packed_len};
use crate::data::{Covariances, GaussianArray, Rows, Unit};
use crate::error::{Error, Result};

impl GaussianArray {
    /// The features of all arrays beside each other, row by row, the covariances block-diagonal: independent. Their kind
    /// is the cheapest that holds all: zero; diagonal; shared, if every piece is the same for all rows; low-rank with
    /// the columns of all factors (and a diagonal for pieces without one); full.
    ///
    /// # Errors
    /// For no array, and for other numbers of rows.
    pub fn hstack(pieces: &[GaussianArray]) -> Result<GaussianArray> {
        let Some(first) = pieces.first() else {
            return Err(Error::Data("nothing to stack: the list of arrays is empty".into()));
        };
        let n = first.n_rows();
        if let Some((at, other)) = pieces.iter().enumerate().find(|(_, p)| p.n_rows() != n) {
            return Err(Error::shape(format!("array {at} of the list to stack"), format!("{n} rows"), other.n_rows()));
        }
        let mut joined = match pieces {
            [one] => one.clone(),
            _ => {
                let parts: Vec<Rows> = pieces.iter().map(|p| p.means().clone()).collect();
                GaussianArray::from_checked(beside(&parts, n)?, covariances(pieces, n)?)
            }
        };
        joined.add_warnings(pieces.iter().flat_map(|p| p.warnings()));
        Ok(joined)
    }
}

fn covariances(pieces: &[GaussianArray], n: usize) -> Result<Covariances> {
    let all: Vec<&Covariances> = pieces.iter().map(|p| p.covariances()).collect();
    let structures = || all.iter().map(|c| c.structure());
    let diagonal =
        |unit| beside(&pieces.iter().map(|p| scalars(p, p.n_features(), unit)).collect::<Result<Vec<_>>>()?, n);
    let exact = |c: &&Covariances| matches!(c.structure(), Structure::Zero);
    Ok(match structures().max_by_key(|s| s.order()).unwrap_or(Structure::Zero) {
        Structure::Zero => Covariances::Zero,
        Structure::Isotropic | Structure::Diagonal => {
            let unit = common_unit(&all);
            Diagonal { values: diagonal(unit)?, unit }.into()
        }
        Structure::Factor(_) => {
            let rank = structures().map(|s| if let Structure::Factor(k) = s { k.rank } else { 0 }).sum();
            let bare = structures().all(|s| match s {
                Structure::Zero => true,
                Structure::Factor(k) => k.diagonal.is_none(),
                _ => false,
            });
            let diagonal = if bare { None } else { Some(diagonal(Unit::Variance)?) };
            LowRank { factor: factors(pieces, n, rank)?, rank, diagonal }.into()
        }
        Structure::Dense if all.iter().all(|c| exact(c) || c.common().is_some()) => {
            let mut out = vec![0.0; packed_len(pieces.iter().map(|p| p.n_features()).sum())];
            Blocks::new(pieces).write(0, &mut out);
            Covariances::triangle_unchecked(out)
        }
        Structure::Dense => {
            let width = packed_len(pieces.iter().map(|p| p.n_features()).sum());
            let blocks = || Blocks::new(pieces);
            Covariances::triangles_unchecked(Rows::written_with(n, width, blocks, |blocks, row, out| {
                blocks.write(row, out);
                Ok(())
            })?)
        }
    })
}

/// Matrices of n rows beside each other.
fn beside(parts: &[Rows], n: usize) -> Result<Rows> {
    let width = parts.iter().map(Rows::width).sum();
    Rows::written(n, width, |row, mut out| {
        for part in parts {
            let (here, later) = out.split_at_mut(part.width());
            here.copy_from_slice(&part.row(row));
            out = later;
        }
        Ok(())
    })
}

/// Factors below each other, each with separate columns.
fn factors(pieces: &[GaussianArray], n: usize, rank: usize) -> Result<Rows> {
    let width = rank * pieces.iter().map(|p| p.n_features()).sum::<usize>();
    Rows::written(n, width, |row, out| {
        let mut lines = out.chunks_exact_mut(rank);
        let mut first = 0;
        for piece in pieces {
            let Structure::Factor(k) = piece.covariances().structure() else {
                lines.by_ref().take(piece.n_features()).for_each(drop);
                continue;
            };
            for (f, line) in k.factor.row(row).chunks_exact(k.rank).zip(lines.by_ref()) {
                line[first..first + k.rank].copy_from_slice(f);
            }
            first += k.rank;
        }
        Ok(())
    })
}

/// Triangles of one row after the other, with a workspace.
struct Blocks<'a> {
    pieces: &'a [GaussianArray],
    packed: Vec<f64>,
}

impl<'a> Blocks<'a> {
    fn new(pieces: &'a [GaussianArray]) -> Self {
        Self { pieces, packed: vec![] }
    }

    /// Into zeros.
    fn write(&mut self, row: usize, out: &mut [f64]) {
        let mut first = 0;
        for piece in self.pieces {
            let d = piece.n_features();
            self.packed.resize(packed_len(d), 0.0);
            piece.covariances().triangle(row, d, &mut self.packed);
            for i in 0..d {
                let at = packed_index(first + i, first);
                out[at..=at + i].copy_from_slice(&self.packed[packed_len(i)..packed_len(i + 1)]);
            }
            first += d;
        }
    }
}
