//! The law between true values under one component: a line with scatter.
//!
//! From mean and covariance of (x, y), y = beta'x + alpha + N(0, s^2):
//! ```text
//! beta = T_xx^{-1} T_xy,    alpha = mu_y - beta'mu_x,    s^2 = T_yy - T_yx T_xx^{-1} T_xy
//! ```
//! Maximum likelihood overlooks that the line was fitted: without noise it gives s^2 = RSS / n. So once EM has ended, s^2
//! solves, with everything else as it is, the score equation with the degrees of freedom of the line,
//! ```text
//! sum_i c_i (a_i^2 - w_i) + p (sum_i c_i w_i^2) / (sum_i c_i w_i) = 0,   p = d + 1
//! ```
//! where 1 / w_i is the variance of the reading of y given that of x (and s^2 is a part of it), and a_i w_i^{-1} its
//! residual. Without noise that is RSS / (n - d - 1), with equal noise the residual variance over n - d - 1 less the
//! noise. s = 0 where the left side is negative there: the error bars explain all of the scatter.
//!
//! Rejected: the penalty of the imputer, T over n - d - 2 in every step of EM. It is |T|^{(d + 2)/2} and holds s away from 0,
//! at about (p / n)^{1/4} of the noise; the slope follows, 6 % too small for 50 rows of reliability 0.8.

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::linalg::{cholesky, cholesky_solve};
use crate::model::mixture_regression::readings::Readings;

/// The smallest s^2 of a mixture that is to stay one, as a part of the variance of y.
const LEAST: f64 = 1e-10;

/// y = coef'x + intercept + N(0, scatter^2), between true values.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// beta, d numbers.
    pub coef: Vec<f64>,
    /// alpha
    pub intercept: f64,
    /// s >= 0
    pub scatter: f64,
    /// Where they are known.
    pub errors: Option<Errors>,
}

/// Standard errors of a [`Law`].
#[derive(Debug, Clone, PartialEq)]
pub struct Errors {
    /// Covariance of intercept and coefficients, (1 + d) x (1 + d); empty where it is not known (in older files).
    pub covariance: Vec<f64>,
    /// Of the d coefficients.
    pub coef: Vec<f64>,
    /// Of the intercept.
    pub intercept: f64,
    /// Of the scatter; none where that is 0.
    pub scatter: Option<f64>,
}

impl Law {
    /// Of the first component, without errors.
    pub(super) fn from_joint(joint: &Mixture) -> Result<Self> {
        let (d, t, mean) = (joint.n_features() - 1, joint.covariance(0), joint.mean(0));
        let mut l = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                l[i * d + j] = t[packed_index(i, j)];
            }
        }
        if !cholesky(&mut l, d) {
            return Err(Error::Data("the covariance of the features is singular; raise reg_covar".into()));
        }
        let crossed = &t[packed_len(d)..packed_len(d) + d];
        let mut coef = crossed.to_vec();
        cholesky_solve(&l, d, &mut coef);
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let intercept = mean[d] - product(&coef, &mean[..d]);
        let variance = t[packed_index(d, d)] - product(&coef, crossed);
        Ok(Self { coef, intercept, scatter: variance.max(0.0).sqrt(), errors: None })
    }
}

/// The smallest s^2 that a fit may reach.
pub(super) fn least_variance(joint: &Mixture) -> f64 {
    let d = joint.n_features() - 1;
    LEAST * joint.covariance(0)[packed_index(d, d)]
}

/// The component after a part of a step in beta, alpha, s^2, mu_x and T_xx, s^2 kept above its least.
pub(super) fn moved(joint: &Mixture, coef: &[f64], step: &[f64], part: f64) -> Result<Mixture> {
    let (d, mean, t) = (coef.len(), joint.mean(0), joint.covariance(0));
    let law = Law::from_joint(joint)?;
    let (by_coef, rest) = step.split_at(d);
    let (by_mean, by_t) = (&rest[2..2 + d], &rest[2 + d..]);
    let new_coef: Vec<f64> = coef.iter().zip(by_coef).map(|(b, by)| b + part * by).collect();
    let shift: f64 = by_coef.iter().zip(mean).map(|(by, m)| part * by * m).sum();
    let intercept = law.intercept + part * rest[0] - shift;
    let least = least_variance(joint);
    let variance = (law.scatter.powi(2) + part * rest[1]).max(least);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut means: Vec<f64> = mean[..d].iter().zip(by_mean).map(|(m, by)| m + part * by).collect();
    means.push(intercept + product(&new_coef, &means));
    let mut covariance: Vec<f64> = t.iter().zip(by_t).map(|(t, by)| t + part * by).collect();
    let crossed: Vec<f64> =
        (0..d).map(|j| (0..d).map(|k| covariance[packed_index(j, k)] * new_coef[k]).sum()).collect();
    let of_target = product(&crossed, &new_coef) + variance;
    covariance.extend(crossed);
    covariance.push(of_target);
    Mixture::new(vec![1.0], means, covariance, d + 1)
}

/// One component with the s^2 that its other parameters call for, counting so many degrees of freedom, and whether s = 0.
pub(super) fn with_best_scatter(
    joint: &Mixture,
    readings: &dyn Readings,
    degrees: usize,
    control: &Control,
) -> Result<(Mixture, bool)> {
    let d = joint.n_features() - 1;
    let p = readings.total().degrees(degrees);
    let ask = readings.scores(joint, control)?;
    let scores = |changes: &[f64]| -> Result<Vec<f64>> {
        Ok(ask(changes)?.iter().map(|[sum, first, second]| sum + p * second / first).collect())
    };
    let positive = |change: f64| -> Result<bool> { Ok(scores(&[change])?.iter().all(|score| *score > 0.0)) };
    let here = Law::from_joint(joint)?.scatter.powi(2);
    let t = joint.covariance(0)[packed_index(d, d)];
    let lowest = (least_variance(joint) - here).min(0.0);
    let (mut low, mut high) = (lowest, 0.0);
    if positive(0.0)? {
        (low, high) = (0.0, t);
        while high < 1e6 * t && positive(high)? {
            (low, high) = (high, 4.0 * high);
        }
    } else if !positive(lowest)? {
        high = lowest;
    }
    // The root is where scores stop being positive.
    let cuts = readings.at_once() + 1;
    while high - low > 1e-14 * (here + high).abs() {
        let between = |k: usize| ((cuts - k) as f64 * low + k as f64 * high) / cuts as f64;
        let mut inner: Vec<f64> = (1..cuts).map(between).filter(|x| *x > low && *x < high).collect();
        inner.dedup();
        if inner.is_empty() {
            break;
        }
        let below = scores(&inner)?.iter().take_while(|score| **score > 0.0).count();
        let ends: Vec<f64> = [vec![low], inner, vec![high]].concat();
        (low, high) = (ends[below], ends[below + 1]);
    }
    let mut covariances = joint.covariances().to_vec();
    covariances[packed_index(d, d)] += high;
    let exact = high <= lowest;
    match Mixture::new(joint.weights().to_vec(), joint.means().to_vec(), covariances, d + 1) {
        Ok(mixture) => Ok((mixture, exact)),
        // Less than rounding is left of the variance of y: as good as none.
        Err(_) if exact => Ok((joint.clone(), true)),
        Err(error) => Err(error),
    }
}
