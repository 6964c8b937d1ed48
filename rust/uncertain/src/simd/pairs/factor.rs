//! Factorisations M = L D L' in any number of dimensions, M formed on the way.
//!
//! Idea: blocks of P x P elements (each a register of pairs) stay in registers while they are a product of
//! rows of U, and then are eliminated by the columns before them: P^2 multiply-adds for 2 P loads. A block's
//! product does not wait for the block before it, so the machine works on it while pivots and solves, each a
//! chain of divisions, are under way. L D L' instead of L L' needs one reciprocal per pivot and no
//! root. Pivots are at least 1, because M >= I; what rounding makes of a pivot below that is cut.
//!
//! Rejected: U^2 = S_i + S_j - A_i A_j - (A_i A_j)' with all products of a tile from one GEMM. It takes
//! twice the multiply-adds (A_i A_j has no symmetry to save half) and cancels for near-equal rows.

use std::ops::Range;

use super::{Others, Pack, Single, Vector, difference, finish, joint as joint_of};
use crate::simd::vector::lines;

/// Memory of one thread, kept between tiles.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// The lower triangle of U with its diagonal blocks whole: d rows of `stride`.
    joint: Vec<Pack>,
    /// S_i + S_j, or nothing; then L without its diagonal, and L^{-1} (x_i - x_j) / D below: d + 1 rows.
    lower: Vec<Pack>,
    /// L D of the rows of one panel.
    panel: Vec<Pack>,
    /// 1 / D
    inverse: Vec<Pack>,
}

/// Rows of a panel at most.
const LARGEST_PANEL: usize = 4;

/// Registers from row to row of a matrix, an odd number so that rows do not compete for the same cache sets.
fn stride(d: usize) -> usize {
    d | 1
}

impl Workspace {
    pub(crate) fn reserve(&mut self, d: usize) {
        let stride = stride(d);
        self.joint.resize(d * stride, Pack::ZERO);
        self.lower.resize((d + 1) * stride, Pack::ZERO);
        self.panel.resize(LARGEST_PANEL * stride, Pack::ZERO);
        self.inverse.resize(d, Pack::ZERO);
    }

    /// Bytes for dimension d.
    pub(crate) fn bytes(d: usize) -> usize {
        ((2 * d + 1 + LARGEST_PANEL) * stride(d) + d) * size_of::<Pack>()
    }

    /// The same memory as registers: slices, whose addresses stay in registers of their own.
    #[inline(always)]
    fn state<V: Vector>(&mut self, d: usize) -> State<'_, V> {
        State {
            d,
            joint: V::view(&mut self.joint),
            lower: V::view(&mut self.lower),
            panel: V::view(&mut self.panel),
            inverse: V::view(&mut self.inverse),
        }
    }
}

struct State<'a, V> {
    d: usize,
    joint: &'a mut [V],
    lower: &'a mut [V],
    panel: &'a mut [V],
    inverse: &'a mut [V],
}

/// d x d matrices in panels of P rows.
pub(super) struct Dense<'a, const SHARED: bool, const P: usize> {
    pub d: usize,
    pub workspace: &'a mut Workspace,
}

type Block<V, const R: usize, const C: usize> = [[V; C]; R];

/// block -= A B', A being R rows and B C rows of `len` registers, `stride` apart.
#[inline(always)]
fn accumulate<V: Vector, const R: usize, const C: usize>(
    block: &mut Block<V, R, C>,
    a: &[V],
    b: &[V],
    stride: usize,
    len: usize,
) {
    if len == 0 {
        return;
    }
    let (a, b) = (lines::<V, R>(a, stride, len), lines::<V, C>(b, stride, len));
    let mut sum = *block;
    for k in 0..len {
        for r in 0..R {
            let x = a[r][k];
            for c in 0..C {
                let y = b[c][k];
                sum[r][c] = x.neg_mul_add(y, sum[r][c]);
            }
        }
    }
    *block = sum;
}

/// block += A B' over these k, a and b being the row and the column of its corner in U, of which only the
/// lower triangle is there: where FLIP_A (FLIP_B) says so, element (a, k) is read as (k, a).
#[inline(always)]
fn square<V: Vector, const FLIP_A: bool, const FLIP_B: bool, const R: usize, const C: usize>(
    block: &mut Block<V, R, C>,
    u: &[V],
    stride: usize,
    a: usize,
    b: usize,
    range: Range<usize>,
) {
    let mut sum = *block;
    let a_lines = lines::<V, R>(&u[a * stride..], stride, if FLIP_A { 0 } else { range.end });
    let b_lines = lines::<V, C>(&u[b * stride..], stride, if FLIP_B { 0 } else { range.end });
    for k in range {
        let line = &u[k * stride..][..stride];
        let (mut x, mut y) = ([V::splat(0.0); R], [V::splat(0.0); C]);
        let (a_part, b_part) =
            (if FLIP_A { &line[a..][..R] } else { line }, if FLIP_B { &line[b..][..C] } else { line });
        for r in 0..R {
            x[r] = if FLIP_A { a_part[r] } else { a_lines[r][k] };
        }
        for c in 0..C {
            y[c] = if FLIP_B { b_part[c] } else { b_lines[c][k] };
        }
        for r in 0..R {
            for c in 0..C {
                sum[r][c] = x[r].mul_add(y[c], sum[r][c]);
            }
        }
    }
    *block = sum;
}

impl<V: Vector> State<'_, V> {
    /// The block of U^2 with corner (row, column).
    #[inline(always)]
    fn squared<const R: usize, const C: usize>(&self, row: usize, column: usize) -> Block<V, R, C> {
        let stride = stride(self.d);
        let mut block = [[V::splat(0.0); C]; R];
        let (first, second) = (column + C, (row + R).max(column + C));
        square::<V, false, false, R, C>(&mut block, self.joint, stride, row, column, 0..first);
        square::<V, false, true, R, C>(&mut block, self.joint, stride, row, column, first..second);
        square::<V, true, true, R, C>(&mut block, self.joint, stride, row, column, second..self.d);
        block
    }

    /// The block of S_i + S_j with corner (row, column).
    #[inline(always)]
    fn block<const R: usize, const C: usize>(&self, row: usize, column: usize) -> Block<V, R, C> {
        let stride = stride(self.d);
        let mut block = [[V::splat(0.0); C]; R];
        for r in 0..R {
            block[r].copy_from_slice(&self.lower[(row + r) * stride + column..][..C]);
        }
        block
    }

    /// Factor R rows of M from `row` on; the rows above are done.
    #[inline(always)]
    fn rows<const SHARED: bool, const R: usize, const P: usize>(&mut self, row: usize) {
        let stride = stride(self.d);
        for column in (0..row).step_by(P) {
            let block = if SHARED { self.squared::<R, P>(row, column) } else { self.block::<R, P>(row, column) };
            self.eliminate::<R, P>(block, row, column);
        }
        let mut block = if SHARED { self.squared::<R, R>(row, row) } else { self.block::<R, R>(row, row) };
        accumulate::<V, R, R>(&mut block, self.panel, &self.lower[row * stride..], stride, row);
        for c in 0..R {
            // I is added last: the pivot without it is a sum of squares minus another, at least -rounding.
            let one = V::splat(1.0);
            let inverse = block[c][c].add(one).max(one).recip();
            self.inverse[row + c] = inverse;
            for r in c + 1..R {
                let l = block[r][c].mul(inverse);
                self.lower[(row + r) * stride + row + c] = l;
                for r2 in r..R {
                    block[r2][r] = block[r2][c].neg_mul_add(l, block[r2][r]);
                }
            }
        }
    }

    /// Finish a block of rows of L D in the columns from `column` on: subtract what the columns before
    /// explain, then solve with the diagonal block of L. Divided by D they are rows of L, from `row` on.
    #[inline(always)]
    fn eliminate<const R: usize, const P: usize>(&mut self, mut block: Block<V, R, P>, row: usize, column: usize) {
        let stride = stride(self.d);
        accumulate::<V, R, P>(&mut block, self.panel, &self.lower[column * stride..], stride, column);
        for c in 1..P {
            for k in 0..c {
                let factor = self.lower[(column + c) * stride + column + k];
                for r in 0..R {
                    block[r][c] = block[r][k].neg_mul_add(factor, block[r][c]);
                }
            }
        }
        for r in 0..R {
            for c in 0..P {
                self.panel[r * stride + column + c] = block[r][c];
                self.lower[(row + r) * stride + column + c] = block[r][c].mul(self.inverse[column + c]);
            }
        }
    }
}

impl<V: Vector, const SHARED: bool, const P: usize> Single<V> for Dense<'_, SHARED, P> {
    #[inline(always)]
    fn some(&mut self, own: &[f64], others: Others<'_>) -> V {
        let (d, stride) = (self.d, stride(self.d));
        let mut state = self.workspace.state::<V>(d);
        let target = if SHARED { &mut *state.joint } else { &mut *state.lower };
        let mut e = d;
        for r in 0..d {
            let line = &mut target[r * stride..][..r + 1];
            for c in 0..r + 1 {
                line[c] = joint_of::<V, SHARED>(own, others, e + c);
            }
            e += r + 1;
            for c in r / P * P..r {
                target[c * stride + r] = target[r * stride + c];
            }
        }
        let body = d / P * P;
        for row in (0..body).step_by(P) {
            state.rows::<SHARED, P, P>(row);
        }
        match d - body {
            1 => state.rows::<SHARED, 1, P>(body),
            2 => state.rows::<SHARED, 2, P>(body),
            3 => state.rows::<SHARED, 3, P>(body),
            _ => {}
        }
        // x_i - x_j as one more row of L D: y = L^{-1} (x_i - x_j), and the form is y' D^{-1} y.
        for column in (0..body).step_by(P) {
            let mut block = [[V::splat(0.0); P]];
            for c in 0..P {
                block[0][c] = difference::<V>(own, others, column + c);
            }
            state.eliminate::<1, P>(block, d, column);
        }
        for c in body..d {
            let mut y = difference::<V>(own, others, c);
            for k in 0..c {
                y = state.panel[k].neg_mul_add(state.lower[c * stride + k], y);
            }
            state.panel[c] = y;
        }
        let (mut product, mut sum) = (V::splat(1.0), V::splat(0.0));
        for (y, inverse) in state.panel[..d].iter().zip(&state.inverse[..d]) {
            product = product.mul(*inverse);
            sum = y.mul(*y).mul_add(*inverse, sum);
        }
        finish(product, sum)
    }
}
