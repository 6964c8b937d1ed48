//! How much a score f = sum_i a_i kappa(x_i, x) + b varies under the noise of the row x: exactly.
//!
//! kappa is a mean over noise, so f is the mean of a random score: with the row at x + S^{1/2} e, and
//! ```text
//! shared:       F(e) = sum_i a_i exp(-|x_i + A_i e - x - A e|^2 / 2) + b     (the same e moves every row)
//! independent:  F(e) = sum_i a_i E exp(-|x_i + A_i e' - x - A e|^2 / 2) + b  (averaged over the rows' own e')
//! ```
//! (all in units of sigma, A = S^{1/2}). Each term is c_i exp(-(e'Q_i e + 2 h_i'e + q_i) / 2) with
//! ```text
//! shared:       B_i = A_i - A,  Q_i = B_i^2,  h_i = B_i d_i,  q_i = |d_i|^2,  d_i = x_i - x
//! independent:  P_i = (I + S_i)^{-1},  Q_i = A P_i A,  h_i = -A P_i d_i,  q_i = d_i'P_i d_i
//! ```
//! and the mean of a product of two such terms is one again. So Var F = sum_ij a_i a_j C_ij with
//! ```text
//! C_ij = kappa_i kappa_j (exp(D_ij) - 1),   g(Q, h) = h'(I + Q)^{-1} h - ln |I + Q|,
//! D_ij = (g(Q_i + Q_j, h_i + h_j) - g(Q_i, h_i) - g(Q_j, h_j)) / 2:
//! ```
//! the distances q_i are gone, nothing cancels but terms of one size, and no noise is exactly no variance.
//!
//! The work is quadratic in the support rows. Rejected: quadrature over e (exponential in d), and draws
//! (three digits for the price of ten thousand scores).

use ndarray::{Array2, ArrayView2};

use crate::control::Control;
use crate::data::GaussianArray;
use crate::data::covariance::{packed_index, packed_len, unpack_into};
use crate::error::{Error, Result};
use crate::kernel::probabilistic_rbf::form::Form;
use crate::kernel::probabilistic_rbf::prepare::Side;
use crate::kernel::probabilistic_rbf::{Coupling, RbfOptions, gram};
use crate::linalg;
use crate::memory::zeros;
use crate::parallel;
use crate::simd::pairs::Spread;
use crate::simd::spread::PairTerms;

/// Var F of every row of `x` (n x P) for the P columns of coefficients `coef` (support rows x P).
pub(crate) fn score_variances(
    x: &GaussianArray,
    support: &GaussianArray,
    coef: ArrayView2<'_, f64>,
    options: &RbfOptions,
    control: &Control,
) -> Result<Array2<f64>> {
    let (n, m, p) = (x.n_rows(), support.n_rows(), coef.ncols());
    let kappa = gram(x, Some(support), options, control)?;
    let form = Form::cheapest(x, Some(support), options.coupling);
    let mut out = zeros(n, p)?;
    if form.spread != Spread::None && m > 0 && n > 0 {
        // Of the new rows always the roots.
        let roots = Form { coupling: Coupling::Shared, ..form };
        let new = Side::new(x, &roots, options.sigma, control)?;
        let old = Side::new(support, &form, options.sigma, control)?;
        let rows = Support::new(&old, &form)?;
        parallel::fill_rows(&mut out, p, |range, out| {
            let mut terms = Terms::new(&rows);
            for (t, out) in range.zip(out.chunks_exact_mut(p)) {
                control.check()?;
                terms.take(&new, t)?;
                terms.variances(kappa.row(t).as_slice().unwrap_or(&[]), coef, out, control)?;
            }
            Ok(())
        })?;
    }
    Array2::from_shape_vec((n, p), out).map_err(|e| Error::Internal(format!("variances of scores: {e}")))
}

/// The support rows; for the independent coupling with their P_i.
struct Support<'a> {
    side: &'a Side,
    form: &'a Form,
    /// Packed triangles, where matrices are dense and noise is independent.
    inverses: Vec<f64>,
}

impl<'a> Support<'a> {
    fn new(side: &'a Side, form: &'a Form) -> Result<Self> {
        let (m, d, len) = (side.n_rows, form.d, packed_len(form.d));
        let mut inverses = vec![];
        if form.spread == Spread::Dense && form.coupling == Coupling::Independent {
            let eigh = || linalg::Eigh::new(d);
            inverses = parallel::new_rows_with(m, len, eigh, |eigh, i, out| {
                side.triangle(form, i, out);
                eigh.packed(out)?;
                out.copy_from_slice(&eigh.function(|s| 1.0 / (1.0 + s.max(0.0))));
                Ok(())
            })?;
        }
        Ok(Self { side, form, inverses })
    }

    fn is_dense(&self) -> bool {
        self.form.spread == Spread::Dense
    }

    /// Numbers of Q per support row: a triangle, or a diagonal.
    fn width(&self) -> usize {
        if self.is_dense() { packed_len(self.form.d) } else { self.form.d }
    }
}

/// Q, h and g of every support row beside one new row. Dense: row after row. Diagonal: feature after feature, so
/// that pairs are made many at a time.
struct Terms<'a> {
    rows: &'a Support<'a>,
    q: Vec<f64>,
    h: Vec<f64>,
    /// Dense: g. Diagonal: h'(I + Q)^{-1} h, the logarithm being taken of pairs.
    g: Vec<f64>,
    pairs: PairTerms,
    scratch: Scratch,
}

/// d x d matrices and vectors of d.
struct Scratch {
    root: Vec<f64>,
    other: Vec<f64>,
    product: Vec<f64>,
    triangle: Vec<f64>,
    vector: Vec<f64>,
    difference: Vec<f64>,
}

impl<'a> Terms<'a> {
    fn new(rows: &'a Support<'a>) -> Self {
        let (m, d) = (rows.side.n_rows, rows.form.d);
        let square = if rows.is_dense() { d * d } else { 0 };
        let scratch = Scratch {
            root: vec![0.0; square],
            other: vec![0.0; square],
            product: vec![0.0; square],
            triangle: vec![0.0; if rows.is_dense() { packed_len(d) } else { 0 }],
            vector: vec![0.0; d],
            difference: vec![0.0; d],
        };
        let pairs = PairTerms::new(if rows.is_dense() { 0 } else { m });
        Self { rows, q: vec![0.0; m * rows.width()], h: vec![0.0; m * d], g: vec![0.0; m], pairs, scratch }
    }

    /// The terms beside row t of `new`, whose spreads are roots.
    fn take(&mut self, new: &Side, t: usize) -> Result<()> {
        if self.rows.is_dense() {
            return self.take_dense(new, t);
        }
        self.take_diagonal(new, t);
        Ok(())
    }

    fn take_diagonal(&mut self, new: &Side, t: usize) {
        let (form, m) = (self.rows.form, self.rows.side.n_rows);
        self.g.fill(0.0);
        for k in 0..form.d {
            let spread = form.d + if form.spread == Spread::Isotropic { 0 } else { k };
            let (mean, root) = (new.number(form, t, k), new.number(form, t, spread));
            for i in 0..m {
                let difference = self.rows.side.number(form, i, k) - mean;
                let own = self.rows.side.number(form, i, spread);
                let (q, h) = match form.coupling {
                    Coupling::Shared => ((own - root).powi(2), (own - root) * difference),
                    Coupling::Independent => (root * root / (1.0 + own), -root * difference / (1.0 + own)),
                };
                (self.q[k * m + i], self.h[k * m + i]) = (q, h);
                self.g[i] += h * h / (1.0 + q);
            }
        }
    }

    fn take_dense(&mut self, new: &Side, t: usize) -> Result<()> {
        let (form, m, width) = (self.rows.form, self.rows.side.n_rows, self.rows.width());
        let (d, s) = (form.d, &mut self.scratch);
        new.triangle(form, t, &mut s.triangle);
        unpack_into(&s.triangle, d, &mut s.root);
        for i in 0..m {
            for k in 0..d {
                s.difference[k] = self.rows.side.number(form, i, k) - new.number(form, t, k);
            }
            let h = &mut self.h[i * d..(i + 1) * d];
            if form.coupling == Coupling::Shared {
                self.rows.side.triangle(form, i, &mut s.triangle);
                unpack_into(&s.triangle, d, &mut s.other);
                s.other.iter_mut().zip(&s.root).for_each(|(b, a)| *b -= a);
                multiply(&s.other, &s.difference, h);
                s.product.copy_from_slice(&s.other);
            } else {
                unpack_into(&self.rows.inverses[i * width..(i + 1) * width], d, &mut s.other);
                multiply(&s.other, &s.difference, &mut s.vector);
                multiply(&s.root, &s.vector, h);
                h.iter_mut().for_each(|h| *h = -*h);
                for r in 0..d {
                    multiply(&s.other, &s.root[r * d..(r + 1) * d], &mut s.product[r * d..(r + 1) * d]);
                }
                // Row r of the product is P A_r: its transpose is P A.
            }
            let left = if form.coupling == Coupling::Shared { &s.other } else { &s.root };
            for r in 0..d {
                for c in 0..=r {
                    let dot: f64 = left[r * d..(r + 1) * d].iter().zip(&s.product[c * d..]).map(|(a, b)| a * b).sum();
                    self.q[i * width + packed_index(r, c)] = dot;
                }
            }
            s.triangle.copy_from_slice(&self.q[i * width..(i + 1) * width]);
            s.vector.copy_from_slice(h);
            self.g[i] = gain(&mut s.triangle, &mut s.vector);
        }
        Ok(())
    }

    fn variances(
        &mut self,
        kappa: &[f64],
        coef: ArrayView2<'_, f64>,
        out: &mut [f64],
        control: &Control,
    ) -> Result<()> {
        let m = self.rows.side.n_rows;
        out.fill(0.0);
        for i in 0..m {
            control.check()?;
            if kappa[i] == 0.0 {
                continue; // |C_ij| <= kappa_i
            }
            if !self.rows.is_dense() {
                self.pairs.fill(i, self.rows.form.d, &self.q, &self.h, &self.g);
            }
            for j in 0..=i {
                let exponent = if self.rows.is_dense() { self.dense_exponent(i, j) } else { self.pairs.exponent(j) };
                let c = covariance(kappa[i], kappa[j], exponent) * if i == j { 1.0 } else { 2.0 };
                for (p, out) in out.iter_mut().enumerate() {
                    *out += coef[[i, p]] * coef[[j, p]] * c;
                }
            }
        }
        out.iter_mut().for_each(|v| *v = v.max(0.0));
        Ok(())
    }

    fn dense_exponent(&mut self, i: usize, j: usize) -> f64 {
        let (d, width, s) = (self.rows.form.d, self.rows.width(), &mut self.scratch);
        let (a, b) = (&self.q[i * width..(i + 1) * width], &self.q[j * width..(j + 1) * width]);
        s.triangle.iter_mut().zip(a.iter().zip(b)).for_each(|(q, (a, b))| *q = a + b);
        let (a, b) = (&self.h[i * d..(i + 1) * d], &self.h[j * d..(j + 1) * d]);
        s.vector.iter_mut().zip(a.iter().zip(b)).for_each(|(h, (a, b))| *h = a + b);
        0.5 * (gain(&mut s.triangle, &mut s.vector) - self.g[i] - self.g[j])
    }
}

/// out = S v for a square symmetric S.
fn multiply(s: &[f64], v: &[f64], out: &mut [f64]) {
    for (row, out) in s.chunks_exact(v.len()).zip(out) {
        *out = row.iter().zip(v).map(|(a, b)| a * b).sum();
    }
}

/// C_ij; it lies between -kappa_i kappa_j and min(kappa_i, kappa_j), because the terms lie between 0 and 1.
fn covariance(a: f64, b: f64, exponent: f64) -> f64 {
    let product = a * b;
    if product == 0.0 {
        0.0 // both below 1e-150 or so, or one is zero
    } else if exponent < 1.0 {
        product * exponent.exp_m1()
    } else {
        (exponent + product.ln()).exp().min(a.min(b)) - product
    }
}

/// g = h'(I + Q)^{-1} h - ln |I + Q|, from the L D L' factor of I + Q made in place of the packed Q; h is destroyed.
///
/// Pivots are kept as what they exceed 1 by, so that the logarithm of a tiny Q keeps its digits.
fn gain(q: &mut [f64], h: &mut [f64]) -> f64 {
    let mut sum = 0.0;
    for r in 0..h.len() {
        let (before, row) = q.split_at_mut(packed_len(r));
        for c in 1..r {
            // Row r of L D so far.
            let upper = &before[packed_len(c)..];
            row[c] -= (0..c).map(|k| row[k] * upper[k]).sum::<f64>();
        }
        let (mut excess, mut y) = (row[r], h[r]);
        for c in 0..r {
            let l = row[c] / (1.0 + before[packed_index(c, c)]);
            excess -= l * row[c];
            y -= l * h[c];
            row[c] = l;
        }
        // I + Q >= I, so a pivot below 1 is rounding.
        let excess = excess.max(0.0);
        row[r] = excess;
        h[r] = y;
        sum += y * y / (1.0 + excess) - excess.ln_1p();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Covariances, Names, Rows};
    use crate::testing::Numbers;

    const COUPLINGS: [Coupling; 2] = [Coupling::Shared, Coupling::Independent];

    fn means(numbers: &mut Numbers, n: usize, d: usize) -> Rows {
        Rows::from_vec((0..n * d).map(|_| numbers.normal() / (d as f64).sqrt()).collect(), d).unwrap()
    }

    /// Full covariances F F', and the same as squares of what they are given as.
    fn full(numbers: &mut Numbers, n: usize, d: usize, scale: f64) -> GaussianArray {
        let means = means(numbers, n, d);
        let mut all = vec![];
        for _ in 0..n {
            let f: Vec<f64> = (0..d * d).map(|_| scale * numbers.normal()).collect();
            let dot = |r: usize, c: usize| (0..d).map(|k| f[r * d + k] * f[c * d + k]).sum::<f64>();
            all.extend((0..d * d).map(|at| dot(at / d, at % d)));
        }
        let all = Rows::from_vec(all, d * d).unwrap();
        GaussianArray::new(means, Covariances::from_cov(all, &Names::default()).unwrap()).unwrap()
    }

    fn variances(x: &GaussianArray, support: &GaussianArray, coef: &Array2<f64>, options: &RbfOptions) -> Array2<f64> {
        score_variances(x, support, coef.view(), options, &Control::new()).unwrap()
    }

    fn coefficients(numbers: &mut Numbers, m: usize, p: usize) -> Array2<f64> {
        Array2::from_shape_fn((m, p), |_| numbers.normal())
    }

    /// F at the nodes e of a grid, weighted by their normal density: the trapezoid rule, exact to 1e-12 here.
    fn by_quadrature(
        x: &GaussianArray,
        t: usize,
        support: &GaussianArray,
        coef: &Array2<f64>,
        options: &RbfOptions,
    ) -> (f64, f64) {
        let (step, reach, m) = (0.125, 60, support.n_rows());
        let root = x.covariances().sqrt(t, 2).unwrap();
        let roots = support.roots().unwrap();
        let (mut mass, mut mean, mut square) = (0.0, 0.0, 0.0);
        let mut nodes = vec![];
        for i in -reach..=reach {
            for j in -reach..=reach {
                nodes.push([step * f64::from(i), step * f64::from(j)]);
            }
        }
        let image = |a: &[f64], e: &[f64; 2]| [a[0] * e[0] + a[1] * e[1], a[2] * e[0] + a[3] * e[1]];
        let row = x.means().row(t);
        let moved: Vec<[f64; 2]> =
            nodes.iter().map(|e| image(&root, e)).map(|a| [row[0] + a[0], row[1] + a[1]]).collect();
        let points = GaussianArray::exact(Rows::from_vec(moved.concat(), 2).unwrap()).unwrap();
        let kernel = gram(&points, Some(support), options, &Control::new()).unwrap();
        for (k, e) in nodes.iter().enumerate() {
            let term = |i: usize| {
                if options.coupling == Coupling::Independent {
                    return kernel[[k, i]];
                }
                let (own, a) = (support.means().row(i), image(&roots[4 * i..4 * i + 4], e));
                let squares = (own[0] + a[0] - moved[k][0]).powi(2) + (own[1] + a[1] - moved[k][1]).powi(2);
                (-0.5 * squares / options.sigma.powi(2)).exp()
            };
            let f: f64 = (0..m).map(|i| coef[[i, 0]] * term(i)).sum();
            let weight = (-0.5 * (e[0] * e[0] + e[1] * e[1])).exp();
            (mass, mean, square) = (mass + weight, mean + weight * f, square + weight * f * f);
        }
        (mean / mass, square / mass - (mean / mass).powi(2))
    }

    #[test]
    fn means_and_variances_are_those_of_the_integral() {
        let mut numbers = Numbers::new(4);
        let (x, support) = (full(&mut numbers, 3, 2, 0.5), full(&mut numbers, 6, 2, 0.4));
        let coef = coefficients(&mut numbers, 6, 1);
        for coupling in COUPLINGS {
            let options = RbfOptions { coupling, ..RbfOptions::new(0.9) };
            let found = variances(&x, &support, &coef, &options);
            let kernel = gram(&x, Some(&support), &options, &Control::new()).unwrap();
            for t in 0..3 {
                let (mean, variance) = by_quadrature(&x, t, &support, &coef, &options);
                assert!((kernel.row(t).dot(&coef.column(0)) - mean).abs() < 1e-11);
                assert!((found[[t, 0]] - variance).abs() < 1e-11 * (1.0 + variance), "{coupling:?} {t}");
                assert!(variance > 1e-3);
            }
        }
    }

    #[test]
    fn every_kind_is_its_full_matrix() {
        let mut numbers = Numbers::new(9);
        for d in [1, 2, 3, 5, 100] {
            let (n, m) = (2, if d == 100 { 4 } else { 9 });
            let mut draw = |n: usize, kind: usize| {
                let means = means(&mut numbers, n, d);
                let mut positive = |width: usize, scale: f64| {
                    let all = (0..n * width).map(|_| 0.1 + scale * numbers.uniform()).collect();
                    Rows::from_vec(all, width).unwrap()
                };
                let spread = match kind {
                    0 => Covariances::Zero,
                    1 => Covariances::from_std(positive(1, 0.5)),
                    2 => Covariances::from_var(positive(d, 0.5)),
                    3 => {
                        let factor = positive(d, 0.1);
                        Covariances::from_factor(factor, 1, Some(positive(d, 0.2)), &Names::default()).unwrap()
                    }
                    _ => {
                        let mut matrix = vec![0.1 / d as f64; d * d];
                        (0..d).for_each(|i| matrix[i * d + i] += 0.2);
                        Covariances::shared(&matrix, &Names::default()).unwrap()
                    }
                };
                GaussianArray::new(means, spread).unwrap()
            };
            let (new, old): (Vec<_>, Vec<_>) = (0..5).map(|kind| (draw(n, kind), draw(m, kind))).unzip();
            let coef = coefficients(&mut numbers, m, 2);
            for coupling in COUPLINGS {
                let options = RbfOptions { coupling, ..RbfOptions::new(1.3) };
                for (a, x) in new.iter().enumerate() {
                    for (b, support) in old.iter().enumerate() {
                        let found = variances(x, support, &coef, &options);
                        let exact = variances(&x.to_full().unwrap(), &support.to_full().unwrap(), &coef, &options);
                        for (f, e) in found.iter().zip(&exact) {
                            assert!((f - e).abs() <= 1e-11 * (1.0 + e), "d = {d}, {a} {b} {coupling:?}: {f} {e}");
                        }
                        // Exact points among exact points; and noise of support rows alone when it is independent.
                        let still = (a == 0 && (b == 0 || coupling == Coupling::Independent))
                            || (a == 4 && b == 4 && coupling == Coupling::Shared);
                        assert_eq!(found.iter().all(|v| *v == 0.0), still, "d = {d}, {a} {b} {coupling:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_little_noise_is_the_gradient_times_it() {
        let mut numbers = Numbers::new(2);
        let support = GaussianArray::exact(means(&mut numbers, 7, 2)).unwrap();
        let coef = coefficients(&mut numbers, 7, 1);
        let row = [0.3, -0.2];
        for coupling in COUPLINGS {
            for std in [1e-3, 1e-8, 1e-12, 1e-100] {
                let options = RbfOptions { coupling, ..RbfOptions::new(1.0) };
                let spread = Covariances::from_std(Rows::from_vec(vec![std, 0.0], 2).unwrap());
                let x = GaussianArray::new(Rows::from_vec(row.to_vec(), 2).unwrap(), spread).unwrap();
                let slope: f64 = (0..7)
                    .map(|i| {
                        let z = support.means().row(i);
                        let squares = (z[0] - row[0]).powi(2) + (z[1] - row[1]).powi(2);
                        coef[[i, 0]] * (z[0] - row[0]) * (-0.5 * squares).exp()
                    })
                    .sum();
                let diagonal = variances(&x, &support, &coef, &options)[[0, 0]].sqrt() / std;
                let dense = variances(&x.to_full().unwrap(), &support, &coef, &options)[[0, 0]].sqrt() / std;
                let tolerance = (1e-5_f64).min(10.0 * std) + 1e-9;
                assert!((diagonal - slope.abs()).abs() < tolerance, "{std}: {diagonal} {slope}");
                assert!((dense - slope.abs()).abs() < tolerance, "{std}: {dense} {slope}");
            }
        }
    }

    #[test]
    fn enormous_noise_leaves_a_number() {
        let mut numbers = Numbers::new(6);
        let support = full(&mut numbers, 5, 3, 1e30);
        let x = full(&mut numbers, 2, 3, 1e20);
        let coef = coefficients(&mut numbers, 5, 1);
        for coupling in COUPLINGS {
            let options = RbfOptions { coupling, ..RbfOptions::new(1.0) };
            for v in variances(&x, &support, &coef, &options) {
                assert!((0.0..1e-3).contains(&v), "{v}");
            }
            let diagonal = x.collapse(crate::data::Collapse::Diagonal).unwrap();
            let other = support.collapse(crate::data::Collapse::Diagonal).unwrap();
            assert!(variances(&diagonal, &other, &coef, &options).iter().all(|v| (0.0..1e-3).contains(v)));
        }
    }
}
