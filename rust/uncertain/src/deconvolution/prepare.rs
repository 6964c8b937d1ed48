//! Components in the form that a pass over these rows wants.

use std::sync::Arc;

use crate::data::Covariances;
use crate::data::covariance::{Structure, packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::error::Result;
use crate::linalg::{Eigh, congruent, inverse_lower};
use crate::simd::mixture::{Component, Noise, Scatter};
use crate::special::HALF_LOG_TAU;

/// All components of the mixture for these rows.
pub(super) fn prepared(mixture: &Mixture, noise: Noise, covariances: &Covariances) -> Result<Vec<Component>> {
    components(mixture, |k| match noise {
        Noise::Diagonal | Noise::Full => Ok(plain_scatter(mixture, k)),
        Noise::Factor(_) => low_rank_scatter(mixture, k),
        Noise::Rotated => rotated_scatter(mixture, k, covariances),
    })
}

/// Components for passes in the coordinates of the rows.
pub(super) fn plain(mixture: &Mixture) -> Result<Vec<Component>> {
    components(mixture, |k| Ok(plain_scatter(mixture, k)))
}

/// Forms of T, made once for components in a row that have the same, and the logarithm of the root of the
/// determinant that passes leave to the constant.
fn components(mixture: &Mixture, scatter: impl Fn(usize) -> Result<(Scatter, f64)>) -> Result<Vec<Component>> {
    let mut shared: Option<(Arc<Scatter>, f64)> = None;
    let mut all = Vec::with_capacity(mixture.n_components());
    for k in 0..mixture.n_components() {
        let like = shared.take_if(|_| mixture.covariance(k) == mixture.covariance(k - 1));
        let (scatter, log_root) = match like {
            Some(same) => same,
            None => scatter(k).map(|(scatter, log_root)| (Arc::new(scatter), log_root))?,
        };
        let mean = mixture.mean(k).to_vec();
        let offset = mixture.weights()[k].ln() - mixture.n_features() as f64 * HALF_LOG_TAU - log_root;
        let centre = centre(&mean, &scatter);
        shared = Some((Arc::clone(&scatter), log_root));
        all.push(Component { mean, offset, centre, scatter });
    }
    Ok(all)
}

/// P'(mean - origin); 0 for the component that the scatter was made of.
fn centre(mean: &[f64], scatter: &Scatter) -> Vec<f64> {
    let off: Vec<f64> = mean.iter().zip(&scatter.origin).map(|(m, o)| m - o).collect();
    if off.is_empty() {
        return vec![];
    }
    scatter.matrix.chunks_exact(off.len()).map(|p| p.iter().zip(&off).map(|(p, x)| p * x).sum()).collect()
}

fn plain_scatter(mixture: &Mixture, k: usize) -> (Scatter, f64) {
    (Scatter { origin: vec![], matrix: mixture.covariance(k).to_vec(), gains: vec![], back: vec![] }, 0.0)
}

/// Q = L and P' = L^{-1}.
fn low_rank_scatter(mixture: &Mixture, k: usize) -> Result<(Scatter, f64)> {
    let d = mixture.n_features();
    let (l, inverse, log_root) = root(mixture, k)?;
    let matrix = (0..d).flat_map(|i| &inverse[i * d..=i * d + i]).copied().collect();
    Ok((Scatter { origin: vec![], matrix, gains: vec![], back: l }, log_root))
}

/// T = L L' and L^{-1} S L^{-T} = U diag(g) U' give P = L^{-T} U and Q = L U.
fn rotated_scatter(mixture: &Mixture, k: usize, covariances: &Covariances) -> Result<(Scatter, f64)> {
    let d = mixture.n_features();
    let (l, inverse, log_root) = root(mixture, k)?;
    let mut eigh = Eigh::new(d);
    let common = match covariances.structure() {
        Structure::Isotropic => congruent(&inverse, d, |i, j| f64::from(u8::from(i == j))),
        _ => covariances.common().map_or_else(
            || vec![0.0; packed_len(d)],
            |triangle| congruent(&inverse, d, |i, j| triangle[packed_index(i, j)]),
        ),
    };
    eigh.packed(&common)?;
    let (mut matrix, mut back) = (vec![0.0; d * d], vec![0.0; d * d]);
    for j in 0..d {
        let u = &eigh.vectors[j * d..(j + 1) * d];
        for i in 0..d {
            matrix[j * d + i] = (i..d).map(|c| inverse[c * d + i] * u[c]).sum();
            back[i * d + j] = (0..=i).map(|c| l[i * d + c] * u[c]).sum();
        }
    }
    let gains = eigh.values.iter().map(|g| g.max(0.0)).collect();
    Ok((Scatter { origin: mixture.mean(k).to_vec(), matrix, gains, back }, log_root))
}

/// L, its inverse, and the logarithm of its determinant.
fn root(mixture: &Mixture, k: usize) -> Result<(Vec<f64>, Vec<f64>, f64)> {
    let d = mixture.n_features();
    let l = mixture.root(k)?;
    let inverse = inverse_lower(&l, d);
    let log_det = (0..d).map(|i| l[i * d + i].ln()).sum();
    Ok((l, inverse, log_det))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::data::covariance::{Isotropic, Shared};
    use crate::data::{GaussianArray, Rows, Unit};
    use crate::deconvolution::Observed;
    use crate::testing::Numbers;

    /// Two components of one T share what is made of it, far from each other, too, and each has the density that it has
    /// alone.
    #[test]
    fn components_with_one_covariance_share_its_basis() {
        let (n, d) = (21, 3);
        let mut numbers = Numbers::new(5);
        let mut take = |len: usize| (0..len).map(|_| numbers.normal()).collect::<Vec<f64>>();
        let (one, other) = ([1.0, 0.1, 2.0, 0.0, 0.2, 1.5], [2.0, -0.3, 1.0, 0.4, 0.0, 1.0]);
        let mut means = take(3 * d);
        means[d..2 * d].iter_mut().for_each(|m| *m += 1e4);
        let mixture = Mixture::from_packed(vec![0.2, 0.3, 0.5], means, [one, one, other].concat(), d).unwrap();
        let mut x = take(n * d);
        x[d..2 * d].iter_mut().for_each(|x| *x += 1e4);
        let values = Rows::from_vec(take(n).iter().map(|x| x.abs()).collect(), 1).unwrap();
        let packed = [0.5, 0.1, 0.7, 0.0, 0.2, 0.3].into();
        let kinds = [
            Covariances::Zero,
            Covariances::Isotropic(Isotropic { values, unit: Unit::Variance }),
            Covariances::Shared(Shared { packed }),
        ];
        for covariances in kinds {
            let data = GaussianArray::new(Rows::from_vec(x.clone(), d).unwrap(), covariances).unwrap();
            let observed = Observed::new(&data, None, None);
            let components = observed.components(&mixture).unwrap();
            assert!(Arc::ptr_eq(&components[0].scatter, &components[1].scatter));
            assert!(!Arc::ptr_eq(&components[1].scatter, &components[2].scatter));
            let together = observed.log_densities(None, &mixture, &Control::new()).unwrap();
            for k in 0..3 {
                let alone = mixture.mean(k).to_vec();
                let alone = Mixture::from_packed(vec![1.0], alone, mixture.covariance(k).to_vec(), d).unwrap();
                let alone = observed.log_densities(None, &alone, &Control::new()).unwrap();
                for (row, alone) in alone.iter().enumerate() {
                    let found = together[3 * row + k] - mixture.weights()[k].ln();
                    assert!((found - alone).abs() < 1e-10 * (1.0 + alone.abs()), "{k}: {found}, {alone}");
                }
            }
        }
    }
}
