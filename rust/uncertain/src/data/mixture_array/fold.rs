//! Answers of components to answers of rows, in passes that read every component's numbers once.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::{Array2, ArrayView2};

use super::MixtureArray;
use crate::error::{Error, Result};
use crate::{memory, parallel};

/// Some rows that follow each other, and the weights with which the answers of their components count.
#[derive(Clone, Copy)]
pub(crate) struct Fold<'a> {
    /// Where the components of every row begin among all components, and the end.
    offsets: &'a [usize],
    /// Of the components of these rows.
    weights: &'a [f64],
}

impl MixtureArray {
    /// The sum over every row's components of weight times answer: n x k from (components) x k.
    ///
    /// # Errors
    /// Answers of another number of components.
    pub fn average(&self, answers: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let fold = self.fold(0..self.n_rows(), &self.weights);
        fold.made(answers.ncols(), |out| fold.average(answers, out))
    }

    /// Folds the answers of these rows' components, which count with their part of these weights, one per component.
    pub(crate) fn fold<'a>(&'a self, rows: Range<usize>, weights: &'a [f64]) -> Fold<'a> {
        let offsets = &self.offsets[rows.start..=rows.end];
        Fold { offsets, weights: &weights[offsets[0]..offsets[offsets.len() - 1]] }
    }

    /// The row that a component belongs to.
    pub(crate) fn row_with(&self, component: usize) -> usize {
        self.offsets.partition_point(|at| *at <= component).saturating_sub(1)
    }

    /// All rows in blocks of up to so many components, but of one row at least.
    pub(crate) fn blocks(&self, components: usize) -> Vec<Range<usize>> {
        let (mut blocks, mut start) = (vec![], 0);
        while start < self.n_rows() {
            let most = self.offsets[start] + components;
            // Every row has one component at least.
            let ends = &self.offsets[start + 1..=self.n_rows().min(start + components.max(1))];
            let stop = start + ends.partition_point(|at| *at <= most).max(1);
            blocks.push(start..stop);
            start = stop;
        }
        blocks
    }
}

impl Fold<'_> {
    /// The components of these rows among all.
    pub(crate) fn components(&self) -> Range<usize> {
        self.offsets[0]..self.offsets[self.offsets.len() - 1]
    }

    /// sum_c v_c answer, n x k, into `out`.
    pub(crate) fn average(&self, answers: ArrayView2<'_, f64>, out: &mut [f64]) -> Result<()> {
        let (k, answers) = self.flat(&answers)?;
        if k == 1 {
            return self.per_row(k, [&answers], out, |_, v, [x], out| out[0] = dot(v, x));
        }
        self.per_row(k, [&answers], out, |_, v, [x], out| {
            for (v, x) in v.iter().zip(x.chunks_exact(k)) {
                out.iter_mut().zip(x).for_each(|(sum, x)| *sum += v * x);
            }
        })
    }

    /// Mean and deviation of every row's mixture of answers, from those of its components, into `mean` and `std`.
    pub(crate) fn moments(&self, [means, stds]: [ArrayView2<'_, f64>; 2], [mean, std]: [&mut [f64]; 2]) -> Result<()> {
        self.average(means, mean)?;
        let ((k, means), (_, stds), mean) = (self.flat(&means)?, self.flat(&stds)?, &*mean);
        let square = |v: &f64, m: &f64, s: &f64, mean: &f64| v * (s * s + (m - mean) * (m - mean));
        if k == 1 {
            return self.per_row(k, [&means, &stds], std, |row, v, [m, s], out| {
                let (mean, mut variance) = (mean[row], 0.0);
                v.iter().zip(m).zip(s).for_each(|((v, m), s)| variance += square(v, m, s, &mean));
                out[0] = variance.sqrt();
            });
        }
        self.per_row(k, [&means, &stds], std, |row, v, [m, s], out| {
            let mean = &mean[row * k..][..k];
            for ((v, m), s) in v.iter().zip(m.chunks_exact(k)).zip(s.chunks_exact(k)) {
                let answers = m.iter().zip(s).zip(mean);
                out.iter_mut().zip(answers).for_each(|(sum, ((m, s), mean))| *sum += square(v, m, s, mean));
            }
            out.iter_mut().for_each(|variance| *variance = variance.sqrt());
        })
    }

    /// log sum_c v_c exp(answer), column by column; components without weight are not looked at.
    pub(crate) fn log_average(&self, logs: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let (k, logs) = self.flat(&logs)?;
        let write = |_, v: &[f64], [logs]: [&[f64]; 1], out: &mut [f64]| {
            for (j, out) in out.iter_mut().enumerate() {
                let own = || v.iter().zip(logs[j..].iter().step_by(k)).filter(|(v, _)| **v > 0.0);
                let largest = own().map(|(_, log)| *log).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = own().map(|(v, log)| v * (log - largest).exp()).sum();
                *out = if largest == f64::NEG_INFINITY { largest } else { largest + sum.ln() };
            }
        };
        self.made(k, |out| self.per_row(k, [&logs], out, write))
    }

    /// Places for k numbers per row.
    pub(crate) fn zeros(&self, k: usize) -> Result<Array2<f64>> {
        let n = self.offsets.len() - 1;
        Array2::from_shape_vec((n, k), memory::zeros(n, k)?).map_err(|why| Error::Internal(why.to_string()))
    }

    /// k numbers per row, put there by `write`.
    fn made(&self, k: usize, write: impl FnOnce(&mut [f64]) -> Result<()>) -> Result<Array2<f64>> {
        let mut made = self.zeros(k)?;
        write(made.as_slice_mut().unwrap_or_default())?;
        Ok(made)
    }

    /// k numbers for every row, from its number among these rows, and the weights and N answers of its components.
    fn per_row<const N: usize>(
        &self,
        k: usize,
        answers: [&[f64]; N],
        out: &mut [f64],
        write: impl Fn(usize, &[f64], [&[f64]; N], &mut [f64]) + Sync,
    ) -> Result<()> {
        let (n, first) = (self.offsets.len() - 1, self.offsets[0]);
        if out.len() != n * k {
            return Err(Error::Internal(format!("{} places for {n} x {k} answers", out.len())));
        }
        let numbers = (1 + N * k) * self.weights.len() / n.max(1);
        parallel::fill_light(out, k, numbers, |rows, out| {
            let starts = &self.offsets[rows.start..=rows.end];
            let run = Run { row: rows.start, first, starts, weights: self.weights, answers };
            // With one number per row the loop is so short that it shows when the compiler knows.
            if k == 1 {
                run.each(1, out, &write)
            } else {
                run.each(k, out, &write)
            }
            Ok(())
        })
    }

    /// Answers with one row per component, and their number of columns.
    fn flat<'a>(&self, answers: &'a ArrayView2<'_, f64>) -> Result<(usize, Cow<'a, [f64]>)> {
        let expected = self.components().len();
        if answers.nrows() != expected {
            return Err(Error::shape("answers", format!("{expected}, one per component"), answers.nrows()));
        }
        Ok(flat(answers))
    }
}

/// Rows that follow each other with all that they are folded from.
struct Run<'a, const N: usize> {
    /// The number of the first one.
    row: usize,
    /// Of the components that weights and answers begin with.
    first: usize,
    starts: &'a [usize],
    weights: &'a [f64],
    answers: [&'a [f64]; N],
}

impl<const N: usize> Run<'_, N> {
    #[inline(always)]
    fn each(self, k: usize, out: &mut [f64], write: impl Fn(usize, &[f64], [&[f64]; N], &mut [f64])) {
        let mut ends = self.starts.iter().map(|at| at - self.first);
        let Some(mut start) = ends.next() else { return };
        for ((row, end), out) in (self.row..).zip(ends).zip(out.chunks_exact_mut(k)) {
            let own = self.answers.map(|answers| &answers[start * k..end * k]);
            write(row, &self.weights[start..end], own, out);
            start = end;
        }
    }
}

/// The usual rows have few components: their sums need no loop.
#[inline]
fn dot(weights: &[f64], answers: &[f64]) -> f64 {
    match (weights, answers) {
        ([v], [x]) => v * x,
        ([v, w], [x, y]) => v * x + w * y,
        ([u, v, w], [x, y, z]) => u * x + v * y + w * z,
        _ => weights.iter().zip(answers).map(|(v, x)| v * x).sum(),
    }
}

fn flat<'a>(answers: &'a ArrayView2<'_, f64>) -> (usize, Cow<'a, [f64]>) {
    let values = answers.as_slice().map_or_else(|| Cow::Owned(answers.iter().copied().collect()), Cow::Borrowed);
    (answers.ncols(), values)
}
