//! Held-out scores along a path of prices C: one machine, solved for every C in turn.
//!
//! C bounds the coefficients, b_i in C [l_i, u_i]. Coefficients of a smaller C, times the ratio of the two, are
//! feasible for the larger one, and what was at a bound still is; SMO goes on from there.

use crate::control::Control;
use crate::error::{Error, Result};
use crate::solver::smo::{self, DualProblem, KernelRows, SmoOptions, Subset};

/// A dual problem of some rows of a kernel matrix, with bounds for C = 1.
pub(crate) struct PathMachine<'a> {
    /// Which rows.
    pub rows: &'a [u32],
    pub targets: &'a [f64],
    pub epsilon: f64,
    pub lower: &'a [f64],
    pub upper: &'a [f64],
}

impl PathMachine<'_> {
    /// The scores of the rows `held` for each of `cs`, which ascend.
    pub(crate) fn scores_along(
        &self,
        kernel: &dyn KernelRows,
        cs: &[f64],
        held: &[u32],
        options: &SmoOptions,
        control: &Control,
    ) -> Result<Vec<Vec<f64>>> {
        let own = Subset::new(kernel, self.rows.to_vec())?;
        let mut before: Option<(f64, Vec<f64>)> = None;
        let mut all = vec![];
        let mut values = vec![0.0; held.len()];
        for &c in cs {
            let times = |bounds: &[f64]| bounds.iter().map(|b| c * b).collect::<Vec<f64>>();
            let (lower, upper) = (times(self.lower), times(self.upper));
            let start: Option<Vec<f64>> = before.as_ref().map(|(smaller, b)| {
                let scaled = b.iter().map(|b| b * (c / smaller));
                // A product may be off by a rounding.
                scaled.zip(lower.iter().zip(&upper)).map(|(b, (l, u))| b.clamp(*l, *u)).collect()
            });
            let problem = DualProblem { targets: self.targets, epsilon: self.epsilon, lower: &lower, upper: &upper };
            let solution = smo::solve_from(&own, &problem, start.as_deref(), options, control)?;
            let mut scores = vec![solution.intercept; held.len()];
            for (&row, &coef) in self.rows.iter().zip(&solution.coef).filter(|(_, coef)| **coef != 0.0) {
                control.check()?;
                kernel.fill(row as usize, held, &mut values)?;
                scores.iter_mut().zip(&values).for_each(|(score, k)| *score += coef * k);
            }
            all.push(scores);
            before = Some((c, solution.coef));
        }
        Ok(all)
    }
}

/// A path needs the kernel between any rows.
pub(crate) fn no_path() -> Error {
    Error::parameter("C", "\"auto\"", "a number > 0 with a kernel matrix of one's own: cross-validate it outside")
}
