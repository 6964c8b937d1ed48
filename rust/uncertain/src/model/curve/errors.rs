//! The inverse of the information about the parameters, and what the data do not determine in words.

use crate::error::{Error, Result};
use crate::linalg::Eigh;

/// Directions of less information, in units of each parameter, are not determined: where that is a sum of products, and
/// where it has second derivatives.
pub(super) const SINGULAR: [f64; 2] = [1e-14, 1e-7];
/// The inverse of some rows and columns of H (p x p), 0 elsewhere.
///
/// # Errors
/// Parameters that the data do not determine, by their names.
pub(super) fn inverse(h: &[f64], some: &[usize], names: &[String], singular: f64) -> Result<Vec<f64>> {
    let (p, m) = (names.len(), some.len());
    let mut out = vec![0.0; p * p];
    if m == 0 {
        return Ok(out);
    }
    let unit: Vec<f64> = some.iter().map(|&j| h[j * p + j].max(0.0).sqrt()).collect();
    if let Some(at) = unit.iter().position(|u| !(*u > 0.0)) {
        return Err(Error::Data(format!(
            "the data do not determine {}: the curve does not change with it at any row; fix it or leave it out",
            names[some[at]]
        )));
    }
    let scaled: Vec<f64> =
        (0..m * m).map(|at| h[some[at / m] * p + some[at % m]] / unit[at / m] / unit[at % m]).collect();
    if !scaled.iter().all(|x| x.is_finite()) {
        return Err(Error::Data("the information about the parameters is not finite: scale x, y or parameters".into()));
    }
    let mut eigh = Eigh::new(m);
    eigh.decompose(|i| &scaled[i * m..(i + 1) * m])?;
    if !(eigh.values[0] > singular) {
        // In the caller's units.
        let direction: Vec<f64> = (0..m).map(|j| eigh.vectors[j] / unit[j]).collect();
        let largest = (0..m).map(|j| eigh.vectors[j].abs()).fold(0.0, f64::max);
        let parts: Vec<String> = (0..m)
            .filter(|&j| eigh.vectors[j].abs() > 0.01 * largest)
            .map(|j| format!("{:+.3e} {}", direction[j], names[some[j]]))
            .collect();
        return Err(Error::Data(format!(
            "the data do not determine all parameters: along {} the fit does not change; fix one of them (fixed=), or \
             use a curve with fewer parameters",
            parts.join(" ")
        )));
    }
    for (a, b) in (0..m).flat_map(|a| (0..m).map(move |b| (a, b))) {
        let element: f64 = (0..m).map(|k| eigh.vectors[k * m + a] * eigh.vectors[k * m + b] / eigh.values[k]).sum();
        out[some[a] * p + some[b]] = element / unit[a] / unit[b];
    }
    Ok(out)
}

/// The covariance of all parameters from that of the free ones: 0 where fixed, NaN where a bound holds.
pub(super) fn spread_out(covariance: &[f64], free: &[usize], some: &[usize], p: usize) -> Vec<f64> {
    let width = (covariance.len() as f64).sqrt() as usize;
    let mut out = vec![0.0; p * p];
    for (a, &i) in free.iter().enumerate() {
        for (b, &j) in free.iter().enumerate() {
            let held = !some.contains(&a) || !some.contains(&b);
            out[i * p + j] = if held { f64::NAN } else { covariance[a * width + b] };
        }
    }
    out
}
