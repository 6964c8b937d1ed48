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
        self.fold(0..self.n_rows(), &self.weights).average(answers)
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
            let stop = start + self.offsets[start + 1..].partition_point(|at| *at <= most).max(1);
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

    /// sum_c v_c answer, n x k.
    ///
    /// # Errors
    /// Answers of another number of components, here and below.
    pub(crate) fn average(&self, answers: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let (k, answers) = self.flat(&answers)?;
        if k == 1 {
            return self.per_row(k, |_, own, out| out[0] = dot(&self.weights[own.clone()], &answers[own]));
        }
        self.per_row(k, |_, own, out| {
            for c in own {
                let v = self.weights[c];
                out.iter_mut().zip(&answers[c * k..][..k]).for_each(|(sum, x)| *sum += v * x);
            }
        })
    }

    /// Mean and deviation of every row's mixture of answers, from those of its components.
    pub(crate) fn moments(
        &self,
        means: ArrayView2<'_, f64>,
        stds: ArrayView2<'_, f64>,
    ) -> Result<(Array2<f64>, Array2<f64>)> {
        let mean = self.average(means)?;
        let center = mean.view();
        let ((k, means), (_, stds), (_, centers)) = (self.flat(&means)?, self.flat(&stds)?, flat(&center));
        if k == 1 {
            let std = self.per_row(k, |row, own, out| {
                let (center, answers) = (centers[row], means[own.clone()].iter().zip(&stds[own.clone()]));
                let square = |(v, (m, s)): (&f64, (&f64, &f64))| v * (s * s + (m - center) * (m - center));
                out[0] = self.weights[own].iter().zip(answers).map(square).sum::<f64>().sqrt();
            })?;
            return Ok((mean, std));
        }
        let std = self.per_row(k, |row, own, out| {
            for c in own {
                let answer = means[c * k..][..k].iter().zip(&stds[c * k..][..k]).zip(&centers[row * k..][..k]);
                out.iter_mut().zip(answer).for_each(|(sum, ((m, s), center))| {
                    *sum += self.weights[c] * (s * s + (m - center) * (m - center));
                });
            }
            out.iter_mut().for_each(|variance| *variance = variance.sqrt());
        })?;
        Ok((mean, std))
    }

    /// log sum_c v_c exp(answer), column by column; components without weight are not looked at.
    pub(crate) fn log_average(&self, logs: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let (k, logs) = self.flat(&logs)?;
        self.per_row(k, |_, own, out| {
            let own = own.filter(|c| self.weights[*c] > 0.0);
            for (j, out) in out.iter_mut().enumerate() {
                let log = |c: usize| logs[c * k + j];
                let largest = own.clone().map(log).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = own.clone().map(|c| self.weights[c] * (log(c) - largest).exp()).sum();
                *out = if largest == f64::NEG_INFINITY { largest } else { largest + sum.ln() };
            }
        })
    }

    /// A row of k numbers for every row, from its number and those of its components among the components of these rows.
    fn per_row(&self, k: usize, write: impl Fn(usize, Range<usize>, &mut [f64]) + Sync) -> Result<Array2<f64>> {
        let (n, first) = (self.offsets.len() - 1, self.offsets[0]);
        let mut values = memory::zeros(n, k)?;
        parallel::fill_rows(&mut values, k, |rows, out| {
            let mut start = self.offsets[rows.start] - first;
            let ends = self.offsets[rows.start + 1..=rows.end].iter().map(|end| end - first);
            for ((row, end), out) in rows.zip(ends).zip(out.chunks_exact_mut(k)) {
                write(row, start..end, out);
                start = end;
            }
            Ok(())
        })?;
        Array2::from_shape_vec((n, k), values).map_err(|why| Error::Internal(why.to_string()))
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
