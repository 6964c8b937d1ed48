//! Answers of components to answers of rows, in parallel passes over rows that read every component's numbers once.

use std::borrow::Cow;

use ndarray::{Array2, ArrayView2};

use super::MixtureArray;
use crate::error::{Error, Result};
use crate::parallel;

impl MixtureArray {
    /// The sum over every row's components of weight times answer: n x k from (components) x k.
    ///
    /// # Errors
    /// Answers of another number of components.
    pub fn average(&self, answers: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        self.average_by(&self.weights, answers)
    }

    /// [`average`](Self::average) with other weights.
    pub(crate) fn average_by(&self, weights: &[f64], answers: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let (k, answers) = self.flat(&answers)?;
        if k == 1 {
            return self.fold(k, |row, out| {
                let own = self.row(row);
                out[0] = weights[own.clone()].iter().zip(&answers[own]).map(|(v, x)| v * x).sum();
            });
        }
        self.fold(k, |row, out| {
            for c in self.row(row) {
                let v = weights[c];
                out.iter_mut().zip(&answers[c * k..][..k]).for_each(|(sum, x)| *sum += v * x);
            }
        })
    }

    /// Mean and deviation of every row's mixture of answers, from those of its components.
    pub(crate) fn moments_by(
        &self,
        weights: &[f64],
        means: ArrayView2<'_, f64>,
        stds: ArrayView2<'_, f64>,
    ) -> Result<(Array2<f64>, Array2<f64>)> {
        let mean = self.average_by(weights, means)?;
        let center = mean.view();
        let ((k, means), (_, stds), (_, centers)) = (self.flat(&means)?, self.flat(&stds)?, flat(&center));
        if k == 1 {
            let std = self.fold(k, |row, out| {
                let (own, center) = (self.row(row), centers[row]);
                let answers = means[own.clone()].iter().zip(&stds[own.clone()]);
                let square = |(v, (m, s)): (&f64, (&f64, &f64))| v * (s * s + (m - center) * (m - center));
                out[0] = weights[own].iter().zip(answers).map(square).sum::<f64>().sqrt();
            })?;
            return Ok((mean, std));
        }
        let std = self.fold(k, |row, out| {
            for c in self.row(row) {
                let answer = means[c * k..][..k].iter().zip(&stds[c * k..][..k]).zip(&centers[row * k..][..k]);
                out.iter_mut().zip(answer).for_each(|(sum, ((m, s), center))| {
                    *sum += weights[c] * (s * s + (m - center) * (m - center));
                });
            }
            out.iter_mut().for_each(|variance| *variance = variance.sqrt());
        })?;
        Ok((mean, std))
    }

    /// log sum_c v_c exp(answer), column by column; components without weight are not looked at.
    pub(crate) fn log_average_by(&self, weights: &[f64], logs: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let (k, logs) = self.flat(&logs)?;
        self.fold(k, |row, out| {
            let own = self.row(row).filter(|c| weights[*c] > 0.0);
            for (j, out) in out.iter_mut().enumerate() {
                let log = |c: usize| logs[c * k + j];
                let largest = own.clone().map(log).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = own.clone().map(|c| weights[c] * (log(c) - largest).exp()).sum();
                *out = if largest == f64::NEG_INFINITY { largest } else { largest + sum.ln() };
            }
        })
    }

    /// A row of k numbers for every row of components.
    fn fold(&self, k: usize, write: impl Fn(usize, &mut [f64]) + Sync) -> Result<Array2<f64>> {
        let n = self.n_rows();
        let values = parallel::new_rows(n, k, |row, out| {
            write(row, out);
            Ok(())
        })?;
        Array2::from_shape_vec((n, k), values).map_err(|why| Error::Internal(why.to_string()))
    }

    /// Answers with one row per component, and their number of columns.
    fn flat<'a>(&self, answers: &'a ArrayView2<'_, f64>) -> Result<(usize, Cow<'a, [f64]>)> {
        if answers.nrows() != self.components.n_rows() {
            return Err(Error::shape("answers", format!("{}, one per component", self.weights.len()), answers.nrows()));
        }
        Ok(flat(answers))
    }
}

fn flat<'a>(answers: &'a ArrayView2<'_, f64>) -> (usize, Cow<'a, [f64]>) {
    let values = answers.as_slice().map_or_else(|| Cow::Owned(answers.iter().copied().collect()), Cow::Borrowed);
    (answers.ncols(), values)
}
