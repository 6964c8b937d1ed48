//! [`Reader`]: numbers from the front of a buffer.

use crate::error::{Error, Result};

/// Takes numbers from the front.
pub(super) struct Reader<'a>(&'a [f64]);

impl<'a> Reader<'a> {
    pub(super) fn new(flat: &'a [f64]) -> Self {
        Self(flat)
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'a [f64]> {
        let (own, rest) = self.0.split_at_checked(n).ok_or_else(broken)?;
        self.0 = rest;
        Ok(own)
    }

    pub(super) fn number(&mut self) -> Result<f64> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn count(&mut self) -> Result<usize> {
        let number = self.number()?;
        // Counts of rows and numbers are far below 2^53.
        if (0.0..9e15).contains(&number) && number.fract() == 0.0 { Ok(number as usize) } else { Err(broken()) }
    }

    /// A count, or -1 for none.
    pub(super) fn maybe(&mut self) -> Result<Option<usize>> {
        if self.0.first() == Some(&-1.0) { self.number().map(|_| None) } else { self.count().map(Some) }
    }

    pub(super) fn list(&mut self) -> Result<Vec<f64>> {
        let n = self.count()?;
        Ok(self.take(n)?.to_vec())
    }

    pub(super) fn rest(self) -> &'a [f64] {
        self.0
    }
}

pub(super) fn broken() -> Error {
    Error::Data("a buffer of questions or answers is not what it should be: are all versions the same?".into())
}
