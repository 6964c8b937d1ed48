//! Solves with the labelled rows: (G0 + 2 W S^{-1}) x = b on the rows F that are free.
//!
//! S holds the weights of the rows, W the sum of the weights of the labels in use. Two forms of G0:
//!
//! - dense (l x l): a Cholesky factor of the rows of some set stays. A set with a few rows less is solved
//!   with it through the inverse's block of the missing rows (A^{-1} restricted and a Schur complement). When
//!   labels leave, W falls as well; the eigenvalues of the old inverse times the new matrix then lie between
//!   W'/W and 1, so that conjugate gradients preconditioned with the old factor take a digit or two per step:
//!   for large l a fraction of the price of a new factor;
//! - U U' of low rank D: the matrix I + U_F'S_F U_F / (2 W) is D x D, and rows enter and leave by updates of
//!   U_F'S_F U_F. Nothing of size l x l exists.
//!
//! Solutions are corrected by their residuals, from G0 itself, until that changes nothing: what updates and
//! preconditioners round away comes back.

use crate::control::Control;
use crate::error::{Error, Result};
use crate::linalg::dense::{self, Matrix, Symmetric};

use super::reduction::Kept;

/// Part of the factored rows that may be missing before a new factorisation is cheaper.
const MISSING: usize = 6;
/// Residual, relative to the largest target, that is rounding.
const ROUNDING: f64 = 3e-14;
/// Corrections of a solution at most, and the part of the residual that a useful one leaves at most.
const CORRECTIONS: usize = 4;
const USEFUL: f64 = 0.25;
/// Residual that conjugate gradients leave for the next correction, and their steps at most.
const GRADIENTS: f64 = 1e-9;
const STEPS: usize = 30;
/// Residual beyond which a solution by an old factor is not believed.
const DOUBTFUL: f64 = 1e-11;

enum Form {
    Dense(Symmetric),
    Factor { u: Matrix, gram: Matrix, lower: Matrix },
}

/// G0 with what is known about its factors.
pub(super) struct System {
    form: Form,
    /// Weights of the labelled rows, > 0.
    weights: Vec<f64>,
    /// The rows that are factored, ascending, and their W; low rank: the rows of `gram`.
    set: Vec<usize>,
    total: f64,
    /// Dense: L^{-1} e_i of rows of the set that were missing.
    missing: Vec<(usize, Vec<f64>)>,
    #[cfg(test)]
    factorisations: usize,
}

impl System {
    pub(super) fn new(kept: Kept, weights: Vec<f64>) -> Result<Self> {
        let form = match kept {
            Kept::Dense(lower) => Form::Dense(Symmetric::new(lower)),
            Kept::Factor(u) => {
                let d = u.n_cols;
                Form::Factor { u, gram: Matrix::zeros(d, d)?, lower: Matrix::zeros(d, d)? }
            }
        };
        Ok(Self {
            form,
            weights,
            set: vec![],
            total: f64::NAN,
            missing: vec![],
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
            Form::Factor { u, .. } => Ok(u.times(self.len(), &u.transposed_times(b))),
        }
    }

    /// b and G0 b for which (G0 b)_i + 2 W / s_i b_i = y_i on the rows `free` (ascending). The other rows have
    /// the b of `start`, which is also the first guess; `targets` has all labelled rows.
    pub(super) fn solve(
        &mut self,
        free: &[usize],
        total: f64,
        targets: &[f64],
        start: Vec<f64>,
        control: &Control,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let image = if start.iter().all(|b| *b == 0.0) { vec![0.0; self.len()] } else { self.times(&start)? };
        if free.is_empty() {
            return Ok((start, image));
        }
        if self.is_near(free, total) {
            let (b, f, left) = self.corrected(free, total, targets, (start.clone(), image.clone()), false, control)?;
            if left <= DOUBTFUL {
                return Ok((b, f));
            }
        }
        self.prepare(free, total, control)?;
        let (b, f, _) = self.corrected(free, total, targets, (start, image), true, control)?;
        Ok((b, f))
    }

    /// Corrections until they change nothing; b, G0 b and the residual that is left, relative to the targets. `exact`:
    /// the factor is that of this W.
    fn corrected(
        &mut self,
        free: &[usize],
        total: f64,
        targets: &[f64],
        (mut b, mut image): (Vec<f64>, Vec<f64>),
        exact: bool,
        control: &Control,
    ) -> Result<(Vec<f64>, Vec<f64>, f64)> {
        let largest = free.iter().fold(f64::MIN_POSITIVE, |m, &i| m.max(targets[i].abs()));
        let mut last = f64::INFINITY;
        for _ in 0..=CORRECTIONS {
            control.check()?;
            let mut rest = vec![0.0; b.len()];
            for &i in free {
                rest[i] = targets[i] - image[i] - 2.0 * total / self.weights[i] * b[i];
            }
            let useful = largest_of(&rest) <= USEFUL * last;
            last = largest_of(&rest);
            if last <= ROUNDING * largest || !useful {
                break;
            }
            let step = if exact {
                self.solve_once(free, &rest, control)?
            } else {
                self.gradients(free, total, rest, 0.3 * ROUNDING * largest, control)?
            };
            b.iter_mut().zip(step).for_each(|(b, x)| *b += x);
            image = self.times(&b)?;
        }
        Ok((b, image, last / largest))
    }

    /// Is the factor one from which conjugate gradients get there sooner than with a new factor?
    fn is_near(&self, free: &[usize], total: f64) -> bool {
        if matches!(self.form, Form::Factor { .. }) || self.total == total || !(total < self.total) {
            return false;
        }
        let fallen = 1.0 - total / self.total;
        // A step takes log10(4 / fallen) digits and reads the l x l numbers three times, as often as a factorisation
        // takes some l / 30 (measured); a refinement solves two or three times.
        let steps = 1.0 + 10.0 / (4.0 / fallen).log10();
        fallen < 0.25 && steps <= free.len() as f64 / 250.0 && self.covers(free)
    }

    /// Has the factor all rows `free`, and not many others?
    fn covers(&self, free: &[usize]) -> bool {
        difference(&self.set, free).len() * MISSING <= self.set.len() && difference(free, &self.set).is_empty()
    }

    /// Conjugate gradients on the free rows, preconditioned with the factor of another W, to a residual of `floor`.
    fn gradients(
        &mut self,
        free: &[usize],
        total: f64,
        mut rest: Vec<f64>,
        floor: f64,
        control: &Control,
    ) -> Result<Vec<f64>> {
        let enough = floor.max(GRADIENTS * largest_of(&rest));
        let mut x = vec![0.0; rest.len()];
        let mut z = self.solve_once(free, &rest, control)?;
        let mut direction = z.clone();
        let mut product = dot(&rest, &z);
        for _ in 0..STEPS {
            control.check()?;
            let mut image = vec![0.0; x.len()];
            let times = self.times(&direction)?;
            free.iter().for_each(|&i| image[i] = times[i] + 2.0 * total / self.weights[i] * direction[i]);
            let curvature = dot(&direction, &image);
            if !(curvature > 0.0 && product > 0.0) {
                break;
            }
            let length = product / curvature;
            for &i in free {
                x[i] += length * direction[i];
                rest[i] -= length * image[i];
            }
            if largest_of(&rest) <= enough {
                break;
            }
            z = self.solve_once(free, &rest, control)?;
            let next = dot(&rest, &z);
            let turn = next / product;
            product = next;
            free.iter().for_each(|&i| direction[i] = z[i] + turn * direction[i]);
        }
        Ok(x)
    }

    /// Have factors from which the rows `free` can be solved.
    fn prepare(&mut self, free: &[usize], total: f64, control: &Control) -> Result<()> {
        if matches!(self.form, Form::Dense(_)) && self.total == total && self.covers(free) {
            return Ok(());
        }
        let done = match &mut self.form {
            Form::Dense(g) => {
                self.missing.clear();
                self.set.clear();
                let shift: Vec<f64> = self.weights.iter().map(|w| 2.0 * total / w).collect();
                g.factor(free, &shift, control)?
            }
            Form::Factor { u, gram, lower } => {
                if self.total == total && self.set == free {
                    return Ok(());
                }
                let (gone, come) = (difference(&self.set, free), difference(free, &self.set));
                if gone.len() + come.len() >= free.len() {
                    gram.values.fill(0.0);
                    add_rows(gram, u, free, &self.weights, 1.0, control)?;
                } else {
                    add_rows(gram, u, &come, &self.weights, 1.0, control)?;
                    add_rows(gram, u, &gone, &self.weights, -1.0, control)?;
                }
                let scale = 0.5 / total;
                lower.values.iter_mut().zip(&gram.values).for_each(|(l, g)| *l = scale * g);
                let d = lower.n_rows;
                (0..d).for_each(|i| lower.values[i * d + i] += 1.0);
                dense::cholesky(lower, control)?
            }
        };
        if !done {
            return Err(Error::Data(
                "the system of the labelled rows is not positive definite in floating point: raise alpha, or scale the kernel down".into(),
            ));
        }
        #[cfg(test)]
        {
            self.factorisations += 1;
        }
        self.set = free.to_vec();
        self.total = total;
        Ok(())
    }

    fn solve_once(&mut self, free: &[usize], rhs: &[f64], control: &Control) -> Result<Vec<f64>> {
        let mut out = vec![0.0; self.len()];
        if let Form::Factor { u, lower, .. } = &self.form {
            // x = S / (2 W) (b - U (I + U'S U / 2W)^{-1} U'S b / 2W)
            let scale = 0.5 / self.total;
            free.iter().for_each(|&i| out[i] = scale * self.weights[i] * rhs[i]);
            let mut inner = u.transposed_times(&out);
            lower_solve(lower, &mut inner);
            let image = u.times(self.len(), &inner);
            for &i in free {
                out[i] = scale * self.weights[i] * (rhs[i] - image[i]);
            }
            return Ok(out);
        }
        let mut t: Vec<f64> =
            self.set.iter().map(|&i| if free.binary_search(&i).is_ok() { rhs[i] } else { 0.0 }).collect();
        let gone: Vec<usize> = (0..self.set.len()).filter(|&k| free.binary_search(&self.set[k]).is_err()).collect();
        self.add_missing(&gone, control)?;
        let Form::Dense(g) = &self.form else { return Ok(out) };
        g.forward(&mut t);
        if !gone.is_empty() {
            // Take out of L^{-1} b what lies in the span of the columns L^{-1} e_i of the missing rows.
            let columns: Vec<&[f64]> = gone.iter().filter_map(|k| self.column(*k)).collect();
            let q = columns.len();
            let mut schur = vec![0.0; q * q];
            for i in 0..q {
                for j in 0..=i {
                    let from = gone[i].max(gone[j]);
                    schur[i * q + j] = crate::simd::dot(&columns[i][from..], &columns[j][from..]);
                }
            }
            let mut mu: Vec<f64> = (0..q).map(|i| crate::simd::dot(&columns[i][gone[i]..], &t[gone[i]..])).collect();
            if !crate::linalg::cholesky(&mut schur, q) {
                return Err(Error::Internal("the inverse's block of the missing rows is singular".into()));
            }
            crate::linalg::cholesky_solve(&schur, q, &mut mu);
            for (column, mu) in columns.iter().zip(mu) {
                t.iter_mut().zip(*column).for_each(|(t, c)| *t -= mu * c);
            }
        }
        g.backward(&mut t);
        self.set.iter().zip(t).for_each(|(&i, x)| out[i] = x);
        gone.iter().for_each(|&k| out[self.set[k]] = 0.0);
        Ok(out)
    }

    /// L^{-1} e_k of place k in the set.
    fn column(&self, k: usize) -> Option<&[f64]> {
        let at = self.missing.binary_search_by_key(&k, |entry| entry.0).ok()?;
        Some(&self.missing[at].1)
    }

    fn add_missing(&mut self, gone: &[usize], control: &Control) -> Result<()> {
        let new: Vec<usize> = gone.iter().copied().filter(|&k| self.column(k).is_none()).collect();
        if new.is_empty() {
            return Ok(());
        }
        let Form::Dense(g) = &self.form else { return Ok(()) };
        let size = self.set.len();
        let mut columns = Matrix::zeros(size, new.len())?;
        new.iter().enumerate().for_each(|(j, &k)| columns.col_mut(j)[k] = 1.0);
        g.forward_columns(&mut columns, control)?;
        for (j, &k) in new.iter().enumerate() {
            self.missing.push((k, columns.col(j).to_vec()));
        }
        self.missing.sort_unstable_by_key(|entry| entry.0);
        Ok(())
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

/// gram += sign sum_{i in rows} s_i u_i u_i', lower triangle.
fn add_rows(
    gram: &mut Matrix,
    u: &Matrix,
    rows: &[usize],
    weights: &[f64],
    sign: f64,
    control: &Control,
) -> Result<()> {
    for rows in rows.chunks(4096) {
        let some = u.rows(rows)?;
        let image = |columns: std::ops::Range<usize>| {
            let values = &some.values[columns.start * rows.len()..columns.end * rows.len()];
            let scaled = values
                .chunks_exact(rows.len())
                .flat_map(|column| column.iter().zip(rows).map(|(x, &i)| sign * weights[i] * x));
            Ok(Matrix { n_rows: rows.len(), n_cols: columns.len(), values: scaled.collect() })
        };
        dense::add_congruence(gram, &some, dense::Shape::Full, image, control)?;
    }
    Ok(())
}

/// `x` with `L L'x = b` in place of b, L column-major.
fn lower_solve(l: &Matrix, b: &mut [f64]) {
    let n = l.n_rows;
    for j in 0..n {
        let column = l.col(j);
        b[j] /= column[j];
        let x = b[j];
        b[j + 1..].iter_mut().zip(&column[j + 1..]).for_each(|(b, l)| *b -= l * x);
    }
    dense::backward(l, b);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    crate::simd::dot(a, b)
}

fn largest_of(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Numbers;

    fn factor(l: usize, d: usize) -> Matrix {
        let mut numbers = Numbers::new(8);
        Matrix { n_rows: l, n_cols: d, values: (0..l * d).map(|_| numbers.normal()).collect() }
    }

    /// The largest error of the equations of the free rows.
    fn residual(system: &System, x: &[f64], free: &[usize], total: f64, rhs: &[f64]) -> f64 {
        let image = system.times(x).unwrap();
        let error = |&i: &usize| (rhs[i] - image[i] - 2.0 * total / system.weights[i] * x[i]).abs();
        free.iter().map(error).fold(0.0, f64::max)
    }

    #[test]
    fn both_forms_solve_every_set() {
        let (l, d) = (60, 7);
        let u = factor(l, d);
        let weights: Vec<f64> = (0..l).map(|i| 0.5 + (i % 5) as f64).collect();
        let mut lower = Matrix::zeros(l, l).unwrap();
        dense::add_gram(&mut lower, &u, dense::Shape::Full, 1.0, &Control::new()).unwrap();
        let mut dense_form = System::new(Kept::Dense(lower), weights.clone()).unwrap();
        let mut low = System::new(Kept::Factor(u), weights).unwrap();
        let rhs: Vec<f64> = (0..l).map(|i| (i as f64).cos()).collect();
        let all: Vec<usize> = (0..l).collect();
        let without = |gone: &[usize]| all.iter().copied().filter(|i| !gone.contains(i)).collect::<Vec<_>>();
        let sets = [all.clone(), without(&[3]), without(&[3, 4, 59]), without(&[0, 7]), vec![5], vec![], all.clone()];
        for total in [0.3, 50.0] {
            for set in &sets {
                let a = dense_form.solve(set, total, &rhs, vec![0.0; l], &Control::new()).unwrap().0;
                let b = low.solve(set, total, &rhs, vec![0.0; l], &Control::new()).unwrap().0;
                assert!(residual(&dense_form, &a, set, total, &rhs) < 1e-12);
                assert!(residual(&low, &b, set, total, &rhs) < 1e-12);
                for i in 0..l {
                    assert!((a[i] - b[i]).abs() < 1e-11, "{i}: {} {}", a[i], b[i]);
                    assert!(set.contains(&i) || a[i] == 0.0 && b[i] == 0.0);
                }
            }
        }
        // Sets with a few rows less used the factor of all rows: three factorisations for each total.
        assert_eq!(dense_form.factorisations, 6);
    }

    #[test]
    fn labels_that_leave_need_no_new_factor() {
        let l = 1700;
        let u = factor(l, l + 5);
        let mut lower = Matrix::zeros(l, l).unwrap();
        dense::add_gram(&mut lower, &u, dense::Shape::Full, 1.0, &Control::new()).unwrap();
        let mut system = System::new(Kept::Dense(lower), (0..l).map(|i| 1.0 + (i % 3) as f64).collect()).unwrap();
        let targets: Vec<f64> = (0..l).map(|i| (i as f64).sin()).collect();
        let mut free: Vec<usize> = (0..l).collect();
        let mut b = vec![0.0; l];
        let mut gone = 0;
        for round in 0..6 {
            free.retain(|i| i % 139 != round * 7);
            let total: f64 = free.iter().map(|&i| system.weights()[i]).sum();
            // Rows that left keep a value of their own, as at a threshold, every other time.
            let others = if round % 2 == 0 { 0.0 } else { 1e-4 };
            (0..l).filter(|i| free.binary_search(i).is_err()).for_each(|i| b[i] = others);
            let (x, f) = system.solve(&free, total, &targets, b.clone(), &Control::new()).unwrap();
            let image = system.times(&x).unwrap();
            for &i in &free {
                let error = targets[i] - image[i] - 2.0 * total / system.weights()[i] * x[i];
                assert!(error.abs() < 1e-12, "{round} {i}: {error:e}");
            }
            assert!(f.iter().zip(&image).all(|(a, b)| (a - b).abs() < 1e-12));
            assert!((0..l).all(|i| free.binary_search(&i).is_ok() || x[i] == others));
            (b, gone) = (x, l - free.len());
        }
        assert!(gone > 60 && system.factorisations == 1, "{gone} {}", system.factorisations);
    }

    #[test]
    fn differences_of_sets() {
        assert_eq!(difference(&[1, 3, 5, 9], &[0, 3, 4, 9]), [1, 5]);
        assert_eq!(difference(&[], &[1]), [0_usize; 0]);
    }
}
