//! Solves with U U' + 2 W S^{-1}, U of few columns: nothing of size l x l exists.

use crate::control::Control;
use crate::error::Result;
use crate::linalg::dense::{self, Matrix};

use super::difference;

/// U, and a factor of the D x D matrix I + U_F'S_F U_F / (2 W) of some rows F.
pub(super) struct LowRank {
    u: Matrix,
    gram: Matrix,
    lower: Matrix,
    set: Vec<usize>,
    total: f64,
}

impl LowRank {
    pub(super) fn new(u: Matrix) -> Result<Self> {
        let d = u.n_cols;
        let (gram, lower) = (Matrix::zeros(d, d)?, Matrix::zeros(d, d)?);
        Ok(Self { u, gram, lower, set: vec![], total: f64::NAN })
    }

    /// The diagonal of U U'.
    pub(super) fn diagonal(&self, l: usize) -> Vec<f64> {
        let mut out = vec![0.0; l];
        (0..self.u.n_cols).for_each(|j| out.iter_mut().zip(self.u.col(j)).for_each(|(o, u)| *o += u * u));
        out
    }

    pub(super) fn times(&self, b: &[f64]) -> Vec<f64> {
        self.u.times(b.len(), &self.u.transposed_times(b))
    }

    /// Have the factor of these rows and this W; whether it is a new one, `None` if the matrix is not positive definite.
    pub(super) fn prepare(
        &mut self,
        free: &[usize],
        total: f64,
        weights: &[f64],
        control: &Control,
    ) -> Result<Option<bool>> {
        if self.total == total && self.set == free {
            return Ok(Some(false));
        }
        let (gone, come) = (difference(&self.set, free), difference(free, &self.set));
        if gone.len() + come.len() >= free.len() {
            self.gram.values.fill(0.0);
            self.add_rows(free, weights, 1.0, control)?;
        } else {
            self.add_rows(&come, weights, 1.0, control)?;
            self.add_rows(&gone, weights, -1.0, control)?;
        }
        let scale = 0.5 / total;
        self.lower.values.iter_mut().zip(&self.gram.values).for_each(|(l, g)| *l = scale * g);
        let d = self.lower.n_rows;
        (0..d).for_each(|i| self.lower.values[i * d + i] += 1.0);
        self.set = free.to_vec();
        let done = dense::cholesky(&mut self.lower, control)?;
        self.total = if done { total } else { f64::NAN };
        Ok(done.then_some(true))
    }

    /// x = S / (2 W) (b - U (I + U'S U / 2W)^{-1} U'S b / 2W) on the rows of the factor.
    pub(super) fn solve_once(&self, weights: &[f64], rhs: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; rhs.len()];
        let scale = 0.5 / self.total;
        self.set.iter().for_each(|&i| out[i] = scale * weights[i] * rhs[i]);
        let mut inner = self.u.transposed_times(&out);
        dense::forward(&self.lower, &mut inner);
        dense::backward(&self.lower, &mut inner);
        let image = self.u.times(rhs.len(), &inner);
        for &i in &self.set {
            out[i] = scale * weights[i] * (rhs[i] - image[i]);
        }
        out
    }

    /// gram += sign sum_{i in rows} s_i u_i u_i', lower triangle.
    fn add_rows(&mut self, rows: &[usize], weights: &[f64], sign: f64, control: &Control) -> Result<()> {
        for rows in rows.chunks(4096) {
            let some = self.u.rows(rows)?;
            let image = |columns: std::ops::Range<usize>| {
                let values = &some.values[columns.start * rows.len()..columns.end * rows.len()];
                let scaled = values
                    .chunks_exact(rows.len())
                    .flat_map(|column| column.iter().zip(rows).map(|(x, &i)| sign * weights[i] * x));
                Ok(Matrix { n_rows: rows.len(), n_cols: columns.len(), values: scaled.collect() })
            };
            dense::add_congruence(&mut self.gram, &some, dense::Shape::Full, image, control)?;
        }
        Ok(())
    }
}
