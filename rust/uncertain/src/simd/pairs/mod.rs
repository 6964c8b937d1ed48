//! The expected RBF kernel of one Gaussian with eight others at a time.
//!
//! Idea: rows are stored eight side by side ([`Pack`]: element e of rows 8b .. 8b + 8), so that every
//! operation of a pair is one instruction for eight pairs, whatever the dimension: no horizontal sums, no
//! remainders, no permutations. One row is broadcast against a pack of others. Everything is scaled by
//! sigma beforehand; an element list is the mean, then the spread (nothing, one number, d numbers, or a
//! matrix), and the spread is a root A_i for the shared coupling, a variance S_i for the
//! independent one. Both give kappa = |M|^{-1/2} exp(-d'M^{-1}d / 2) with
//! ```text
//! M = I + (A_i - A_j)^2      or      M = I + S_i + S_j,        d = x_i - x_j,        always M >= I
//! ```
//! The determinant is a product of inverse pivots <= 1 and its root is taken once: no logarithm, and
//! nothing can overflow; kernel values below 1e-154 become 0.

mod closed;
mod factor;

use std::ops::Range;

use closed::{Diagonal, Isotropic, Points, Two};
use factor::Dense;
pub(crate) use factor::Workspace;

use super::lanes::{LANES, Lanes, Pack, each};
use super::normal::exp;
use super::{Kernel, dispatch};

/// What is stored of a covariance after the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spread {
    /// Nothing: exact points.
    None,
    /// One number.
    Isotropic,
    /// d numbers.
    Diagonal,
    /// A matrix: d rows of [`stride`] numbers where that is more than 0, else the packed lower triangle.
    Dense,
}

impl Spread {
    /// Numbers per row of data.
    pub(crate) fn len(self, d: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Isotropic => 1,
            Self::Diagonal => d,
            Self::Dense if stride(d) > 0 => d * stride(d),
            Self::Dense => d * (d + 1) / 2,
        }
    }
}

/// Above this dimension eight pairs side by side do not fit the second cache; [`Tile`] cannot do them.
pub(crate) const LARGEST: usize = 96;

/// Numbers from row to row of a matrix, an odd number so that rows do not compete for the same cache sets;
/// 0 where matrices are packed.
pub(crate) fn stride(d: usize) -> usize {
    if d > 2 && d <= LARGEST { d | 1 } else { 0 }
}

/// Eight kernel values: the row `own` with the rows of the pack `other`.
trait Pairs {
    fn eight<const FMA: bool>(&mut self, own: &[f64], other: &[Pack]) -> Lanes;
}

/// A rectangle of pairs: rows of x with packs of z.
pub(crate) struct Tile<'a> {
    pub x: &'a [Pack],
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
    /// Memory for one row.
    pub row: &'a mut Vec<f64>,
    /// rows.len() x (8 packs.len())
    pub out: &'a mut [f64],
}

impl Tile<'_> {
    /// Fill `out`.
    pub(crate) fn fill(self) {
        dispatch(self);
    }

    #[inline(always)]
    fn with<const FMA: bool>(&mut self, mut pairs: impl Pairs) {
        let width = self.d + self.spread.len(self.d);
        let out_width = LANES * self.packs.len();
        let mut row = std::mem::take(self.row);
        row.resize(width, 0.0);
        for (i, out) in self.rows.clone().zip(self.out.chunks_exact_mut(out_width)) {
            // Broadcast from contiguous memory: in its pack every number of the row is on a cache line of its own.
            let own = &self.x[i / LANES * width..][..width];
            row.iter_mut().zip(own).for_each(|(x, pack)| *x = pack.0[i % LANES]);
            let end = if self.triangle { self.packs.end.min(i / LANES + 1) } else { self.packs.end };
            for (pack, out) in (self.packs.start..end).zip(out.chunks_exact_mut(LANES)) {
                let other = &self.z[pack * width..][..width];
                out.copy_from_slice(&pairs.eight::<FMA>(&row, other));
            }
        }
        *self.row = row;
    }

    #[inline(always)]
    fn coupled<const FMA: bool, const SHARED: bool>(mut self) {
        let d = self.d;
        match self.spread {
            Spread::None => self.with::<FMA>(Points { d }),
            Spread::Isotropic => self.with::<FMA>(Isotropic::<SHARED> { d }),
            Spread::Diagonal => self.with::<FMA>(Diagonal::<SHARED> { d }),
            Spread::Dense if d == 2 => self.with::<FMA>(Two::<SHARED>),
            Spread::Dense => {
                let mut workspace = std::mem::take(self.workspace);
                workspace.reserve(d);
                self.with::<FMA>(Dense::<SHARED> { d, workspace: &mut workspace });
                *self.workspace = workspace;
            }
        }
    }
}

impl Kernel for Tile<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        if self.shared { self.coupled::<FMA, true>() } else { self.coupled::<FMA, false>() }
    }
}

/// sqrt(inverse_det) exp(-quad / 2), eight times; 0 where rounding of enormous spreads left no number.
#[inline(always)]
fn finish<const FMA: bool>(inverse_det: &Lanes, quad: &Lanes) -> Lanes {
    // Beyond -800 everything is 0; the comparison also catches an overflow of the distance.
    let x = each(|l| if quad[l] < 1600.0 { -0.5 * quad[l] } else { -800.0 });
    let e = exp::<FMA>(&x, &[0.0; LANES]);
    each(|l| inverse_det[l].sqrt() * e[l])
}

/// A number of one row beside those of eight others.
#[inline(always)]
fn difference(own: &[f64], other: &[Pack], k: usize) -> Lanes {
    let (a, b) = (own[k], &other[k].0);
    each(|l| a - b[l])
}

/// A_i - A_j for the shared coupling, S_i + S_j for the independent one.
#[inline(always)]
fn joint<const SHARED: bool>(own: &[f64], other: &[Pack], k: usize) -> Lanes {
    let (a, b) = (own[k], &other[k].0);
    if SHARED { each(|l| a - b[l]) } else { each(|l| a + b[l]) }
}
