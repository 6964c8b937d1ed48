//! Solves with the labelled rows: (G0 + 2 W S^{-1}) x = b on the rows F that are free.
//!
//! S holds the weights of the rows, W the sum of the weights of the labels in use. Two forms of G0: dense
//! (`factored`) and U U' of low rank (`low_rank`).
//!
//! When labels leave, W falls and the whole diagonal changes a little. The eigenvalues of the inverse of the old matrix A
//! times the new one lie between W'/W and 1, so that conjugate gradients preconditioned with the old factor take a digit
//! or two per step. A step costs no product with G0: the new matrix is A - D, and with the direction p comes A p,
//! because A z is the residual that z was solved from.
//!
//! Solutions are corrected by their residuals, from G0 itself, until that changes nothing: what updates and
//! preconditioners round away comes back.

mod factored;
mod low_rank;
#[cfg(test)]
mod tests;

use crate::control::Control;
use crate::error::{Error, Result};

use self::factored::Factored;
use self::low_rank::LowRank;
use super::reduction::Kept;

/// Residual that is rounding, in units of the last place of the target and of the terms of G0 b.
const LAST_PLACES: (f64, f64) = (2.0, 0.25);
/// Corrections of a solution at most, and the part of the residual that a useful one leaves at most.
const CORRECTIONS: usize = 4;
const USEFUL: f64 = 0.25;
/// Steps of conjugate gradients at most.
const STEPS: usize = 40;
/// Residual beyond which a solution by an old factor is not believed.
const DOUBTFUL: f64 = 1e-11;
/// A part of the elements whose columns are added one by one in less time than a product takes.
const FEW: usize = 32;
/// Rounding errors of a residual, in units of the last place of its terms.
const ULPS: f64 = 8.0;

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

    /// What rounding alone makes of y_i - (G0 b)_i - 2 W / s_i b_i, row by row: |g_ij|^2 <= g_ii g_jj.
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
        start: (Vec<f64>, Vec<f64>),
        control: &Control,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        if free.is_empty() {
            return Ok(start);
        }
        if self.is_near(free, total) {
            let (b, f, left) = self.corrected(free, total, targets, start.clone(), control)?;
            if left <= DOUBTFUL {
                return Ok((b, f));
            }
        }
        self.prepare(free, total, control)?;
        let (b, f, _) = self.corrected(free, total, targets, start, control)?;
        Ok((b, f))
    }

    /// Corrections until they change nothing; b, G0 b and the residual that is left, relative to the targets.
    fn corrected(
        &mut self,
        free: &[usize],
        total: f64,
        targets: &[f64],
        (mut b, mut image): (Vec<f64>, Vec<f64>),
        control: &Control,
    ) -> Result<(Vec<f64>, Vec<f64>, f64)> {
        let behind = match &mut self.form {
            Form::Dense(g) => {
                g.restrict(free, control)?;
                g.total - total
            }
            Form::LowRank(_) => 0.0,
        };
        let largest = free.iter().fold(f64::MIN_POSITIVE, |m, &i| m.max(targets[i].abs()));
        let root = self.roots.iter().copied().fold(0.0, f64::max);
        let mut last = f64::INFINITY;
        for _ in 0..=CORRECTIONS {
            control.check()?;
            let mut rest = vec![0.0; b.len()];
            for &i in free {
                rest[i] = targets[i] - image[i] - 2.0 * total / self.weights[i] * b[i];
            }
            let useful = largest_of(&rest) <= USEFUL * last;
            last = largest_of(&rest);
            let terms: f64 = self.roots.iter().zip(&b).map(|(root, b)| root * b.abs()).sum();
            let rounding =
                |target: f64, root: f64| f64::EPSILON * (LAST_PLACES.0 * target.abs() + LAST_PLACES.1 * root * terms);
            if !useful || free.iter().all(|&i| rest[i].abs() <= rounding(targets[i], self.roots[i])) {
                break;
            }
            let step = if behind == 0.0 {
                self.solve_once(&rest)
            } else {
                self.gradients(free, behind, rest, 0.3 * rounding(largest, root), control)?
            };
            b.iter_mut().zip(step).for_each(|(b, x)| *b += x);
            image = self.times(&b)?;
        }
        Ok((b, image, last / largest))
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

    /// Conjugate gradients on the free rows, preconditioned with a factor whose W is larger by `behind`, to a residual
    /// of `floor`.
    fn gradients(
        &mut self,
        free: &[usize],
        behind: f64,
        mut rest: Vec<f64>,
        floor: f64,
        control: &Control,
    ) -> Result<Vec<f64>> {
        let mut x = vec![0.0; rest.len()];
        let mut z = self.solve_once(&rest);
        let mut direction = z.clone();
        // A times the direction, A the matrix of the factor.
        let mut image = rest.clone();
        let mut product = dot(&rest, &z);
        for _ in 0..STEPS {
            control.check()?;
            let difference = |i: usize, direction: &[f64]| 2.0 * behind / self.weights[i] * direction[i];
            let curvature: f64 = free.iter().map(|&i| direction[i] * (image[i] - difference(i, &direction))).sum();
            if !(curvature > 0.0 && product > 0.0) {
                break;
            }
            let length = product / curvature;
            for &i in free {
                x[i] += length * direction[i];
                rest[i] -= length * (image[i] - difference(i, &direction));
            }
            if largest_of(&rest) <= floor {
                break;
            }
            z = self.solve_once(&rest);
            let next = dot(&rest, &z);
            let turn = next / product;
            product = next;
            for &i in free {
                direction[i] = z[i] + turn * direction[i];
                image[i] = rest[i] + turn * image[i];
            }
        }
        Ok(x)
    }

    /// Have factors from which the rows `free` can be solved.
    fn prepare(&mut self, free: &[usize], total: f64, control: &Control) -> Result<()> {
        let done = match &mut self.form {
            Form::Dense(g) => g.prepare(free, total, &self.weights, control)?,
            Form::LowRank(g) => match g.prepare(free, total, &self.weights, control)? {
                None => Some(false),
                Some(done) => done.then_some(true),
            },
        };
        let Some(_new) = done else {
            return Err(Error::Data(
                "the system of the labelled rows is not positive definite in floating point: raise alpha, or scale the kernel down".into(),
            ));
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

fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::simd::dot(a, b)
}

fn largest_of(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}
