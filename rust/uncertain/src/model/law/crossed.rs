//! [`Crossed`]: errors of features that go with those of the target.

use crate::data::Incomplete;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::{Spd, dot};

/// The error of y is g'e + a rest, g = S^{-1} c, that knows nothing of the error e of x: given x, y has the mean
/// b + (beta - g)'m + g'x and beside the rest's variance (beta - g)'P (beta - g).
pub(in crate::model) struct Crossed {
    /// g'(x - m) = c'A^{-1}(x - mu).
    pub shift: Vec<f64>,
    /// P g = T A^{-1} c, d numbers a row.
    turn: Vec<f64>,
    /// g'P g = c'S^{-1} c - c'A^{-1} c.
    pub square: Vec<f64>,
    /// c'S^{-1} c, the part of t^2 that is not the rest's.
    pub taken: Vec<f64>,
    d: usize,
}

impl Crossed {
    /// P g of a row.
    pub(super) fn turn(&self, i: usize) -> &[f64] {
        &self.turn[i * self.d..(i + 1) * self.d]
    }

    /// In other coordinates of the features.
    pub(in crate::model) fn rescale(&mut self, scale: &[f64]) {
        self.turn.iter_mut().enumerate().for_each(|(at, x)| *x /= scale[at % self.d]);
    }

    /// In other units of the targets.
    pub(in crate::model) fn in_units(&self, unit: f64) -> Self {
        let scaled = |values: &[f64], by: f64| values.iter().map(|x| x / by).collect();
        Self {
            shift: scaled(&self.shift, unit),
            turn: scaled(&self.turn, unit),
            square: scaled(&self.square, unit * unit),
            taken: scaled(&self.taken, unit * unit),
            d: self.d,
        }
    }

    /// From the covariances `c` (n x d) of the errors of targets of variances `known`.
    pub(in crate::model) fn new(
        rows: Incomplete<'_>,
        mixture: &Mixture,
        c: &[f64],
        known: &[f64],
        numbers: &[usize],
    ) -> Result<Self> {
        let (n, d) = (known.len(), mixture.n_features());
        let (t, mu) = (mixture.covariance(0), mixture.mean(0));
        let none = || vec![0.0; n];
        let mut out = Self { shift: none(), turn: vec![0.0; n * d], square: none(), taken: none(), d };
        let mut noise = vec![0.0; packed_len(d)];
        for i in 0..n {
            let own = &c[i * d..(i + 1) * d];
            let seen: Vec<usize> = (0..d).filter(|&j| !rows.is_missing(i, j)).collect();
            if seen.iter().all(|&j| own[j] == 0.0) {
                continue;
            }
            rows.gaussians().covariances().triangle(i, d, &mut noise);
            let m = seen.len();
            let element = |a: usize, b: usize| packed_index(seen[a], seen[b]);
            let sum = (0..m * m).map(|at| element(at / m, at % m)).map(|at| t[at] + noise[at]).collect();
            let singular = || Error::Data(format!("row {}: the covariance of its reading is singular", numbers[i]));
            let solved = Spd::new(sum, m).ok_or_else(singular)?.solve(seen.iter().map(|&j| own[j]).collect());
            // Features that are exact have no part in it.
            let noisy: Vec<usize> = (0..m).filter(|&a| noise[element(a, a)] > 0.0).collect();
            let k = noisy.len();
            let s = Spd::new((0..k * k).map(|at| noise[element(noisy[at / k], noisy[at % k])]).collect(), k);
            let apart = (0..m).any(|a| own[seen[a]] != 0.0 && !noisy.contains(&a));
            let c: Vec<f64> = noisy.iter().map(|&a| own[seen[a]]).collect();
            let taken = s.filter(|_| !apart).map(|s| dot(&s.solve(c.clone()), &c));
            let Some(taken) = taken.filter(|taken| *taken <= known[i] * (1.0 + 1e-9)) else {
                return Err(Error::Data(format!(
                    "row {}: errors of X, y_std and xy_cov are no covariance matrix together: the covariance is larger than \
                     both errors allow",
                    numbers[i]
                )));
            };
            out.taken[i] = taken;
            let x = rows.gaussians().means().row(i);
            out.shift[i] = seen.iter().zip(&solved).map(|(&j, s)| (x[j] - mu[j]) * s).sum();
            out.square[i] = out.taken[i] - seen.iter().zip(&solved).map(|(&j, s)| own[j] * s).sum::<f64>();
            for a in 0..d {
                out.turn[i * d + a] = seen.iter().zip(&solved).map(|(&j, s)| t[packed_index(a, j)] * s).sum();
            }
        }
        Ok(out)
    }
}
