//! Where the elements of a symmetric matrix are.

/// How a symmetric matrix lies in its row of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// d x d elements, row-major, as tables and arrays bring them (used in place, never copied).
    Square,
    /// The lower triangle row by row, d (d + 1) / 2 elements: what we make ourselves.
    Packed,
}

impl Layout {
    /// Elements per matrix.
    #[must_use]
    pub fn width(self, d: usize) -> usize {
        match self {
            Self::Square => d * d,
            Self::Packed => d * (d + 1) / 2,
        }
    }

    /// Where row i of the lower triangle begins.
    #[must_use]
    #[inline(always)]
    pub fn row_start(self, i: usize, d: usize) -> usize {
        match self {
            Self::Square => i * d,
            Self::Packed => i * (i + 1) / 2,
        }
    }
}
