//! [`GramRows`]: the Gram matrix row by row, for solvers whose matrix does not fit in memory.

use std::ops::Range;

use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::Result;
use crate::kernel::probabilistic_rbf::form::Form;
use crate::kernel::probabilistic_rbf::prepare::Side;
use crate::kernel::probabilistic_rbf::tiles::Worker;
use crate::kernel::probabilistic_rbf::{Coupling, RbfOptions, check};
use crate::kernel::rows::KernelRows;
use crate::parallel;
use crate::simd::LANES;

/// Multiply-adds above which threads share a row.
const WORTH_THREADS: usize = 2_000_000;

/// The Gram matrix of some rows, computed where it is looked at. Its elements have the bits of
/// [`gram`](super::gram)'s.
pub(crate) struct GramRows {
    side: Side,
    form: Form,
    diagonal: Vec<f64>,
    /// May threads share a row? Only where they have nothing else to do.
    shared_work: bool,
    control: Control,
}

impl GramRows {
    pub(crate) fn new(x: &GaussianArray, options: &RbfOptions, shared_work: bool, control: &Control) -> Result<Self> {
        check(x, None, options)?;
        let form = Form::cheapest(x, None, options.coupling);
        let side = Side::new(x, &form, options.sigma, control)?;
        let mut rows = Self { side, form, diagonal: vec![], shared_work, control: control.quiet() };
        rows.diagonal = vec![1.0; x.n_rows()];
        if options.coupling == Coupling::Independent {
            let mut diagonal = std::mem::take(&mut rows.diagonal);
            parallel::fill_rows(&mut diagonal, 1, |range, out| {
                let mut worker = rows.worker();
                for (i, out) in range.zip(out) {
                    let first = i / LANES * LANES;
                    *out = worker.tile(i..i + 1, first..rows.end(first + LANES), &rows.control)?[i - first];
                }
                Ok(())
            })?;
            rows.diagonal = diagonal;
        }
        Ok(rows)
    }

    fn worker(&self) -> Worker<'_> {
        Worker::new(&self.side, &self.side, &self.form, false)
    }

    fn end(&self, column: usize) -> usize {
        column.min(self.side.n_rows)
    }

    /// Row i at some columns, in runs of packs that follow each other closely: a tile of one row each.
    fn piece(&self, i: usize, columns: &[u32], out: &mut [f64]) -> Result<()> {
        let mut worker = self.worker();
        let mut at = 0;
        while at < columns.len() {
            let run = run(&columns[at..], worker.widest());
            let first = run.start;
            let values = worker.tile(i..i + 1, first..self.end(run.end), &self.control)?;
            let inside = columns[at..].iter().take_while(|&&j| run.contains(&(j as usize)));
            let mut count = 0;
            for (&j, out) in inside.zip(&mut out[at..]) {
                *out = values[j as usize - first];
                count += 1;
            }
            at += count;
        }
        Ok(())
    }
}

/// Whole packs that hold the first columns, without gaps of more than a pack.
fn run(columns: &[u32], widest: usize) -> Range<usize> {
    let first = columns[0] as usize / LANES;
    let mut last = first;
    for &j in columns {
        let pack = j as usize / LANES;
        if pack < first || pack > last + 2 || (pack - first + 1) * LANES > widest {
            break;
        }
        last = last.max(pack);
    }
    first * LANES..(last + 1) * LANES
}

impl KernelRows for GramRows {
    fn n_rows(&self) -> usize {
        self.side.n_rows
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.diagonal[i]
    }

    fn fill(&self, i: usize, columns: &[u32], out: &mut [f64]) -> Result<()> {
        let work = columns.len() * self.form.width() * self.form.d;
        if !self.shared_work || work < WORTH_THREADS {
            return self.piece(i, columns, out);
        }
        parallel::fill_rows(out, 1, |range, out| self.piece(i, &columns[range], out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, Names, Rows};
    use crate::kernel::probabilistic_rbf::gram;
    use crate::testing::Numbers;

    #[test]
    fn rows_are_those_of_the_whole_matrix() {
        let mut numbers = Numbers::new(3);
        for (d, n) in [(1, 30), (3, 301), (100, 19)] {
            let mut draw = |len: usize| (0..len).map(|_| numbers.normal()).collect::<Vec<f64>>();
            let means = || Rows::from_vec(draw(n * d), d).unwrap();
            let means = { means }();
            let factor = Rows::from_vec(draw(n * d * 2), 2 * d).unwrap();
            let spread = Covariances::from_factor(factor, 2, None, &Names::default()).unwrap();
            let x = GaussianArray::new(means, spread).unwrap();
            for coupling in [Coupling::Shared, Coupling::Independent] {
                let options = RbfOptions { coupling, ..RbfOptions::new((d as f64).sqrt()) };
                let whole = gram(&x, None, &options, &Control::new()).unwrap();
                let rows = GramRows::new(&x, &options, true, &Control::new()).unwrap();
                let choices: [Vec<u32>; 4] = [
                    (0..n as u32).collect(),
                    (0..n as u32).filter(|j| j % 17 == 3).collect(),
                    (0..n as u32).rev().collect(),
                    vec![],
                ];
                for columns in choices {
                    for i in [0, n / 2, n - 1] {
                        let mut out = vec![f64::NAN; columns.len()];
                        rows.fill(i, &columns, &mut out).unwrap();
                        assert!(out.iter().zip(&columns).all(|(k, &j)| *k == whole[[i, j as usize]]), "{d} {i}");
                    }
                }
                assert!((0..n).all(|i| rows.diagonal(i) == whole[[i, i]]));
            }
        }
    }
}
