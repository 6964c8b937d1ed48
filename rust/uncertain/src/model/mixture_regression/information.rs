//! Standard errors of a [`Law`]: the observed information of the marginal likelihood.
//!
//! Row i says l_i = -log|V| / 2 - r'V^{-1} r / 2 with V = T + C_i. With W = V^{-1}, a = W r and changes u of mu, E of T:
//! ```text
//! first    a'u + tr((a a' - W) E) / 2
//! second   -u'W u - 2 u'W E a + tr(W E W E) / 2 - a'E W E a
//! ```
//! so that sums over rows of W, of products of two elements of W, of one of W and one or two of a are all there is to
//! know ([`Sums`]). What is asked for are beta, alpha and s^2 beside mu_x and T_xx, in which T_xy = T_xx beta and
//! T_yy = s^2 + beta'T_xx beta: in the coordinates y - beta'x and x - mu_x (of the fitted beta and mu_x) the law is
//! beta = 0, T is a block of x and s^2, and second derivatives of (mu, T) in the new parameters are single elements.
//! They matter where the likelihood is not stationary, at s = 0 and with the degrees of freedom of s^2.
//!
//! Weights are brought to a sum of as many rows as they are worth, (sum c)^2 / sum c^2. s^2 at 0 is held there.

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::deconvolution::with_target::Sums;
use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::model::mixture_regression::law::{Errors, Law};
use crate::model::mixture_regression::readings::{MOST_FEATURES, Readings};

/// Of rows whose component is `joint` with this law; `None` where there are too many features.
pub(super) fn information(
    law: &Law,
    joint: &Mixture,
    readings: &dyn Readings,
    control: &Control,
) -> Result<Option<Information>> {
    if law.coef.len() > MOST_FEATURES {
        return Ok(None);
    }
    Ok(Some(readings.informative(&law.coef, joint, control)?.information(joint)))
}

impl Sums {
    /// sum c W_p W_q, for packed places.
    fn ww(&self, p: usize, q: usize) -> f64 {
        self.products[p * Self::width(self.m) + q]
    }

    /// sum c W_p (a a')_q
    fn waa(&self, p: usize, q: usize) -> f64 {
        self.ww(p, packed_len(self.m) + q)
    }

    /// sum c W_p a_i
    fn wa(&self, p: usize, i: usize) -> f64 {
        self.ww(p, 2 * packed_len(self.m) + i)
    }

    /// sum c W_p
    fn w(&self, p: usize) -> f64 {
        self.wa(p, self.m)
    }

    /// The derivative of the likelihood by T_p.
    fn gradient(&self, j: usize, k: usize) -> f64 {
        let p = packed_index(j, k);
        half(j, k) * (self.linear[self.m + p] - self.w(p))
    }

    /// The second derivative by two elements of mu or T.
    fn second(&self, p: Place, q: Place) -> f64 {
        let at = packed_index;
        match (p, q) {
            (Place::Mean(i), Place::Mean(j)) => -self.w(at(i, j)),
            (Place::Mean(i), Place::Covariance(j, k)) | (Place::Covariance(j, k), Place::Mean(i)) => {
                -half(j, k) * (self.wa(at(i, j), k) + self.wa(at(i, k), j))
            }
            (Place::Covariance(j, k), Place::Covariance(l, n)) => {
                let trace = self.ww(at(j, n), at(k, l)) + self.ww(at(j, l), at(k, n));
                let form = self.waa(at(j, l), at(k, n))
                    + self.waa(at(j, n), at(k, l))
                    + self.waa(at(k, l), at(j, n))
                    + self.waa(at(k, n), at(j, l));
                half(j, k) * half(l, n) * (trace - form)
            }
        }
    }

    /// Minus the second derivatives by beta (d), alpha, s^2, mu_x (d), T_xx.
    pub(super) fn information(&self, joint: &Mixture) -> Information {
        let (m, d) = (self.m, self.m - 1);
        let t = |j: usize, k: usize| joint.covariance(0)[packed_index(j, k)];
        let mut places: Vec<Place> = (0..d).map(|j| Place::Covariance(d, j)).collect();
        places.extend([Place::Mean(d), Place::Covariance(d, d)]);
        places.extend((0..d).map(Place::Mean));
        places.extend((0..d).flat_map(|j| (0..=j).map(move |k| Place::Covariance(j, k))));
        let q = places.len();
        let plain: Vec<f64> = (0..q * q).map(|at| self.second(places[at / q], places[at % q])).collect();
        // T_xy = T_xx beta, on both sides.
        let mut h = plain.clone();
        let mixed = |from: &[f64], row: &dyn Fn(usize) -> usize, j: usize| -> f64 {
            (0..d).map(|k| t(j, k) * from[row(k)]).sum()
        };
        for c in 0..q {
            (0..d).for_each(|j| h[j * q + c] = mixed(&plain, &|k| k * q + c, j));
        }
        let rows = h.clone();
        for r in 0..q {
            (0..d).for_each(|j| h[r * q + j] = mixed(&rows, &|k| r * q + k, j));
        }
        let mut add = |p: usize, r: usize, x: f64| {
            h[p * q + r] += x;
            if p != r {
                h[r * q + p] += x;
            }
        };
        let (of_mean, of_t) = (d + 2, |j: usize, k: usize| 2 * d + 2 + packed_index(j, k));
        let target = self.linear[m - 1];
        for j in 0..d {
            (0..=j).for_each(|k| add(j, k, 2.0 * t(j, k) * self.gradient(d, d)));
            add(j, of_mean + j, target);
            for k in 0..d {
                add(j, of_t(j, k), self.gradient(d, k));
            }
        }
        h.iter_mut().for_each(|x| *x = -*x);
        let along: Vec<f64> = (0..d).map(|k| self.gradient(d, k)).collect();
        let mut gradient: Vec<f64> = (0..d).map(|j| (0..d).map(|k| t(j, k) * along[k]).sum()).collect();
        gradient.extend([target, self.gradient(d, d)]);
        gradient.extend_from_slice(&self.linear[..d]);
        gradient.extend((0..d).flat_map(|j| (0..=j).map(move |k| (j, k))).map(|(j, k)| self.gradient(j, k)));
        Information { h, gradient, q }
    }
}

/// An element of mu or T.
#[derive(Clone, Copy)]
enum Place {
    Mean(usize),
    Covariance(usize, usize),
}

/// Minus the second derivatives, and the first ones, by beta (d), alpha at the mean of x, s^2, mu_x (d), T_xx.
pub(super) struct Information {
    h: Vec<f64>,
    pub gradient: Vec<f64>,
    pub q: usize,
}

impl Information {
    /// From a matrix of q parameters.
    pub(super) fn new(h: Vec<f64>, q: usize) -> Self {
        Self { h, gradient: vec![0.0; q], q }
    }

    /// An element of the matrix.
    pub(super) fn at(&self, p: usize, r: usize) -> f64 {
        self.h[p * self.q + r]
    }

    /// Add to an element of the diagonal.
    pub(super) fn add_own(&mut self, p: usize, by: f64) {
        self.h[p * self.q + p] += by;
    }

    pub(super) fn set(&mut self, p: usize, r: usize, value: f64) {
        self.h[p * self.q + r] = value;
    }

    /// The inverse of the part of some parameters; `None` where it is not positive definite.
    pub(super) fn factor(&self, some: &[usize]) -> Option<Factor> {
        self.damped(some, 0.0)
    }

    /// The same with `damping` times the diagonal's sizes added to it.
    pub(super) fn damped(&self, some: &[usize], damping: f64) -> Option<Factor> {
        let q = some.len();
        // In units of each parameter.
        let size = |own: f64| if damping > 0.0 { own.abs() } else { own };
        let unit: Vec<f64> = some.iter().map(|&p| size(self.at(p, p)).sqrt()).collect();
        if unit.iter().any(|u| !(*u > 0.0 && u.is_finite())) {
            return None;
        }
        let element = |at: usize| self.at(some[at / q], some[at % q]) / unit[at / q] / unit[at % q];
        let mut l: Vec<f64> = (0..q * q).map(element).collect();
        (0..q).for_each(|i| l[i * q + i] += damping);
        let fine = cholesky(&mut l, q) && (0..q).all(|i| l[i * q + i] > 1e-7);
        fine.then_some(Factor { l, unit })
    }
}

/// A Cholesky factor in units of each parameter.
pub(super) struct Factor {
    l: Vec<f64>,
    unit: Vec<f64>,
}

impl Factor {
    /// The inverse times b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = b.iter().zip(&self.unit).map(|(b, u)| b / u).collect();
        cholesky_solve(&self.l, x.len(), &mut x);
        x.iter().zip(&self.unit).map(|(x, u)| x / u).collect()
    }
}

/// A change of an element beside the diagonal is one of two.
fn half(j: usize, k: usize) -> f64 {
    if j == k { 0.5 } else { 1.0 }
}

/// From the information H, or from H^-1 M H^-1 of a sandwich with `middle` M (q x q).
pub(super) fn errors(law: &Law, joint: &Mixture, information: &Information, middle: Option<&[f64]>) -> Option<Errors> {
    let (d, mean, q) = (law.coef.len(), joint.mean(0), information.q);
    let boundary = law.scatter == 0.0;
    let free: Vec<usize> = (0..q).filter(|&p| p != d + 1 || !boundary).collect();
    let factor = information.factor(&free)?;
    let column = |p: usize| {
        let mut one = vec![0.0; free.len()];
        one[p] = 1.0;
        factor.solve(&one)
    };
    // beta, alpha + beta'mu_x and, where it is free, s^2.
    let n = if boundary { d + 1 } else { d + 2 };
    let columns: Vec<Vec<f64>> = (0..n).map(column).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let turned: Option<Vec<Vec<f64>>> = middle.map(|middle| {
        let row = |p: &usize, own: &[f64]| free.iter().zip(own).map(|(r, x)| middle[p * q + r] * x).sum::<f64>();
        columns.iter().map(|own| free.iter().map(|p| row(p, own)).collect()).collect()
    });
    let v =
        |p: usize, r: usize| turned.as_ref().map_or_else(|| columns[p][r], |turned| product(&columns[p], &turned[r]));
    // alpha is the second less mu_x'beta.
    let crossed: Vec<f64> = (0..d).map(|j| v(j, d) - (0..d).map(|k| v(j, k) * mean[k]).sum::<f64>()).collect();
    let of_level: f64 = v(d, d) - (0..d).map(|k| v(d, k) * mean[k]).sum::<f64>();
    let element = |a: usize, b: usize| match (a, b) {
        (0, 0) => of_level - product(&crossed, &mean[..d]),
        (0, j) | (j, 0) => crossed[j - 1],
        (i, j) => v((i - 1).max(j - 1), (i - 1).min(j - 1)),
    };
    let covariance: Vec<f64> = (0..(d + 1) * (d + 1)).map(|at| element(at / (d + 1), at % (d + 1))).collect();
    Some(Errors {
        coef: (1..=d).map(|j| element(j, j).sqrt()).collect(),
        intercept: covariance[0].sqrt(),
        scatter: (!boundary).then(|| v(d + 1, d + 1).sqrt() / (2.0 * law.scatter)),
        covariance,
    })
}
