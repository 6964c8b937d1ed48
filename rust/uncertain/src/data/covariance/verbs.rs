//! Questions of algorithms to the covariances of many rows, and nothing else.

use super::triangle::packed_len;
use crate::data::Rows;

/// S_i = F_i F_i' + diag(v_i), as a kind shows it to algorithms.
#[derive(Debug, Clone, Copy)]
pub struct Factor<'a> {
    /// n x (d rank): element (j, k) of F_i at j rank + k.
    pub factor: &'a Rows,
    /// Columns of F_i.
    pub rank: usize,
    /// n x d variances beside the factor.
    pub diagonal: Option<&'a Rows>,
}

/// Form of the matrices of a kind, for algorithms that are cheaper for some of them. In this order each
/// form holds those before it (a factor with variances beside it).
#[derive(Debug, Clone, Copy)]
pub enum Structure<'a> {
    /// S_i = 0.
    Zero,
    /// S_i = s_i^2 I.
    Isotropic,
    /// No elements off the diagonal.
    Diagonal,
    /// S_i = F_i F_i' + diag(v_i).
    Factor(Factor<'a>),
    /// Any matrix.
    Dense,
}

impl Structure<'_> {
    /// Are all elements off the diagonal zero?
    #[must_use]
    pub fn is_diagonal(self) -> bool {
        matches!(self, Self::Zero | Self::Isotropic | Self::Diagonal)
    }

    /// The place in the order of the forms.
    pub(crate) fn order(self) -> usize {
        match self {
            Self::Zero => 0,
            Self::Isotropic => 1,
            Self::Diagonal => 2,
            Self::Factor(_) => 3,
            Self::Dense => 4,
        }
    }
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
    /// S w and w'S w of the matrix that all rows have in common, if there is one.
    pub shared: Option<(Vec<f64>, f64)>,
}

/// The verbs on a block of rows and one direction; `first` is the number of the block's first row.
pub trait BlockVerbs {
    /// Is S zero for every row? Then loops leave out what comes from it.
    const EXACT: bool = false;

    /// Form of the matrices.
    fn structure(&self) -> Structure<'_>;

    /// Doubles remembered per row between [`quads`](Self::quads) and the verbs after it.
    fn memo_width(&self, d: usize) -> usize;

    /// `out[k] = w'S_k w` for the rows of the block; fills the memo (`out.len() * memo_width`).
    fn quads(&self, first: usize, along: &Direction, memo: &mut [f64], out: &mut [f64]);

    /// `sum += coef[k] S_k w`, summed over the picked rows k of the block. Needs the memo.
    fn add_images(&self, first: usize, picks: &[u32], coef: &[f64], along: &Direction, memo: &[f64], sum: &mut [f64]);

    /// `out[k * d ..] = S_k w` for `n` rows of the block. Needs the memo.
    fn images(&self, first: usize, n: usize, along: &Direction, memo: &[f64], out: &mut [f64]);

    /// z and `out[k]` with S_k w = `out[k]` z for the rows of the block, where z is the same for all rows of the kind.
    fn multiples<'d>(&self, _first: usize, _along: &'d Direction, _out: &mut [f64]) -> Option<&'d [f64]> {
        None
    }

    /// `sum += coef[k] S_k` (packed triangle), summed over the picked rows k of the block.
    fn add_to(&self, first: usize, picks: &[u32], coef: &[f64], d: usize, sum: &mut [f64]);

    /// The trace of S of one row.
    fn trace(&self, row: usize, d: usize) -> f64;

    /// The diagonal of S of one row, d variances.
    fn variances(&self, row: usize, out: &mut [f64]);

    /// The packed triangle of S of one row.
    fn triangle(&self, row: usize, d: usize, out: &mut [f64]) {
        debug_assert_eq!(out.len(), packed_len(d));
        out.fill(0.0);
        self.add_to(row, &[0], &[1.0], d, out);
    }

    /// The packed triangle of S, where it is the same for all rows.
    fn common(&self) -> Option<&[f64]> {
        None
    }

    /// S w and w'S w of a matrix that all rows have in common, for [`Direction::shared`].
    fn along(&self, _w: &[f64]) -> Option<(Vec<f64>, f64)> {
        None
    }
}
