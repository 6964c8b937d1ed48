//! Rows scaled by sigma, in packs of eight, with the spread both sides of a Gram matrix agree on.

use crate::control::Control;
use crate::data::convert::zeros;
use crate::data::covariance::{Kind, packed_index};
use crate::data::{Covariances, GaussianArray};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::Coupling;
use crate::linalg::Eigh;
use crate::parallel;
use crate::simd::pairs::Spread;
use crate::simd::{LANES, Pack};

/// Beyond this many sigmas squares of squares would overflow.
const FAR: f64 = 1e70;

/// How the pairs of a Gram matrix are computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub d: usize,
    pub spread: Spread,
    pub coupling: Coupling,
}

impl Form {
    /// The cheapest form that holds both arrays.
    pub(super) fn of(x: &GaussianArray, z: Option<&GaussianArray>, coupling: Coupling) -> Self {
        let d = x.n_features();
        let one_matrix = |a: &Covariances, b: &Covariances| match (a, b) {
            (Covariances::Shared(a), Covariances::Shared(b)) => a.packed == b.packed,
            _ => false,
        };
        let other = z.unwrap_or(x);
        let spread = if coupling == Coupling::Shared && one_matrix(x.covariances(), other.covariances()) {
            Spread::None // all roots are one and the same: U = 0
        } else {
            spread(x, d).max(spread(other, d))
        };
        Self { d, spread, coupling }
    }

    /// Numbers per row.
    pub(super) fn width(&self) -> usize {
        self.d + self.spread.len(self.d)
    }
}

fn spread(array: &GaussianArray, d: usize) -> Spread {
    match array.covariances().kind() {
        Kind::Zero => Spread::None,
        Kind::Isotropic => Spread::Isotropic,
        _ if d == 1 => Spread::Isotropic,
        Kind::Diagonal => Spread::Diagonal,
        Kind::LowRank | Kind::Full | Kind::Shared => Spread::Dense,
    }
}

/// One side of a Gram matrix.
pub(super) struct Side {
    pub n_rows: usize,
    /// Rows of [`Form::width`] numbers: what is broadcast.
    pub rows: Vec<f64>,
    /// The same, [`Form::width`] packs per eight rows, the last ones padded with zeros.
    pub packs: Vec<Pack>,
}

impl Side {
    pub(super) fn new(array: &GaussianArray, form: &Form, sigma: f64, control: &Control) -> Result<Self> {
        let (n, d, width) = (array.n_rows(), form.d, form.width());
        let mut rows = zeros(n, width)?;
        parallel::fill_rows(&mut rows, width, |range, out| {
            let mut workspace = None;
            for (row, out) in range.zip(out.chunks_exact_mut(width)) {
                control.check()?;
                let (mean, spread) = out.split_at_mut(d);
                mean.iter_mut().zip(array.means().row(row)).for_each(|(m, x)| *m = x / sigma);
                fill_spread(array.covariances(), row, form, sigma, &mut workspace, spread)?;
                if !out.iter().all(|x| x.abs() < FAR) {
                    let wanted = format!("so large that x / sigma and the error bars in sigmas stay below {FAR:e}");
                    return Err(Error::parameter("sigma", sigma, format!("{wanted}; see row {row}")));
                }
            }
            Ok(())
        })?;
        Ok(Self::of(rows, width))
    }

    /// From rows of `width` numbers.
    fn of(rows: Vec<f64>, width: usize) -> Self {
        let n_rows = rows.len() / width;
        let mut packs = vec![Pack::ZERO; n_rows.div_ceil(LANES) * width];
        for (row, values) in rows.chunks_exact(width).enumerate() {
            let pack = &mut packs[row / LANES * width..][..width];
            pack.iter_mut().zip(values).for_each(|(pack, x)| pack.0[row % LANES] = *x);
        }
        Self { n_rows, rows, packs }
    }

    /// The rows with these numbers.
    pub(super) fn take(&self, rows: &[usize], form: &Form) -> Self {
        let width = form.width();
        Self::of(rows.iter().flat_map(|row| &self.rows[row * width..][..width]).copied().collect(), width)
    }
}

impl Side {
    /// Number `k` of a row: its mean in sigmas, then its spread.
    pub(super) fn number(&self, form: &Form, row: usize, k: usize) -> f64 {
        self.rows[row * form.width() + k]
    }

    /// The spread of a row as a packed triangle ([`Spread::Dense`] only).
    pub(super) fn triangle(&self, form: &Form, row: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.rows[row * form.width() + form.d..][..form.spread.len(form.d)]);
    }
}

/// S / sigma^2 of one row, or its symmetric square root (shared coupling), into zeros.
fn fill_spread(
    covariances: &Covariances,
    row: usize,
    form: &Form,
    sigma: f64,
    workspace: &mut Option<Eigh>,
    out: &mut [f64],
) -> Result<()> {
    let d = form.d;
    let root = form.coupling == Coupling::Shared;
    let scaled = |variance: f64| if root { variance.sqrt() / sigma } else { variance / sigma / sigma };
    match (form.spread, covariances.kind()) {
        (Spread::None, _) | (_, Kind::Zero) => {}
        (Spread::Isotropic, _) => {
            let mut first = [0.0];
            match covariances {
                // One feature, or one variance for all: element 0 says it all.
                Covariances::Isotropic(k) => first[0] = k.variance(row),
                other => other.variances(row, &mut first),
            }
            out[0] = scaled(first[0]);
        }
        (Spread::Diagonal, _) => {
            covariances.variances(row, out);
            out.iter_mut().for_each(|v| *v = scaled(*v));
        }
        (Spread::Dense, Kind::Isotropic | Kind::Diagonal) => {
            let mut variances = vec![0.0; d];
            covariances.variances(row, &mut variances);
            (0..d).for_each(|i| out[packed_index(i, i)] = scaled(variances[i]));
        }
        (Spread::Dense, _) => {
            covariances.add_to(row, 1.0, d, out);
            if root {
                let eigh = workspace.get_or_insert_with(|| Eigh::new(d));
                eigh.packed(out)?;
                // The rounding of a zero eigenvalue is 1e-16, but that of its root would be 1e-8.
                let largest = eigh.values.last().copied().unwrap_or(0.0);
                let zero = largest * d as f64 * f64::EPSILON;
                out.copy_from_slice(&eigh.function(|x| if x > zero { scaled(x) } else { 0.0 }));
            } else {
                out.iter_mut().for_each(|v| *v = *v / sigma / sigma);
            }
        }
    }
    Ok(())
}
