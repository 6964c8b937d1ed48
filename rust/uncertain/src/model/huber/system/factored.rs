//! G0 (l x l) with a Cholesky factor of some of its rows, and what keeps that factor useful for other rows.
//!
//! - Rows that leave: A^{-1} without them is A^{-1} minus what lies in the span of its columns of the missing
//!   rows, A^{-1} - L^{-T} C (C'C)^{-1} C'L^{-1} with C = L^{-1} E. A column is a forward substitution.
//! - Rows that come are appended to the factor, a few at a time, wherever they stand among the labels.
//!
//! Both cost some rows times l^2, a new factor l^3 / 3.

use crate::control::Control;
use crate::error::{Error, Result};
use crate::linalg::dense::{Matrix, Symmetric};

/// Part of the factored rows that may be missing before a new factorisation is cheaper.
const MISSING: usize = 6;
/// Part of the factored rows that may come before a new factorisation is cheaper.
const COMING: usize = 4;
/// No place in the factor.
const NOWHERE: usize = usize::MAX;

pub(super) struct Factored {
    g: Symmetric,
    /// The rows of the factor in its order, and the place of every row in it.
    set: Vec<usize>,
    places: Vec<usize>,
    /// The W of the factor.
    pub(super) total: f64,
    /// L^{-1} e_k of places k that were missing at some time.
    columns: Vec<(usize, Vec<f64>)>,
    /// Missing now, as indices of `columns`, and the factor of C'C.
    gone: Vec<usize>,
    schur: Vec<f64>,
}

impl Factored {
    pub(super) fn new(lower: Matrix) -> Self {
        let l = lower.n_rows;
        Self {
            g: Symmetric::new(lower),
            set: vec![],
            places: vec![NOWHERE; l],
            total: f64::NAN,
            columns: vec![],
            gone: vec![],
            schur: vec![],
        }
    }

    pub(super) fn diagonal(&self) -> &[f64] {
        self.g.diagonal()
    }

    pub(super) fn times(&self, b: &[f64]) -> Result<Vec<f64>> {
        self.g.times(b)
    }

    /// out += factor G0 e_i
    pub(super) fn add_column(&self, i: usize, factor: f64, out: &mut [f64]) {
        self.g.add_column(i, factor, out);
    }

    /// Has the factor all rows `free`, and not many others?
    pub(super) fn covers(&self, free: &[usize]) -> bool {
        free.len() <= self.set.len()
            && (self.set.len() - free.len()) * MISSING <= self.set.len()
            && free.iter().all(|&i| self.places[i] != NOWHERE)
    }

    /// Have a factor of this W for the rows `free` (or more rows); whether it is a new one, `None` if the matrix is
    /// not positive definite.
    pub(super) fn prepare(
        &mut self,
        free: &[usize],
        total: f64,
        weights: &[f64],
        control: &Control,
    ) -> Result<Option<bool>> {
        let shift: Vec<f64> = weights.iter().map(|w| 2.0 * total / w).collect();
        if self.total == total {
            let come: Vec<usize> = free.iter().copied().filter(|&i| self.places[i] == NOWHERE).collect();
            let size = self.set.len() + come.len();
            let few = come.len() * COMING <= self.set.len() && (size - free.len()) * MISSING <= size;
            if few && (come.is_empty() || self.append(&come, &shift, control)?) {
                return Ok(Some(false));
            }
        }
        self.columns.clear();
        self.gone.clear();
        self.set.clear();
        self.places.fill(NOWHERE);
        self.total = f64::NAN;
        if !self.g.factor(free, &shift, control)? {
            return Ok(None);
        }
        self.set = free.to_vec();
        self.set.iter().enumerate().for_each(|(k, &i)| self.places[i] = k);
        self.total = total;
        Ok(Some(true))
    }

    fn append(&mut self, come: &[usize], shift: &[f64], control: &Control) -> Result<bool> {
        let size = self.set.len();
        if !self.g.append(&self.set, come, shift, control)? {
            return Ok(false);
        }
        for &i in come {
            self.places[i] = self.set.len();
            self.set.push(i);
        }
        for (_, column) in &mut self.columns {
            column.resize(self.set.len(), 0.0);
            self.g.forward_from(size, column);
        }
        self.gone.clear();
        Ok(true)
    }

    /// From now on solve for the rows `free` of the factor alone.
    pub(super) fn restrict(&mut self, free: &[usize], control: &Control) -> Result<()> {
        let mut kept = vec![false; self.set.len()];
        free.iter().for_each(|&i| kept[self.places[i]] = true);
        let gone: Vec<usize> = (0..kept.len()).filter(|&k| !kept[k]).collect();
        let known = |columns: &[(usize, Vec<f64>)], k: usize| columns.binary_search_by_key(&k, |entry| entry.0);
        let new: Vec<usize> = gone.iter().copied().filter(|&k| known(&self.columns, k).is_err()).collect();
        if !new.is_empty() {
            let mut columns = Matrix::zeros(kept.len(), new.len())?;
            new.iter().enumerate().for_each(|(j, &k)| columns.col_mut(j)[k] = 1.0);
            self.g.forward_columns(&mut columns, control)?;
            self.columns.extend(new.iter().enumerate().map(|(j, &k)| (k, columns.col(j).to_vec())));
            self.columns.sort_unstable_by_key(|entry| entry.0);
        }
        let gone: Vec<usize> = gone.into_iter().filter_map(|k| known(&self.columns, k).ok()).collect();
        if new.is_empty() && gone == self.gone {
            return Ok(());
        }
        let q = gone.len();
        self.schur = vec![0.0; q * q];
        for i in 0..q {
            // Places ascend: the later column has the more zeros.
            let (place, column) = &self.columns[gone[i]];
            for j in 0..=i {
                self.schur[i * q + j] = crate::simd::dot(&column[*place..], &self.columns[gone[j]].1[*place..]);
            }
        }
        if q > 0 && !crate::linalg::cholesky(&mut self.schur, q) {
            return Err(Error::Data(
                "the system of the labelled rows is not positive definite in floating point: raise alpha, or scale the kernel down".into(),
            ));
        }
        self.gone = gone;
        Ok(())
    }

    /// The solution of the restricted system with the factor's W; `rhs` is zero outside the free rows.
    pub(super) fn solve_once(&self, rhs: &[f64]) -> Vec<f64> {
        let mut t: Vec<f64> = self.set.iter().map(|&i| rhs[i]).collect();
        self.g.forward(&mut t);
        if !self.gone.is_empty() {
            let column = |k: &usize| {
                let (place, column) = &self.columns[*k];
                (*place, column.as_slice())
            };
            let mut mu: Vec<f64> = self
                .gone
                .iter()
                .map(column)
                .map(|(place, column)| crate::simd::dot(&column[place..], &t[place..]))
                .collect();
            crate::linalg::cholesky_solve(&self.schur, mu.len(), &mut mu);
            for ((place, column), mu) in self.gone.iter().map(column).zip(mu) {
                crate::simd::add_scaled(-mu, &column[place..], &mut t[place..]);
            }
        }
        self.g.backward(&mut t);
        let mut out = vec![0.0; rhs.len()];
        self.set.iter().zip(t).for_each(|(&i, x)| out[i] = x);
        self.gone.iter().for_each(|&k| out[self.set[self.columns[k].0]] = 0.0);
        out
    }
}
