//! [`SharedRows`]: whole rows of a computed kernel matrix, kept for several solvers at once.
//!
//! Pairs of classes and folds look at the same rows with different columns. A row is computed once in full
//! and stays until the memory is wanted for rows used later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Result;
use crate::solver::smo::KernelRows;

pub(super) struct SharedRows<'a> {
    kernel: &'a dyn KernelRows,
    columns: Vec<u32>,
    kept: Mutex<Kept>,
    /// Rows kept at most.
    most: usize,
}

#[derive(Default)]
struct Kept {
    /// Row -> when it was last used, and its elements.
    rows: HashMap<usize, (u64, Arc<[f64]>)>,
    clock: u64,
}

impl<'a> SharedRows<'a> {
    pub(super) fn new(kernel: &'a dyn KernelRows, bytes: usize) -> Self {
        let n = kernel.n_rows();
        let most = (bytes / (n.max(1) * size_of::<f64>())).max(1);
        Self { kernel, columns: (0..n as u32).collect(), kept: Mutex::default(), most }
    }

    /// Rows are computed outside of the lock; when two threads want the same one, it is computed twice.
    fn whole(&self, i: usize) -> Result<Arc<[f64]>> {
        if let Some(row) = self.kept().used(i) {
            return Ok(row);
        }
        let mut values = vec![0.0; self.columns.len()];
        self.kernel.fill(i, &self.columns, &mut values)?;
        let row: Arc<[f64]> = values.into();
        self.kept().keep(i, &row, self.most);
        Ok(row)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn used(&mut self, i: usize) -> Option<Arc<[f64]>> {
        self.clock += 1;
        let (last, row) = self.rows.get_mut(&i)?;
        *last = self.clock;
        Some(Arc::clone(row))
    }

    fn keep(&mut self, i: usize, row: &Arc<[f64]>, most: usize) {
        while self.rows.len() >= most
            && let Some(oldest) = self.rows.iter().min_by_key(|(_, (last, _))| *last).map(|(&i, _)| i)
        {
            self.rows.remove(&oldest);
        }
        self.rows.insert(i, (self.clock, Arc::clone(row)));
    }
}

impl KernelRows for SharedRows<'_> {
    fn n_rows(&self) -> usize {
        self.kernel.n_rows()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.kernel.diagonal(i)
    }

    fn fill(&self, i: usize, columns: &[u32], out: &mut [f64]) -> Result<()> {
        let row = self.whole(i)?;
        out.iter_mut().zip(columns).for_each(|(out, &j)| *out = row[j as usize]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Element (i, j) is 10 i + j of a kernel that counts its rows.
    struct Counting(AtomicUsize);

    impl KernelRows for Counting {
        fn n_rows(&self) -> usize {
            5
        }

        fn diagonal(&self, i: usize) -> f64 {
            11.0 * i as f64
        }

        fn fill(&self, i: usize, columns: &[u32], out: &mut [f64]) -> Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            out.iter_mut().zip(columns).for_each(|(out, &j)| *out = (10 * i) as f64 + f64::from(j));
            Ok(())
        }
    }

    #[test]
    fn rows_are_computed_once_and_the_oldest_goes() {
        let kernel = Counting(AtomicUsize::new(0));
        let shared = SharedRows::new(&kernel, 2 * 5 * 8);
        let mut out = [0.0; 2];
        for (i, expected) in [(1, 1), (2, 2), (1, 2), (3, 3), (1, 3), (2, 4)] {
            shared.fill(i, &[4, 0], &mut out).unwrap();
            assert_eq!(out, [(10 * i) as f64 + 4.0, (10 * i) as f64]);
            assert_eq!(kernel.0.load(Ordering::Relaxed), expected, "row {i}");
        }
        assert!(shared.kept().rows.len() == 2 && shared.diagonal(3) == 33.0 && shared.n_rows() == 5);
    }
}
