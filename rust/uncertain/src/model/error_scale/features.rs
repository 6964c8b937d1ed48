//! Features whose error bars are right up to a factor each: the factors f together with the density of true features.
//!
//! ```text
//! x_i ~ N(mu, T + F S_i F),    F = diag(f)
//! ```
//! by maximum likelihood in mu, L (T = L L') and log f: steps of Fisher's scoring, damped. With W = V_i^-1, a = W (x_i - mu)
//! and G = a a' - W the derivatives are a, G L and, by log f_j, sum_l G_jl (F S_i F)_jl; the information of two changes
//! dV is tr(W dV W dV) / 2. Rows whose errors have one size tell F S F + T and nothing of its parts ([`check`]).

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len, unpack};
use crate::data::{GaussianArray, Incomplete};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::{Spd, add_outer};
use crate::parallel;
use crate::parallel::added;
use crate::solver::levenberg::{Expansion, Objective, minimise};

use super::{EQUAL, with_errors_scaled};

/// Standard error of log f beyond which a factor is not known.
const UNKNOWN: f64 = 0.5;
/// Bounds of log f.
const MOST: f64 = 7.0;
/// Of log f of errors that explain nothing.
const VANISHED: f64 = -4.0;
/// Term added to T, in units of the readings' variances.
const RAISED: f64 = 1e-8;
const MOST_STEPS: usize = 500;
const MOST_FEATURES: usize = 50;

/// Result of a fit.
pub(in crate::model) struct FeatureScale {
    /// f, and the standard error of each.
    pub factors: Vec<(f64, f64)>,
    /// N(mu, T).
    pub mixture: Mixture,
    /// The rows, with F S F.
    pub data: GaussianArray,
}

/// Are there error bars of different sizes in every feature, in rows of these weights?
pub(in crate::model) fn check(rows: Incomplete<'_>, weight: impl Fn(usize) -> f64) -> Result<()> {
    let (n, d) = (rows.n_rows(), rows.gaussians().n_features());
    if rows.mixtures().is_some() {
        return Err(Error::Data(
            "error_scale= of features is not for rows that are mixtures of several Gaussians: collapse(\"gaussian\") makes \
             one of each row"
                .into(),
        ));
    }
    if rows.limits().is_some() {
        return Err(Error::Data("error_scale= of features is not for features that are limits".into()));
    }
    if d > MOST_FEATURES {
        return Err(Error::Data(format!("error_scale= of features is for at most {MOST_FEATURES} of them, got {d}")));
    }
    let mut own = vec![0.0; d];
    let mut ends = vec![(f64::INFINITY, 0.0f64); d];
    for i in (0..n).filter(|&i| weight(i) > 0.0) {
        rows.gaussians().covariances().variances(i, &mut own);
        for j in (0..d).filter(|&j| !rows.is_missing(i, j)) {
            ends[j] = (ends[j].0.min(own[j]), ends[j].1.max(own[j]));
        }
    }
    match ends.iter().enumerate().find(|(_, (least, most))| *most <= EQUAL * least || *most == 0.0) {
        None => Ok(()),
        Some((j, (_, most))) => {
            let why = if *most > 0.0 { "all error bars are about equal" } else { "there are no error bars" };
            Err(refused(j, why))
        }
    }
}

fn refused(j: usize, why: &str) -> Error {
    Error::Data(format!(
        "error_scale= of features: feature {j}: {why}, so that a factor of them and the spread of true values are one and \
         the same to these data; error bars of different sizes would tell them apart, or repeated readings of the same \
         objects (from_replicates)"
    ))
}

struct Readings<'a> {
    rows: Incomplete<'a>,
    numbers: Vec<usize>,
    weights: Vec<f64>,
    control: &'a Control,
}

/// One row, with memory: of its m known features L^-1 of V, W and so on.
struct Row {
    known: Vec<usize>,
    noise: Vec<f64>,
    changes: Vec<f64>,
}

impl Readings<'_> {
    fn d(&self) -> usize {
        self.rows.gaussians().n_features()
    }

    /// The log-likelihood of a row, and into `out` its gradient and the packed information; `None` where V is singular.
    fn look(
        &self,
        i: usize,
        theta: &[f64],
        row: &mut Row,
        gradient: &mut [f64],
        information: &mut [f64],
    ) -> Option<f64> {
        let (d, len) = (self.d(), packed_len(self.d()));
        let (mu, l, log_f) = (&theta[..d], &theta[d..d + len], &theta[d + len..]);
        let at = |a: usize, b: usize| if a >= b { l[packed_index(a, b)] } else { 0.0 };
        row.known.clear();
        row.known.extend((0..d).filter(|&j| !self.rows.is_missing(i, j)));
        let (known, m) = (&row.known, row.known.len());
        self.rows.gaussians().covariances().triangle(i, d, &mut row.noise);
        let noise = |a: usize, b: usize| row.noise[packed_index(a, b)] * (log_f[a] + log_f[b]).exp();
        let mut v = vec![0.0; m * m];
        for (a, &j) in known.iter().enumerate() {
            for (b, &k) in known[..=a].iter().enumerate() {
                let true_part: f64 = (0..=j.min(k)).map(|c| at(j, c) * at(k, c)).sum();
                v[a * m + b] = true_part + noise(j, k);
                v[b * m + a] = v[a * m + b];
            }
        }
        let v = Spd::new(v, m)?;
        let (root, inverse) = (v.root(), v.inverse_root());
        let read = self.rows.gaussians().means().row(i);
        let residuals: Vec<f64> = known.iter().map(|&j| read[j] - mu[j]).collect();
        let z: Vec<f64> = (0..m).map(|a| (0..=a).map(|b| inverse[a * m + b] * residuals[b]).sum()).collect();
        let log = -(0..m).map(|a| root[a * m + a].ln() + 0.5 * z[a] * z[a]).sum::<f64>();
        let a: Vec<f64> = (0..m).map(|k| (k..m).map(|b| inverse[b * m + k] * z[b]).sum()).collect();
        let w = |j: usize, k: usize| (j.max(k)..m).map(|b| inverse[b * m + j] * inverse[b * m + k]).sum::<f64>();
        let g: Vec<f64> = (0..m * m).map(|at| a[at / m] * a[at % m] - w(at / m, at % m)).collect();
        for (j, &feature) in known.iter().enumerate() {
            gradient[feature] = a[j];
            for (k, &other) in known[..=j].iter().enumerate() {
                information[packed_index(feature, other)] = w(j, k);
            }
        }
        // Changes of V by L and log f, symmetric, as L^-1 dV L^-T.
        row.changes.clear();
        let mut numbers = vec![];
        let mut change = |place: usize, own: usize, column: &[f64]| {
            // dV = e c' + c e' with e the unit vector of `own`.
            let left: Vec<f64> = (0..m).map(|r| inverse[r * m + own]).collect();
            let right: Vec<f64> = (0..m).map(|r| (0..=r).map(|c| inverse[r * m + c] * column[c]).sum()).collect();
            row.changes.extend((0..m * m).map(|at| left[at / m] * right[at % m] + right[at / m] * left[at % m]));
            gradient[place] = (0..m).map(|c| g[own * m + c] * column[c]).sum();
            numbers.push(place);
        };
        for (own, &feature) in known.iter().enumerate() {
            for b in 0..=feature {
                let column: Vec<f64> = known.iter().map(|&k| at(k, b)).collect();
                change(d + packed_index(feature, b), own, &column);
            }
            let column: Vec<f64> = known.iter().map(|&k| noise(feature, k)).collect();
            change(d + len + feature, own, &column);
        }
        let size = (m * m).max(1);
        for (p, own) in numbers.iter().zip(row.changes.chunks_exact(size)) {
            for (r, other) in numbers.iter().zip(row.changes.chunks_exact(size)).filter(|(r, _)| *r <= p) {
                information[packed_index(*p, *r)] = 0.5 * own.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        Some(log)
    }
}

impl Objective for Readings<'_> {
    type State = Expansion;

    fn value(&mut self, theta: &[f64]) -> Result<Option<(f64, Expansion)>> {
        let (p, this) = (theta.len(), &*self);
        let len = packed_len(p);
        let parts = parallel::map_parts(this.numbers.len(), |part| -> Result<Vec<f64>> {
            let d = this.d();
            let mut row = Row { known: vec![], noise: vec![0.0; packed_len(d)], changes: vec![] };
            let (mut gradient, mut information) = (vec![0.0; p], vec![0.0; len]);
            let mut out = vec![0.0; 1 + p + len];
            for at in part {
                if at % 64 == 0 {
                    this.control.check()?;
                }
                gradient.fill(0.0);
                information.fill(0.0);
                let log = this.look(this.numbers[at], theta, &mut row, &mut gradient, &mut information);
                let c = this.weights[at];
                out[0] -= c * log.unwrap_or(f64::NAN);
                for (to, x) in out[1..].iter_mut().zip(gradient.iter().map(|g| -g).chain(information.iter().copied())) {
                    *to += c * x;
                }
            }
            Ok(out)
        })?;
        let mut all = added(parts.into_iter().collect::<Result<_>>()?);
        let packed = all.split_off(1 + p);
        let gradient = all.split_off(1);
        let hessian = unpack(&packed, p);
        let diagonal = (0..p).map(|a| hessian[a * p + a]).collect();
        let value = all[0];
        Ok(value.is_finite().then_some((value, Expansion { gradient, hessian, diagonal, beside: 0.0 })))
    }

    fn derivatives(&mut self, _: &[f64], state: &Expansion) -> Result<Expansion> {
        Ok(state.clone())
    }

    fn negligible(&self, _: f64) -> f64 {
        1e-13
    }

    fn noise(&self, value: f64) -> f64 {
        1e-14 * (value.abs() + self.numbers.len() as f64)
    }

    fn report(&self, iteration: usize, value: f64) {
        self.control.report(iteration, value, f64::NAN);
    }
}

/// The factors, from a density that was fitted with the error bars as they are.
pub(in crate::model) fn fit(
    rows: Incomplete<'_>,
    weight: impl Fn(usize) -> f64,
    start: &Mixture,
    control: &Control,
) -> Result<FeatureScale> {
    let (n, d) = (rows.gaussians().n_rows(), start.n_features());
    let numbers: Vec<usize> = (0..n).filter(|&i| weight(i) > 0.0).collect();
    let total: f64 = numbers.iter().map(|&i| weight(i)).sum();
    let weights = numbers.iter().map(|&i| weight(i) * numbers.len() as f64 / total).collect();
    let t = start.covariance(0);
    let root = start.root(0)?;
    let mut theta = start.mean(0).to_vec();
    theta.extend((0..d).flat_map(|a| root[a * d..=a * d + a].to_vec()));
    theta.extend(vec![0.0; d]);
    let first_factor = d + packed_len(d);
    let bounded = |bound: f64| (0..theta.len()).map(|p| if p < first_factor { f64::INFINITY } else { bound }).collect();
    let upper: Vec<f64> = bounded(MOST);
    let lower: Vec<f64> = upper.iter().map(|bound| -bound).collect();
    let mut readings = Readings { rows, numbers, weights, control };
    let first = readings
        .value(&theta)?
        .ok_or_else(|| Error::Data("the likelihood of the readings is not finite; scale the features".into()))?;
    let minimum = minimise(&mut readings, theta, first, (&lower, &upper), MOST_STEPS)?;
    // Standard errors in units of each parameter, directions of no information apart.
    let p = minimum.at.len();
    let h = &minimum.derivatives.hessian;
    let unit: Vec<f64> = (0..p).map(|a| h[a * p + a].sqrt().max(f64::MIN_POSITIVE)).collect();
    let mut scaled: Vec<f64> = (0..p * p).map(|at| h[at] / unit[at / p] / unit[at % p]).collect();
    (0..p).for_each(|a| scaled[a * p + a] += 1e-12);
    let inverse = Spd::new(scaled, p).map_or_else(|| vec![f64::NAN; p * p], |scaled| scaled.inverse_root());
    let mut factors = vec![];
    for j in 0..d {
        let place = first_factor + j;
        let variance: f64 = (place..p).map(|r| inverse[r * p + place].powi(2)).sum();
        let (log, std) = (minimum.at[place], variance.sqrt() / unit[place]);
        if log < VANISHED {
            return Err(refused(j, "readings with larger error bars scatter no more than those with smaller ones"));
        }
        if !(std < UNKNOWN) || log > MOST - 1e-6 {
            let most = format!(
                "its error bars differ too little between rows, or are too small: log f = {log:.2} +- {std:.2}"
            );
            return Err(refused(j, &most));
        }
        factors.push((log.exp(), log.exp() * std));
    }
    let mut covariance = vec![0.0; packed_len(d)];
    let l = &minimum.at[d..first_factor];
    for b in 0..d {
        let column: Vec<f64> = (0..d).map(|a| if a >= b { l[packed_index(a, b)] } else { 0.0 }).collect();
        add_outer(1.0, &column, &mut covariance);
    }
    (0..d).for_each(|j| covariance[packed_index(j, j)] += RAISED * t[packed_index(j, j)].max(f64::MIN_POSITIVE));
    let sizes: Vec<f64> = factors.iter().map(|(f, _)| *f).collect();
    Ok(FeatureScale {
        factors,
        mixture: Mixture::from_packed(vec![1.0], minimum.at[..d].to_vec(), covariance, d)?,
        data: with_errors_scaled(rows.gaussians(), &sizes)?,
    })
}
