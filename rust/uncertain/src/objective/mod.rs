//! The regularised average loss of a linear score over Gaussian rows, and its certificate.
//!
//! ```text
//! J(w, b) = alpha/2 |w|^2 + sum_i c_i L(y_i, m_i, v_i),   m_i = w'x_i + b,  v_i = w'S_i w,  sum c_i = 1
//! ```
//!
//! The only place where a loss meets covariances, penalty and weights: one chain rule for all.
//!
//! **Smoothing.** A row without spread (s_i = 0) makes J as kinked as the hinge. All derivatives
//! are therefore those of J_eps, where v_i is replaced by v_i + eps^2: smooth, above J, and equal
//! to J for eps = 0. Solvers lower eps as they go.
//!
//! **Certificate.** For a [homogeneous](crate::loss::Certificate::Homogeneous) loss, L(d, s) >= p d + q s with the derivatives
//! p = dL/dd, q = dL/ds taken at *any* point, and scaling (p, q) down keeps the inequality. With
//! t_i = S_i w / s_i, which satisfies t_i'w' <= s_i(w') for every w' (also with the smoothed, larger
//! s_i in the denominator), every (w', b') has
//!
//! ```text
//! J(w', b') >= sum c_i p_i - w'.A + alpha/2 |w'|^2 - b' sum c_i p_i y_i,   A = sum c_i (p_i y_i x_i - q_i t_i)
//! ```
//!
//! so J* >= sum c_i p_i - |A|^2 / (2 alpha) once sum c_i p_i y_i = 0. That balance is reached by
//! scaling down (p, q) of the class with the larger sum, and the whole bound is improved by one
//! more factor theta <= 1. A is nothing but the two classes' halves of the gradient, so the bound
//! costs no pass over the data: every evaluation comes with it.
//! A loss certified by [tangents](crate::loss::Certificate::Tangents) has no such homogeneity, but it is convex in (m, s), increasing in s and never negative.
//! Its tangent L(m', s') >= a + dm m' + ds s' at any (smoothed) point takes the place of p d + q s, and may be
//! scaled down because L >= k L for k in [0, 1]; rows with dm > 0 and with dm < 0 take the place of the classes.
//! Rejected: the exact conjugate phi(Phi^-1(p)) after scaling p (slightly better far from the
//! optimum, equal at it, and a second pass over the data).

//!
//! **Where the rows are.** An evaluation is a [`Request`] for sums over the rows ([`RowSums`]), answered here by
//! [`LocalRows`]. Newton and L-BFGS need no more; interior-point methods keep numbers beside every row, so they need
//! the rows in this process.

mod bound;
mod check;
mod hessian;
mod interior;
mod local;
mod pass;
mod problem;
mod reflection;
mod row;
mod sketch;
mod sums;

pub(crate) use interior::NewtonSystem;
pub use local::LocalRows;
pub(crate) use local::dense_parts;
pub use problem::Problem;
pub(crate) use row::{RowMotion, RowTerms};
pub(crate) use sums::ClassSums;

use crate::control::Control;
use crate::data::{Covariances, RowSource};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::sums::{LinearProblem, Request, RowSums};
use sums::ValueSums;

/// How much of J an evaluation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Derivatives {
    /// Values, bound and gradient.
    Gradient,
    /// And the Hessian as a matrix.
    Hessian,
}

/// J and its derivatives at one point.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// J_eps, what the derivatives belong to.
    pub smoothed: f64,
    /// J.
    pub objective: f64,
    /// A lower bound on the minimum of J.
    pub bound: f64,
    /// The gradient of J_eps: d elements for w, then one for b.
    pub gradient: Vec<f64>,
    /// The Hessian of J_eps: (d + 1)^2 elements row-major, lower triangle valid.
    pub hessian: Option<Vec<f64>>,
    /// The smallest s_i among rows with weight.
    pub narrowest: f64,
    /// The smoothing.
    pub epsilon: f64,
    /// The part of `objective - bound` that the smoothing opens.
    pub smoothing_gap: f64,
}

impl Evaluation {
    /// The certified relative duality gap (J - bound) / J.
    pub fn gap(&self) -> f64 {
        if self.objective > 0.0 { ((self.objective - self.bound) / self.objective).max(0.0) } else { 0.0 }
    }
}

/// Sizes and parameters of a problem, without its rows.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Number of rows.
    pub n_rows: usize,
    /// Number of unknowns, d + 1.
    pub dim: usize,
    /// Have all rows no spread?
    pub exact: bool,
    /// Strength of the penalty.
    pub alpha: f64,
    /// Is b fitted?
    pub fit_intercept: bool,
    /// The loss.
    pub loss: &'a dyn Loss,
}

/// J as a function of d + 1 numbers, its sums answered by `R`.
#[derive(Debug)]
pub struct LinearObjective<'a, R = LocalRows<'a>> {
    facts: Facts<'a>,
    /// Which problem of the rows; `None`: the one they are held for.
    stated: Option<LinearProblem>,
    rows: R,
}

impl<'a, R: RowSums> LinearObjective<'a, R> {
    /// J for these facts, which must be those of the rows; a problem must be stated for rows that are held for several.
    pub(crate) fn from_rows(facts: Facts<'a>, stated: Option<LinearProblem>, rows: R) -> Self {
        Self { facts, stated, rows }
    }

    /// Sizes and parameters, without rows.
    pub fn facts(&self) -> &Facts<'a> {
        &self.facts
    }

    /// Number of unknowns, d + 1.
    pub fn dim(&self) -> usize {
        self.facts.dim
    }

    /// J_eps and what is wanted of its derivatives at x = (w, b).
    pub fn evaluate(&self, x: &[f64], epsilon: f64, derivatives: Derivatives, control: &Control) -> Result<Evaluation> {
        Ok(self.evaluate_with_sums(x, epsilon, derivatives, control)?.0)
    }

    /// [`evaluate`](Self::evaluate), and the sums of which gradient and bound were made.
    pub(crate) fn evaluate_with_sums(
        &self,
        x: &[f64],
        epsilon: f64,
        derivatives: Derivatives,
        control: &Control,
    ) -> Result<(Evaluation, [ClassSums; 2])> {
        let (d, hessian) = (x.len() - 1, derivatives == Derivatives::Hessian);
        let numbers =
            self.rows.sum(Request::Value { problem: self.stated, x: x.to_vec(), epsilon, hessian }, control)?;
        let expected = Request::value_len(d, hessian);
        if numbers.len() != expected {
            return Err(Error::Data(format!(
                "the rows answer with {} numbers where {expected} are expected",
                numbers.len()
            )));
        }
        let sums = ValueSums::from_flat(&numbers, d);
        Ok((self.finish(x, epsilon, &sums)?, sums.classes))
    }
}

impl<'a> LinearObjective<'a> {
    fn new(rows: LocalRows<'a>) -> Self {
        let Problem { data, alpha, fit_intercept, loss, .. } = rows.problem;
        let (n_rows, dim, exact) = (data.n_rows(), rows.width() + 1, rows.is_exact());
        Self { facts: Facts { n_rows, dim, exact, alpha, fit_intercept, loss }, stated: None, rows }
    }

    /// The problem behind the objective.
    pub fn problem(&self) -> &Problem<'a> {
        &self.rows.problem
    }

    /// A problem with a score that is linear in exact rows of `source`, one per row of data.
    pub fn with_source(self, source: &'a dyn RowSource) -> Result<Self> {
        if source.n_rows() != self.facts.n_rows {
            let expected = format!("{}, one per row of data", self.facts.n_rows);
            return Err(Error::shape("computed rows", expected, source.n_rows()));
        }
        Ok(Self::new(LocalRows { source: Some(source), ..self.rows }))
    }

    /// The computed rows, if there are any.
    pub(crate) fn source(&self) -> Option<&'a dyn RowSource> {
        self.rows.source
    }

    /// The covariances of the rows that the score is linear in.
    pub(crate) fn covariances(&self) -> &'a Covariances {
        self.rows.covariances()
    }

    /// c_i, normalised to sum to one.
    #[inline]
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.rows.weight(row)
    }
}

impl RowSums for LocalRows<'_> {
    fn sums(&self, requests: &[Request], control: &Control) -> Result<Vec<Vec<f64>>> {
        let value = |request: &Request| {
            let &Request::Value { problem: None, ref x, epsilon, hessian } = request else {
                return Err(Error::Internal("rows of one linear problem are asked about something else".into()));
            };
            let most = if hessian { dense_parts(x.len() - 1) } else { usize::MAX };
            let pass = pass::ValuePass::new(self, x, epsilon, hessian);
            self.add_parts(most, |range| pass.part(range, control), |a, b| request.add_sums(a, b))
        };
        requests.iter().map(value).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests;
