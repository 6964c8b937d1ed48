//! Pivoted Cholesky factorisation of the extended Gram matrix, column by column.
//!
//! The pivot is always the vector whose squared distance to the span of the earlier ones is largest. Its column of
//! R is (its column of E - what the earlier columns explain of it) / sqrt(that distance). Columns lie in blocks of
//! rows, each a stack of short contiguous slices: a block's update is one weighted sum of slices in cache
//! order, and blocks go to threads. The order of pivots does not depend on their number. Equal distances (all
//! points, for the RBF kernel) are decided by the points themselves: the order of the rows does not matter either.
//!
//! All earlier columns are read for each new one, and together they are larger than any cache. So the next best
//! vectors of other blocks, which are likely to be pivots soon, have their columns reduced along with that of a pivot:
//! when their turn comes only the columns since then are left to subtract. The pivots are the same.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::Options;
use super::vectors::{Pivot, Vectors};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory::{afford, zeros};
use crate::shortage::may_fail;
use crate::simd::{self, Power};

/// Rows of the data per block.
const ROWS: usize = 64;
/// Vectors whose columns are reduced together.
const TOGETHER: usize = 6;
/// Columns that are read at a time for all of them: a slice per column, in the first-level cache.
const CHUNK: usize = 4;
/// A smaller relative residual is rounding, not a direction.
const NOISE: f64 = 1e-14;

pub(super) struct Factorised {
    /// (row, 0) for phi(x), (row, 1 + k) for J(x) A e_k.
    pub pivots: Vec<(usize, usize)>,
    /// D x D, row-major, zeros above the diagonal.
    pub lower: Vec<f64>,
    /// Largest residual, relative.
    pub error: f64,
}

struct Block {
    first: usize,
    rows: usize,
    /// Squared distances to the span of the pivots.
    residual: Vec<f64>,
    /// The columns of R so far, one slice after the other.
    columns: Vec<f64>,
    /// (largest residual, its place)
    top: (f64, usize),
    /// Columns of vectors that may be pivots soon.
    ahead: Vec<Vec<f64>>,
}

/// A vector whose column is in [`Block::ahead`].
struct Candidate {
    /// (row, 0) for phi(x), (row, 1 + k) for J(x) A e_k.
    vector: (usize, usize),
    /// Columns of R that have been subtracted.
    known: usize,
}

/// A vector with its coordinates, negated.
struct Reduced<'a> {
    pivot: Pivot<'a>,
    coef: Vec<f64>,
}

impl Block {
    fn new(vectors: &Vectors<'_>, first: usize) -> Self {
        let (rows, width) = (ROWS.min(vectors.n_rows() - first), vectors.columns() + 1);
        let mut residual = vec![0.0; rows * width];
        let mut scratch = vectors.scratch();
        let mut direction = vec![0.0; vectors.point(first).len()];
        for (k, out) in residual.chunks_exact_mut(width).enumerate() {
            vectors.squares(first + k, &mut scratch, &mut direction, out);
        }
        let mut block = Self { first, rows, residual, columns: vec![], top: (0.0, 0), ahead: vec![] };
        block.find_top(vectors);
        block
    }

    fn find_top(&mut self, vectors: &Vectors<'_>) {
        let width = self.residual.len() / self.rows;
        let vector = |at: usize| (self.first + at / width, at % width);
        self.top = self.residual.iter().enumerate().fold((f64::NEG_INFINITY, 0), |best, (at, &value)| {
            // NaN and infinity win, so that they are seen.
            let wins = match value.total_cmp(&best.0) {
                Ordering::Equal => value > 0.0 && vectors.precedes(vector(at), vector(best.1)),
                order => order.is_gt() || !value.is_finite(),
            };
            if wins { (value, at) } else { best }
        });
    }

    /// Is its top the better pivot?
    fn beats(&self, other: &Self, vectors: &Vectors<'_>) -> bool {
        match self.top.0.total_cmp(&other.top.0) {
            Ordering::Equal => self.top.0 > 0.0 && vectors.precedes(self.top_vector(), other.top_vector()),
            order => order.is_gt() && other.top.0.is_finite() || !self.top.0.is_finite(),
        }
    }

    /// Element of the last columns of R for one vector: its coordinates.
    fn coordinates(&self, at: usize) -> impl Iterator<Item = f64> {
        self.columns.chunks_exact(self.residual.len()).map(move |column| column[at])
    }

    /// Its top vector.
    fn top_vector(&self) -> (usize, usize) {
        let width = self.residual.len() / self.rows;
        (self.first + self.top.1 / width, self.top.1 % width)
    }

    /// The columns of E of some vectors, what the columns of R so far explain of them subtracted.
    fn look_ahead(&mut self, vectors: &Vectors<'_>, some: &[Reduced<'_>]) -> Result<()> {
        let len = self.residual.len();
        let mut scratch = vectors.scratch();
        self.ahead.clear();
        for Reduced { pivot, coef } in some {
            let mut column = Vec::new();
            may_fail(|| column.try_reserve_exact(len)).map_err(|_| self.no_memory(vectors, coef.len()))?;
            for row in self.first..self.first + self.rows {
                column.extend_from_slice(vectors.entries(row, pivot, &mut scratch));
            }
            self.ahead.push(column);
        }
        for (k, columns) in self.columns.chunks(CHUNK * len).enumerate() {
            for (Reduced { coef, .. }, out) in some.iter().zip(&mut self.ahead) {
                let coef = &coef[k * CHUNK..][..columns.len() / len];
                simd::add_slices(columns, len, &PICKS[..coef.len()], coef, Power::One, out);
            }
        }
        Ok(())
    }

    /// Add the column of a pivot at squared distance `root`^2 from that of `ahead`, and its coordinates since then, negated.
    fn extend(&mut self, vectors: &Vectors<'_>, slot: usize, known: usize, coef: &[f64], root: f64) -> Result<()> {
        let len = self.residual.len();
        may_fail(|| self.columns.try_reserve(len)).map_err(|_| self.no_memory(vectors, known + coef.len()))?;
        let mut column = std::mem::take(&mut self.ahead[slot]);
        for (columns, coef) in self.columns[known * len..].chunks(CHUNK * len).zip(coef.chunks(CHUNK)) {
            simd::add_slices(columns, len, &PICKS[..coef.len()], coef, Power::One, &mut column);
        }
        for (c, residual) in column.iter_mut().zip(&mut self.residual) {
            *c /= root;
            *residual = (*residual - *c * *c).max(0.0);
        }
        self.columns.extend_from_slice(&column);
        Ok(())
    }

    fn no_memory(&self, vectors: &Vectors<'_>, columns: usize) -> Error {
        let width = self.residual.len() / self.rows;
        let bytes = (columns + 1).saturating_mul(vectors.n_rows() * width * size_of::<f64>());
        Error::Data(format!(
            "kernel map: no memory for {} columns of {} x {width} numbers, {bytes} bytes; lower max_rank, or raise tol",
            columns + 1,
            vectors.n_rows()
        ))
    }
}

/// The columns of a chunk.
const PICKS: [u32; CHUNK] = [0, 1, 2, 3];

/// The blocks with the best top vectors, the best first.
fn best_blocks(blocks: &[Block], vectors: &Vectors<'_>, enough: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..blocks.len()).filter(|&b| blocks[b].top.0 > enough).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&blocks[a], &blocks[b]);
        if a.beats(b, vectors) {
            Ordering::Less
        } else if b.beats(a, vectors) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    });
    order.truncate(TOGETHER);
    order
}

/// No vector.
const USED: (usize, usize) = (usize::MAX, 0);

/// The direction of a vector; `None` for phi(x) itself.
fn direction_of(vectors: &Vectors<'_>, (row, column): (usize, usize)) -> Option<Vec<f64>> {
    let mut direction = vec![0.0; vectors.point(row).len()];
    (column > 0).then(|| {
        vectors.direction(row, column - 1, &mut direction);
        direction
    })
}

pub(super) fn factorise(vectors: &Vectors<'_>, options: &Options, control: &Control) -> Result<Factorised> {
    let (n, width) = (vectors.n_rows(), vectors.columns() + 1);
    afford("the distances to the span of the pivots", n.saturating_mul(width).saturating_mul(2 * size_of::<f64>()))?;
    let starts: Vec<usize> = (0..n).step_by(ROWS).collect();
    let mut blocks: Vec<Block> = starts.into_par_iter().map(|first| Block::new(vectors, first)).collect();
    let most = options.max_rank.unwrap_or(usize::MAX).min(n.saturating_mul(width));
    let top = |blocks: &[Block]| {
        (0..blocks.len()).reduce(|best, b| if blocks[b].beats(&blocks[best], vectors) { b } else { best }).unwrap_or(0)
    };
    let largest = blocks[top(&blocks)].top.0;
    if !largest.is_finite() {
        return Err(Error::Data(
            "kernel map: values of the kernel overflow double precision; scale the features, for example with \
             GaussianScaler, or lower gamma or degree"
                .into(),
        ));
    }
    if !(largest > 0.0) {
        return Err(Error::Data("kernel map: the kernel is zero on every row".into()));
    }
    let enough = options.tol.max(NOISE) * largest;
    let mut pivots = vec![];
    let mut ahead: Vec<Candidate> = vec![];
    let mut triangle: Vec<Vec<f64>> = vec![];
    let mut error = 1.0;
    while pivots.len() < most {
        control.check()?;
        let b = top(&blocks);
        let (square, at) = blocks[b].top;
        error = square / largest;
        if square <= enough {
            break;
        }
        let (row, column) = blocks[b].top_vector();
        let slot = match ahead.iter().position(|candidate| candidate.vector == (row, column)) {
            Some(slot) => slot,
            None => {
                let some = best_blocks(&blocks, vectors, enough);
                ahead =
                    some.iter().map(|&b| Candidate { vector: blocks[b].top_vector(), known: pivots.len() }).collect();
                let directions: Vec<Option<Vec<f64>>> =
                    ahead.iter().map(|candidate| direction_of(vectors, candidate.vector)).collect();
                let reduced: Vec<Reduced<'_>> = some
                    .iter()
                    .zip(&directions)
                    .map(|(&b, direction)| Reduced {
                        pivot: Pivot {
                            point: vectors.point(blocks[b].top_vector().0),
                            direction: direction.as_deref(),
                        },
                        coef: blocks[b].coordinates(blocks[b].top.1).map(|x| -x).collect(),
                    })
                    .collect();
                blocks.par_iter_mut().try_for_each(|block| block.look_ahead(vectors, &reduced))?;
                0
            }
        };
        let mut line: Vec<f64> = blocks[b].coordinates(at).collect();
        let Candidate { known, .. } = std::mem::replace(&mut ahead[slot], Candidate { vector: USED, known: 0 });
        let coef: Vec<f64> = line[known..].iter().map(|x| -x).collect();
        let root = square.sqrt();
        blocks.par_iter_mut().try_for_each(|block| -> Result<()> {
            block.extend(vectors, slot, known, &coef, root)?;
            block.find_top(vectors);
            Ok(())
        })?;
        // Rounding leaves a little of the pivot itself; nothing may pick it again.
        blocks[b].residual[at] = 0.0;
        blocks[b].find_top(vectors);
        line.push(root);
        triangle.push(line);
        pivots.push((row, column));
        control.report(pivots.len(), f64::NAN, error);
    }
    if pivots.len() == most {
        error = blocks[top(&blocks)].top.0 / largest;
    }
    let rank = pivots.len();
    let mut lower = zeros(rank, rank)?;
    for (out, line) in lower.chunks_exact_mut(rank).zip(&triangle) {
        out[..line.len()].copy_from_slice(line);
    }
    Ok(Factorised { pivots, lower, error })
}
