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
//! nothing can overflow; kernel values below 1e-154 become 0.

mod closed;
mod factor;
mod small;
#[cfg(test)]
mod tests;

use std::ops::Range;

use closed::{Diagonal, Isotropic, Points, Two};
use factor::Dense;
pub(crate) use factor::Workspace;
use small::Small;

use super::lanes::{LANES, Pack};
use super::vector::{Vector, Wide, dispatch_wide};

/// What is stored of a covariance after the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spread {
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
    pub(crate) fn len(self, d: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Isotropic => 1,
            Self::Diagonal => d,
            Self::Dense => d * (d + 1) / 2,
        }
    }
}

/// Above this dimension eight pairs side by side do not fit the second cache; [`Tile`] cannot do them.
pub(crate) const LARGEST: usize = 96;

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

/// Kernel values of the row `own` with as many others as a register holds.
trait Pairs {
    fn some<V: Vector>(&mut self, own: &[f64], others: Others<'_>) -> V;
}

/// A rectangle of pairs: rows of x with packs of z.
pub(crate) struct Tile<'a> {
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
    /// rows.len() x (8 packs.len())
    pub out: &'a mut [f64],
}

impl Tile<'_> {
    /// Fill `out`.
    pub(crate) fn fill(self) {
        dispatch_wide(self);
    }

    #[inline(always)]
    fn with<V: Vector>(&mut self, mut pairs: impl Pairs) {
        let width = self.d + self.spread.len(self.d);
        let out_width = LANES * self.packs.len();
        for (pack, column) in self.packs.clone().zip((0..out_width).step_by(LANES)) {
            let others = &self.z[pack * width..][..width];
            let first = if self.triangle { self.rows.start.max(LANES * pack) } else { self.rows.start };
            for i in first..self.rows.end {
                let own = &self.x[i * width..][..width];
                let out = &mut self.out[(i - self.rows.start) * out_width + column..][..LANES];
                for at in (0..LANES).step_by(V::WIDTH) {
                    pairs.some::<V>(own, Others { pack: others, at }).store(&mut out[at..]);
                }
            }
        }
    }

    #[inline(always)]
    fn dense<V: Vector, const SHARED: bool>(&mut self) {
        let mut workspace = std::mem::take(self.workspace);
        workspace.reserve(self.d);
        let d = self.d;
        if V::PANEL == 4 {
            self.with::<V>(Dense::<SHARED, 4> { d, workspace: &mut workspace });
        } else {
            self.with::<V>(Dense::<SHARED, 3> { d, workspace: &mut workspace });
        }
        *self.workspace = workspace;
    }

    #[inline(always)]
    fn small<V: Vector, const SHARED: bool>(&mut self) {
        match self.d {
            3 => self.with::<V>(Small::<3, SHARED>),
            4 => self.with::<V>(Small::<4, SHARED>),
            5 => self.with::<V>(Small::<5, SHARED>),
            6 => self.with::<V>(Small::<6, SHARED>),
            7 => self.with::<V>(Small::<7, SHARED>),
            8 => self.with::<V>(Small::<8, SHARED>),
            9 => self.with::<V>(Small::<9, SHARED>),
            10 => self.with::<V>(Small::<10, SHARED>),
            11 => self.with::<V>(Small::<11, SHARED>),
            _ => self.with::<V>(Small::<12, SHARED>),
        }
    }

    #[inline(always)]
    fn coupled<V: Vector, const SHARED: bool>(mut self) {
        let d = self.d;
        match (self.spread, d) {
            (Spread::None, _) => self.with::<V>(Points { d }),
            (Spread::Isotropic, _) => self.with::<V>(Isotropic::<SHARED> { d }),
            (Spread::Diagonal, _) => self.with::<V>(Diagonal::<SHARED> { d }),
            (Spread::Dense, 2) => self.with::<V>(Two::<SHARED>),
            (Spread::Dense, 3..=12) if V::UNROLL => self.small::<V, SHARED>(),
            (Spread::Dense, _) => self.dense::<V, SHARED>(),
        }
    }
}

impl Wide for Tile<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector>(self) {
        if self.shared { self.coupled::<V, true>() } else { self.coupled::<V, false>() }
    }
}

/// sqrt(inverse_det) exp(-quad / 2)
#[inline(always)]
fn finish<V: Vector>(inverse_det: V, quad: V) -> V {
    inverse_det.sqrt().mul(quad.exp_half())
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
