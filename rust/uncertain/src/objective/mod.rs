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

mod bound;
mod hessian;
mod interior;
mod pass;
mod sketch;
mod source;

pub use hessian::RowCurvature;
pub(crate) use interior::{RowMotion, RowTerms, System};
pub(crate) use pass::{ClassSums, dense_parts};
pub(crate) use source::block_rows as source_block_rows;
pub use source::{RowSource, Workspace};

use crate::control::Control;
use crate::data::{Covariances, GaussianArray, Weights};
use crate::error::{Error, Result};
use crate::loss::{Loss, TargetKind};
use source::Reader;

/// What to fit: rows, targets and the parameters of J.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The rows.
    pub data: &'a GaussianArray,
    /// One target per row, -1 or +1, or a real number where the loss takes one.
    pub targets: &'a [f64],
    /// One weight per row, on any scale; `None` weighs all alike.
    pub weights: Option<&'a Weights>,
    /// Strength of the penalty alpha/2 |w|^2, > 0.
    pub alpha: f64,
    /// Fit b, or hold it at 0?
    pub fit_intercept: bool,
    /// The loss.
    pub loss: &'a dyn Loss,
}

/// How much of J an evaluation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Values, bound and gradient.
    Gradient,
    /// And the Hessian as a matrix.
    Hessian,
    /// And what [`Objective::hessian_vector`] needs of every row.
    Curvature,
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
    /// Per-row curvature, for [`Objective::hessian_vector`].
    pub curvature: Option<Vec<RowCurvature>>,
    /// The smallest s_i among rows with weight.
    pub narrowest: f64,
    /// The smoothing.
    pub epsilon: f64,
    /// The part of `objective - bound` that the smoothing is to blame for.
    pub blur: f64,
}

impl Evaluation {
    /// The certified relative duality gap (J - bound) / J.
    #[must_use]
    pub fn gap(&self) -> f64 {
        if self.objective > 0.0 { ((self.objective - self.bound) / self.objective).max(0.0) } else { 0.0 }
    }
}

/// What a solver sees: a smooth function of d + 1 numbers, summed over rows somewhere.
///
/// The sums may come from local threads, as here, or from partitions on other machines: nothing in
/// a solver depends on where the rows are.
pub trait Objective: Sync {
    /// Number of unknowns, d + 1.
    fn dim(&self) -> usize;

    /// J_eps and what is wanted of its derivatives at x = (w, b).
    fn evaluate(&self, x: &[f64], epsilon: f64, want: Want, control: &Control) -> Result<Evaluation>;

    /// out = Hess v at the point x of `at`, which was evaluated with [`Want::Curvature`].
    fn hessian_vector(&self, at: &Evaluation, x: &[f64], v: &[f64], out: &mut [f64], control: &Control) -> Result<()>;
}

/// J over rows in this machine's memory, or over rows computed from them.
#[derive(Debug)]
pub struct LinearObjective<'a> {
    problem: Problem<'a>,
    /// What the score is linear in, where that is not the data themselves.
    source: Option<&'a dyn RowSource>,
    /// 1 / sum of the weights: c_i = weight_i * scale.
    scale: f64,
}

impl<'a> Problem<'a> {
    /// Check sizes and values, once, before any work.
    pub fn check(self) -> Result<LinearObjective<'a>> {
        if !(self.alpha > 0.0 && self.alpha.is_finite()) {
            return Err(Error::parameter("alpha", self.alpha, "a finite number > 0"));
        }
        self.check_rows()
    }

    /// [`check`](Self::check) of a problem without a penalty, for losses that need none.
    pub(crate) fn unpenalised(self) -> Result<LinearObjective<'a>> {
        Self { alpha: 0.0, ..self }.check_rows()
    }

    fn check_rows(self) -> Result<LinearObjective<'a>> {
        let n = self.data.n_rows();
        if n == 0 {
            return Err(Error::Data("no rows: at least two rows of different classes are needed".into()));
        }
        if self.targets.len() != n {
            return Err(Error::shape("targets", format!("{n} elements, one per row"), self.targets.len()));
        }
        let (fits, expected): (fn(&f64) -> bool, _) = match self.loss.targets() {
            TargetKind::Real => (|y| y.is_finite(), "finite"),
            TargetKind::Signs => (|y| y.abs() == 1.0, "-1 or +1"),
        };
        if let Some(row) = self.targets.iter().position(|y| !fits(y)) {
            return Err(Error::Data(format!("target of row {row} is {}: must be {expected}", self.targets[row])));
        }
        self.weights.map_or(Ok(()), |weights| weights.check_rows(n))?;
        let total = self.weights.map_or(n as f64, Weights::total);
        Ok(LinearObjective { problem: self, source: None, scale: 1.0 / total })
    }
}

impl<'a> LinearObjective<'a> {
    /// The problem behind the objective.
    #[must_use]
    pub fn problem(&self) -> &Problem<'a> {
        &self.problem
    }

    /// The same with a score that is linear in exact rows of `source`, one per row of data.
    pub fn of_source(self, source: &'a dyn RowSource) -> Result<Self> {
        let n = self.problem.data.n_rows();
        if source.n_rows() != n {
            return Err(Error::shape("computed rows", format!("{n}, one per row of data"), source.n_rows()));
        }
        Ok(Self { source: Some(source), ..self })
    }

    /// The computed rows, if there are any.
    pub(crate) fn source(&self) -> Option<&'a dyn RowSource> {
        self.source
    }

    /// The covariances of the rows that the score is linear in: computed rows are exact.
    pub(crate) fn covariances(&self) -> &'a Covariances {
        if self.source.is_some() { &Covariances::Zero } else { self.problem.data.covariances() }
    }

    /// Rows of a pass over d columns that go through together.
    fn block_rows(&self, d: usize) -> usize {
        if self.source.is_some() { source::block_rows(d) } else { pass::block_rows(d) }
    }

    fn reader(&self) -> Reader<'a> {
        Reader::new(self.problem.data, self.source)
    }

    /// c_i, normalised to sum to one.
    #[inline]
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.problem.weights.map_or(self.scale, |c| c[row] * self.scale)
    }
}

impl Objective for LinearObjective<'_> {
    fn dim(&self) -> usize {
        self.source.map_or(self.problem.data.n_features(), RowSource::width) + 1
    }

    fn evaluate(&self, x: &[f64], epsilon: f64, want: Want, control: &Control) -> Result<Evaluation> {
        let sums = pass::run(self, x, epsilon, want, control)?;
        self.finish(x, epsilon, sums)
    }

    fn hessian_vector(&self, at: &Evaluation, x: &[f64], v: &[f64], out: &mut [f64], control: &Control) -> Result<()> {
        hessian::product(self, at, x, v, out, control)
    }
}

#[cfg(test)]
mod tests;
