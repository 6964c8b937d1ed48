//! [`KernelRows`]: where the rows of a kernel matrix come from.

use crate::error::{Error, Result};

/// A symmetric positive semi-definite kernel matrix, row by row.
pub trait KernelRows: Sync {
    /// Number of rows (and columns).
    fn n_rows(&self) -> usize;

    /// `K[i, i]`.
    fn diagonal(&self, i: usize) -> f64;

    /// `out[k] = K[i, columns[k]]`, the same bits whatever else is asked for.
    fn fill(&self, i: usize, columns: &[u32], out: &mut [f64]) -> Result<()>;

    /// The whole row, where it lies in memory.
    fn row(&self, _i: usize) -> Option<&[f64]> {
        None
    }
}

/// A kernel matrix in memory.
#[derive(Debug, Clone, Copy)]
pub struct Dense<'a> {
    values: &'a [f64],
    n: usize,
}

impl<'a> Dense<'a> {
    /// The n x n matrix with these elements, row by row. It must be symmetric, which is not checked.
    pub fn new(values: &'a [f64], n: usize) -> Result<Self> {
        if u32::try_from(n).is_err() {
            return Err(Error::Data(format!("a kernel matrix of {n} rows: at most {} are possible", u32::MAX)));
        }
        if n.checked_mul(n) != Some(values.len()) {
            return Err(Error::shape("kernel matrix", format!("{n} x {n} elements"), values.len()));
        }
        // Summing finds out, eight at a time, whether a search is worth while.
        if !values.iter().map(|v| v * 0.0).sum::<f64>().is_finite()
            && let Some(at) = values.iter().position(|v| !v.is_finite())
        {
            let (what, row, column) = ("kernel matrix".to_owned(), at / n, at % n);
            return Err(Error::NotFinite { what, row, column, value: values[at] });
        }
        Ok(Self { values, n })
    }
}

impl KernelRows for Dense<'_> {
    fn n_rows(&self) -> usize {
        self.n
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.values[i * self.n + i]
    }

    fn fill(&self, i: usize, columns: &[u32], out: &mut [f64]) -> Result<()> {
        let row = &self.values[i * self.n..(i + 1) * self.n];
        out.iter_mut().zip(columns).for_each(|(out, &j)| *out = row[j as usize]);
        Ok(())
    }

    fn row(&self, i: usize) -> Option<&[f64]> {
        Some(&self.values[i * self.n..(i + 1) * self.n])
    }
}

/// Some rows and the same columns of a kernel matrix: one pair of classes.
pub struct Subset<'a, K: ?Sized> {
    kernel: &'a K,
    rows: Vec<u32>,
}

impl<'a, K: KernelRows + ?Sized> Subset<'a, K> {
    /// Row k of the subset is row `rows[k]` of `kernel`.
    pub fn new(kernel: &'a K, rows: Vec<u32>) -> Result<Self> {
        match rows.iter().find(|&&i| i as usize >= kernel.n_rows()) {
            Some(i) => Err(Error::Data(format!("row {i} does not exist: there are {} rows", kernel.n_rows()))),
            None => Ok(Self { kernel, rows }),
        }
    }
}

impl<K: KernelRows + ?Sized> KernelRows for Subset<'_, K> {
    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.kernel.diagonal(self.rows[i] as usize)
    }

    fn fill(&self, i: usize, columns: &[u32], out: &mut [f64]) -> Result<()> {
        let row = self.rows[i] as usize;
        if let Some(row) = self.kernel.row(row) {
            out.iter_mut().zip(columns).for_each(|(out, &j)| *out = row[self.rows[j as usize] as usize]);
            return Ok(());
        }
        let columns: Vec<u32> = columns.iter().map(|&j| self.rows[j as usize]).collect();
        self.kernel.fill(row, &columns, out)
    }
}
