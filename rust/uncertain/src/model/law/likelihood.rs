//! The likelihood of targets given readings, and its derivatives in theta = (b, beta, a).
//!
//! ```text
//! log p(y_i | x_i) = log sum_k w_ik J(y_i, m = b + o_i + beta'm_ik, v = beta'P_ik beta; a)
//! ```
//! With s = sqrt(v) and t = P beta / s, d m = (1, m_ik) and d s = (0, t); the second derivative of s is (P - t t') / s, whose
//! factor d log J / d s = 2 s d log J / d v makes 2 d_v (P - t t') of it, without a division by s. Of the sum over k, with q
//! the share of k given y, too: gradient g = sum q g_k, Hessian sum q (H_k + g_k g_k') - g g'.

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::error::Result;
use crate::linalg::add_outer;
use crate::mixture::log_sum;
use crate::model::law::family::{ACTIVE, Family, Weighted};
use crate::model::law::integral::integral;
use crate::model::law::quadrature::{Integral, NUMBERS};
use crate::model::law::scaled_noise::ScaledNoise;
use crate::model::law::truths::Truths;
use crate::parallel;
use crate::parallel::added;

/// Rows between two looks at `Control`.
const BETWEEN_LOOKS: usize = 64;

/// What the likelihood is of.
#[derive(Clone, Copy)]
pub(super) struct Likelihood<'a> {
    pub truths: &'a Truths,
    pub rows: &'a [Weighted],
    pub family: &'static dyn Family,
    pub intercept: bool,
    pub n_extra: usize,
    /// The last of the features are errors that rows share, with a unit normal distribution of their coefficients.
    pub n_modes: usize,
    /// Errors of features whose factors were fitted, too.
    pub scaled: Option<&'a ScaledNoise>,
}

/// Sums over the rows.
#[derive(Debug, Clone)]
pub(super) struct Evaluation {
    pub log: f64,
    pub gradient: Vec<f64>,
    /// A packed triangle.
    pub hessian: Vec<f64>,
}

/// One row on its way, with memory.
pub(super) struct Row {
    pub gradient: Vec<f64>,
    /// A packed triangle.
    pub hessian: Vec<f64>,
    /// Shares of the components given the target.
    pub shares: Vec<f64>,
    /// Of each component.
    pub integrals: Vec<Integral>,
    /// P beta of each component, K x d.
    pub along: Vec<f64>,
    logs: Vec<f64>,
    own: Vec<f64>,
    jacobian: Vec<[f64; NUMBERS]>,
}

impl Likelihood<'_> {
    /// Number of parameters.
    pub(super) fn p(&self) -> usize {
        self.first_extra() + self.n_extra
    }

    pub(super) fn first_coef(&self) -> usize {
        usize::from(self.intercept)
    }

    pub(super) fn first_extra(&self) -> usize {
        self.first_coef() + self.truths.d
    }

    /// Places of the errors that rows share.
    pub(super) fn modes(&self) -> std::ops::Range<usize> {
        self.first_extra() - self.n_modes..self.first_extra()
    }

    pub(super) fn weight(&self) -> f64 {
        self.rows.iter().map(|row| row.weight).sum()
    }

    pub(super) fn row(&self) -> Row {
        let (p, k, d) = (self.p(), self.truths.most(), self.truths.d);
        Row {
            gradient: vec![0.0; p],
            hessian: vec![0.0; packed_len(p)],
            shares: vec![0.0; k],
            integrals: vec![Integral::default(); k],
            along: vec![0.0; k * d],
            logs: vec![0.0; k],
            own: vec![0.0; p],
            jacobian: vec![[0.0; NUMBERS]; p],
        }
    }

    pub(super) fn evaluate(&self, theta: &[f64], control: &Control) -> Result<Evaluation> {
        let p = self.p();
        let parts = parallel::map_parts(self.rows.len(), |part| -> Result<Vec<f64>> {
            let (mut sums, mut row) = (vec![0.0; 1 + p + packed_len(p)], self.row());
            for i in part {
                if i % BETWEEN_LOOKS == 0 {
                    control.check()?;
                }
                if self.rows[i].weight == 0.0 {
                    continue;
                }
                let log = self.look(i, theta, &mut row);
                let values = [log].into_iter().chain(row.gradient.iter().copied()).chain(row.hessian.iter().copied());
                sums.iter_mut().zip(values).for_each(|(sum, x)| *sum += self.rows[i].weight * x);
            }
            Ok(sums)
        })?;
        let mut sums = added(parts.into_iter().collect::<Result<_>>()?);
        let hessian = sums.split_off(1 + p);
        let gradient = sums.split_off(1);
        Ok(Evaluation { log: sums[0], gradient, hessian })
    }

    /// log p of a row; its derivatives are in `row`.
    pub(super) fn look(&self, i: usize, theta: &[f64], row: &mut Row) -> f64 {
        let (d, first, seen) = (self.truths.d, self.first_coef(), self.rows[i].seen);
        let (beta, extra) = (&theta[first..first + d], &theta[first + d..]);
        let base = self.rows[i].offset + if self.intercept { theta[0] } else { 0.0 };
        for (k, log_share) in self.truths.logs(i).iter().enumerate() {
            let mean = self.truths.mean_under(k, i);
            let m = base + mean.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>();
            let along = &mut row.along[k * d..(k + 1) * d];
            let v = self.truths.covariance_under(k, i).map_or(0.0, |triangle| product(triangle, beta, along));
            row.integrals[k] = integral(self.family, seen, (m, v), extra);
            row.logs[k] = log_share + row.integrals[k].log;
        }
        let count = self.truths.logs(i).len();
        let log = log_sum(&row.logs[..count]);
        row.shares.iter_mut().zip(&row.logs).for_each(|(share, own)| *share = (own - log).exp());
        row.gradient.fill(0.0);
        row.hessian.fill(0.0);
        for k in 0..count {
            self.add_component(i, k, beta, row);
        }
        if count > 1 {
            add_outer(-1.0, &row.gradient, &mut row.hessian);
        }
        log
    }

    /// q g_k and q (H_k + g_k g_k'), or H_k of a single component.
    fn add_component(&self, i: usize, k: usize, beta: &[f64], row: &mut Row) {
        let (d, first, q) = (self.truths.d, self.first_coef(), row.shares[k]);
        let (mean, at) = (self.truths.mean_under(k, i), &row.integrals[k]);
        let along = &row.along[k * d..(k + 1) * d];
        let v: f64 = along.iter().zip(beta).map(|(a, b)| a * b).sum::<f64>().max(0.0);
        let per_s = if v > 0.0 { 1.0 / v.sqrt() } else { 0.0 };
        row.jacobian.iter_mut().for_each(|j| *j = [0.0; NUMBERS]);
        if self.intercept {
            row.jacobian[0][0] = 1.0;
        }
        for j in 0..d {
            row.jacobian[first + j] = [mean[j], along[j] * per_s, 0.0, 0.0];
        }
        for (e, place) in self.family.active(self.rows[i].seen, self.n_extra).iter().enumerate() {
            place.iter().for_each(|place| row.jacobian[first + d + place][NUMBERS - ACTIVE + e] = 1.0);
        }
        let along = |weights: &[f64; NUMBERS], values: &[f64; NUMBERS]| -> f64 {
            weights.iter().zip(values).map(|(a, b)| a * b).sum()
        };
        let mut place = 0;
        for (a, j) in row.jacobian.iter().enumerate() {
            row.own[a] = along(j, &at.gradient);
            let turned: [f64; NUMBERS] = std::array::from_fn(|c| along(j, &at.hessian[c]));
            for other in &row.jacobian[..=a] {
                row.hessian[place] += q * along(&turned, other);
                place += 1;
            }
        }
        if let Some(triangle) = self.truths.covariance_under(k, i) {
            let factor = 2.0 * q * at.d_v;
            for a in 0..d {
                for b in 0..=a {
                    let bent = triangle[packed_index(a, b)] - row.jacobian[first + a][1] * row.jacobian[first + b][1];
                    row.hessian[packed_index(first + a, first + b)] += factor * bent;
                }
            }
        }
        row.gradient.iter_mut().zip(&row.own).for_each(|(g, own)| *g += q * own);
        if self.truths.logs(i).len() > 1 {
            add_outer(q, &row.own, &mut row.hessian);
        }
    }
}

/// `out` = P b; returns b'P b >= 0.
fn product(triangle: &[f64], b: &[f64], out: &mut [f64]) -> f64 {
    out.fill(0.0);
    let mut at = 0;
    for i in 0..b.len() {
        for j in 0..i {
            out[i] += triangle[at] * b[j];
            out[j] += triangle[at] * b[i];
            at += 1;
        }
        out[i] += triangle[at] * b[i];
        at += 1;
    }
    out.iter().zip(b).map(|(a, b)| a * b).sum::<f64>().max(0.0)
}
