//! Large dense matrices, column-major, in parallel on our own pools.
//!
//! Every operation cuts its matrix into tiles by its size alone and runs the library's sequential
//! kernels on them, so results do not depend on the number of threads (the library's own parallel
//! mode splits by threads, and brings a second runtime). Tiles ask [`Control`] whether to go on: a
//! factorisation of many gigabytes ends within a moment.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par, Spec};

use crate::control::Control;
use crate::data::convert::zeros;
use crate::error::Result;
use crate::parallel;

/// Columns of a panel, and of a tile.
const PANEL: usize = 128;

/// A column-major matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Number of rows, also the distance between columns.
    pub n_rows: usize,
    /// Number of columns.
    pub n_cols: usize,
    /// Column after column.
    pub values: Vec<f64>,
}

impl Matrix {
    /// Zeros, or an error when there is no memory for them.
    pub fn zeros(n_rows: usize, n_cols: usize) -> Result<Self> {
        Ok(Self { n_rows, n_cols, values: zeros(n_rows, n_cols)? })
    }

    /// One column.
    #[must_use]
    pub fn col(&self, j: usize) -> &[f64] {
        &self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// One column, to write.
    pub fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.values[j * self.n_rows..(j + 1) * self.n_rows]
    }

    /// The rows with these numbers.
    pub fn rows(&self, rows: &[usize]) -> Result<Self> {
        let mut out = Self::zeros(rows.len(), self.n_cols)?;
        for j in 0..self.n_cols {
            let column = self.col(j);
            out.col_mut(j).iter_mut().zip(rows).for_each(|(o, &i)| *o = column[i]);
        }
        Ok(out)
    }

    fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.n_rows, self.n_cols)
    }

    fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::from_column_major_slice_mut(&mut self.values, self.n_rows, self.n_cols)
    }

    /// `A x` of the first `n` rows.
    #[must_use]
    pub fn times(&self, n: usize, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; n];
        for (j, &x) in x.iter().enumerate() {
            if x != 0.0 {
                out.iter_mut().zip(self.col(j)).for_each(|(o, a)| *o += a * x);
            }
        }
        out
    }

    /// `A'x`, where x ends before the last row: the missing rest is zero.
    #[must_use]
    pub fn transposed_times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.n_cols).map(|j| crate::simd::dot(x, self.col(j))).collect()
    }
}

fn row_tiles(mut a: MatMut<'_, f64>, size: usize) -> Vec<MatMut<'_, f64>> {
    let mut tiles = vec![];
    while a.nrows() > size {
        let (top, rest) = a.split_at_row_mut(size);
        tiles.push(top);
        a = rest;
    }
    tiles.push(a);
    tiles
}

fn col_tiles(a: MatMut<'_, f64>, size: usize) -> Vec<MatMut<'_, f64>> {
    row_tiles(a.transpose_mut(), size).into_iter().map(MatMut::transpose_mut).collect()
}

/// Rows or columns of a tile: a few tiles per thread of a large machine, none too small for a kernel.
fn tile_size(n: usize) -> usize {
    n.div_ceil(32).clamp(PANEL, 1024)
}

/// `C -= A B'`: C is n x b, A n x D, B b x D.
pub fn subtract_product(c: &mut Matrix, a: &Matrix, b: &Matrix, control: &Control) -> Result<()> {
    if a.n_cols == 0 {
        return Ok(());
    }
    let size = tile_size(c.n_rows);
    let jobs = row_tiles(c.view_mut(), size).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let left = a.view().subrows(k * size, tile.nrows());
        matmul(tile, Accum::Add, left, b.view().transpose(), -1.0, Par::Seq);
        Ok(())
    })
}

/// `A <- A L^{-T}` for a lower triangular L, of which only the lower triangle is read.
pub fn solve_right(a: &mut Matrix, l: &Matrix, control: &Control) -> Result<()> {
    let size = tile_size(a.n_rows);
    parallel::for_each(row_tiles(a.view_mut(), size), |tile| {
        control.check()?;
        solve_lower_triangular_in_place(l.view(), tile.transpose_mut(), Par::Seq);
        Ok(())
    })
}

/// The lower triangle of `H += A'Y`: `image(columns)` is the part of Y below these columns of A, which has
/// as many rows as A.
pub fn add_congruence(
    h: &mut Matrix,
    a: &Matrix,
    image: impl Fn(std::ops::Range<usize>) -> Result<Matrix> + Sync,
    control: &Control,
) -> Result<()> {
    let jobs = col_tiles(h.view_mut(), PANEL).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let first = k * PANEL;
        let y = image(first..first + tile.ncols())?;
        add_below(tile, first, a.view().transpose(), y.view(), 1.0);
        Ok(())
    })
}

/// `scale A'B`.
pub fn cross_product(a: &Matrix, b: &Matrix, scale: f64, control: &Control) -> Result<Matrix> {
    let mut out = Matrix::zeros(a.n_cols, b.n_cols)?;
    let jobs = col_tiles(out.view_mut(), PANEL).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let right = b.view().subcols(k * PANEL, tile.ncols());
        matmul(tile, Accum::Replace, a.view().transpose(), right, scale, Par::Seq);
        Ok(())
    })?;
    Ok(out)
}

/// The lower triangle of `G += scale V V'`, V the first rows of `v`, as many as G has.
pub fn add_gram(g: &mut Matrix, v: &Matrix, scale: f64, control: &Control) -> Result<()> {
    let n = g.n_rows;
    let v = v.view().subrows(0, n);
    let jobs = col_tiles(g.view_mut(), PANEL).into_iter().enumerate().collect();
    parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
        control.check()?;
        let right = v.subrows(k * PANEL, tile.ncols()).transpose();
        add_below(tile, k * PANEL, v, right, scale);
        Ok(())
    })
}

/// Of a tile of columns starting at `first`: `tile += scale left right` from the diagonal down.
fn add_below(tile: MatMut<'_, f64>, first: usize, left: MatRef<'_, f64>, right: MatRef<'_, f64>, scale: f64) {
    let width = tile.ncols();
    let (_, below) = tile.split_at_row_mut(first);
    let (diagonal, rest) = below.split_at_row_mut(width);
    let all = BlockStructure::Rectangular;
    triangular::matmul(
        diagonal,
        BlockStructure::TriangularLower,
        Accum::Add,
        left.subrows(first, width),
        all,
        right,
        all,
        scale,
        Par::Seq,
    );
    let after = first + width;
    if rest.nrows() > 0 {
        let rows = rest.nrows();
        matmul(rest, Accum::Add, left.subrows(after, rows), right, scale, Par::Seq);
    }
}

/// `M A` for a symmetric n x n matrix M and some columns of A; sequential, for a tile of a larger product.
pub fn product_of_symmetric(m: &[f64], n: usize, a: &Matrix, columns: std::ops::Range<usize>) -> Result<Matrix> {
    let mut out = Matrix::zeros(n, columns.len())?;
    let m = MatRef::from_column_major_slice(m, n, n);
    let right = a.view().subcols(columns.start, columns.len());
    matmul(out.view_mut(), Accum::Replace, m, right, 1.0, Par::Seq);
    Ok(out)
}

/// L of A = L L' in the lower triangle; the rest is not touched. False when A is not positive definite.
pub fn cholesky(a: &mut Matrix, control: &Control) -> Result<bool> {
    factor(a.view_mut(), control)
}

fn factor(a: MatMut<'_, f64>, control: &Control) -> Result<bool> {
    let mut left = a;
    while left.nrows() > 0 {
        control.check()?;
        let width = left.nrows().min(PANEL);
        let (mut diagonal, _, mut panel, mut rest) = left.split_at_mut(width, width);
        // A copy, so that nothing above the diagonal is read or written.
        let mut block = Matrix::zeros(width, width)?;
        for j in 0..width {
            for i in j..width {
                block.values[j * width + i] = diagonal[(i, j)];
            }
        }
        if !small_cholesky(&mut block) {
            return Ok(false);
        }
        for j in 0..width {
            for i in j..width {
                diagonal[(i, j)] = block.values[j * width + i];
            }
        }
        if rest.nrows() > 0 {
            let size = tile_size(panel.nrows());
            parallel::for_each(row_tiles(panel.rb_mut_all(), size), |tile| {
                control.check()?;
                solve_lower_triangular_in_place(block.view(), tile.transpose_mut(), Par::Seq);
                Ok(())
            })?;
            let panel = panel.rb_all();
            let size = tile_size(rest.nrows());
            let jobs = col_tiles(rest.rb_mut_all(), size).into_iter().enumerate().collect();
            parallel::for_each(jobs, |(k, tile): (usize, MatMut<'_, f64>)| {
                control.check()?;
                let right = panel.subrows(k * size, tile.ncols()).transpose();
                add_below(tile, k * size, panel, right, -1.0);
                Ok(())
            })?;
        }
        left = rest;
    }
    Ok(true)
}

/// Short names for the library's reborrowing.
trait Reborrowed {
    fn rb_mut_all(&mut self) -> MatMut<'_, f64>;
    fn rb_all(&self) -> MatRef<'_, f64>;
}

impl Reborrowed for MatMut<'_, f64> {
    fn rb_mut_all(&mut self) -> MatMut<'_, f64> {
        self.as_mut()
    }

    fn rb_all(&self) -> MatRef<'_, f64> {
        self.as_ref()
    }
}

fn small_cholesky(a: &mut Matrix) -> bool {
    let n = a.n_rows;
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default());
    let mut buffer = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut buffer);
    llt::factor::cholesky_in_place(a.view_mut(), Default::default(), Par::Seq, stack, Spec::default()).is_ok()
}

/// A symmetric matrix G and, in the other half of the same square, a Cholesky factor of a matrix made of
/// some of its rows: half the memory of two squares.
pub struct Symmetric {
    n: usize,
    /// G: column j from row j on (diagonal in `diagonal`). The factor's row j: the first elements of column j.
    values: Vec<f64>,
    diagonal: Vec<f64>,
    /// Size of the factor.
    size: usize,
}

impl Symmetric {
    /// From a matrix whose lower triangle holds G.
    #[must_use]
    pub fn new(lower: Matrix) -> Self {
        let n = lower.n_rows;
        let diagonal = (0..n).map(|i| lower.values[i * n + i]).collect();
        Self { n, values: lower.values, diagonal, size: 0 }
    }

    /// `G x`.
    pub fn times(&self, x: &[f64]) -> Result<Vec<f64>> {
        let n = self.n;
        let parts = parallel::map_parts_at_most(n, 16, |columns| {
            let mut out = vec![0.0; n];
            for j in columns {
                let below = &self.values[j * n + j + 1..(j + 1) * n];
                let xj = x[j];
                out[j] += self.diagonal[j] * xj + crate::simd::dot(below, &x[j + 1..]);
                if xj != 0.0 {
                    out[j + 1..].iter_mut().zip(below).for_each(|(o, g)| *o += g * xj);
                }
            }
            out
        })?;
        Ok(sum_of(parts, n))
    }

    /// Factor the matrix of the rows and columns `set` (ascending) of G + diag(shift). False when it is not
    /// positive definite.
    pub fn factor(&mut self, set: &[usize], shift: &[f64], control: &Control) -> Result<bool> {
        let n = self.n;
        self.size = 0;
        const TILE: usize = 64;
        // Transposed in tiles: row i of the target is part of column set[j] of G, which lies far apart.
        for first in (0..set.len()).step_by(TILE) {
            control.check()?;
            let last = (first + TILE).min(set.len());
            for below in (first..set.len()).step_by(TILE) {
                for j in first..last {
                    for i in below.max(j + 1)..(below + TILE).min(set.len()) {
                        self.values[i * n + j] = self.values[set[j] * n + set[i]];
                    }
                }
            }
        }
        for (j, &from) in set.iter().enumerate() {
            self.values[j * n + j] = self.diagonal[from] + shift[from];
        }
        let upper = MatMut::from_column_major_slice_mut(&mut self.values, n, n);
        let size = set.len();
        let leading = upper.transpose_mut().submatrix_mut(0, 0, size, size);
        let done = factor(leading, control)?;
        if done {
            self.size = size;
        }
        Ok(done)
    }

    fn factor_row(&self, j: usize) -> &[f64] {
        &self.values[j * self.n..=j * self.n + j]
    }

    /// `x` with `L x = b` in place of b, L the factor.
    pub fn forward(&self, b: &mut [f64]) {
        for j in 0..self.size {
            let row = self.factor_row(j);
            b[j] = (b[j] - crate::simd::dot(&row[..j], b)) / row[j];
        }
    }

    /// `x` with `L'x = b` in place of b.
    pub fn backward(&self, b: &mut [f64]) {
        for j in (0..self.size).rev() {
            let row = self.factor_row(j);
            b[j] /= row[j];
            let x = b[j];
            b[..j].iter_mut().zip(row).for_each(|(b, l)| *b -= l * x);
        }
    }

    /// [`forward`](Self::forward) of every column.
    pub fn forward_columns(&self, b: &mut Matrix, control: &Control) -> Result<()> {
        let all = MatRef::from_column_major_slice(&self.values, self.n, self.n).transpose();
        let l = all.submatrix(0, 0, self.size, self.size);
        parallel::for_each(col_tiles(b.view_mut(), 32), |tile| {
            control.check()?;
            solve_lower_triangular_in_place(l, tile, Par::Seq);
            Ok(())
        })
    }
}

fn sum_of(parts: Vec<Vec<f64>>, n: usize) -> Vec<f64> {
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_else(|| vec![0.0; n]);
    for part in parts {
        sum.iter_mut().zip(part).for_each(|(s, p)| *s += p);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Numbers;

    fn normals(n_rows: usize, n_cols: usize, seed: u64) -> Matrix {
        let mut numbers = Numbers::new(seed);
        Matrix { n_rows, n_cols, values: (0..n_rows * n_cols).map(|_| numbers.normal()).collect() }
    }

    /// Lower triangle of F F' + I; above it a number that must stay.
    fn positive(n: usize) -> Matrix {
        let f = normals(n, n + 3, 5);
        let mut a = Matrix::zeros(n, n).unwrap();
        (0..n).for_each(|i| a.values[i * n + i] = 1.0);
        add_gram(&mut a, &f, 1.0, &Control::new()).unwrap();
        (0..n).for_each(|j| (0..j).for_each(|i| a.values[j * n + i] = 7.0));
        a
    }

    fn at(a: &Matrix, i: usize, j: usize) -> f64 {
        a.values[j * a.n_rows + i]
    }

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * (1.0 + b.abs())
    }

    #[test]
    fn products_are_plain_sums() {
        let (n, b, d) = (300, 5, 7);
        let (a, p) = (normals(n, d, 1), normals(b, d, 2));
        let mut c = normals(n, b, 3);
        let before = c.clone();
        subtract_product(&mut c, &a, &p, &Control::new()).unwrap();
        for i in 0..n {
            for j in 0..b {
                let sum: f64 = (0..d).map(|k| at(&a, i, k) * at(&p, j, k)).sum();
                assert!(close(at(&c, i, j), at(&before, i, j) - sum, 1e-13));
            }
        }
        let a = normals(40, 290, 4);
        let mut h = Matrix::zeros(290, 290).unwrap();
        let twice = |columns: std::ops::Range<usize>| {
            let values = a.values[columns.start * 40..columns.end * 40].iter().map(|x| 2.0 * x).collect();
            Ok(Matrix { n_rows: 40, n_cols: columns.len(), values })
        };
        add_congruence(&mut h, &a, twice, &Control::new()).unwrap();
        for j in 0..290 {
            for i in 0..290 {
                let sum: f64 = (0..40).map(|k| 2.0 * at(&a, k, i) * at(&a, k, j)).sum();
                assert!(close(at(&h, i, j), if i >= j { sum } else { 0.0 }, 1e-12), "{i} {j}");
            }
        }
        let x: Vec<f64> = (0..290).map(f64::from).collect();
        let image = a.times(40, &x);
        assert!(close(image[3], (0..290).map(|j| at(&a, 3, j) * x[j]).sum(), 1e-12));
        assert!(close(a.transposed_times(&x[..20])[9], (0..20).map(|i| at(&a, i, 9) * x[i]).sum(), 1e-12));
    }

    #[test]
    fn factors_of_every_size_leave_the_upper_triangle_alone() {
        for n in [1, 3, 127, 128, 129, 300, 515] {
            let a = positive(n);
            let mut l = a.clone();
            assert!(cholesky(&mut l, &Control::new()).unwrap());
            for (i, j) in [(0, 0), (n - 1, 0), (n - 1, n - 1), (n / 2, n / 3), (n - 1, n / 2)] {
                let sum: f64 = (0..=j).map(|k| at(&l, i, k) * at(&l, j, k)).sum();
                assert!(close(sum, at(&a, i, j), 1e-12), "n = {n}: {i} {j}");
            }
            assert!((0..n).all(|j| (0..j).all(|i| at(&l, i, j) == 7.0)));
            // A L^{-T} of L itself is the identity in its lower triangle.
            let mut lower = l.clone();
            (0..n).for_each(|j| (0..j).for_each(|i| lower.values[j * n + i] = 0.0));
            let mut v = lower.clone();
            // L' L^{-T}: solve_right of the transposed factor gives I only for L = I, so solve rows of A.
            for j in 0..n {
                for i in 0..n {
                    v.values[j * n + i] = at(&a, i.max(j), i.min(j));
                }
            }
            solve_right(&mut v, &l, &Control::new()).unwrap();
            for (i, j) in [(0, 0), (n - 1, 0), (n - 1, n - 1), (n / 2, n / 3), (0, n - 1)] {
                assert!(close(at(&v, i, j), at(&lower, i, j), 1e-9), "n = {n}: {i} {j}");
            }
        }
        let mut indefinite = positive(200);
        indefinite.values[150 * 200 + 150] = -1.0;
        assert!(!cholesky(&mut indefinite, &Control::new()).unwrap());
    }

    #[test]
    fn one_square_holds_a_matrix_and_a_factor_of_a_part_of_it() {
        let n = 310;
        let a = positive(n);
        let mut g = Symmetric::new(a.clone());
        let full = |i: usize, j: usize| at(&a, i.max(j), i.min(j));
        let shift: Vec<f64> = (0..n).map(|i| 0.1 * i as f64).collect();
        let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let product = |x: &[f64]| (0..n).map(|i| (0..n).map(|j| full(i, j) * x[j]).sum()).collect::<Vec<f64>>();
        for set in [(0..n).collect::<Vec<_>>(), (0..n).filter(|i| i % 3 != 1).collect(), vec![7, 200]] {
            assert!(g.factor(&set, &shift, &Control::new()).unwrap());
            let mut b: Vec<f64> =
                set.iter().map(|&i| set.iter().map(|&j| full(i, j) * x[j]).sum::<f64>() + shift[i] * x[i]).collect();
            let mut columns = Matrix { n_rows: set.len(), n_cols: 2, values: [b.clone(), b.clone()].concat() };
            g.forward_columns(&mut columns, &Control::new()).unwrap();
            g.forward(&mut b);
            assert!(columns.col(1).iter().zip(&b).all(|(c, b)| close(*c, *b, 1e-10)));
            g.backward(&mut b);
            assert!(set.iter().zip(&b).all(|(&i, b)| close(*b, x[i], 1e-9)));
            // G itself is still there.
            assert!(g.times(&x).unwrap().iter().zip(product(&x)).all(|(a, b)| close(*a, b, 1e-12)));
        }
        assert!(!g.factor(&[0, 1], &vec![-1e9; n], &Control::new()).unwrap());
    }

    #[test]
    fn a_stop_is_heard() {
        let control = Control::new();
        control.stop();
        assert!(cholesky(&mut positive(10), &control).is_err());
        assert!(add_gram(&mut positive(10), &normals(10, 2, 1), 1.0, &control).is_err());
    }

    #[test]
    fn results_do_not_depend_on_threads() {
        let factor = |threads| {
            parallel::install(Some(threads), || {
                let mut a = positive(700);
                cholesky(&mut a, &Control::new()).unwrap();
                let x = vec![1.0; 700];
                (a.values.clone(), Symmetric::new(a).times(&x).unwrap())
            })
            .unwrap()
        };
        assert!(factor(1) == factor(3));
    }
}
