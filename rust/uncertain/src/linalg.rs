//! Dense linear algebra on plain slices; this file and its folder are the only ones that name the library behind it.
//!
//! All matrices are row-major slices. Everything here is sequential: the callers run it inside
//! parallel loops over rows, where a second level of threads would only cost.
//! The library's minor releases break its API, so nothing of it may be seen outside.

pub(crate) mod dense;
mod eigh;

pub(crate) use eigh::Eigh;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par, Spec};
use ndarray::Array2;

use crate::error::{Error, Result};

/// a'b, summed in order; [`simd::dot`](crate::simd::dot) is the one for long rows.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The length of x.
pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// n x m numbers, row by row, as an array.
pub(crate) fn matrix(values: Vec<f64>, shape: [usize; 2]) -> Result<Array2<f64>> {
    Array2::from_shape_vec(shape, values).map_err(|e| Error::Internal(format!("an array of {shape:?}: {e}")))
}

/// `out += P'Q` in the lower triangle of out (d x d); P and Q are k x d. The rest of out is left alone.
pub(crate) fn gemm_tn_lower(p: &[f64], q: &[f64], k: usize, d: usize, out: &mut [f64]) {
    if k == 0 {
        return;
    }
    let p = MatRef::from_row_major_slice(&p[..k * d], k, d);
    let q = MatRef::from_row_major_slice(&q[..k * d], k, d);
    let all = BlockStructure::Rectangular;
    triangular::matmul(
        MatMut::from_row_major_slice_mut(&mut out[..d * d], d, d),
        BlockStructure::TriangularLower,
        Accum::Add,
        p.transpose(),
        all,
        q,
        all,
        1.0,
        Par::Seq,
    );
}

/// P P' in the lower triangle of out (n x n); P is n x k. The rest of out is left alone.
pub(crate) fn gram_lower(p: &[f64], k: usize, out: &mut [f64]) {
    let n = p.len() / k;
    let (p, all) = (MatRef::from_row_major_slice(p, n, k), BlockStructure::Rectangular);
    let out = MatMut::from_row_major_slice_mut(&mut out[..n * n], n, n);
    let lower = BlockStructure::TriangularLower;
    triangular::matmul(out, lower, Accum::Replace, p, all, p.transpose(), all, 1.0, Par::Seq);
}

/// `out = P Q'` with P of m x k, Q of n x k, where m n = `out.len()`.
pub(crate) fn gemm_nt(p: &[f64], q: &[f64], k: usize, out: &mut [f64]) {
    let (m, n) = (p.len() / k, q.len() / k);
    matmul::matmul(
        MatMut::from_row_major_slice_mut(&mut out[..m * n], m, n),
        Accum::Replace,
        MatRef::from_row_major_slice(p, m, k),
        MatRef::from_row_major_slice(q, n, k).transpose(),
        1.0,
        Par::Seq,
    );
}

/// `out = A B`, or with `add` `out += A B`; A is m x k, B is k x n.
pub(crate) fn gemm(a: &[f64], b: &[f64], (m, k, n): (usize, usize, usize), add: bool, out: &mut [f64]) {
    let out = &mut out[..m * n];
    if k == 0 && !add {
        out.fill(0.0);
    }
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    matmul::matmul(
        MatMut::from_row_major_slice_mut(out, m, n),
        if add { Accum::Add } else { Accum::Replace },
        MatRef::from_row_major_slice(&a[..m * k], m, k),
        MatRef::from_row_major_slice(&b[..k * n], k, n),
        1.0,
        Par::Seq,
    );
}

/// Message where numbers of the caller's size, or their squares, are none any more.
pub(crate) fn overflow() -> Error {
    Error::Data("a matrix has elements that are more than a number can hold: look at the units of the features".into())
}

/// An orthonormal basis of k vectors of d > k elements (the rows of `vectors`), as k such rows.
pub(crate) fn orthonormal_basis(vectors: &[f64], d: usize) -> Result<Vec<f64>> {
    let k = vectors.len() / d;
    if vectors.iter().any(|v| !v.is_finite()) {
        return Err(overflow());
    }
    let q = MatRef::from_row_major_slice(vectors, k, d).transpose().qr().compute_thin_Q();
    Ok((0..k).flat_map(|j| (0..d).map(move |i| (i, j))).map(|(i, j)| q[(i, j)]).collect())
}

/// L of A = L L' in place, in the lower triangle of `a` (d x d). False when A is not positive definite.
#[must_use]
#[inline]
pub(crate) fn cholesky(a: &mut [f64], d: usize) -> bool {
    if let [a] = a {
        *a = a.sqrt();
        return *a > 0.0 && a.is_finite();
    }
    factor(a, d)
}

fn factor(a: &mut [f64], d: usize) -> bool {
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(d, Par::Seq, Spec::default());
    let mut buffer = MemBuffer::new(scratch);
    let a = MatMut::from_row_major_slice_mut(a, d, d);
    let stack = MemStack::new(&mut buffer);
    llt::factor::cholesky_in_place(a, Default::default(), Par::Seq, stack, Spec::default()).is_ok()
}

/// `x` with `A x = b` in place of b, from the [`cholesky`] factor of A.
#[inline]
pub(crate) fn cholesky_solve(l: &[f64], d: usize, b: &mut [f64]) {
    if let ([l], [b]) = (l, &mut *b) {
        *b = *b / l / l;
        return;
    }
    for i in 0..d {
        let sum: f64 = l[i * d..i * d + i].iter().zip(&*b).map(|(l, x)| l * x).sum();
        b[i] = (b[i] - sum) / l[i * d + i];
    }
    for i in (0..d).rev() {
        b[i] /= l[i * d + i];
        let x = b[i];
        b[..i].iter_mut().zip(&l[i * d..]).for_each(|(b, l)| *b -= l * x);
    }
}

/// L^{-1} of a lower triangle L (d x d, of which what is above the diagonal is not read), lower.
pub(crate) fn inverse_lower(l: &[f64], d: usize) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for j in 0..d {
        out[j * d + j] = 1.0 / l[j * d + j];
        for i in j + 1..d {
            let sum: f64 = (j..i).map(|c| l[i * d + c] * out[c * d + j]).sum();
            out[i * d + j] = -sum / l[i * d + i];
        }
    }
    out
}

/// A symmetric positive definite matrix A = L L' (d x d), by its factor.
#[derive(Debug, Clone)]
pub(crate) struct Spd {
    l: Vec<f64>,
    d: usize,
}

impl Spd {
    /// From A, of which the lower triangle is read; `None` where that is not positive definite, or not finite.
    pub(crate) fn new(mut a: Vec<f64>, d: usize) -> Option<Self> {
        let finite = (0..d).all(|i| a[i * d..=i * d + i].iter().all(|x| x.is_finite()));
        (finite && (d == 0 || cholesky(&mut a, d))).then_some(Self { l: a, d })
    }

    /// L; above its diagonal is what was there.
    pub(crate) fn root(&self) -> &[f64] {
        &self.l
    }

    /// L, zero above its diagonal.
    pub(crate) fn lower(mut self) -> Vec<f64> {
        let d = self.d;
        (0..d).for_each(|i| self.l[i * d + i + 1..(i + 1) * d].fill(0.0));
        self.l
    }

    /// log |A| / 2.
    pub(crate) fn log_root(&self) -> f64 {
        (0..self.d).map(|i| self.l[i * self.d + i].ln()).sum()
    }

    /// A^{-1} b.
    pub(crate) fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        cholesky_solve(&self.l, self.d, &mut b);
        b
    }

    /// L^{-1}.
    pub(crate) fn inverse_root(&self) -> Vec<f64> {
        inverse_lower(&self.l, self.d)
    }

    /// A^{-1}.
    pub(crate) fn inverse(&self) -> Vec<f64> {
        let (d, root) = (self.d, self.inverse_root());
        let element = |a: usize, b: usize| (a.max(b)..d).map(|c| root[c * d + a] * root[c * d + b]).sum();
        (0..d * d).map(|at| element(at / d, at % d)).collect()
    }
}

/// `x_i` with `L x_i = b_i` in place of every b_i, the rows of a k x d matrix; L is lower triangular.
pub(crate) fn solve_lower_rows(l: &[f64], d: usize, b: &mut [f64]) {
    let rows = b.len() / d;
    let b = MatMut::from_column_major_slice_mut(b, d, rows);
    solve_lower_triangular_in_place(MatRef::from_row_major_slice(l, d, d), b, Par::Seq);
}

/// Triangle += c x x'.
pub(crate) fn add_outer(c: f64, x: &[f64], triangle: &mut [f64]) {
    let mut left = triangle;
    for (i, own) in x.iter().enumerate() {
        let (row, after) = left.split_at_mut(i + 1);
        row.iter_mut().zip(x).for_each(|(sum, other)| *sum += c * own * other);
        left = after;
    }
}

/// The packed triangle of A S A' for a lower triangular A.
pub(crate) fn congruent(a: &[f64], d: usize, s: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut product = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            product[i * d + j] = (0..=i).map(|c| a[i * d + c] * s(c, j)).sum();
        }
    }
    let mut out = Vec::with_capacity(d * (d + 1) / 2);
    for i in 0..d {
        for j in 0..=i {
            out.push((0..=j).map(|c| product[i * d + c] * a[j * d + c]).sum());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn normals(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..n).map(|_| StandardNormal.sample(&mut rng)).collect()
    }

    /// F F' with F of d x rank.
    pub(super) fn gram(d: usize, rank: usize, seed: u64) -> Vec<f64> {
        let f = normals(d * rank, seed);
        let dot = |i: usize, j: usize| (0..rank).map(|k| f[i * rank + k] * f[j * rank + k]).sum::<f64>();
        (0..d * d).map(|at| dot(at / d, at % d)).collect()
    }

    #[test]
    fn products_match_the_plain_sum() {
        for (k, d) in [(1, 1), (5, 3), (64, 33), (17, 80), (0, 4)] {
            let (p, q) = (normals(k * d, 1), normals(k * d, 2));
            let plain = |i: usize, j: usize| (0..k).map(|r| p[r * d + i] * q[r * d + j]).sum::<f64>();
            let mut lower = vec![1.0; d * d];
            gemm_tn_lower(&p, &q, k, d, &mut lower);
            for i in 0..d {
                for j in 0..d {
                    let exact = if j <= i { 1.0 + plain(i, j) } else { 1.0 };
                    assert!((lower[i * d + j] - exact).abs() < 1e-12, "k = {k}, d = {d}, ({i}, {j})");
                }
            }
        }
    }

    #[test]
    fn rectangular_products_match_the_plain_sum() {
        for (m, n, k) in [(1, 1, 1), (5, 3, 2), (64, 33, 10), (7, 80, 129)] {
            let (p, q) = (normals(m * k, 1), normals(n * k, 2));
            let mut out = vec![1.0; m * n];
            gemm_nt(&p, &q, k, &mut out);
            for i in 0..m {
                for j in 0..n {
                    let exact: f64 = (0..k).map(|r| p[i * k + r] * q[j * k + r]).sum();
                    assert!((out[i * n + j] - exact).abs() < 1e-12, "{m} x {n} x {k}, ({i}, {j})");
                }
            }
        }
    }

    #[test]
    fn products_with_and_without_what_was_there_match_the_plain_sum() {
        for (m, k, n) in [(1, 1, 1), (5, 3, 7), (64, 33, 20), (3, 0, 4)] {
            let (a, b) = (normals(m * k, 1), normals(k * n, 2));
            let plain = |i: usize, j: usize| (0..k).map(|r| a[i * k + r] * b[r * n + j]).sum::<f64>();
            let mut out = vec![f64::NAN; m * n];
            gemm(&a, &b, (m, k, n), false, &mut out);
            gemm(&a, &b, (m, k, n), true, &mut out);
            for (at, value) in out.iter().enumerate() {
                assert!((value - 2.0 * plain(at / n, at % n)).abs() < 1e-12, "{m} {k} {n}: {at}");
            }
        }
    }

    #[test]
    fn cholesky_solves_and_refuses() {
        for d in [1, 2, 7, 33] {
            let a = gram(d, d + 5, 11);
            let x = normals(d, 3);
            let mut b: Vec<f64> = (0..d).map(|i| (0..d).map(|j| a[i * d + j] * x[j]).sum()).collect();
            let mut l = a.clone();
            assert!(cholesky(&mut l, d));
            cholesky_solve(&l, d, &mut b);
            assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-9));
            let inverse = inverse_lower(&l, d);
            for (i, j) in (0..d).flat_map(|i| (0..d).map(move |j| (i, j))) {
                let product: f64 = (0..=i).map(|c| l[i * d + c] * inverse[c * d + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-9);
            }
            let xs = normals(4 * d, 5);
            let product = |p: usize| (0..=p % d).map(|j| l[p % d * d + j] * xs[p / d * d + j]).sum();
            let mut b: Vec<f64> = (0..4 * d).map(product).collect();
            solve_lower_rows(&l, d, &mut b);
            assert!(b.iter().zip(&xs).all(|(b, x)| (b - x).abs() < 1e-10));
        }
        assert!(!cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2));
    }
}
