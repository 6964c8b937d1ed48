//! [`LineRows`]: what is known of every row that counts, in the form in which the likelihood sees it.

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::data::{Incomplete, Modes, Targets};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::{cholesky, cholesky_solve};
use crate::model::clusters;
use crate::model::law::coordinates::Coordinates;
use crate::model::law::scaled_noise::ScaledNoise;
use crate::model::law::truths::Truths;
use crate::model::shared_features;

use super::SharedErrors;

pub(super) struct LineRows {
    /// Numbers in the caller's table.
    pub numbers: Vec<usize>,
    /// N(m, P) of every row.
    pub truths: Truths,
    pub y: Vec<f64>,
    /// t^2
    pub known: Vec<f64>,
    /// -1 and +1 where the value lies below and above y.
    pub limits: Option<Vec<i8>>,
    /// Weights of sum n.
    pub weights: Vec<f64>,
    pub groups: Option<Vec<u32>>,
    /// n x k.
    pub modes: Vec<f64>,
    pub k: usize,
    /// Of rows whose errors go together.
    pub crossed: Option<Crossed>,
    /// Of features whose error bars have a factor.
    pub scaled: Option<ScaledNoise>,
}

/// The error of y is g'e + a rest, g = S^{-1} c, that knows nothing of the error e of x: given x, y has the mean
/// b + (beta - g)'m + g'x and beside the rest's variance (beta - g)'P (beta - g).
pub(super) struct Crossed {
    /// g'(x - m) = c'A^{-1}(x - mu).
    pub shift: Vec<f64>,
    /// P g = T A^{-1} c, d numbers a row.
    pub turn: Vec<f64>,
    /// g'P g = c'S^{-1} c - c'A^{-1} c.
    pub square: Vec<f64>,
    /// c'S^{-1} c, the part of t^2 that is not the rest's.
    taken: Vec<f64>,
}

impl LineRows {
    pub(super) fn new(
        rows: Incomplete<'_>,
        targets: &Targets,
        shared: &SharedErrors,
        mixture: &Mixture,
        control: &Control,
    ) -> Result<Self> {
        let n = rows.gaussians().n_rows();
        let kept: Vec<usize> = (0..n).filter(|&i| targets.weight(i) > 0.0).collect();
        let d = mixture.n_features();
        if kept.len() < d + 2 {
            return Err(Error::Data(format!(
                "a line with {d} coefficients needs at least {} rows, but n_samples = {}",
                d + 2,
                kept.len()
            )));
        }
        let taken = if kept.len() == n { None } else { Some(rows.take(&kept)?) };
        let own = taken.as_ref().map_or(rows, |taken| taken.rows());
        let total: f64 = kept.iter().map(|&i| targets.weight(i)).sum();
        let unit = kept.len() as f64 / total;
        let groups: Option<Vec<u32>> = shared.groups.as_ref().map(|g| kept.iter().map(|&i| g[i]).collect());
        clusters::check(groups.as_deref())?;
        let pick = |values: &[f64]| -> Vec<f64> { kept.iter().map(|&i| values[i]).collect() };
        let Modes { of_targets: modes, k, .. } = shared.modes.take(&kept);
        shared_features::check(&modes, k)?;
        let crossed = targets
            .feature_covariances()
            .map(|c| kept.iter().flat_map(|&i| &c[i * d..(i + 1) * d]).copied().collect::<Vec<f64>>());
        let mut known = targets.variances().map_or_else(|| vec![0.0; kept.len()], pick);
        let limits: Option<Vec<i8>> = targets.limits().map(|limits| kept.iter().map(|&i| limits[i]).collect());
        if limits.as_ref().is_some_and(|limits| limits.iter().all(|limit| *limit != 0)) {
            return Err(Error::Data("every target is a limit, so nothing is known of their size".into()));
        }
        let crossed = crossed.map(|c| Crossed::new(own, mixture, &c, &known, &kept)).transpose()?;
        if let Some(crossed) = &crossed {
            known.iter_mut().zip(&crossed.taken).for_each(|(t, taken)| *t = (*t - taken).max(0.0));
        }
        Ok(Self {
            truths: Truths::new(own, mixture, control)?,
            y: pick(targets.values()),
            crossed,
            known,
            limits,
            weights: kept.iter().map(|&i| targets.weight(i) * unit).collect(),
            groups,
            modes,
            k,
            scaled: None,
            numbers: kept,
        })
    }

    pub(super) fn n(&self) -> usize {
        self.y.len()
    }

    pub(super) fn limit(&self, i: usize) -> i8 {
        self.limits.as_ref().map_or(0, |limits| limits[i])
    }

    pub(super) fn modes(&self, i: usize) -> &[f64] {
        &self.modes[i * self.k..(i + 1) * self.k]
    }

    /// In other coordinates of the features.
    pub(super) fn rescale(&mut self, coordinates: &Coordinates) {
        self.truths.rescale(&coordinates.centre, &coordinates.scale);
        let d = self.truths.d;
        if let Some(crossed) = &mut self.crossed {
            crossed.turn.iter_mut().enumerate().for_each(|(at, x)| *x /= coordinates.scale[at % d]);
        }
    }
}

impl Crossed {
    fn new(rows: Incomplete<'_>, mixture: &Mixture, c: &[f64], known: &[f64], numbers: &[usize]) -> Result<Self> {
        let (n, d) = (known.len(), mixture.n_features());
        let (t, mu) = (mixture.covariance(0), mixture.mean(0));
        let none = || vec![0.0; n];
        let mut out = Self { shift: none(), turn: vec![0.0; n * d], square: none(), taken: none() };
        let mut noise = vec![0.0; packed_len(d)];
        for i in 0..n {
            let own = &c[i * d..(i + 1) * d];
            let seen: Vec<usize> = (0..d).filter(|&j| !rows.is_missing(i, j)).collect();
            if seen.iter().all(|&j| own[j] == 0.0) {
                continue;
            }
            rows.gaussians().covariances().triangle(i, d, &mut noise);
            let m = seen.len();
            let element = |a: usize, b: usize| packed_index(seen[a].max(seen[b]), seen[a].min(seen[b]));
            let mut l: Vec<f64> = (0..m * m).map(|at| element(at / m, at % m)).map(|at| t[at] + noise[at]).collect();
            let mut solved: Vec<f64> = seen.iter().map(|&j| own[j]).collect();
            if !cholesky(&mut l, m) {
                return Err(Error::Data(format!("row {}: the covariance of its reading is singular", numbers[i])));
            }
            cholesky_solve(&l, m, &mut solved);
            // Features that are exact have no part in it.
            let noisy: Vec<usize> = (0..m).filter(|&a| noise[element(a, a)] > 0.0).collect();
            let k = noisy.len();
            let mut s: Vec<f64> = (0..k * k).map(|at| noise[element(noisy[at / k], noisy[at % k])]).collect();
            let mut g: Vec<f64> = noisy.iter().map(|&a| own[seen[a]]).collect();
            let apart = (0..m).any(|a| own[seen[a]] != 0.0 && !noisy.contains(&a));
            let fine = !apart && cholesky(&mut s, k) && {
                cholesky_solve(&s, k, &mut g);
                out.taken[i] = g.iter().zip(&noisy).map(|(g, &a)| g * own[seen[a]]).sum();
                out.taken[i] <= known[i] * (1.0 + 1e-9)
            };
            if !fine {
                return Err(Error::Data(format!(
                    "row {}: errors of X, y_std and xy_cov are no covariance matrix together: the covariance is larger than \
                     both errors allow",
                    numbers[i]
                )));
            }
            let x = rows.gaussians().means().row(i);
            out.shift[i] = seen.iter().zip(&solved).map(|(&j, s)| (x[j] - mu[j]) * s).sum();
            out.square[i] = out.taken[i] - seen.iter().zip(&solved).map(|(&j, s)| own[j] * s).sum::<f64>();
            for a in 0..d {
                out.turn[i * d + a] =
                    seen.iter().zip(&solved).map(|(&j, s)| t[packed_index(a.max(j), a.min(j))] * s).sum();
            }
        }
        Ok(out)
    }
}
