//! Pivoted Cholesky factorisation of the extended Gram matrix, column by column.
//!
//! The pivot is always the vector whose squared distance to the span of the earlier ones is largest. Its column of
//! R is (its column of E - what the earlier columns explain of it) / sqrt(that distance). Columns lie in blocks of
//! rows, each a stack of short contiguous slices: a block's update is one weighted sum of slices in cache
//! order, and blocks go to threads. The order of pivots does not depend on their number. Equal distances (all
//! points, for the RBF kernel) are decided by the points themselves: the order of the rows does not matter either.
//!
//! All earlier columns are read for each new one, and together they are larger than any cache. So the vectors with the
//! next largest distances, which are likely to be pivots soon, have their columns reduced along with that of a pivot:
//! when their turn comes only the columns since then are left to subtract. Those that were not taken meanwhile stay, and
//! are brought up to date with the next ones. The pivots are the same.

use std::cmp::Ordering;

use super::KernelMapOptions;
use super::vectors::{Pivot, Vectors};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory::{afford, zeros};
use crate::parallel::iter::*;
use crate::simd::{self, Power};

/// Rows of the data per block.
const ROWS: usize = 64;
/// Vectors whose columns are reduced together, and kept until they are pivots.
const TOGETHER: usize = 16;
/// Vectors whose columns are kept at most.
const KEPT: usize = 32;
/// Columns that are read at a time: a slice per column, in the first-level cache.
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

struct RowBlock {
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

/// The vectors whose columns are in [`RowBlock::ahead`], in this order.
struct Ahead {
    vectors: Vec<Place>,
    /// Columns of R that have been subtracted from theirs.
    known: usize,
}

/// A vector: its block, and where it is in that.
type Place = (usize, usize);

/// A vector with its coordinates, negated.
struct Reduced<'a> {
    pivot: Pivot<'a>,
    coef: Vec<f64>,
}

impl RowBlock {
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

    /// The vector at a place: (row, 0) for phi(x), (row, 1 + k) for J(x) A e_k.
    fn vector(&self, at: usize) -> (usize, usize) {
        let width = self.residual.len() / self.rows;
        (self.first + at / width, at % width)
    }

    /// Its top vector.
    fn top_vector(&self) -> (usize, usize) {
        self.vector(self.top.1)
    }

    /// Columns ahead: those of `kept` slots, what the columns of R from `known` on explain of them subtracted, and the
    /// columns of E of some vectors, what all columns of R explain of them subtracted.
    fn look_ahead(
        &mut self,
        vectors: &Vectors<'_>,
        (kept, since): (&[usize], &[&[f64]]),
        known: usize,
        some: &[Reduced<'_>],
    ) -> Result<()> {
        let len = self.residual.len();
        self.ahead = kept.iter().map(|&slot| std::mem::take(&mut self.ahead[slot])).collect();
        simd::add_combinations(&self.columns[known * len..], len, since, &mut self.ahead);
        let mut scratch = vectors.scratch();
        for Reduced { pivot, coef } in some {
            let mut column = Vec::new();
            column.try_reserve_exact(len).map_err(|_| self.no_memory(vectors, coef.len()))?;
            for row in self.first..self.first + self.rows {
                column.extend_from_slice(vectors.entries(row, pivot, &mut scratch));
            }
            self.ahead.push(column);
        }
        let coef: Vec<&[f64]> = some.iter().map(|reduced| &reduced.coef[..]).collect();
        simd::add_combinations(&self.columns, len, &coef, &mut self.ahead[kept.len()..]);
        Ok(())
    }

    /// Add the column of a pivot at squared distance `root`^2 from that of `ahead`, and its coordinates since then, negated.
    fn extend(&mut self, vectors: &Vectors<'_>, slot: usize, known: usize, coef: &[f64], root: f64) -> Result<()> {
        let len = self.residual.len();
        self.columns.try_reserve(len).map_err(|_| self.no_memory(vectors, known + coef.len()))?;
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
        Error::OutOfMemory(format!(
            "kernel map: no memory for {} columns of {} x {width} numbers, {bytes} bytes; lower max_rank, or raise tol",
            columns + 1,
            vectors.n_rows()
        ))
    }
}

/// The columns of a chunk.
const PICKS: [u32; CHUNK] = [0, 1, 2, 3];

/// The vectors with the largest distances above `enough`, as many as `most`, in no order.
fn largest_vectors(blocks: &[RowBlock], most: usize, enough: f64) -> Vec<Place> {
    let mut found: Vec<(f64, Place)> = vec![];
    let mut least = enough;
    for (b, block) in blocks.iter().enumerate() {
        for (at, &square) in block.residual.iter().enumerate() {
            if square > least {
                found.push((square, (b, at)));
            }
        }
        if found.len() > most {
            let (_, last, _) = found.select_nth_unstable_by(most - 1, |a, b| b.0.total_cmp(&a.0));
            least = last.0;
            found.truncate(most);
        }
    }
    found.into_iter().map(|(_, place)| place).collect()
}

/// No vector.
const USED: Place = (usize::MAX, 0);

/// Columns of more vectors, the last one that of `pivot`, reduced by the `n` columns of R; the best of those that are
/// there stay.
fn more_ahead(
    blocks: &mut [RowBlock],
    vectors: &Vectors<'_>,
    before: Ahead,
    (pivot, n): (Place, usize),
    most: usize,
    enough: f64,
) -> Result<Ahead> {
    let square = |&(b, at): &Place| blocks[b].residual[at];
    let mut kept: Vec<usize> = (0..before.vectors.len()).filter(|&slot| before.vectors[slot] != USED).collect();
    kept.sort_by(|&i, &j| square(&before.vectors[j]).total_cmp(&square(&before.vectors[i])));
    kept.truncate(KEPT - TOGETHER);
    let mut places: Vec<Place> = kept.iter().map(|&slot| before.vectors[slot]).collect();
    let many = TOGETHER.min(most - n);
    let new =
        largest_vectors(blocks, many, enough).into_iter().filter(|place| *place != pivot && !places.contains(place));
    let new: Vec<Place> = new.take(many - 1).chain([pivot]).collect();
    let negated = |&(b, at): &Place| -> Vec<f64> { blocks[b].coordinates(at).map(|x| -x).collect() };
    let since: Vec<Vec<f64>> = places.iter().map(|place| negated(place).split_off(before.known)).collect();
    let since: Vec<&[f64]> = since.iter().map(Vec::as_slice).collect();
    let directions: Vec<Option<Vec<f64>>> =
        new.iter().map(|&(b, at)| find_direction(vectors, blocks[b].vector(at))).collect();
    let reduced = new.iter().zip(&directions).map(|(place, direction)| Reduced {
        pivot: Pivot { point: vectors.point(blocks[place.0].vector(place.1).0), direction: direction.as_deref() },
        coef: negated(place),
    });
    let reduced: Vec<Reduced<'_>> = reduced.collect();
    blocks.par_iter_mut().try_for_each(|block| block.look_ahead(vectors, (&kept, &since), before.known, &reduced))?;
    places.extend(new);
    Ok(Ahead { vectors: places, known: n })
}

/// The direction of a vector; `None` for phi(x) itself.
fn find_direction(vectors: &Vectors<'_>, (row, column): (usize, usize)) -> Option<Vec<f64>> {
    let mut direction = vec![0.0; vectors.point(row).len()];
    (column > 0).then(|| {
        vectors.direction(row, column - 1, &mut direction);
        direction
    })
}

pub(super) fn factorise(vectors: &Vectors<'_>, options: &KernelMapOptions, control: &Control) -> Result<Factorised> {
    let (n, width) = (vectors.n_rows(), vectors.columns() + 1);
    afford("the distances to the span of the pivots", n.saturating_mul(width).saturating_mul(2 * size_of::<f64>()))?;
    let starts: Vec<usize> = (0..n).step_by(ROWS).collect();
    let mut blocks: Vec<RowBlock> = starts.into_par_iter().map(|first| RowBlock::new(vectors, first)).collect();
    let most = options.max_rank.unwrap_or(usize::MAX).min(n.saturating_mul(width));
    let top = |blocks: &[RowBlock]| {
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
    let mut ahead = Ahead { vectors: vec![], known: 0 };
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
        let slot = match ahead.vectors.iter().position(|place| *place == (b, at)) {
            Some(slot) => slot,
            None => {
                ahead = more_ahead(&mut blocks, vectors, ahead, ((b, at), pivots.len()), most, enough)?;
                ahead.vectors.len() - 1
            }
        };
        ahead.vectors[slot] = USED;
        let mut line: Vec<f64> = blocks[b].coordinates(at).collect();
        let known = ahead.known;
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
