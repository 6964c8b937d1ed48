//! Rows that are scaled as they are read.
//!
//! Scaled float64 rows are new rows. Scaled float32 rows as new rows would either take twice the memory of their source,
//! or lose digits. So they stay in the memory of their source, and every read of a row or a short run carries out the
//! very operations that would have written them: the numbers have the same bits.

use std::borrow::Cow;

use uncertain_simd::{Element, Stored};

/// Change of the numbers of a row, column by column.
#[derive(PartialEq)]
pub(super) enum Change {
    /// x c
    Times(Box<[f64]>),
    /// (x - m) / s
    Standardised(Box<[f64]>, Box<[f64]>),
}

impl Change {
    /// Columns `first..` of a row.
    pub(super) fn write(&self, first: usize, row: &[impl Element], out: &mut [f64]) {
        match self {
            Self::Times(c) => {
                out.iter_mut().zip(row).zip(&c[first..]).for_each(|((o, x), c)| *o = x.wide() * c);
            }
            Self::Standardised(mean, scale) => {
                let columns = mean[first..].iter().zip(&scale[first..]);
                out.iter_mut().zip(row).zip(columns).for_each(|((o, x), (m, s))| *o = (x.wide() - m) / s);
            }
        }
    }

    /// Rows of `width` columns, one after the other.
    pub(super) fn written(&self, rows: &[impl Element], width: usize) -> Vec<f64> {
        let mut out = vec![0.0; rows.len()];
        rows.chunks_exact(width).zip(out.chunks_exact_mut(width)).for_each(|(row, out)| self.write(0, row, out));
        out
    }
}

/// Rows one after the other: where they are, or as they come out of a change.
pub enum Run<'a> {
    /// As they are stored.
    Lent(Stored<'a>),
    /// Written for this read.
    Written(Vec<f64>),
}

impl<'a> Run<'a> {
    /// The numbers, for a kernel.
    #[must_use]
    pub fn stored(&self) -> Stored<'_> {
        match self {
            Self::Lent(stored) => *stored,
            Self::Written(values) => Stored::F64(values),
        }
    }

    /// As float64: where they are, or widened.
    #[must_use]
    pub fn wide(self) -> Cow<'a, [f64]> {
        match self {
            Self::Lent(stored) => stored.wide(),
            Self::Written(values) => Cow::Owned(values),
        }
    }
}
