//! Solves with the labelled rows: (G0 + 2 W S^{-1}) x = b on the rows F that are free.
//!
//! S holds the weights of the rows, W the sum of the weights of the labels in use. Two forms of G0: dense
//! (`factored`) and U U' of low rank (`low_rank`).
//!
//! When labels leave, W falls and the whole diagonal changes a little. The eigenvalues of the inverse of the old matrix A
//! times the new one lie between W'/W and 1, so that conjugate gradients preconditioned with the old factor take a digit
//! or two per step (`gradients`).
//!
//! Solutions are corrected by their residuals, from G0 itself, until that changes nothing: what updates and
//! preconditioners round away comes back.

mod factored;
mod gradients;
mod low_rank;
#[cfg(test)]
mod tests;

use crate::control::Control;
use crate::error::{Error, Result};

use self::factored::Factored;
use self::gradients::{Descent, STEPS};
use self::low_rank::LowRank;
use super::reduction::Kept;

/// Residual that is rounding, in units of the last place of the target and of the terms of G0 b.
const LAST_PLACES: (f64, f64) = (2.0, 0.25);
/// Corrections of a solution at most, and the part of the residual that a useful one leaves at most.
const CORRECTIONS: usize = 4;
const USEFUL: f64 = 0.25;
/// Residual beyond which a solution by an old factor is not believed.
const DOUBTFUL: f64 = 1e-11;
/// A part of the elements whose columns are added one by one in less time than a product takes.
const FEW: usize = 32;
/// Rounding errors of a residual, in units of the last place of its terms.
const ULPS: f64 = 8.0;

/// b and G0 b.
type Solution = (Vec<f64>, Vec<f64>);

enum Form {
    Dense(Factored),
    LowRank(LowRank),
}

/// G0 with what is known about its factors.
pub(super) struct System {
    form: Form,
    /// Weights of the labelled rows, > 0.
    weights: Vec<f64>,
    /// Square roots of the diagonal of G0.
    roots: Vec<f64>,
    #[cfg(test)]
    factorisations: usize,
}

impl System {
    pub(super) fn new(kept: Kept, weights: Vec<f64>) -> Result<Self> {
        let (form, diagonal) = match kept {
            Kept::Dense(lower) => {
                let form = Factored::new(lower);
                let diagonal = form.diagonal().to_vec();
                (Form::Dense(form), diagonal)
            }
            Kept::Factor(u) => {
                let form = LowRank::new(u)?;
                let diagonal = form.diagonal(weights.len());
                (Form::LowRank(form), diagonal)
            }
        };
        Ok(Self {
            form,
            weights,
            roots: diagonal.into_iter().map(|g| g.max(0.0).sqrt()).collect(),
            #[cfg(test)]
            factorisations: 0,
        })
    }

    /// Number of labelled rows.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// G0 b.
    pub(super) fn times(&self, b: &[f64]) -> Result<Vec<f64>> {
        match &self.form {
            Form::Dense(g) => g.times(b),
            Form::LowRank(g) => Ok(g.times(b)),
        }
    }

    /// Rounding error of y_i - (G0 b)_i - 2 W / s_i b_i, row by row: |g_ij|^2 <= g_ii g_jj.
    pub(super) fn rounding(&self, b: &[f64], targets: &[f64], total: f64) -> Vec<f64> {
        let sum: f64 = self.roots.iter().zip(b).map(|(root, b)| root * b.abs()).sum();
        let row = |i: usize| self.roots[i] * sum + targets[i].abs() + 2.0 * total / self.weights[i] * b[i].abs();
        (0..self.len()).map(|i| ULPS * f64::EPSILON * row(i)).collect()
    }

    /// G0 b from G0 a, which is cheap where few elements differ.
    pub(super) fn moved(&self, (a, image): (&[f64], &[f64]), b: &[f64]) -> Result<Vec<f64>> {
        let changed: Vec<usize> = (0..b.len()).filter(|&i| a[i] != b[i]).collect();
        match &self.form {
            Form::Dense(g) if changed.len() * FEW <= b.len() => {
                let mut out = image.to_vec();
                changed.into_iter().for_each(|i| g.add_column(i, b[i] - a[i], &mut out));
                Ok(out)
            }
            _ if changed.is_empty() => Ok(image.to_vec()),
            _ => self.times(b),
        }
    }

    /// b and G0 b for which (G0 b)_i + 2 W / s_i b_i = y_i on the rows `free` (ascending). The other rows have
    /// the b of `start`, which is also the first guess (with G0 of it); `targets` has all labelled rows.
    pub(super) fn solve(
        &mut self,
        free: &[usize],
        total: f64,
        targets: &[f64],
        start: Solution,
        control: &Control,
    ) -> Result<Solution> {
        if free.is_empty() {
            return Ok(start);
        }
        if self.is_near(free, total) {
            let (solution, left) = self.corrected(free, total, targets, start.clone(), control)?;
            if left <= DOUBTFUL {
                return Ok(solution);
            }
        }
        self.prepare(free, total, control)?;
        Ok(self.corrected(free, total, targets, start, control)?.0)
    }

    /// Corrections until they change nothing: the solution, and the residual that is left in parts of the largest target.
    fn corrected(
        &mut self,
        free: &[usize],
        total: f64,
        targets: &[f64],
        (mut b, mut f): Solution,
        control: &Control,
    ) -> Result<(Solution, f64)> {
        // W of the factor minus W of this system.
        let behind = match &mut self.form {
            Form::Dense(g) => {
                g.restrict(free, control)?;
                g.total - total
            }
            Form::LowRank(_) => 0.0,
        };
        let root = self.roots.iter().copied().fold(0.0, f64::max);
        let largest = free.iter().fold(f64::MIN_POSITIVE, |m, &i| m.max(targets[i].abs()));
        let mut left = f64::INFINITY;
        for _ in 0..=CORRECTIONS {
            control.check()?;
            let mut rest = vec![0.0; b.len()];
            for &i in free {
                rest[i] = targets[i] - f[i] - 2.0 * total / self.weights[i] * b[i];
            }
            let before = std::mem::replace(&mut left, rest.iter().fold(0.0, |most: f64, x| most.max(x.abs())));
            let terms: f64 = self.roots.iter().zip(&b).map(|(root, b)| root * b.abs()).sum();
            let rounding =
                |target: f64, root: f64| f64::EPSILON * (LAST_PLACES.0 * target.abs() + LAST_PLACES.1 * root * terms);
            let is_rounding = |&i: &usize| rest[i].abs() <= rounding(targets[i], self.roots[i]);
            if !(left <= USEFUL * before) || free.iter().all(is_rounding) {
                break;
            }
            let mut descent = Descent::new(rest, behind, 0.3 * rounding(largest, root));
            for _ in 0..STEPS {
                control.check()?;
                let z = self.solve_once(&descent.rest);
                if descent.step(z, free, &self.weights) {
                    break;
                }
            }
            b.iter_mut().zip(&descent.x).for_each(|(b, x)| *b += x);
            f = self.times(&b)?;
        }
        Ok(((b, f), left / largest))
    }

    /// Is the factor one from which conjugate gradients get there sooner than with a new factor?
    fn is_near(&self, free: &[usize], total: f64) -> bool {
        let Form::Dense(g) = &self.form else { return false };
        if !(total < g.total) {
            return false;
        }
        let fallen = 1.0 - total / g.total;
        // A step takes log10(4 / fallen) digits and reads the numbers of the factor twice, as often as a factorisation
        // takes some l / 40 (measured); a refinement solves twice.
        let steps = 1.0 + 12.0 / (4.0 / fallen).log10();
        fallen < 0.25 && steps <= 1.5 + free.len() as f64 / 80.0 && g.covers(free)
    }

    /// Have factors from which the rows `free` can be solved.
    fn prepare(&mut self, free: &[usize], total: f64, control: &Control) -> Result<()> {
        let done = match &mut self.form {
            Form::Dense(g) => g.prepare(free, total, &self.weights, control)?,
            Form::LowRank(g) => g.prepare(free, total, &self.weights, control)?,
        };
        let Some(_new) = done else {
            return Err(not_definite());
        };
        #[cfg(test)]
        {
            self.factorisations += usize::from(_new);
        }
        Ok(())
    }

    /// By the factor at hand; `rhs` is zero outside the free rows.
    fn solve_once(&self, rhs: &[f64]) -> Vec<f64> {
        match &self.form {
            Form::Dense(g) => g.solve_once(rhs),
            Form::LowRank(g) => g.solve_once(&self.weights, rhs),
        }
    }
}

fn not_definite() -> Error {
    let what = "the system of the labelled rows is not positive definite in floating point";
    Error::Data(format!("{what}: raise alpha, or scale the kernel down"))
}

/// Elements of the ascending `a` that are not in the ascending `b`.
fn difference(a: &[usize], b: &[usize]) -> Vec<usize> {
    let mut rest = b.iter().peekable();
    let mut out = vec![];
    for &x in a {
        while rest.next_if(|y| **y < x).is_some() {}
        if rest.peek() != Some(&&x) {
            out.push(x);
        }
    }
    out
}
