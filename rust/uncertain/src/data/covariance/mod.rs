//! The kinds of covariance, behind one short list of verbs.
//!
//! An algorithm never looks at the entries of S_i. It asks for w'S_i w (quad), S_i w (apply),
//! M += c S_i (add_to), the trace, or the symmetric square root, and every kind answers in its own
//! cheapest way. Hot loops use the block form of the same verbs, [`BlockVerbs`]: many rows, one
//! direction w, so that a kind can prepare what depends on w alone ([`Direction`]) and keep per row
//! what a second verb would compute again (the memo: S_i w for a full matrix, F_i'w for a factor).
//!
//! To add a kind: one file here, one variant of [`Covariances`] and [`Kind`]; the compiler lists
//! the matches and the conformance test compares every verb with the dense matrix.
//!
//! Symmetric sums M are packed lower triangles, row by row: element (i, j), j <= i, is at
//! i (i + 1) / 2 + j.

use std::ops::Range;

use crate::data::Rows;
use crate::error::{Error, Result};
use crate::named::named;

mod diagonal;
mod full;
mod isotropic;
mod low_rank;
mod shared;
mod zero;

pub use diagonal::Diagonal;
pub use full::{Full, Layout};
pub use isotropic::Isotropic;
pub use low_rank::LowRank;
pub use shared::Shared;
pub use zero::Zero;

/// Whether stored numbers are variances or standard deviations (squared on the fly, never copied).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// sigma^2
    Variance,
    /// sigma
    StandardDeviation,
}

/// The kind of covariance, without its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// Exact points.
    Zero,
    /// One variance per row: S_i = s_i^2 I.
    Isotropic,
    /// One variance per row and feature.
    Diagonal,
    /// S_i = F_i F_i' + diag(v_i), F_i of d x r.
    LowRank,
    /// A d x d matrix per row.
    Full,
    /// One d x d matrix for all rows.
    Shared,
}

named!(Kind, "kind");

/// The covariances of all rows, of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Covariances {
    /// Exact points.
    Zero,
    /// One variance per row.
    Isotropic(Isotropic),
    /// One variance per row and feature.
    Diagonal(Diagonal),
    /// A factor per row, with or without a diagonal.
    LowRank(LowRank),
    /// A matrix per row.
    Full(Full),
    /// One matrix for all rows.
    Shared(Shared),
}

/// Number of elements of a packed d x d triangle.
#[must_use]
pub fn packed_len(d: usize) -> usize {
    d * (d + 1) / 2
}

/// Position of element (i, j) of a packed triangle, either order.
#[must_use]
pub fn packed_index(i: usize, j: usize) -> usize {
    let (i, j) = if i >= j { (i, j) } else { (j, i) };
    i * (i + 1) / 2 + j
}

/// A direction w with what a kind wants to know about it, computed once per pass.
#[derive(Debug, Clone)]
pub struct Direction {
    /// The direction itself.
    pub w: Vec<f64>,
    /// w_j^2.
    pub squares: Vec<f64>,
    /// |w|^2.
    pub norm2: f64,
    /// S w and w'S w, where S is the same for all rows.
    pub shared: Option<(Vec<f64>, f64)>,
}

/// The verbs on a block of rows and one direction; `first` is the number of the block's first row.
pub trait BlockVerbs {
    /// Is S zero for every row? Then loops leave out what comes from it.
    const EXACT: bool = false;

    /// Doubles remembered per row between [`quads`](Self::quads) and the verbs after it.
    fn memo_width(&self, d: usize) -> usize;

    /// `out[k] = w'S_k w` for the rows of the block; fills the memo (`out.len() * memo_width`).
    fn quads(&self, first: usize, along: &Direction, memo: &mut [f64], out: &mut [f64]);

    /// `sum += coef[k] S_k w`, summed over the picked rows k of the block. Needs the memo.
    fn add_images(&self, first: usize, picks: &[u32], coef: &[f64], along: &Direction, memo: &[f64], sum: &mut [f64]);

    /// `out[k * d ..] = S_k w` for `n` rows of the block. Needs the memo.
    fn images(&self, first: usize, n: usize, along: &Direction, memo: &[f64], out: &mut [f64]);

    /// `sum += coef[k] S_k` (packed triangle), summed over the picked rows k of the block.
    fn add_to(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]);

    /// The trace of S of one row.
    fn trace(&self, row: usize, d: usize) -> f64;
}

/// Run `$body` with `$kind` bound to the concrete kind: static dispatch inside hot loops.
#[macro_export]
#[doc(hidden)]
macro_rules! with_kind {
    ($covariances:expr, $kind:ident => $body:expr) => {
        match $covariances {
            $crate::data::Covariances::Zero => {
                let $kind = &$crate::data::covariance::Zero;
                $body
            }
            $crate::data::Covariances::Isotropic($kind) => $body,
            $crate::data::Covariances::Diagonal($kind) => $body,
            $crate::data::Covariances::LowRank($kind) => $body,
            $crate::data::Covariances::Full($kind) => $body,
            $crate::data::Covariances::Shared($kind) => $body,
        }
    };
}

impl Covariances {
    /// The kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Zero => Kind::Zero,
            Self::Isotropic(_) => Kind::Isotropic,
            Self::Diagonal(_) => Kind::Diagonal,
            Self::LowRank(_) => Kind::LowRank,
            Self::Full(_) => Kind::Full,
            Self::Shared(_) => Kind::Shared,
        }
    }

    /// Do the sizes fit n rows in d dimensions?
    pub fn check_shape(&self, n: usize, d: usize) -> Result<()> {
        let fits = |what: &str, rows: &Rows, width: usize| {
            if rows.n_rows() == n && rows.width() == width {
                Ok(())
            } else {
                let got = format!("{} x {}", rows.n_rows(), rows.width());
                Err(Error::shape(what, format!("{n} x {width} elements for {n} means of {d} features"), got))
            }
        };
        match self {
            Self::Zero => Ok(()),
            Self::Isotropic(k) => fits("variances", &k.values, 1),
            Self::Diagonal(k) => fits("variances", &k.values, d),
            Self::LowRank(k) => {
                fits("factor", &k.factor, d * k.rank)?;
                k.diagonal.as_ref().map_or(Ok(()), |v| fits("variances beside the factor", v, d))
            }
            Self::Full(k) => fits("covariances", &k.values, k.layout.width(d)),
            Self::Shared(k) if k.packed.len() == packed_len(d) => Ok(()),
            Self::Shared(k) => Err(Error::shape("shared covariance", packed_len(d), k.packed.len())),
        }
    }

    /// Prepare a direction for the block verbs.
    #[must_use]
    pub fn along(&self, w: &[f64]) -> Direction {
        let shared = match self {
            Self::Shared(s) => Some(s.image(w)),
            _ => None,
        };
        Direction {
            w: w.to_vec(),
            squares: w.iter().map(|x| x * x).collect(),
            norm2: w.iter().map(|x| x * x).sum(),
            shared,
        }
    }

    /// w'S w of one row.
    #[must_use]
    pub fn quad(&self, row: usize, w: &[f64]) -> f64 {
        let (along, mut out) = (self.along(w), [0.0]);
        with_kind!(self, k => {
            let mut memo = vec![0.0; k.memo_width(w.len())];
            k.quads(row, &along, &mut memo, &mut out);
        });
        out[0]
    }

    /// out = S w of one row.
    pub fn apply(&self, row: usize, w: &[f64], out: &mut [f64]) {
        let along = self.along(w);
        with_kind!(self, k => {
            let mut memo = vec![0.0; k.memo_width(w.len())];
            k.quads(row, &along, &mut memo, &mut [0.0]);
            k.images(row, 1, &along, &memo, out);
        });
    }

    /// M += c S of one row; M is a packed d x d triangle.
    pub fn add_to(&self, row: usize, c: f64, d: usize, packed: &mut [f64]) {
        with_kind!(self, k => k.add_to(row, &[0], &[c], d, packed));
    }

    /// The trace of S of one row in d dimensions.
    #[must_use]
    pub fn trace(&self, row: usize, d: usize) -> f64 {
        with_kind!(self, k => k.trace(row, d))
    }

    /// The covariances of rows `range`, sharing the memory.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        self.map_rows(|rows| rows.slice(range.clone()))
    }

    /// The covariances of the rows with these numbers, copied.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        self.map_rows(|values| values.take(rows))
    }

    fn map_rows(&self, change: impl Fn(&Rows) -> Rows) -> Self {
        match self {
            Self::Zero => Self::Zero,
            Self::Shared(k) => Self::Shared(k.clone()),
            Self::Isotropic(k) => Self::Isotropic(Isotropic { values: change(&k.values), ..*k }),
            Self::Diagonal(k) => Self::Diagonal(Diagonal { values: change(&k.values), ..*k }),
            Self::Full(k) => Self::Full(Full { values: change(&k.values), ..*k }),
            Self::LowRank(k) => Self::LowRank(LowRank {
                factor: change(&k.factor),
                rank: k.rank,
                diagonal: k.diagonal.as_ref().map(&change),
            }),
        }
    }
}
