//! Components in the form that a pass over these rows wants.

use crate::data::Covariances;
use crate::data::covariance::{Structure, packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::error::Result;
use crate::linalg::{Eigh, inverse_lower};
use crate::simd::mixture::{Component, Noise};
use crate::special::HALF_LOG_TAU;

/// All components of the mixture for these rows.
pub(super) fn prepared(mixture: &Mixture, noise: Noise, covariances: &Covariances) -> Result<Vec<Component>> {
    (0..mixture.n_components()).map(|k| component(mixture, k, noise, covariances)).collect()
}

/// The same for passes in the coordinates of the rows.
pub(super) fn plain(mixture: &Mixture) -> Vec<Component> {
    (0..mixture.n_components()).map(|k| plain_component(mixture, k)).collect()
}

fn plain_component(mixture: &Mixture, k: usize) -> Component {
    Component {
        mean: mixture.mean(k).to_vec(),
        offset: offset(mixture, k),
        matrix: mixture.covariance(k).to_vec(),
        gains: vec![],
        back: vec![],
    }
}

fn offset(mixture: &Mixture, k: usize) -> f64 {
    mixture.weights()[k].ln() - mixture.n_features() as f64 * HALF_LOG_TAU
}

fn component(mixture: &Mixture, k: usize, noise: Noise, covariances: &Covariances) -> Result<Component> {
    let d = mixture.n_features();
    let mean = mixture.mean(k).to_vec();
    let offset = offset(mixture, k);
    if matches!(noise, Noise::Diagonal | Noise::Full) {
        return Ok(plain_component(mixture, k));
    }
    let l = mixture.root(k)?;
    let inverse = inverse_lower(&l, d);
    let log_det: f64 = (0..d).map(|i| l[i * d + i].ln()).sum();
    let offset = offset - log_det;
    if matches!(noise, Noise::Factor(_)) {
        // Q = L and P' = L^{-1}.
        let matrix = (0..d).flat_map(|i| &inverse[i * d..=i * d + i]).copied().collect();
        return Ok(Component { mean, offset, matrix, gains: vec![], back: l });
    }
    // T = L L' and L^{-1} S L^{-T} = U diag(g) U' give P = L^{-T} U and Q = L U.
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
    Ok(Component { mean, offset, matrix, gains, back })
}

/// The packed triangle of A S A' for a lower triangular A.
fn congruent(a: &[f64], d: usize, s: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut product = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            product[i * d + j] = (0..=i).map(|c| a[i * d + c] * s(c, j)).sum();
        }
    }
    let mut out = Vec::with_capacity(packed_len(d));
    for i in 0..d {
        for j in 0..=i {
            out.push((0..=j).map(|c| product[i * d + c] * a[j * d + c]).sum());
        }
    }
    out
}
