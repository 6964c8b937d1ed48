//! The density of a row's true target: a mixture with one Gaussian per component.
//!
//! With o the features that a row has, V_k = T_k,oo + S_oo and r = x_o - mu_k,o:
//! ```text
//! weight    pi_k N(x_o; mu_k,o, V_k), normalised
//! mean      mu_k,y + T_k,yo V_k^{-1} r
//! variance  T_k,yy - T_k,yo V_k^{-1} T_k,oy
//! ```
//! All three are in one Cholesky factor L L' = [[V_k, T_oy], [T_yo, T_yy]], the target last: with z = L_oo^{-1} r and l the
//! last row of L without its last element, they are -|z|^2 / 2 - sum log L_jj, mu_y + l'z and L_yy^2.
//!
//! With limits among the features a component's target is not Gaussian: it is given the mean and variance that it has,
//! mu_y + T_yx a and T_yy + T_yx (E[a a'] - V^{-1} - a a') T_xy ([`Expected`]).

use crate::control::Control;
use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::{Expected, Mixture};
use crate::density::{Densities, NUMBERS, normalise};
use crate::error::{Error, Result};
use crate::parallel;

/// Of every row, under the mixture of features and target.
pub(super) fn densities(joint: &Mixture, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
    parts(joint, rows, control, normalise)
}

/// Conditional with log p(part, row) in the place of the shares.
pub(super) fn joint_densities(joint: &Mixture, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
    parts(joint, rows, control, |_| Some(()))
}

/// The result of `finish` with log p(part, row) in the place of the shares.
fn parts(
    joint: &Mixture,
    rows: Incomplete<'_>,
    control: &Control,
    finish: impl Fn(&mut [f64]) -> Option<()> + Sync,
) -> Result<Densities> {
    let (d, components) = (joint.n_features() - 1, joint.n_components());
    let data = rows.gaussians();
    data.check_features(d)?;
    let features = feature_marginal(joint)?;
    let row = || ConditionalRow { noise: vec![0.0; packed_len(d)], known: vec![], l: vec![], z: vec![] };
    let workspace = || (row(), Expected::new(d));
    let values = parallel::new_rows_with(data.n_rows(), components * NUMBERS, workspace, |(row, expected), i, out| {
        control.check()?;
        if rows.is_limited(i) {
            for (k, out) in out.chunks_exact_mut(NUMBERS).enumerate() {
                expected.update(&features, k, rows, i)?;
                out.copy_from_slice(&given(expected, joint, k));
            }
            return finish(out).ok_or_else(|| unusable(i));
        }
        row.known.clear();
        row.known.extend((0..d).filter(|&j| !rows.is_missing(i, j)));
        data.covariances().triangle(i, d, &mut row.noise);
        for (k, out) in out.chunks_exact_mut(NUMBERS).enumerate() {
            out.copy_from_slice(&row.under(joint, k, &data.means().row(i)).ok_or_else(|| unusable(i))?);
        }
        finish(out).ok_or_else(|| unusable(i))
    })?;
    Ok(Densities::new(components, values))
}

/// The distribution of the features alone.
pub(super) fn feature_marginal(joint: &Mixture) -> Result<Mixture> {
    let d = joint.n_features() - 1;
    let components = 0..joint.n_components();
    let means = components.clone().flat_map(|k| &joint.mean(k)[..d]).copied().collect();
    let covariances = components.flat_map(|k| &joint.covariance(k)[..packed_len(d)]).copied().collect();
    Mixture::from_packed(joint.weights().to_vec(), means, covariances, d)
}

/// Log weight, mean and standard deviation under component `k` of the target of a row with limits.
fn given(expected: &Expected, joint: &Mixture, k: usize) -> [f64; NUMBERS] {
    let (d, t, a) = (joint.n_features() - 1, joint.covariance(k), &expected.a);
    let crossed = &t[packed_len(d)..packed_len(d) + d];
    let along: f64 = crossed.iter().zip(a).map(|(t, a)| t * a).sum();
    let inner = |i: usize, j: usize| expected.g[packed_index(i, j)] - a[i] * a[j];
    let square: f64 = (0..d * d).map(|p| crossed[p / d] * inner(p / d, p % d) * crossed[p % d]).sum();
    let variance = (t[packed_index(d, d)] + square).max(0.0);
    [joint.weights()[k].ln() + expected.log_density, joint.mean(k)[d] + along, variance.sqrt()]
}

/// One row on its way, with memory.
struct ConditionalRow {
    /// Packed triangle of S.
    noise: Vec<f64>,
    /// The features that are there.
    known: Vec<usize>,
    l: Vec<f64>,
    z: Vec<f64>,
}

impl ConditionalRow {
    /// Log weight, mean and standard deviation under component `k`.
    fn under(&mut self, joint: &Mixture, k: usize, x: &[f64]) -> Option<[f64; NUMBERS]> {
        let (t, mean, y, o) = (joint.covariance(k), joint.mean(k), joint.n_features() - 1, &self.known);
        let m = o.len() + 1;
        self.l.resize(m * m, 0.0);
        self.z.resize(m, 0.0);
        let at = |i: usize| o.get(i).copied().unwrap_or(y);
        let (mut log, mut centre, mut std) = (joint.weights()[k].ln(), mean[y], 0.0);
        // ConditionalRow by row of the factor; the row of z goes with it.
        for i in 0..m {
            for j in 0..=i {
                let place = packed_index(at(i), at(j));
                let value = t[place] + if i < o.len() { self.noise[place] } else { 0.0 };
                let (a, b) = (&self.l[i * m..i * m + j], &self.l[j * m..j * m + j]);
                let rest = value - a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                if i == j && !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                self.l[i * m + j] = if i == j { rest.sqrt() } else { rest / self.l[j * m + j] };
            }
            let (line, pivot) = (&self.l[i * m..i * m + i], self.l[i * m + i]);
            let along: f64 = line.iter().zip(&self.z).map(|(l, z)| l * z).sum();
            if i < o.len() {
                self.z[i] = (x[o[i]] - mean[o[i]] - along) / pivot;
                log -= 0.5 * self.z[i].powi(2) + pivot.ln();
            } else {
                (centre, std) = (centre + along, pivot);
            }
        }
        Some([log, centre, std])
    }
}

fn unusable(row: usize) -> Error {
    let why = "the density of its target cannot be computed; scale the features, or raise reg_covar".into();
    Error::Row { row, why }
}
