//! Rows with their errors in the form in which all fits see them.
//!
//! Row i has the errors e = L u of x, u ~ N(0, I_k), with k the rank of S_i = L L', and those of y given them, A u + N(0, R):
//! ```text
//! x = z + L u,    y = f(z) + A u + N(0, R),    A = c' L^{+}',   R = C - A A'
//! ```
//! so exact features need no inverse, and an exact x has k = 0. A row that is a mixture has its parts beside it, each one a
//! reading of the same y; it is then their mean and covariance.

use crate::data::covariance::{Structure, packed_len, unpack_into};
use crate::data::{GaussianArray, Incomplete, MixtureArray, Modes, Weights};
use crate::error::{Error, Result};
use crate::linalg::Eigh;
use crate::model::clusters;

/// Eigenvalues of S below this part of the largest are rounding.
const RANK: f64 = 1e-13;
/// So far may R be from positive semi-definite, in units of the variances of y.
const ROUNDING: f64 = 1e-9;

/// The targets of a curve: n x q numbers, and what is known of their errors.
#[derive(Debug, Clone, Default)]
pub struct Outputs {
    /// n x q.
    pub values: Vec<f64>,
    /// q.
    pub n_outputs: usize,
    /// n covariance matrices q x q of their errors, where they have any.
    pub covariances: Option<Vec<f64>>,
    /// n x d x q covariances with the errors of the features.
    pub crossed: Option<Vec<f64>>,
    /// >= 0; rows without weight count for nothing.
    pub weights: Option<Weights>,
    /// Rows that belong together, for standard errors.
    pub groups: Option<Vec<u32>>,
    /// Errors that rows share, of one output.
    pub modes: Modes,
}

/// Their groups.
pub(super) fn groups(readings: &[Reading]) -> Option<Vec<u32>> {
    readings.iter().map(|reading| reading.group).collect()
}

/// One row that counts.
#[derive(Clone)]
pub(super) struct Reading {
    /// Its number in the caller's table.
    pub number: usize,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// L, d x k.
    pub root: Vec<f64>,
    /// A, q x k; empty where no error of x goes with one of y.
    pub crossed: Vec<f64>,
    /// R, q x q.
    pub rest: Vec<f64>,
    pub rank: usize,
    pub weight: f64,
    pub group: Option<u32>,
    /// Of a mixture the logarithms of its weights, and its components as readings.
    pub parts: Vec<(f64, Reading)>,
}

impl Reading {
    /// The readings of which one is true: this one, or those of a mixture.
    pub(super) fn alternatives(&self) -> impl Iterator<Item = (f64, &Self)> {
        let alone = self.parts.is_empty().then_some((0.0, self));
        alone.into_iter().chain(self.parts.iter().map(|(log, part)| (*log, part)))
    }

    /// With factors of the features' errors; of errors that do not go with those of y.
    pub(super) fn scale(&mut self, factors: &[f64]) {
        let lines = self.root.chunks_exact_mut(self.rank.max(1)).zip(factors);
        lines.for_each(|(line, factor)| line.iter_mut().for_each(|l| *l *= factor));
    }

    /// Noisy features, of a mixture those of its components.
    pub(super) fn noisy(&self) -> usize {
        self.alternatives().map(|(_, own)| own.rank).max().unwrap_or(0)
    }
}

/// All rows of positive weight.
pub(super) fn readings(rows: Incomplete<'_>, outputs: &Outputs) -> Result<Vec<Reading>> {
    let moments = rows.mixtures().map(MixtureArray::collapse).transpose()?;
    let data = moments.as_ref().unwrap_or(rows.gaussians());
    let (n, d, q) = (data.n_rows(), data.n_features(), outputs.n_outputs);
    if rows.missing().is_some() {
        return Err(Error::Data("a curve needs every feature: impute missing ones, or leave such rows out".into()));
    }
    if rows.mixtures().is_some() && outputs.crossed.is_some() {
        return Err(Error::Data(
            "xy_cov: rows that are mixtures have no covariance with the errors of y; leave it out, or collapse(\"gaussian\") \
             the rows"
                .into(),
        ));
    }
    let sized = |what: &str, got: usize, each: usize| {
        if got == n * each { Ok(()) } else { Err(Error::shape(what, format!("{n} x {each}"), got)) }
    };
    sized("targets", outputs.values.len(), q)?;
    outputs.covariances.iter().try_for_each(|c| sized("covariances of the targets", c.len(), q * q))?;
    outputs.crossed.iter().try_for_each(|c| sized("covariances of features and targets", c.len(), d * q))?;
    outputs.groups.iter().try_for_each(|g| sized("groups", g.len(), 1))?;
    outputs.weights.iter().try_for_each(|w| w.check_rows(n))?;
    if let Some(at) = outputs.values.iter().position(|y| !y.is_finite()) {
        let (row, column) = (at / q, at % q);
        return Err(Error::NotFinite { what: "targets".into(), row, column, value: outputs.values[at] });
    }
    let mut roots = Roots { d, eigh: Eigh::new(d), packed: vec![0.0; packed_len(d)], square: vec![0.0; d * d] };
    let counts = |i: &usize| outputs.weights.as_ref().is_none_or(|w| w[*i] > 0.0);
    let one = |i: usize| -> Result<Reading> {
        let (root, inverse, rank) = roots.of_row(data, i, outputs.crossed.is_some())?;
        let own = |c: &Vec<f64>| c[i * q * q..(i + 1) * q * q].to_vec();
        let mut rest = outputs.covariances.as_ref().map_or_else(|| vec![0.0; q * q], own);
        let mut crossed = vec![];
        if let Some(all) = &outputs.crossed {
            crossed.resize(q * rank, 0.0);
            let own = &all[i * d * q..(i + 1) * d * q];
            subtract_crossed(own, &root, &inverse, (d, q, rank), &mut crossed, &mut rest).map_err(|why| {
                Error::Data(format!("row {i}: errors of X, y_std and xy_cov are no covariance matrix together: {why}"))
            })?;
        }
        Ok(Reading {
            number: i,
            x: data.means().row(i).to_vec(),
            y: outputs.values[i * q..(i + 1) * q].to_vec(),
            root,
            crossed,
            rest,
            rank,
            weight: outputs.weights.as_ref().map_or(1.0, |w| w[i]),
            group: outputs.groups.as_ref().map(|g| g[i]),
            parts: vec![],
        })
    };
    let mut all = (0..n).filter(counts).map(one).collect::<Result<Vec<_>>>()?;
    clusters::check(groups(&all).as_deref())?;
    let Some(mixtures) = rows.mixtures() else { return Ok(all) };
    for reading in all.iter_mut().filter(|reading| mixtures.row(reading.number).len() > 1) {
        for c in mixtures.row(reading.number).filter(|&c| mixtures.weights()[c] > 0.0) {
            let (root, _, rank) = roots.of_row(mixtures.components(), c, false)?;
            let part = Reading {
                x: mixtures.components().means().row(c).to_vec(),
                y: reading.y.clone(),
                crossed: vec![],
                rest: reading.rest.clone(),
                parts: vec![],
                root,
                rank,
                ..*reading
            };
            reading.parts.push((mixtures.weights()[c].ln(), part));
        }
    }
    Ok(all)
}

struct Roots {
    d: usize,
    eigh: Eigh,
    packed: Vec<f64>,
    square: Vec<f64>,
}

impl Roots {
    /// L (d x k) with S = L L', its pseudo-inverse (k x d; empty where it is not asked for), and k.
    fn of_row(&mut self, data: &GaussianArray, i: usize, inverted: bool) -> Result<(Vec<f64>, Vec<f64>, usize)> {
        let (d, covariances) = (self.d, data.covariances());
        if matches!(covariances.structure(), Structure::Zero) {
            return Ok((vec![], vec![], 0));
        }
        if covariances.structure().is_diagonal() {
            let variances = &mut self.packed[..d];
            covariances.variances(i, variances);
            let rank = variances.iter().filter(|v| **v > 0.0).count();
            let mut root = vec![0.0; d * rank];
            let mut inverse = if inverted { vec![0.0; rank * d] } else { vec![] };
            for (k, (j, variance)) in variances.iter().enumerate().filter(|(_, v)| **v > 0.0).enumerate() {
                root[j * rank + k] = variance.sqrt();
                if inverted {
                    inverse[k * d + j] = 1.0 / variance.sqrt();
                }
            }
            return Ok((root, inverse, rank));
        }
        covariances.triangle(i, d, &mut self.packed);
        unpack_into(&self.packed, d, &mut self.square);
        let square = &self.square;
        // Columns (eigenvector, root of the eigenvalue), in units of every feature, so that a precise one is not taken for an
        // exact one.
        let unit: Vec<f64> = (0..d).map(|j| square[j * d + j].max(0.0).sqrt()).collect();
        let safe = |j: usize| if unit[j] > 0.0 { unit[j] } else { 1.0 };
        let scaled: Vec<f64> = (0..d * d).map(|at| square[at] / safe(at / d) / safe(at % d)).collect();
        self.eigh.decompose(|r| &scaled[r * d..(r + 1) * d])?;
        let mut columns: Vec<(Vec<f64>, f64)> = vec![];
        let largest = self.eigh.values.last().copied().unwrap_or(0.0);
        for k in (0..d).filter(|&k| self.eigh.values[k] > RANK * largest && largest > 0.0) {
            let column = (0..d).map(|j| self.eigh.vectors[k * d + j] * unit[j]).collect();
            columns.push((column, self.eigh.values[k].sqrt()));
        }
        let rank = columns.len();
        let root = (0..d * rank).map(|at| columns[at % rank].0[at / rank] * columns[at % rank].1).collect();
        let vectors: Vec<usize> = (0..d).filter(|&k| self.eigh.values[k] > RANK * largest && largest > 0.0).collect();
        let inverse = (0..rank * d)
            .map(|at| {
                let (k, j) = (at / d, at % d);
                let unit = if unit[j] > 0.0 { 1.0 / unit[j] } else { 0.0 };
                self.eigh.vectors[vectors[k] * d + j] * unit / columns[k].1
            })
            .collect();
        Ok((root, inverse, rank))
    }
}

/// A = c' L^{+}' and R = C - A A'; what is wrong, where that is no covariance matrix.
fn subtract_crossed(
    own: &[f64],
    root: &[f64],
    inverse: &[f64],
    (d, q, k): (usize, usize, usize),
    crossed: &mut [f64],
    rest: &mut [f64],
) -> std::result::Result<(), String> {
    for (o, c) in (0..q).flat_map(|o| (0..k).map(move |c| (o, c))) {
        crossed[o * k + c] = (0..d).map(|j| inverse[c * d + j] * own[j * q + o]).sum();
    }
    let variances: Vec<f64> = (0..q).map(|o| rest[o * q + o]).collect();
    for (o, j) in (0..q).flat_map(|o| (0..d).map(move |j| (o, j))) {
        let back: f64 = (0..k).map(|c| root[j * k + c] * crossed[o * k + c]).sum();
        let size = own[j * q + o].abs();
        if (back - own[j * q + o]).abs() > ROUNDING * size.max(f64::MIN_POSITIVE) && size > 0.0 {
            return Err(format!("feature {j} has no error that could go with that of the target"));
        }
    }
    for (o, r) in (0..q).flat_map(|o| (0..q).map(move |r| (o, r))) {
        rest[o * q + r] -= (0..k).map(|c| crossed[o * k + c] * crossed[r * k + c]).sum::<f64>();
    }
    for o in 0..q {
        if rest[o * q + o] < -ROUNDING * variances[o] || (variances[o] == 0.0 && rest[o * q + o] < 0.0) {
            return Err("the covariance is larger than both errors allow".into());
        }
        rest[o * q + o] = rest[o * q + o].max(0.0);
    }
    Ok(())
}
