//! An array whose covariances are the symmetric square roots A_i of those of another one, in the kind that
//! holds them: what the shared coupling reads in every block.
//!
//! Isotropic and diagonal covariances stay as they are (their roots are one operation). A thin factor keeps
//! its rank: S = F F' has the root F M^{-1/2} F' = G G' with M = F'F and G = F M^{-1/4}. Everything
//! else becomes packed matrices. Eigenvalues below d 2^-52 times the largest count as zero, as in the exact
//! kernel: their roots would be noise of 1e-8.

use crate::data::covariance::{Factor, Structure, packed_index, packed_len};
use crate::data::{Covariances, GaussianArray, Rows};
use crate::error::Result;
use crate::linalg::Eigh;

/// Does a factor of this rank cost less than a matrix?
pub(super) fn is_thin(factor: Factor<'_>, d: usize) -> bool {
    4 * factor.rank <= d
}

/// x^power of the eigenvalues that count.
fn power(eigh: &Eigh, d: usize, power: f64) -> impl Fn(f64) -> f64 {
    let zero = eigh.values.last().copied().unwrap_or(0.0) * d as f64 * f64::EPSILON;
    move |x| if x > zero { x.powf(power) } else { 0.0 }
}

/// The roots, as described above.
pub(super) fn square_roots(data: &GaussianArray) -> Result<GaussianArray> {
    let (n, d) = (data.n_rows(), data.n_features());
    let covariances = match data.covariances().structure() {
        Structure::Factor(k) if k.diagonal.is_none() && is_thin(k, d) => {
            let eigh = || Eigh::new(k.rank);
            let roots = Rows::written_with(n, d * k.rank, eigh, |eigh, row, out| thin(k, row, d, eigh, out))?;
            Covariances::factor_unchecked(roots, k.rank)
        }
        Structure::Factor(_) | Structure::Dense if data.covariances().common().is_none() => {
            let eigh = || Eigh::new(d);
            Covariances::triangles_unchecked(Rows::written_with(n, packed_len(d), eigh, |eigh, row, out| {
                data.covariances().triangle(row, d, out);
                eigh.packed(out)?;
                out.copy_from_slice(&eigh.function(power(eigh, d, 0.5)));
                Ok(())
            })?)
        }
        _ => data.covariances().clone(),
    };
    Ok(GaussianArray::from_checked(data.means().clone(), covariances))
}

/// G = F M^{-1/4} of one row.
fn thin(k: Factor<'_>, row: usize, d: usize, eigh: &mut Eigh, out: &mut [f64]) -> Result<()> {
    let (r, factor) = (k.rank, k.factor.row(row));
    let mut gram = vec![0.0; packed_len(r)];
    for f in factor.chunks_exact(r) {
        (0..r).for_each(|i| (0..=i).for_each(|j| gram[packed_index(i, j)] += f[i] * f[j]));
    }
    eigh.packed(&gram)?;
    let quarter = eigh.function(power(eigh, d, -0.25));
    for (f, out) in factor.chunks_exact(r).zip(out.chunks_exact_mut(r)) {
        (0..r).for_each(|i| out[i] = (0..r).map(|j| quarter[packed_index(i, j)] * f[j]).sum());
    }
    Ok(())
}
