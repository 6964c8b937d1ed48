//! The expected RBF kernel of one Gaussian with eight others at a time.
//!
//! Idea: rows are stored eight side by side ([`Pack`]: element e of rows 8b .. 8b + 8), so that every
//! operation of a pair is one instruction for as many pairs as a register holds, whatever the dimension: no
//! horizontal sums, no remainders, no permutations. One row is broadcast against a pack of others.
//! Everything is scaled by sigma beforehand; an element list is the mean, then the spread (nothing, one
//! number, d numbers, or a packed triangle), and the spread is a root A_i for the shared coupling, a variance
//! S_i for the independent one. Both give kappa = |M|^{-1/2} exp(-d'M^{-1}d / 2) with
//! ```text
//! M = I + (A_i - A_j)^2      or      M = I + S_i + S_j,        d = x_i - x_j,        always M >= I
//! ```
//! The determinant is a product of inverse pivots <= 1 and its root is taken once: no logarithm, and
//! nothing can overflow. (Roots of determinants above 1e290 are taken for 1e145.)

mod blocks;
mod closed;
mod factor;
mod small;
#[cfg(test)]
mod tests;

use std::ops::Range;

use closed::{Diagonal, Isotropic, Points, Two};
use factor::Dense;
pub use factor::Workspace;
use small::Small;

use crate::dispatch::Level;
use crate::lanes::{LANES, Pack};
use crate::vector::{Vector, Wide, run_on};

/// Numbers of a covariance after the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spread {
    /// Nothing: exact points.
    None,
    /// One number.
    Isotropic,
    /// d numbers.
    Diagonal,
    /// The packed lower triangle of a matrix.
    Dense,
}

impl Spread {
    /// Numbers per row of data.
    pub fn len(self, d: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Isotropic => 1,
            Self::Diagonal => d,
            Self::Dense => d * (d + 1) / 2,
        }
    }
}

/// Above this dimension eight pairs side by side do not fit the second cache; [`Tile`] cannot do them.
pub const LARGEST: usize = 96;

/// Rows of so many numbers are short: a pack of others need not stay in the cache for one row after the other.
pub const SHORT: usize = 24;

/// Some rows of the other side: a pack, from this lane on.
#[derive(Clone, Copy)]
struct Others<'a> {
    pack: &'a [Pack],
    at: usize,
}

impl Others<'_> {
    /// The first `len` elements: one check of the length for all that follows.
    #[inline(always)]
    fn cut(self, len: usize) -> Self {
        Self { pack: &self.pack[..len], at: self.at }
    }

    /// Element k.
    #[inline(always)]
    fn load<V: Vector>(self, k: usize) -> V {
        V::load(&self.pack[k].0[self.at..])
    }
}

/// One row and as many others as a register holds: as many pairs.
#[derive(Clone, Copy)]
struct Set<'a> {
    own: &'a [f64],
    others: Others<'a>,
}

/// So many sets side by side at most.
const MOST: usize = 2;

/// Kernel values of some sets.
trait Pairs<V: Vector> {
    /// Sets that go side by side, so that one is worked on while the other waits for a division.
    const SIDE: usize = 1;
    /// The values of the first `SIDE` sets.
    fn sets(&mut self, sets: &[Set<'_>; MOST]) -> [V; MOST];
}

/// Kernels of one set after the other.
trait Single<V: Vector> {
    fn some(&mut self, own: &[f64], others: Others<'_>) -> V;
}

/// A [`Single`] as [`Pairs`].
struct OneByOne<T>(T);

impl<V: Vector, T: Single<V>> Pairs<V> for OneByOne<T> {
    #[inline(always)]
    fn sets(&mut self, sets: &[Set<'_>; MOST]) -> [V; MOST] {
        let mut out = [V::splat(0.0); MOST];
        out[0] = self.0.some(sets[0].own, sets[0].others);
        out
    }
}

/// A rectangle of pairs: rows of x with packs of z.
pub struct Tile<'a> {
    /// Rows one after the other: what is broadcast should be contiguous.
    pub x: &'a [f64],
    pub z: &'a [Pack],
    pub d: usize,
    pub spread: Spread,
    /// The shared coupling, else the independent one.
    pub shared: bool,
    pub rows: Range<usize>,
    /// Packs (of eight rows) of z.
    pub packs: Range<usize>,
    /// x is z, and only the packs up to the one with the row itself are wanted.
    pub triangle: bool,
    pub workspace: &'a mut Workspace,
    /// rows.len() rows of 8 packs.len() values, `stride` from row to row.
    pub out: &'a mut [f64],
    pub stride: usize,
}

impl Tile<'_> {
    /// Fill `out`.
    pub fn fill(self) {
        self.fill_on(Level::in_use());
    }

    /// [`fill`](Self::fill) with one instruction set.
    fn fill_on(self, level: Level) {
        if self.shared { self.coupled::<true>(level) } else { self.coupled::<false>(level) }
    }

    /// Are rows so short that `out` is best written as it lies in memory?
    #[inline(always)]
    fn is_short(&self) -> bool {
        self.d + self.spread.len(self.d) <= SHORT && !self.triangle
    }

    /// Kernels of few instructions: two loops, each with nothing in it but them.
    #[inline(always)]
    fn light<V: Vector, P: Pairs<V>>(&mut self, pairs: P) {
        if self.is_short() { self.along_rows::<V, P>(pairs) } else { self.walk::<V, P>(pairs, false) }
    }

    /// Kernels of many instructions: one loop, since the compiler takes seconds for every copy of them.
    #[inline(always)]
    fn heavy<V: Vector, P: Pairs<V>>(&mut self, pairs: P) {
        self.walk::<V, P>(pairs, self.is_short());
    }

    /// Row after row with each pack, or pack after pack with each row.
    #[inline(always)]
    fn walk<V: Vector, P: Pairs<V>>(&mut self, mut pairs: P, along_rows: bool) {
        let width = self.d + self.spread.len(self.d);
        let mut at = (self.packs.start, self.first(self.packs.start));
        let mut more = !self.rows.is_empty() && !self.packs.is_empty();
        while more {
            let (mut own, mut packs, mut places) = ([0; MOST], [0; MOST], [0; MOST]);
            for s in 0..P::SIDE {
                let (pack, row) = at;
                (own[s], packs[s]) = (row * width, pack * width);
                places[s] = (row - self.rows.start) * self.stride + LANES * (pack - self.packs.start);
                // Beyond the last one it is that one again.
                at = if along_rows && pack + 1 < self.packs.end {
                    (pack + 1, row)
                } else if along_rows && row + 1 < self.rows.end {
                    (self.packs.start, row + 1)
                } else if !along_rows && row + 1 < self.rows.end {
                    (pack, row + 1)
                } else if !along_rows && pack + 1 < self.packs.end {
                    (pack + 1, self.first(pack + 1))
                } else {
                    more = false;
                    at
                };
            }
            for lane in (0..LANES).step_by(V::WIDTH) {
                let mut sets = [Set { own: &[], others: Others { pack: &[], at: lane } }; MOST];
                for s in 0..P::SIDE {
                    sets[s].own = &self.x[own[s]..][..width];
                    sets[s].others.pack = &self.z[packs[s]..][..width];
                }
                let values = pairs.sets(&sets);
                for s in 0..P::SIDE {
                    values[s].store(&mut self.out[places[s] + lane..]);
                }
            }
        }
    }

    /// A rectangle of short rows of data, row after row: `out` is written as it lies in memory, and there is
    /// little to do beside the pairs.
    #[inline(always)]
    fn along_rows<V: Vector, P: Pairs<V>>(&mut self, mut pairs: P) {
        let width = self.d + self.spread.len(self.d);
        let packs = &self.z[self.packs.start * width..self.packs.end * width];
        for (r, row) in self.rows.clone().enumerate() {
            let own = &self.x[row * width..][..width];
            let line = &mut self.out[r * self.stride..][..LANES * self.packs.len()];
            let (mut some, mut places) = (packs.chunks_exact(P::SIDE * width), line.chunks_exact_mut(P::SIDE * LANES));
            for (pack, out) in (&mut some).zip(&mut places) {
                for at in (0..LANES).step_by(V::WIDTH) {
                    let mut sets = [Set { own, others: Others { pack: &pack[..width], at } }; MOST];
                    sets[P::SIDE - 1].others.pack = &pack[(P::SIDE - 1) * width..];
                    let values = pairs.sets(&sets);
                    for s in 0..P::SIDE {
                        values[s].store(&mut out[s * LANES + at..]);
                    }
                }
            }
            for (pack, out) in some.remainder().chunks_exact(width).zip(places.into_remainder().chunks_exact_mut(LANES))
            {
                for at in (0..LANES).step_by(V::WIDTH) {
                    pairs.sets(&[Set { own, others: Others { pack, at } }; MOST])[0].store(&mut out[at..]);
                }
            }
        }
    }

    /// The first row wanted with a pack; a tile on the diagonal has as many rows as columns.
    #[inline(always)]
    fn first(&self, pack: usize) -> usize {
        if self.triangle { self.rows.start.max(LANES * pack) } else { self.rows.start }
    }

    #[inline(always)]
    fn dense<V: Vector, const SHARED: bool>(&mut self) {
        let mut workspace = std::mem::take(self.workspace);
        workspace.reserve(self.d);
        let d = self.d;
        if V::PANEL == 4 {
            self.heavy::<V, _>(OneByOne(Dense::<SHARED, 4> { d, workspace: &mut workspace }));
        } else {
            self.heavy::<V, _>(OneByOne(Dense::<SHARED, 3> { d, workspace: &mut workspace }));
        }
        *self.workspace = workspace;
    }

    fn coupled<const SHARED: bool>(self, level: Level) {
        match (self.spread, self.d) {
            (Spread::None, _) => run_on(level, OfKind::<SHARED, POINTS>(self)),
            (Spread::Isotropic, _) => run_on(level, OfKind::<SHARED, ISOTROPIC>(self)),
            (Spread::Diagonal, _) => run_on(level, OfKind::<SHARED, DIAGONAL>(self)),
            (Spread::Dense, 2) => run_on(level, OfKind::<SHARED, TWO>(self)),
            (Spread::Dense, 5) => run_on(level, OfKind::<SHARED, FIVE>(self)),
            (Spread::Dense, 10) => run_on(level, OfKind::<SHARED, TEN>(self)),
            (Spread::Dense, _) => run_on(level, OfKind::<SHARED, DENSE>(self)),
        }
    }
}

const POINTS: usize = 0;
const ISOTROPIC: usize = 1;
const DIAGONAL: usize = 2;
const TWO: usize = 3;
const FIVE: usize = 4;
const TEN: usize = 5;
const DENSE: usize = 6;

/// A tile of one kind of pairs. Each kind is compiled by itself: a build without optimisation keeps every number of unrolled
/// loops on the stack, and all kinds in one function took more (2.7 MB) than a thread has.
struct OfKind<'a, const SHARED: bool, const KIND: usize>(Tile<'a>);

impl<const SHARED: bool, const KIND: usize> Wide for OfKind<'_, SHARED, KIND> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector>(self) {
        let mut tile = self.0;
        let d = tile.d;
        match KIND {
            POINTS => tile.light::<V, _>(OneByOne(Points { d })),
            ISOTROPIC => tile.light::<V, _>(OneByOne(Isotropic::<SHARED> { d })),
            DIAGONAL => tile.light::<V, _>(OneByOne(Diagonal::<SHARED> { d })),
            TWO => tile.light::<V, _>(OneByOne(Two::<SHARED>)),
            FIVE if V::UNROLL => tile.light::<V, _>(Small::<V, 5, SHARED>::new()),
            TEN if V::UNROLL => tile.light::<V, _>(Small::<V, 10, SHARED>::new()),
            _ => tile.dense::<V, SHARED>(),
        }
    }
}

/// sqrt(inverse_det) exp(-quad / 2)
#[inline(always)]
fn finish<V: Vector>(inverse_det: V, quad: V) -> V {
    let inverse_det = inverse_det.max(V::splat(1e-290));
    inverse_det.mul(inverse_det.rsqrt()).mul(quad.exp_half())
}

/// A number of one row minus those of others.
#[inline(always)]
fn difference<V: Vector>(own: &[f64], others: Others<'_>, k: usize) -> V {
    V::splat(own[k]).sub(others.load(k))
}

/// A_i - A_j for the shared coupling, S_i + S_j for the independent one.
#[inline(always)]
fn joint<V: Vector, const SHARED: bool>(own: &[f64], others: Others<'_>, k: usize) -> V {
    let (a, b) = (V::splat(own[k]), others.load(k));
    if SHARED { a.sub(b) } else { a.add(b) }
}
