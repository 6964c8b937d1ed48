//! Rows scaled by sigma, in packs of eight, with the spread both sides of a Gram matrix agree on.

use crate::control::Control;
use crate::data::GaussianArray;
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::form::Form;
use crate::kernel::probabilistic_rbf::spread::Spreads;
use crate::memory::zeros;
use crate::parallel;
use crate::simd::{LANES, Pack};

/// Beyond this many sigmas squares of squares would overflow.
const FAR: f64 = 1e70;

/// One side of a Gram matrix.
pub(super) struct Side {
    pub n_rows: usize,
    /// Rows of [`Form::width`] numbers: what is broadcast.
    pub rows: Vec<f64>,
    /// Rows in [`Form::width`] packs per eight rows, the last ones padded with zeros.
    pub packs: Vec<Pack>,
}

impl Side {
    pub(super) fn new(array: &GaussianArray, form: &Form, sigma: f64, control: &Control) -> Result<Self> {
        let (n, width) = (array.n_rows(), form.width());
        let mut rows = zeros(n, width)?;
        let covariances = array.covariances();
        // One matrix for all rows: its root is taken once.
        let common = covariances.common().is_some() && n > 0;
        let mut first = vec![0.0; if common { width } else { 0 }];
        if common {
            Spreads::new(covariances, form, sigma).fill(0..1, &mut first)?;
        }
        parallel::fill_rows(&mut rows, width, |range, out| {
            let mut spreads = Spreads::new(covariances, form, sigma);
            for start in range.clone().step_by(LANES) {
                control.check()?;
                let group = start..range.end.min(start + LANES);
                let out = &mut out[(start - range.start) * width..][..group.len() * width];
                if common {
                    out.chunks_exact_mut(width).for_each(|out| out.copy_from_slice(&first));
                } else {
                    spreads.fill(group.clone(), out)?;
                }
                for (row, out) in group.zip(out.chunks_exact_mut(width)) {
                    out.iter_mut().zip(&*array.means().row(row)).for_each(|(m, x)| *m = x / sigma);
                    if !out.iter().all(|x| x.abs() < FAR) {
                        let wanted = format!("so large that x / sigma and the error bars in sigmas stay below {FAR:e}");
                        return Err(Error::parameter("sigma", sigma, format!("{wanted}; see row {row}")));
                    }
                }
            }
            Ok(())
        })?;
        Ok(Self::from_rows(rows, width))
    }

    /// From rows of `width` numbers.
    fn from_rows(rows: Vec<f64>, width: usize) -> Self {
        let n_rows = rows.len() / width;
        let mut packs = vec![Pack::ZERO; n_rows.div_ceil(LANES) * width];
        for (row, values) in rows.chunks_exact(width).enumerate() {
            let pack = &mut packs[row / LANES * width..][..width];
            pack.iter_mut().zip(values).for_each(|(pack, x)| pack.0[row % LANES] = *x);
        }
        Self { n_rows, rows, packs }
    }

    /// Number `k` of a row: its mean in sigmas, then its spread.
    pub(super) fn number(&self, form: &Form, row: usize, k: usize) -> f64 {
        self.rows[row * form.width() + k]
    }

    /// The spread of a row as a packed triangle ([`Spread::Dense`] only).
    pub(super) fn triangle(&self, form: &Form, row: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.rows[row * form.width() + form.d..][..form.spread.len(form.d)]);
    }
}
