//! Sequential minimal optimisation: the dual problem of kernel machines, two variables at a time.
//!
//! One problem serves classification and regression, in signed coefficients b_i = y_i a_i:
//! ```text
//! maximise  D(b) = t'b - eps |b|_1 - 1/2 b'Kb   subject to  sum b_i = 0,  lower_i <= b_i <= upper_i
//! C-SVM:    t = y, eps = 0,  0 <= y_i b_i <= C_i          eps-SVR:  t = targets, |b_i| <= C_i
//! ```
//! The pairs (a_i, a_i*) of the regression are the two sides of one b_i with a kink at zero: the
//! gradient of n numbers serves both, where a solver in a has 2 n.
//!
//! The partner of the most violating variable is the one whose pair gains most (Fan, Chen, Lin,
//! JMLR 6, 2005). Variables that stay at a bound are left out for a while (shrinking); before the end their
//! gradient is computed anew and all are looked at. The method stops on the relative duality gap
//! ```text
//! P - D = sum_i [ max over b of (b r_i - eps |b|) - (b_i r_i - eps |b_i|) ],   r = t - K b - intercept,
//! ```
//! a sum of terms >= 0, so that nothing cancels; it is looked at once per thousand pairs at least.
//!
//! Rejected: LIBSVM's stopping rule (the largest violation of the optimality conditions), whose meaning depends on C
//! and on the scale of the kernel; single-precision rows (LIBSVM; half the memory traffic, but an optimum of another matrix),
//! index lists for the active variables (gathering defeats the vector units; shrunken rows are copied instead).

mod cache;
mod iterate;
#[cfg(test)]
mod tests;

pub use crate::kernel::rows::{Dense, KernelRows, Subset};

use super::Status;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::number;
use crate::params::{builder, check_at_least_one, check_not_negative, check_positive};

/// The dual problem; all slices have one element per row of the kernel matrix.
#[derive(Debug, Clone, Copy)]
pub struct DualProblem<'a> {
    /// t: the targets of a regression, +-1 in a classification.
    pub targets: &'a [f64],
    /// Half the width of the tube without loss; 0 in a classification.
    pub epsilon: f64,
    /// Lower bounds of b, <= 0.
    pub lower: &'a [f64],
    /// Upper bounds of b, >= 0.
    pub upper: &'a [f64],
}

builder! {
    /// How SMO runs.
    #[derive(Copy)]
    pub struct SmoOptions {
        /// Certified relative duality gap at which to stop, > 0.
        #[serde(with = "number")]
        tol: f64 = 1e-6,
        /// Pairs optimised at most; `None` (in JSON also -1): 10,000,000, or 100 per row if that is more.
        #[serde(with = "number::limit")]
        max_iter: Option<usize> = None,
        /// Leave variables out that stay at a bound?
        shrinking: bool = true,
        /// Bytes (in JSON: MB) for rows that are computed or gathered; two rows are always kept.
        #[serde(with = "number::megabytes")]
        cache_size: usize = 1 << 30,
    }
}

impl SmoOptions {
    /// Are all options in range?
    pub fn check(&self) -> Result<()> {
        check_positive("tol", self.tol)?;
        check_at_least_one("max_iter", self.max_iter)
    }
}

/// Where SMO ended, and how good that is.
#[derive(Debug, Clone, PartialEq)]
pub struct DualSolution {
    /// The signed coefficients b: the score of x is `sum_i b_i K(x_i, x) + intercept`.
    pub coef: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// The primal objective, 1/2 b'Kb + sum of bound times loss.
    pub objective: f64,
    /// The dual objective D(b), a lower bound on every primal objective. LIBSVM's `obj` is its negative.
    pub dual: f64,
    /// (objective - dual) / objective: no coefficients have an objective smaller by more than this part.
    pub gap: f64,
    /// Largest violation of the optimality conditions by a pair.
    pub violation: f64,
    /// Pairs optimised.
    pub iterations: usize,
    /// How it ended.
    pub status: Status,
}

/// Solve the dual problem, starting from zero.
///
/// An indefinite matrix is not an error (LIBSVM's rule for flat pairs is used), but then dual and gap
/// say nothing about other solutions.
pub fn solve(
    kernel: &dyn KernelRows,
    problem: &DualProblem<'_>,
    options: &SmoOptions,
    control: &Control,
) -> Result<DualSolution> {
    solve_from(kernel, problem, None, options, control)
}

/// [`solve`], starting from coefficients within the bounds, whose sum is 0.
pub fn solve_from(
    kernel: &dyn KernelRows,
    problem: &DualProblem<'_>,
    start: Option<&[f64]>,
    options: &SmoOptions,
    control: &Control,
) -> Result<DualSolution> {
    options.check()?;
    problem.check(kernel.n_rows())?;
    control.check()?;
    let mut solver = iterate::Solver::new(kernel, *problem, *options);
    if let Some(start) = start {
        problem.check_start(start)?;
        solver.start_from(start, control)?;
    }
    solver.run(control)
}

impl DualProblem<'_> {
    fn check_start(&self, b: &[f64]) -> Result<()> {
        let n = self.targets.len();
        if b.len() != n {
            return Err(Error::shape("start", format!("{n} coefficients"), b.len()));
        }
        if let Some(row) = (0..n).find(|&i| !(self.lower[i] <= b[i] && b[i] <= self.upper[i])) {
            return Err(Error::Data(format!("start: the coefficient of row {row}, {}, is out of its bounds", b[row])));
        }
        let (sum, size) = b.iter().fold((0.0, 0.0), |(sum, size), b| (sum + b, size + b.abs()));
        if sum.abs() > 1e-9 * size {
            return Err(Error::Data(format!("start: the coefficients sum to {sum}, not to 0")));
        }
        Ok(())
    }

    fn check(&self, n: usize) -> Result<()> {
        if n == 0 {
            return Err(Error::Data("there are no rows to fit".into()));
        }
        for (what, values) in [("targets", self.targets), ("lower bounds", self.lower), ("upper bounds", self.upper)] {
            if values.len() != n {
                return Err(Error::shape(what, format!("{n}, one per row of the kernel matrix"), values.len()));
            }
            if let Some(row) = values.iter().position(|v| !v.is_finite()) {
                return Err(Error::NotFinite { what: what.to_owned(), row, column: 0, value: values[row] });
            }
        }
        if let Some(row) = (0..n).find(|&i| self.lower[i] > 0.0 || self.upper[i] < 0.0) {
            let (lower, upper) = (self.lower[row], self.upper[row]);
            return Err(Error::Data(format!("bounds of row {row}: [{lower}, {upper}] must hold zero")));
        }
        check_not_negative("epsilon", self.epsilon)
    }
}
