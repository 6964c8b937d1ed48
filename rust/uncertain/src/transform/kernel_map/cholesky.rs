//! Pivoted Cholesky factorisation of the extended Gram matrix, column by column.
//!
//! The pivot is always the vector whose squared distance to the span of the earlier ones is largest. Its column of
//! R is (its column of E - what the earlier columns explain of it) / sqrt(that distance). Columns lie in blocks of
//! rows, each a stack of short contiguous slices: a block's update is one weighted sum of slices in cache
//! order, and blocks go to threads. The order of pivots does not depend on their number. Equal distances (all
//! points, for the RBF kernel) are decided by distances from the middle: neither the order of the rows nor that of the features matters.
//!
//! All earlier columns are read for each new one, and together they are larger than any cache. So the vectors with the
//! next largest distances, which are likely to be pivots soon, have their columns reduced along with that of a pivot:
//! when their turn comes only the columns since then are left to subtract. Those that were not taken meanwhile stay, and
//! are brought up to date with the next ones. The pivots are the same.
//!
//! R is what the rows are mapped to: who wants them has no triangular system to solve ([`Factorised::coordinates`]).

use super::KernelMapOptions;
use super::vectors::{Pivot, Vectors};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory::{afford, zeros};
use crate::parallel;
use crate::parallel::iter::*;
use crate::simd::{self, LANES, Power};

/// Rows of the data per block.
const ROWS: usize = 64;
/// Vectors whose columns are reduced together, and kept until they are pivots.
const TOGETHER: usize = 32;
/// Vectors whose columns are kept at most.
const KEPT: usize = 64;
/// Columns that are read at a time: a slice per column, in the first-level cache.
const CHUNK: usize = 4;
/// Columns in one piece of memory: more are not moved when the next one comes.
const PIECE: usize = 16;
/// A smaller relative residual is rounding, not a direction.
const NOISE: f64 = 1e-14;

pub(super) struct Factorised {
    /// (row, 0) for phi(x), (row, 1 + k) for J(x) A e_k.
    pub pivots: Vec<(usize, usize)>,
    /// D x D, row-major, zeros above the diagonal.
    pub lower: Vec<f64>,
    /// Largest residual, relative.
    pub error: f64,
    blocks: Vec<RowBlock>,
}

struct RowBlock {
    first: usize,
    rows: usize,
    /// Squared distances to the span of the pivots.
    residual: Vec<f64>,
    /// The columns of R so far, one slice after the other, [`PIECE`] of them in a vector.
    columns: Vec<Vec<f64>>,
    /// The largest residual.
    largest: f64,
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
        // So that it is seen: a number that is none is no maximum.
        residual.iter_mut().filter(|square| square.is_nan()).for_each(|square| *square = f64::INFINITY);
        let largest = largest(&residual);
        Self { first, rows, residual, columns: vec![], largest, ahead: vec![] }
    }

    fn find_largest(&mut self) {
        self.largest = largest(&self.residual);
    }

    /// The columns of R from `known` on, some at a time: the number of the first one since `known`, and they.
    fn columns_since(&self, known: usize) -> impl Iterator<Item = (usize, &[f64])> {
        let len = self.residual.len();
        self.columns.iter().enumerate().skip(known / PIECE).map(move |(k, piece)| {
            let skipped = known.saturating_sub(k * PIECE);
            (k * PIECE + skipped - known, &piece[skipped * len..])
        })
    }

    /// Entries of the columns of R for one vector: its coordinates.
    fn coordinates(&self, at: usize) -> impl Iterator<Item = f64> {
        let len = self.residual.len();
        self.columns.iter().flat_map(move |piece| piece.chunks_exact(len).map(move |column| column[at]))
    }

    /// Add what the columns of R from `known` on explain of the columns `ahead`, which have these coefficients.
    fn subtract(&self, known: usize, coef: &[&[f64]], ahead: &mut [Vec<f64>]) {
        for (first, columns) in self.columns_since(known) {
            let end = first + columns.len() / self.residual.len();
            let coef: Vec<&[f64]> = coef.iter().map(|coef| &coef[first..end]).collect();
            simd::add_combinations(columns, self.residual.len(), &coef, ahead);
        }
    }

    /// The vector at a place: (row, 0) for phi(x), (row, 1 + k) for J(x) A e_k.
    fn vector(&self, at: usize) -> (usize, usize) {
        let width = self.residual.len() / self.rows;
        (self.first + at / width, at % width)
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
        let mut ahead: Vec<Vec<f64>> = kept.iter().map(|&slot| std::mem::take(&mut self.ahead[slot])).collect();
        self.subtract(known, since, &mut ahead);
        let mut scratch = vectors.scratch();
        for Reduced { pivot, coef } in some {
            let mut column = Vec::new();
            column.try_reserve_exact(len).map_err(|_| self.no_memory(vectors, coef.len()))?;
            for row in self.first..self.first + self.rows {
                column.extend_from_slice(vectors.entries(row, pivot, &mut scratch));
            }
            ahead.push(column);
        }
        let coef: Vec<&[f64]> = some.iter().map(|reduced| &reduced.coef[..]).collect();
        self.subtract(0, &coef, &mut ahead[kept.len()..]);
        self.ahead = ahead;
        Ok(())
    }

    /// Add the column of a pivot at squared distance `root`^2 from that of `ahead`, and its coordinates since then, negated.
    fn extend(&mut self, vectors: &Vectors<'_>, slot: usize, known: usize, coef: &[f64], root: f64) -> Result<()> {
        let len = self.residual.len();
        let mut column = std::mem::take(&mut self.ahead[slot]);
        for (first, columns) in self.columns_since(known) {
            let coef = &coef[first..first + columns.len() / len];
            for (columns, coef) in columns.chunks(CHUNK * len).zip(coef.chunks(CHUNK)) {
                simd::add_slices(columns, len, &PICKS[..coef.len()], coef, Power::One, &mut column);
            }
        }
        for (c, residual) in column.iter_mut().zip(&mut self.residual) {
            *c /= root;
            *residual = (*residual - *c * *c).max(0.0);
        }
        self.find_largest();
        if self.columns.last().is_none_or(|piece| piece.len() == PIECE * len) {
            let mut piece = Vec::new();
            piece.try_reserve_exact(PIECE * len).map_err(|_| self.no_memory(vectors, known + coef.len()))?;
            self.columns.push(piece);
        }
        if let Some(piece) = self.columns.last_mut() {
            piece.extend_from_slice(&column);
        }
        Ok(())
    }

    /// Its vectors' coordinates: a mean of D numbers per row, and D x r numbers of its factor.
    fn write(&self, rank: usize, means: &mut [f64], factors: &mut [f64]) {
        let width = self.residual.len() / self.rows;
        let columns = self.columns.iter().flat_map(|piece| piece.chunks_exact(self.residual.len()));
        for (k, column) in columns.enumerate() {
            for (i, vectors) in column.chunks_exact(width).enumerate() {
                let (at, r) = (i * rank + k, width - 1);
                means[at] = vectors[0];
                factors[at * r..(at + 1) * r].copy_from_slice(&vectors[1..]);
            }
        }
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

/// The largest number, in lanes; none of them is NaN.
fn largest(values: &[f64]) -> f64 {
    let (packs, rest) = values.as_chunks::<LANES>();
    let mut most = [f64::NEG_INFINITY; LANES];
    for pack in packs {
        for l in 0..LANES {
            most[l] = if pack[l] > most[l] { pack[l] } else { most[l] };
        }
    }
    most.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The vector that is farthest from the span of the pivots: its squared distance, and its place.
fn farthest(blocks: &[RowBlock], vectors: &Vectors<'_>) -> (f64, Place) {
    let square = blocks.iter().map(|block| block.largest).fold(f64::NEG_INFINITY, f64::max);
    let vector = |(b, at): Place| blocks[b].vector(at);
    let mut best: Option<Place> = None;
    for (b, block) in blocks.iter().enumerate().filter(|(_, block)| block.largest == square) {
        for (at, _) in block.residual.iter().enumerate().filter(|(_, own)| **own == square) {
            if best.is_none_or(|best| square > 0.0 && vectors.precedes(vector((b, at)), vector(best))) {
                best = Some((b, at));
            }
        }
    }
    (square, best.unwrap_or_default())
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
    let largest = farthest(&blocks, vectors).0;
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
        let (square, (b, at)) = farthest(&blocks, vectors);
        error = square / largest;
        if square <= enough {
            break;
        }
        let (row, column) = blocks[b].vector(at);
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
        blocks.par_iter_mut().try_for_each(|block| block.extend(vectors, slot, known, &coef, root))?;
        // Rounding leaves a little of the pivot itself; nothing may pick it again.
        blocks[b].residual[at] = 0.0;
        blocks[b].find_largest();
        line.push(root);
        triangle.push(line);
        pivots.push((row, column));
        control.report(pivots.len(), f64::NAN, error);
    }
    if pivots.len() == most {
        error = farthest(&blocks, vectors).0 / largest;
    }
    let rank = pivots.len();
    let mut lower = zeros(rank, rank)?;
    for (out, line) in lower.chunks_exact_mut(rank).zip(&triangle) {
        out[..line.len()].copy_from_slice(line);
    }
    Ok(Factorised { pivots, lower, error, blocks })
}

impl Factorised {
    /// The coordinates of the rows' vectors: means, n x D, and for r columns of A_i factors, n x (D r). Blocks go as soon
    /// as theirs are written.
    pub(super) fn coordinates(self, n: usize, r: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let rank = self.pivots.len();
        let (mut means, mut factors) = (zeros(n, rank)?, zeros(n, rank * r)?);
        let (mut rest, mut jobs) = ((&mut means[..], &mut factors[..]), vec![]);
        for block in self.blocks {
            let (own, means) = rest.0.split_at_mut(block.rows * rank);
            let (factor, factors) = rest.1.split_at_mut(block.rows * rank * r);
            rest = (means, factors);
            jobs.push((block, own, factor));
        }
        parallel::for_each(jobs, |(block, means, factors)| {
            block.write(rank, means, factors);
            Ok(())
        })?;
        Ok((means, factors))
    }
}
