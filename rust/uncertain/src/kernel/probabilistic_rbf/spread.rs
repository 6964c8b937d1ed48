//! S / sigma^2 of some rows, or the symmetric square roots of it (shared coupling).

use std::ops::Range;

use crate::data::Covariances;
use crate::data::covariance::{Structure, packed_index};
use crate::error::Result;
use crate::kernel::probabilistic_rbf::Coupling;
use crate::kernel::probabilistic_rbf::form::Form;
use crate::linalg::Eigh;
use crate::simd::pairs::Spread;
use crate::simd::roots::{self, symmetric_roots};
use crate::simd::{LANES, Pack};

/// Fills the spreads of rows; the memory for that is kept from group to group.
pub(super) struct Spreads<'a> {
    covariances: &'a Covariances,
    form: &'a Form,
    sigma: f64,
    matrices: Vec<Pack>,
    scratch: Vec<Pack>,
    eigh: Option<Eigh>,
}

impl<'a> Spreads<'a> {
    pub(super) fn new(covariances: &'a Covariances, form: &'a Form, sigma: f64) -> Self {
        Self { covariances, form, sigma, matrices: vec![], scratch: vec![], eigh: None }
    }

    /// Numbers behind the means in the rows of `out`, [`Form::width`] zeros each, for eight rows at most.
    pub(super) fn fill(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let Form { d, spread, coupling } = *self.form;
        let width = self.form.width();
        for (row, out) in rows.zip(out.chunks_exact_mut(width)) {
            self.one(row, &mut out[d..]);
        }
        let diagonal = self.covariances.structure().is_diagonal();
        match (spread, coupling) {
            (Spread::Dense, Coupling::Shared) if !diagonal && d <= roots::LARGEST => self.roots(out),
            (Spread::Dense, Coupling::Shared) if !diagonal => {
                out.chunks_exact_mut(width).try_for_each(|out| self.root(&mut out[d..]))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// A standard deviation (shared coupling) or a variance in sigmas.
    fn scaled(&self, variance: f64) -> f64 {
        match self.form.coupling {
            Coupling::Shared => variance.sqrt() / self.sigma,
            Coupling::Independent => variance / self.sigma / self.sigma,
        }
    }

    /// The spread of one row, into zeros; for the shared coupling matrices stay S.
    fn one(&self, row: usize, out: &mut [f64]) {
        let (covariances, d) = (self.covariances, self.form.d);
        match (self.form.spread, covariances.structure()) {
            (Spread::None, _) | (_, Structure::Zero) => {}
            (Spread::Isotropic, _) => {
                let mut first = [0.0];
                // One feature, or one variance for all: element 0 says it all.
                covariances.variances(row, &mut first);
                out[0] = self.scaled(first[0]);
            }
            (Spread::Diagonal, _) => {
                covariances.variances(row, out);
                out.iter_mut().for_each(|v| *v = self.scaled(*v));
            }
            (Spread::Dense, Structure::Isotropic | Structure::Diagonal) => {
                let mut variances = vec![0.0; d];
                covariances.variances(row, &mut variances);
                (0..d).for_each(|i| out[packed_index(i, i)] = self.scaled(variances[i]));
            }
            (Spread::Dense, _) => {
                covariances.triangle(row, d, out);
                if self.form.coupling == Coupling::Independent {
                    out.iter_mut().for_each(|v| *v = *v / self.sigma / self.sigma);
                }
            }
        }
    }

    /// The roots of matrices, side by side.
    fn roots(&mut self, out: &mut [f64]) {
        let (d, width, sigma) = (self.form.d, self.form.width(), self.sigma);
        self.matrices.clear();
        self.matrices.resize(width - d, Pack::ZERO);
        for (lane, row) in out.chunks_exact(width).enumerate() {
            self.matrices.iter_mut().zip(&row[d..]).for_each(|(pack, x)| pack.0[lane] = *x);
        }
        debug_assert!(out.len() <= LANES * width);
        symmetric_roots(d, &mut self.matrices, &mut self.scratch);
        for (lane, row) in out.chunks_exact_mut(width).enumerate() {
            row[d..].iter_mut().zip(&self.matrices).for_each(|(x, pack)| *x = pack.0[lane] / sigma);
        }
    }

    /// The root of one matrix of a large dimension.
    fn root(&mut self, out: &mut [f64]) -> Result<()> {
        let (d, sigma) = (self.form.d, self.sigma);
        let eigh = self.eigh.get_or_insert_with(|| Eigh::new(d));
        eigh.packed(out)?;
        // The rounding of a zero eigenvalue is 1e-16, but that of its root would be 1e-8.
        let zero = eigh.values.last().copied().unwrap_or(0.0) * d as f64 * f64::EPSILON;
        out.copy_from_slice(&eigh.function(|x| if x > zero { x.sqrt() / sigma } else { 0.0 }));
        Ok(())
    }
}
