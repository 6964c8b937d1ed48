//! The inverse of the information about the parameters, and what the data do not determine in words.

use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::model::law::profile::end;
use crate::solver::levenberg::Expansion;

use super::{CurveFit, InitialParameters};

/// Directions of less information, in units of each parameter, are not determined: where that is a sum of products, and
/// where it has second derivatives.
pub(super) const SINGULAR: [f64; 2] = [1e-14, 1e-7];
/// Steps of differences of the gradient, in standard errors.
const STEP: f64 = 5e-3;

/// A step in standard errors, and the part of the rise that second derivatives promise which a minimum has.
const SMALL: f64 = 0.1;
const LEAST_RISE: f64 = 0.1;

/// The inverse of some rows and columns of H (p x p), 0 elsewhere.
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

/// Does the objective `rise` as its second derivatives promise, a small step along each of these parameters? It does not where it
/// is flat, nor where derivatives are rounding. The others follow by `inverse`, that of the information (p x p), in whose units
/// the objective is a number of `unit`s.
pub(super) fn is_minimum(
    (minimum, some): (&[f64], &[usize]),
    inverse: &[f64],
    unit: f64,
    (lower, upper): (&[f64], &[f64]),
    mut rise: impl FnMut(&[f64]) -> Result<f64>,
) -> Result<bool> {
    let p = minimum.len();
    for (&j, sign) in some.iter().flat_map(|j| [(j, -1.0), (j, 1.0)]) {
        let step = sign * SMALL * (unit / inverse[j * p + j]).sqrt();
        let at: Vec<f64> = (0..p).map(|k| minimum[k] + step * inverse[k * p + j]).collect();
        let inside = (0..p).all(|k| (lower[k]..=upper[k]).contains(&at[k]));
        if inside && rise(&at)? < LEAST_RISE * 0.5 * SMALL * SMALL * unit {
            return Ok(false);
        }
    }
    Ok(true)
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

/// Minus the second derivatives of the log-likelihood of `some` parameters (0 for others), by differences of its `gradient`.
///
/// A step is a part of the standard error given all other parameters. The `diagonal` is the information that there would be if
/// the true x were known: with little scatter it is far larger than what the readings tell, and its steps would see rounding.
/// The `hessian` lacks second derivatives of f, so its steps may be too long, and are then shortened.
pub(super) fn by_differences(
    gradient: impl Fn(&[f64]) -> Result<Option<Vec<f64>>>,
    (at, some): (&[f64], &[usize]),
    Expansion { hessian, diagonal, .. }: &Expansion,
    (lower, upper): (&[f64], &[f64]),
) -> Result<Option<Vec<f64>>> {
    let p = at.len();
    let mut h = vec![0.0; p * p];
    for &j in some {
        let (size, known) = (hessian[j * p + j].min(diagonal[j]), diagonal[j]);
        let shortest = STEP / known.sqrt();
        let mut step = if size > 1e-12 * known { STEP / size.sqrt() } else { shortest };
        let column = loop {
            let mut ends = [at.to_vec(), at.to_vec()];
            ends[0][j] = (at[j] + step).min(upper[j]);
            ends[1][j] = (at[j] - step).max(lower[j]);
            let width = ends[0][j] - ends[1][j];
            let both = gradient(&ends[0])?.zip(gradient(&ends[1])?);
            let column: Option<Vec<f64>> = both
                .map(|(above, below)| above.iter().zip(below).map(|(above, below)| (above - below) / width).collect());
            let own = column.as_ref().map_or(0.0, |column| column[j]);
            if !(step > shortest) || (own > 0.0 && step * own.sqrt() < 10.0 * STEP) {
                break column;
            }
            step = if own > 0.0 { STEP / own.sqrt() } else { 0.1 * step }.max(shortest);
        };
        let Some(column) = column else { return Ok(None) };
        some.iter().for_each(|&a| h[a * p + j] = column[a]);
    }
    Ok(Some((0..p * p).map(|at| 0.5 * (h[at] + h[at % p * p + at / p])).collect()))
}

/// Ends of the parameters' intervals, p x 2: where twice the fall of the log-likelihood, with a parameter fixed and the others
/// `fitted` again, is z^2; a bound where that comes first. Where the errors of y were estimated: the rise of the sum of squares.
pub(super) fn profile(
    best: &CurveFit,
    start: &InitialParameters,
    z: f64,
    fitted: impl Fn(&InitialParameters) -> Result<CurveFit>,
) -> Result<Vec<f64>> {
    let p = best.parameters.len();
    let squares = |fit: &CurveFit| Some(fit.residual_variance? * fit.degrees? as f64);
    let mut ends = vec![f64::NAN; 2 * p];
    for (at, end_of) in ends.iter_mut().enumerate() {
        let (j, sign) = (at / 2, if at % 2 == 0 { -1.0 } else { 1.0 });
        let (value, std) = (best.parameters[j], best.covariance[j * p + j].sqrt());
        if !(std > 0.0) {
            continue;
        }
        let root = |to: f64| -> Result<f64> {
            let mut fixed = InitialParameters { values: best.parameters.clone(), ..start.clone() };
            (fixed.values[j], fixed.fixed[j]) = (to, true);
            let fit = match fitted(&fixed) {
                Err(Error::Data(_)) => return Ok(f64::INFINITY),
                other => other?,
            };
            let fallen = match (squares(&fit), squares(best)) {
                (Some(there), Some(least)) => (there - least) * best.degrees.unwrap_or(1) as f64 / least,
                _ => 2.0 * (best.loglikelihood - fit.loglikelihood),
            };
            Ok(fallen.max(0.0).sqrt())
        };
        let bound = if sign < 0.0 { start.lower[j] } else { start.upper[j] };
        *end_of = if bound.is_finite() && root(bound)? < z {
            bound
        } else {
            let inside = |by: f64| if by.abs() < (bound - value).abs() { root(value + by) } else { Ok(f64::INFINITY) };
            value + end(z, sign * std, inside)?
        };
    }
    Ok(ends)
}
