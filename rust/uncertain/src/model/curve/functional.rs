//! Functional fits: the true values are parameters, too (orthogonal distance regression).
//!
//! ```text
//! min over theta, u    sum_i c_i ( |u_i|^2 + r_i' R_i^{-1} r_i ) / 2,    r_i = y_i - f(x_i - L_i u_i; theta) - A_i u_i
//! ```
//! is (x - z)'S^{-1}(x - z) + (y - f(z))'C^{-1}(y - f(z)) where both errors are independent. The u_i are eliminated row by
//! row ([`settle`]); with J_u = -dr/du what is left for theta has the gradient -J'R^{-1} r and the Gauss-Newton matrix
//! J'(R + J_u J_u')^{-1} J (P. T. Boggs, R. H. Byrd, R. B. Schnabel, A stable and efficient algorithm for nonlinear orthogonal
//! distance regression, SIAM Journal on Scientific and Statistical Computing 8, 1987). Exact x: weighted least squares.

use crate::error::Result;
use crate::linalg::{cholesky, cholesky_solve};
use crate::solver::levenberg::{Expansion, Objective};

use super::evaluate::Evaluator;
use super::modes::{Mode, White, settle};
use super::readings::Reading;
use super::terms::{Term, dot};

/// The sum of squares as a function of the parameters that are free.
pub(super) struct Functional<'a> {
    pub evaluator: Evaluator<'a>,
    pub readings: &'a [Reading],
    pub terms: Vec<Term>,
    pub white: Vec<White>,
    /// All parameters, and the numbers of those that are free.
    pub parameters: Vec<f64>,
    pub free: Vec<usize>,
    /// Where the next search for the true values starts.
    pub before: Vec<Vec<f64>>,
}

impl Functional<'_> {
    pub(super) fn all(&self, free: &[f64]) -> Vec<f64> {
        let mut all = self.parameters.clone();
        self.free.iter().zip(free).for_each(|(&j, value)| all[j] = *value);
        all
    }

    /// W^{-1}-weighted Jacobian and gradient of each row: the gradient of half its squares, and J'(R + J_u J_u')^{-1} J.
    pub(super) fn rows(&self, at: &[f64], modes: &[Mode]) -> Result<Vec<(Vec<f64>, Vec<f64>)>> {
        let (q, p) = (self.evaluator.q, self.free.len());
        let (mut z, mut values) = (vec![], vec![]);
        for mode in modes {
            self.terms[mode.term].place(&mode.v, &mut z);
            values.extend_from_slice(&mode.f);
        }
        let mut jacobian = self.evaluator.by_parameters(&z, &self.all(at), &values, &self.free)?;
        let one = |(mode, own): (&Mode, &mut [f64])| {
            let reading = &self.readings[self.terms[mode.term].row];
            self.white[self.terms[mode.term].row].apply(own, p);
            let gradient: Vec<f64> = (0..p)
                .map(|j| -reading.weight * (0..q).map(|o| own[o * p + j] * mode.residual[o]).sum::<f64>())
                .collect();
            // (I + J_u J_u')^{-1} = I - J_u (I + J_u'J_u)^{-1} J_u'
            let k = mode.v.len();
            let mut l = mode.curvature();
            let fine = k > 0 && cholesky(&mut l, k);
            let crossed: Vec<Vec<f64>> = (0..p)
                .map(|j| (0..k).map(|c| (0..q).map(|o| mode.slope[o * k + c] * own[o * p + j]).sum()).collect())
                .collect();
            let mut hessian = vec![0.0; p * p];
            for j in 0..p {
                let mut solved = crossed[j].clone();
                if fine {
                    cholesky_solve(&l, k, &mut solved);
                }
                for i in 0..p {
                    let square: f64 = (0..q).map(|o| own[o * p + i] * own[o * p + j]).sum();
                    hessian[i * p + j] = reading.weight * (square - dot(&crossed[i], &solved));
                }
            }
            (gradient, hessian)
        };
        Ok(modes.iter().zip(jacobian.chunks_exact_mut((q * p).max(1))).map(one).collect())
    }
}

impl Objective for Functional<'_> {
    type State = Vec<Mode>;

    fn value(&mut self, at: &[f64]) -> Result<Option<(f64, Vec<Mode>)>> {
        let parameters = self.all(at);
        let mut modes: Vec<Mode> = Vec::with_capacity(self.terms.len());
        // One batch per rank: rows with as many noisy features.
        let highest = self.terms.iter().map(|term| term.rank).max().unwrap_or(0);
        for rank in 0..=highest {
            let own = (0..self.terms.len()).filter(|&t| self.terms[t].rank == rank);
            let starts = own.map(|t| (t, self.before[t].clone())).collect();
            modes.extend(settle(
                &self.evaluator,
                (self.readings, &self.terms, &self.white),
                &parameters,
                starts,
                true,
            )?);
        }
        modes.sort_by_key(|mode| mode.term);
        let value: f64 = modes.iter().map(|mode| self.readings[self.terms[mode.term].row].weight * mode.height).sum();
        if !value.is_finite() {
            return Ok(None);
        }
        self.before = modes.iter().map(|mode| mode.v.clone()).collect();
        Ok(Some((value, modes)))
    }

    fn derivatives(&mut self, at: &[f64], modes: &Vec<Mode>) -> Result<Expansion> {
        let p = self.free.len();
        let (mut gradient, mut hessian) = (vec![0.0; p], vec![0.0; p * p]);
        for (g, h) in self.rows(at, modes)? {
            gradient.iter_mut().zip(g).for_each(|(sum, g)| *sum += g);
            hessian.iter_mut().zip(h).for_each(|(sum, h)| *sum += h);
        }
        let diagonal = (0..p).map(|j| hessian[j * p + j]).collect();
        Ok(Expansion { gradient, hessian, diagonal })
    }

    fn negligible(&self, value: f64) -> f64 {
        1e-18 * value.abs() + f64::MIN_POSITIVE
    }

    fn noise(&self, value: f64) -> f64 {
        1e-13 * value.abs()
    }

    fn report(&self, iteration: usize, value: f64) {
        self.evaluator.control.report(iteration, value, f64::NAN);
    }
}
