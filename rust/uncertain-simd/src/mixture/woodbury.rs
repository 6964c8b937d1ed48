//! Rows whose covariances are a few columns, S = F F' with F of d x r: O(d^2 r) numbers instead of O(d^3).
//!
//! Idea: with T = Q Q' and P = Q^{-1}, B = P F and y = P r (the residual), Woodbury's identity is
//! ```text
//! Q'M^{-1}Q = I - B N^{-1} B' = I - C C',    N = I + B'B = L L',    C = B L^{-T}
//! |M| = |T| |N|,    alpha = Q'M^{-1} r = y - B w,    w = N^{-1} B'y,    r'M^{-1} r = alpha'alpha + w'w
//! ```
//! so that a row is C and alpha, d (r + 1) numbers, and what EM sums is alpha alpha' + C C' - I. N >= I always. The last
//! form of r'M^{-1}r is a sum of squares, where y'y - y'B w would cancel if noise dominates.
//!
//! It also gives the covariance of the true value as a product: T - T M^{-1} T = (Q C)(Q C)'.

use super::form::{Component, triangle};
use crate::lanes::{LANES, Lanes, Pack};
use crate::vector::{Vector, Wide, lines};

/// Rows of a block of sums in registers; it has two columns.
const ROWS: usize = 4;

/// Columns of [F | r], an even number.
fn width(rank: usize) -> usize {
    (rank + 2) & !1
}

pub(super) fn memory_len(d: usize, rank: usize) -> usize {
    let w = width(rank);
    2 * d * w + w * w + 2 * w
}

/// Eight rows under one component.
pub(super) struct Woodbury<'a> {
    pub d: usize,
    pub rank: usize,
    pub component: &'a Component,
    /// d means, the weight, the factor.
    pub row: &'a [Pack],
    /// [`memory_len`] packs.
    pub memory: &'a mut [Pack],
    /// r packs: the pivots of N.
    pub pivots: &'a mut [Pack],
    /// Row j: row j of C, then alpha_j.
    pub state: &'a mut [Pack],
    /// r'M^{-1}r
    pub quad: &'a mut Lanes,
}

impl Wide for Woodbury<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector>(self) {
        let (d, r, w) = (self.d, self.rank, width(self.rank));
        let (input, rest) = self.memory.split_at_mut(d * w);
        let (image, rest) = rest.split_at_mut(d * w);
        let (gram, rest) = rest.split_at_mut(w * w);
        let (scale, solution) = rest.split_at_mut(w);
        let (input, image, gram) = (V::view(input), V::view(image), V::view(gram));
        let (scale, solution) = (V::view(scale), V::view(solution));
        for lane in (0..LANES).step_by(V::WIDTH) {
            let factor = &self.row[d + 1..][..d * r];
            for j in 0..d {
                let line = &mut input[j * w..][..w];
                for c in 0..r {
                    line[c] = V::load(&factor[j * r + c].0[lane..]);
                }
                line[r..].fill(V::splat(0.0));
                line[r] = V::load(&self.row[j].0[lane..]).sub(V::splat(self.component.mean[j]));
            }
            let whole = d / ROWS * ROWS;
            for row in (0..whole).step_by(ROWS) {
                images::<V, ROWS>(&self.component.scatter.matrix, input, image, row, w);
            }
            for row in whole..d {
                images::<V, 1>(&self.component.scatter.matrix, input, image, row, w);
            }
            products(image, gram, d, w);
            // N, with (B'y)' below it, to L and z' = (B'y)' L^{-T}.
            for c in 0..r {
                for i in c..r + 1 {
                    let mut sum = gram[i * w + c];
                    for k in 0..c {
                        sum = gram[i * w + k].neg_mul_add(gram[c * w + k], sum);
                    }
                    if i == c {
                        let pivot = sum.add(V::splat(1.0));
                        pivot.store(&mut self.pivots[c].0[lane..]);
                        scale[c] = pivot.rsqrt();
                    } else {
                        gram[i * w + c] = sum.mul(scale[c]);
                    }
                }
            }
            let mut quad = V::splat(0.0);
            for c in (0..r).rev() {
                let mut sum = gram[r * w + c];
                for k in c + 1..r {
                    sum = gram[k * w + c].neg_mul_add(solution[k], sum);
                }
                solution[c] = sum.mul(scale[c]);
                quad = solution[c].mul_add(solution[c], quad);
            }
            for j in 0..d {
                let line = &mut image[j * w..][..w];
                let out = &mut self.state[j * (r + 1)..][..r + 1];
                let mut alpha = line[r];
                for c in 0..r {
                    alpha = line[c].neg_mul_add(solution[c], alpha);
                }
                for c in 0..r {
                    let mut sum = line[c];
                    for k in 0..c {
                        sum = line[k].neg_mul_add(gram[c * w + k], sum);
                    }
                    line[c] = sum.mul(scale[c]);
                    line[c].store(&mut out[c].0[lane..]);
                }
                alpha.store(&mut out[r].0[lane..]);
                quad = alpha.mul_add(alpha, quad);
            }
            quad.store(&mut self.quad[lane..]);
        }
    }
}

/// R rows of P [F | r].
#[inline(always)]
fn images<V: Vector, const R: usize>(p: &[f64], input: &[V], image: &mut [V], row: usize, w: usize) {
    for column in (0..w).step_by(2) {
        let mut sums = [[V::splat(0.0); 2]; R];
        for k in 0..row + R {
            let x = &input[k * w + column..][..2];
            for r in 0..R {
                if k <= row + r {
                    let p = V::splat(p[triangle(row + r) + k]);
                    sums[r][0] = p.mul_add(x[0], sums[r][0]);
                    sums[r][1] = p.mul_add(x[1], sums[r][1]);
                }
            }
        }
        for r in 0..R {
            image[(row + r) * w + column..][..2].copy_from_slice(&sums[r]);
        }
    }
}

/// The lower triangle of [B | y]'[B | y].
#[inline(always)]
fn products<V: Vector>(image: &[V], gram: &mut [V], d: usize, w: usize) {
    for i in (0..w).step_by(2) {
        for j in (0..i + 1).step_by(2) {
            let mut sums = [[V::splat(0.0); 2]; 2];
            for k in 0..d {
                let line = &image[k * w..][..w];
                for r in 0..2 {
                    for c in 0..2 {
                        sums[r][c] = line[i + r].mul_add(line[j + c], sums[r][c]);
                    }
                }
            }
            for r in 0..2 {
                gram[(i + r) * w + j..][..2].copy_from_slice(&sums[r]);
            }
        }
    }
}

/// sums += q V V' for the d x w matrix V of eight rows, the packed lower triangle.
pub(super) struct AddSquare<'a> {
    pub d: usize,
    pub width: usize,
    pub q: &'a Lanes,
    pub matrix: &'a [Pack],
    pub sums: &'a mut [Pack],
}

impl AddSquare<'_> {
    /// R rows of the triangle.
    #[inline(always)]
    fn rows<V: Vector, const R: usize>(&mut self, row: usize, lane: usize) {
        let w = self.width;
        let q = V::load(&self.q[lane..]);
        let own = lines::<Pack, R>(&self.matrix[row * w..], w, w);
        for j in 0..row + R {
            let other = &self.matrix[j * w..][..w];
            let mut sums = [V::splat(0.0); R];
            for c in 0..w {
                let x = V::load(&other[c].0[lane..]);
                for r in 0..R {
                    sums[r] = V::load(&own[r][c].0[lane..]).mul_add(x, sums[r]);
                }
            }
            for r in 0..R {
                if j <= row + r {
                    let out = &mut self.sums[triangle(row + r) + j].0[lane..];
                    q.mul_add(sums[r], V::load(out)).store(out);
                }
            }
        }
    }
}

impl Wide for AddSquare<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector>(mut self) {
        let whole = self.d / ROWS * ROWS;
        for lane in (0..LANES).step_by(V::WIDTH) {
            for row in (0..whole).step_by(ROWS) {
                self.rows::<V, ROWS>(row, lane);
            }
            for row in whole..self.d {
                self.rows::<V, 1>(row, lane);
            }
        }
    }
}
