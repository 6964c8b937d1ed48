//! G0 (l x l) with a Cholesky factor of some of its rows, and what keeps that factor useful for other rows.
//!
//! - Rows that leave: A^{-1} without them is A^{-1} minus what lies in the span of its columns of the missing
//!   rows, A^{-1} - L^{-T} C (C'C)^{-1} C'L^{-1} with C = L^{-1} E. A column is a forward substitution.
//! - Rows that come are appended to the factor, a few at a time, wherever they stand among the labels.
//!
//! Both cost some rows times l^2, a new factor l^3 / 3.

use crate::control::Control;
use crate::error::Result;
use crate::linalg::dense::{self, Matrix, Symmetric};

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
    missing: Missing,
    /// Columns of `missing` that are missing now, and the factor of their C'C.
    gone: Vec<usize>,
    schur: Vec<f64>,
}

/// The columns L^{-1} e_k of all places k that were missing at some time, and their inner products.
struct Missing {
    places: Vec<usize>,
    columns: Matrix,
    gram: Matrix,
}

impl Missing {
    fn none() -> Self {
        let empty = || Matrix { n_rows: 0, n_cols: 0, values: vec![] };
        Self { places: vec![], columns: empty(), gram: empty() }
    }

    /// One column, from its first element that is not zero.
    fn column(&self, c: usize) -> (usize, &[f64]) {
        (self.places[c], &self.columns.col(c)[self.places[c]..])
    }

    /// The numbers of the columns of these places, made where there are none.
    fn number_columns(
        &mut self,
        g: &Symmetric,
        size: usize,
        places: &[usize],
        control: &Control,
    ) -> Result<Vec<usize>> {
        let mut number = vec![NOWHERE; size];
        self.places.iter().enumerate().for_each(|(c, &k)| number[k] = c);
        let new: Vec<usize> = places.iter().copied().filter(|&k| number[k] == NOWHERE).collect();
        if !new.is_empty() {
            let mut columns = Matrix::zeros(size, new.len())?;
            new.iter().enumerate().for_each(|(j, &k)| columns.col_mut(j)[k] = 1.0);
            g.forward_columns(&mut columns, control)?;
            let old = self.places.len();
            self.places.extend(&new);
            new.iter().enumerate().for_each(|(j, &k)| number[k] = old + j);
            self.columns.n_rows = size;
            self.columns.values.extend(&columns.values);
            self.columns.n_cols += new.len();
            let cross = dense::cross_product(&self.columns, &columns, 1.0, control)?;
            let all = self.places.len();
            let mut gram = Matrix::zeros(all, all)?;
            (0..old).for_each(|j| gram.col_mut(j)[..old].copy_from_slice(self.gram.col(j)));
            for j in 0..new.len() {
                gram.col_mut(old + j).copy_from_slice(cross.col(j));
                (0..all).for_each(|i| gram.col_mut(i)[old + j] = cross.col(j)[i]);
            }
            self.gram = gram;
        }
        Ok(places.iter().map(|&k| number[k]).collect())
    }

    /// The factor has grown.
    fn grow(&mut self, g: &Symmetric, size: usize, control: &Control) -> Result<()> {
        let mut columns = Matrix::zeros(size, self.places.len())?;
        for c in 0..self.places.len() {
            let known = self.columns.n_rows;
            columns.col_mut(c)[..known].copy_from_slice(self.columns.col(c));
            g.forward_from(known, columns.col_mut(c));
        }
        self.columns = columns;
        self.gram = dense::cross_product(&self.columns, &self.columns, 1.0, control)?;
        Ok(())
    }
}

impl Factored {
    pub(super) fn new(lower: Matrix) -> Self {
        let l = lower.n_rows;
        Self {
            g: Symmetric::new(lower),
            set: vec![],
            places: vec![NOWHERE; l],
            total: f64::NAN,
            missing: Missing::none(),
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
        self.missing = Missing::none();
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
        if !self.g.append(&self.set, come, shift, control)? {
            return Ok(false);
        }
        for &i in come {
            self.places[i] = self.set.len();
            self.set.push(i);
        }
        self.missing.grow(&self.g, self.set.len(), control)?;
        self.gone.clear();
        Ok(true)
    }

    /// From now on solve for the rows `free` of the factor alone.
    pub(super) fn restrict(&mut self, free: &[usize], control: &Control) -> Result<()> {
        let mut kept = vec![false; self.set.len()];
        free.iter().for_each(|&i| kept[self.places[i]] = true);
        let gone: Vec<usize> = (0..kept.len()).filter(|&k| !kept[k]).collect();
        let gone = self.missing.number_columns(&self.g, kept.len(), &gone, control)?;
        if gone == self.gone {
            return Ok(());
        }
        let q = gone.len();
        self.schur = gone
            .iter()
            .flat_map(|&i| gone.iter().map(move |&j| (i, j)))
            .map(|(i, j)| self.missing.gram.col(i)[j])
            .collect();
        if q > 0 && !crate::linalg::cholesky(&mut self.schur, q) {
            return Err(super::not_definite());
        }
        self.gone = gone;
        Ok(())
    }

    /// The solution of the restricted system with the factor's W; `rhs` is zero outside the free rows.
    pub(super) fn solve_once(&self, rhs: &[f64]) -> Vec<f64> {
        let mut t: Vec<f64> = self.set.iter().map(|&i| rhs[i]).collect();
        self.g.forward(&mut t);
        if !self.gone.is_empty() {
            let columns = || self.gone.iter().map(|&c| self.missing.column(c));
            let mut mu: Vec<f64> = columns().map(|(place, column)| crate::simd::dot(column, &t[place..])).collect();
            crate::linalg::cholesky_solve(&self.schur, self.gone.len(), &mut mu);
            for (mu, (place, column)) in mu.iter().zip(columns()) {
                crate::simd::add_scaled(-mu, column, &mut t[place..]);
            }
        }
        self.g.backward(&mut t);
        let mut out = vec![0.0; self.places.len()];
        self.set.iter().zip(t).for_each(|(&i, x)| out[i] = x);
        self.gone.iter().for_each(|&c| out[self.set[self.missing.places[c]]] = 0.0);
        out
    }
}
