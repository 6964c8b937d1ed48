//! Rows in the type that they are stored in. A float32 number is a float64 number: it is widened as it is loaded, and
//! all arithmetic is that of float64, in the same order.

use std::borrow::Cow;
use std::ops::Range;

/// A number that may be stored.
pub trait Element: Copy + Send + Sync {
    /// The number as float64.
    fn wide(self) -> f64;
}

impl Element for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

impl Element for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

/// Numbers one after the other, in the type that they are stored in.
#[derive(Debug, Clone, Copy)]
pub enum Stored<'a> {
    /// float64.
    F64(&'a [f64]),
    /// float32.
    F32(&'a [f32]),
}

/// Run `$body` with `$values` bound to the slice of either type: it is compiled for both.
#[macro_export]
#[doc(hidden)]
macro_rules! of_type {
    ($stored:expr, $values:ident => $body:expr) => {
        match $stored {
            $crate::Stored::F64($values) => $body,
            $crate::Stored::F32($values) => $body,
        }
    };
}

impl<'a> Stored<'a> {
    /// How many.
    #[must_use]
    pub fn len(self) -> usize {
        of_type!(self, values => values.len())
    }

    /// None at all?
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Some of them.
    #[must_use]
    pub fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::F64(values) => Self::F64(&values[range]),
            Self::F32(values) => Self::F32(&values[range]),
        }
    }

    /// As float64: where they are, or widened.
    #[must_use]
    pub fn wide(self) -> Cow<'a, [f64]> {
        match self {
            Self::F64(values) => Cow::Borrowed(values),
            Self::F32(values) => Cow::Owned(values.iter().map(|x| x.wide()).collect()),
        }
    }
}

impl<'a> From<&'a [f64]> for Stored<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}
