//! The part of errors of the features in the bias of maximum likelihood in few rows, to first order.
//!
//! With the log-likelihoods l_i, their gradients g_i and Hessians H_i, and A = -sum H_i, the maximum is off by
//! ```text
//! b = A^-1 [ sum H_i A^-1 g_i + 1/2 sum_q d/dt H(theta + t v_q) v_q ],    sum_q v_q v_q' = A^-1
//! ```
//! on average, up to order n^-2 (D. R. Cox, E. J. Snell, A general definition of residuals, Journal of the Royal Statistical
//! Society B 30, 1968, doi 10.1111/j.2517-6161.1968.tb00724.x, with observed sums for their expectations). Third derivatives are
//! central differences of the exact second ones, which takes 2 p passes and serves every family.
//!
//! A generalised linear model of exact features has such a bias, too, and nobody expects another answer from it. So the
//! same formula for exact features is subtracted: for points that have the mean and covariance of each row's true features
//! ([`Truths::points_within`]), weighted by the density of its target there. Exact rows are their own points, and
//! nothing is left: with errors that vanish, the law becomes the ordinary model without a jump. The points lie along the
//! coefficients and across, so that the axes of the features do not matter.
//!
//! The other part of the bias comes with the density of true features, whose variances are too small by maximum likelihood:
//! `fit` takes the one that counts degrees of freedom ([`deconvolution`](crate::deconvolution)). With two features whose
//! errors are as large as they are, n = 300 and two classes, that is half of the way, and the rest is done here.
//!
//! Rejected: ten further fits without a tenth of the rows each ("jackknife"), ten times as dear, with an answer that
//! depends on the order of the rows; Firth's penalty log |A| / 2, whose Hessian takes fourth derivatives.

use crate::control::Control;
use crate::data::covariance::packed_index;
use crate::error::Result;
use crate::linalg::Spd;
use crate::model::law::family_rows::FamilyRows;
use crate::model::law::likelihood::Likelihood;
use crate::model::law::newton::{Maximum, square};
use crate::parallel;
use crate::parallel::added;

/// So many rows, evenly spaced, stand for all: of more, the bias is a small part of the standard error.
const MOST_ROWS: usize = 500;
/// In standard errors, of that combination of the parameters where it is largest: of a larger bias the less is taken off, the
/// larger it is.
const TRUSTED: f64 = 0.3;
/// Steps of the central differences, in standard errors.
const STEP: f64 = 0.01;

/// The maximum less the bias that errors add to it, where that is known.
pub(super) fn corrected(
    likelihood: Likelihood<'_>,
    rows: &FamilyRows,
    maximum: &Maximum,
    control: &Control,
) -> Result<Maximum> {
    let Some(bias) = from_errors(likelihood, rows, maximum, control)? else { return Ok(maximum.clone()) };
    let theta: Vec<f64> = maximum.theta.iter().zip(&bias).map(|(theta, b)| theta - b).collect();
    // Thresholds keep their order.
    if !likelihood.intercept && !theta[likelihood.first_psi()..].is_sorted_by(|low, high| low < high) {
        return Ok(maximum.clone());
    }
    let at = likelihood.evaluate(&theta, control)?;
    let hessian = at.hessian.iter().map(|h| -h).collect();
    Ok(Maximum { theta, hessian, at, ..maximum.clone() })
}

/// The bias that errors add, one number per parameter; `None` where it is not known.
fn from_errors(
    likelihood: Likelihood<'_>,
    rows: &FamilyRows,
    maximum: &Maximum,
    control: &Control,
) -> Result<Option<Vec<f64>>> {
    let n = likelihood.weights.len();
    if !likelihood.truths.is_noisy() {
        return Ok(None);
    }
    let count = n.min(MOST_ROWS);
    let taken: Vec<usize> = (0..count).map(|at| at * n / count).collect();
    let mut weights = vec![0.0; n];
    let share = n as f64 / count as f64;
    taken.iter().for_each(|&i| weights[i] = share * likelihood.weights[i]);
    let noisy = first_order(Likelihood { weights: &weights, ..likelihood }, maximum, control)?;

    let first = likelihood.first_coef();
    let along = &maximum.theta[first..first + likelihood.truths.d];
    let (truths, owners) = likelihood.truths.points_within(&taken, along)?;
    let response = rows.take(owners.iter().map(|(i, _)| *i));
    let mut points: Vec<f64> = owners.iter().map(|(i, _)| weights[*i]).collect();
    let offsets: Option<Vec<f64>> = likelihood.offsets.map(|all| owners.iter().map(|(i, _)| all[*i]).collect());
    let exact =
        Likelihood { truths: &truths, response: &response, offsets: offsets.as_deref(), scaled: None, ..likelihood };
    let logs = parallel::map_parts(owners.len(), |part| -> Vec<f64> {
        let (place, mut row) = (exact.at(&maximum.theta), exact.row());
        part.map(|at| owners[at].1 + exact.see(at, &place, &mut row)).collect()
    })?;
    let logs = logs.concat();
    let mut first = 0;
    for own in owners.chunk_by(|a, b| a.0 == b.0) {
        let own = first..first + own.len();
        let total = crate::mixture::log_sum(&logs[own.clone()]);
        first = own.end;
        own.for_each(|at| points[at] *= (logs[at] - total).exp());
    }
    let exact = first_order(Likelihood { weights: &points, ..exact }, maximum, control)?;

    let (Some((noisy, root)), Some((exact, _))) = (noisy, exact) else { return Ok(None) };
    let own: Vec<f64> = noisy.iter().zip(&exact).map(|(noisy, exact)| noisy - exact).collect();
    // An expansion that leads far is none: near separation, what it says is many times what there is. |L'b|^2 = b'A b.
    let q = own.len();
    let whitened = (0..q).map(|j| (j..q).map(|i| root[i * q + j] * own[i]).sum::<f64>());
    let trust = (TRUSTED / whitened.map(|x| x * x).sum::<f64>().sqrt().max(TRUSTED)).powi(2);
    let mut bias = vec![0.0; maximum.theta.len()];
    maximum.free.iter().zip(&own).for_each(|(&j, b)| bias[j] = trust * b);
    Ok(Some(bias).filter(|bias| bias.iter().all(|b| b.is_finite())))
}

/// b of the free parameters, and the root L of their information, A = L L'. `None`: it is singular.
fn first_order(
    likelihood: Likelihood<'_>,
    maximum: &Maximum,
    control: &Control,
) -> Result<Option<(Vec<f64>, Vec<f64>)>> {
    let (theta, free) = (&maximum.theta, &maximum.free);
    let q = free.len();
    let mut information = square(&likelihood.evaluate(theta, control)?.hessian, free);
    information.iter_mut().for_each(|h| *h = -*h);
    let Some(information) = Spd::new(information, q) else { return Ok(None) };
    let factor = information.root();
    let times = |hessian: &[f64], by: &[f64], to: &mut [f64], c: f64| {
        for (to, &i) in to.iter_mut().zip(free) {
            let element = |j: usize| hessian[packed_index(i, j)];
            *to += c * free.iter().zip(by).map(|(&j, by)| element(j) * by).sum::<f64>();
        }
    };
    let parts = parallel::map_parts(likelihood.weights.len(), |part| -> Result<Vec<f64>> {
        let (place, mut sum, mut row) = (likelihood.at(theta), vec![0.0; q], likelihood.row());
        for i in part.filter(|&i| likelihood.weights[i] > 0.0) {
            control.check()?;
            likelihood.see(i, &place, &mut row);
            let step = information.solve(free.iter().map(|&j| row.gradient[j]).collect());
            times(&row.hessian, &step, &mut sum, likelihood.weights[i]);
        }
        Ok(sum)
    })?;
    let mut sum = added(parts.into_iter().collect::<Result<_>>()?);
    for direction in 0..q {
        // Column of L^-T.
        let mut v = vec![0.0; q];
        for i in (0..=direction).rev() {
            let known: f64 = (i + 1..=direction).map(|j| factor[j * q + i] * v[j]).sum();
            v[i] = (f64::from(u8::from(i == direction)) - known) / factor[i * q + i];
        }
        for step in [STEP, -STEP] {
            let mut moved = theta.clone();
            free.iter().zip(&v).for_each(|(&j, v)| moved[j] += step * v);
            let there = likelihood.evaluate(&moved, control)?;
            times(&there.hessian, &v, &mut sum, 0.25 / step);
        }
    }
    Ok(Some((information.solve(sum), factor.to_vec())))
}
