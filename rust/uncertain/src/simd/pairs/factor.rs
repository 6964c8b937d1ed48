//! Eight factorisations M = L D L' side by side, M formed on the way.
//!
//! Idea: rows of M are made and factored in panels of four. A block of 4 x 4 (each element eight pairs
//! wide) starts as the product of rows of U, goes on as the elimination by the columns before it, and
//! only then leaves the registers: M itself is never stored, and both loops do 16 multiply-adds for 8
//! loads. L D L' instead of L L' needs one division per pivot and no root. Pivots are at least 1, because
//! M >= I; what rounding makes of a pivot below that is cut.
//!
//! Rejected: U^2 = S_i + S_j - A_i A_j - (A_i A_j)' with all products of a tile from one GEMM. It takes
//! twice the multiply-adds (A_i A_j has no symmetry to save half) and cancels for near-equal rows.

use std::sync::atomic::{Ordering, compiler_fence};

use super::{Lanes, Pack, Pairs, difference, finish, joint as joint_of, stride};
use crate::simd::lanes::{LANES, each, fma};

const PANEL: usize = 4;

/// Memory of one thread, kept between tiles.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// U: d rows of `stride`.
    joint: Vec<Pack>,
    /// L without its diagonal, and L^{-1} (x_i - x_j) / D below: d + 1 rows.
    lower: Vec<Pack>,
    /// L D of the rows of one panel.
    panel: Vec<Pack>,
    /// 1 / D
    inverse: Vec<Pack>,
}

impl Workspace {
    pub(crate) fn reserve(&mut self, d: usize) {
        let stride = stride(d);
        self.joint.resize(d * stride, Pack::ZERO);
        self.lower.resize((d + 1) * stride, Pack::ZERO);
        self.panel.resize(PANEL * stride, Pack::ZERO);
        self.inverse.resize(d, Pack::ZERO);
    }

    /// L, L D and 1 / D as slices: their addresses stay in registers, those of vectors are read again after
    /// every store.
    #[inline(always)]
    fn slices(&mut self) -> (&mut [Pack], &mut [Pack], &mut [Pack]) {
        (&mut self.lower, &mut self.panel, &mut self.inverse)
    }

    /// Bytes for dimension d.
    pub(crate) fn bytes(d: usize) -> usize {
        ((2 * d + 1) * stride(d) + PANEL * stride(d) + d) * size_of::<Pack>()
    }
}

/// d x d matrices.
pub(super) struct Dense<'a, const SHARED: bool> {
    pub d: usize,
    pub workspace: &'a mut Workspace,
}

type Block<const R: usize, const C: usize> = [[Lanes; C]; R];

/// block += (or -= with SUBTRACT) A B', A being R rows and B C rows of `len` packs, `stride` apart.
#[inline(always)]
fn accumulate<const FMA: bool, const SUBTRACT: bool, const R: usize, const C: usize>(
    block: &mut Block<R, C>,
    a: &[Pack],
    b: &[Pack],
    stride: usize,
    len: usize,
) {
    if len == 0 {
        return;
    }
    let a: [&[Pack]; R] = std::array::from_fn(|r| &a[r * stride..][..len]);
    let b: [&[Pack]; C] = std::array::from_fn(|c| &b[c * stride..][..len]);
    let mut sum = *block;
    for k in 0..len {
        for r in 0..R {
            let x = &a[r][k].0;
            for c in 0..C {
                let y = &b[c][k].0;
                for l in 0..LANES {
                    let x = if SUBTRACT { -x[l] } else { x[l] };
                    sum[r][c][l] = fma::<FMA>(x, y[l], sum[r][c][l]);
                }
            }
        }
    }
    *block = sum;
}

/// x -= a b
#[inline(always)]
fn subtract<const FMA: bool>(x: &mut Lanes, a: &Lanes, b: &Lanes) {
    *x = each(|l| fma::<FMA>(-a[l], b[l], x[l]));
}

impl<const SHARED: bool> Dense<'_, SHARED> {
    /// The block of B or U^2 with corner (row, column).
    #[inline(always)]
    fn start<const FMA: bool, const R: usize, const C: usize>(
        &self,
        own: &[f64],
        other: &[Pack],
        row: usize,
        column: usize,
    ) -> Block<R, C> {
        let (stride, joint) = (stride(self.d), self.workspace.joint.as_slice());
        let mut block = [[[0.0; LANES]; C]; R];
        if SHARED {
            accumulate::<FMA, false, R, C>(
                &mut block,
                &joint[row * stride..],
                &joint[column * stride..],
                stride,
                self.d,
            );
        } else {
            for r in 0..R {
                for c in 0..C {
                    block[r][c] = joint_of::<SHARED>(own, other, (row + r) * stride + column + c);
                }
            }
        }
        block
    }

    /// Make and factor R rows of M from `row` on; the rows above are done.
    #[inline(always)]
    fn rows<const FMA: bool, const R: usize>(&mut self, own: &[f64], other: &[Pack], row: usize) {
        let stride = stride(self.d);
        for column in (0..row).step_by(PANEL) {
            let block = self.start::<FMA, R, PANEL>(own, other, row, column);
            self.eliminate::<FMA, R>(block, row, column);
        }
        let mut block = self.start::<FMA, R, R>(own, other, row, row);
        let (lower, panel, inverse) = self.workspace.slices();
        accumulate::<FMA, true, R, R>(&mut block, panel, &lower[row * stride..], stride, row);
        for c in 0..R {
            // I is added last: the pivot without it is a sum of squares minus another, at least -rounding.
            let pivot = each(|l| 1.0 + block[c][c][l]);
            let scale = each(|l| 1.0 / if pivot[l] > 1.0 { pivot[l] } else { 1.0 });
            inverse[row + c].0 = scale;
            for r in c + 1..R {
                let w = block[r][c];
                let q = each(|l| w[l] * scale[l]);
                lower[(row + r) * stride + row + c].0 = q;
                for r2 in r..R {
                    let w2 = block[r2][c];
                    subtract::<FMA>(&mut block[r2][r], &w2, &q);
                }
            }
        }
    }

    /// Finish a block of rows of L D in the columns from `column` on: subtract what the columns before
    /// explain, then solve with the diagonal block of L. Divided by D they are rows of L, from `row` on.
    #[inline(always)]
    fn eliminate<const FMA: bool, const R: usize>(&mut self, mut block: Block<R, PANEL>, row: usize, column: usize) {
        let stride = stride(self.d);
        let (lower, panel, inverse) = self.workspace.slices();
        accumulate::<FMA, true, R, PANEL>(&mut block, panel, &lower[column * stride..], stride, column);
        for c in 1..PANEL {
            for k in 0..c {
                let factor = lower[(column + c) * stride + column + k].0;
                for r in 0..R {
                    let w = block[r][k];
                    subtract::<FMA>(&mut block[r][c], &w, &factor);
                }
            }
        }
        for r in 0..R {
            for c in 0..PANEL {
                let inverse = inverse[column + c].0;
                panel[r * stride + column + c].0 = block[r][c];
                lower[(row + r) * stride + column + c].0 = each(|l| block[r][c][l] * inverse[l]);
            }
        }
    }
}

impl<const SHARED: bool> Pairs for Dense<'_, SHARED> {
    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, own: &[f64], other: &[Pack]) -> Lanes {
        let (d, stride) = (self.d, stride(self.d));
        let (spread, other_spread) = (&own[d..], &other[d..]);
        if SHARED {
            for ((u, a), b) in self.workspace.joint.iter_mut().zip(spread).zip(other_spread) {
                u.0 = each(|l| a - b.0[l]);
                // Costs nothing, and keeps the compiler from vectorising over elements instead of lanes.
                compiler_fence(Ordering::AcqRel);
            }
        }
        let body = d / PANEL * PANEL;
        for row in (0..body).step_by(PANEL) {
            self.rows::<FMA, PANEL>(spread, other_spread, row);
        }
        match d - body {
            1 => self.rows::<FMA, 1>(spread, other_spread, body),
            2 => self.rows::<FMA, 2>(spread, other_spread, body),
            3 => self.rows::<FMA, 3>(spread, other_spread, body),
            _ => {}
        }
        // x_i - x_j as one more row of L D: y = L^{-1} (x_i - x_j), and the form is y' D^{-1} y.
        for column in (0..body).step_by(PANEL) {
            let block = [std::array::from_fn(|c| difference(own, other, column + c))];
            self.eliminate::<FMA, 1>(block, d, column);
        }
        let (lower, panel, inverse) = self.workspace.slices();
        for c in body..d {
            let mut y = difference(own, other, c);
            for k in 0..c {
                subtract::<FMA>(&mut y, &panel[k].0, &lower[c * stride + k].0);
            }
            panel[c].0 = y;
        }
        let (mut product, mut sum) = ([1.0; LANES], [0.0; LANES]);
        for (y, inverse) in panel[..d].iter().zip(&inverse[..d]) {
            product = each(|l| product[l] * inverse.0[l]);
            sum = each(|l| fma::<FMA>(y.0[l] * y.0[l], inverse.0[l], sum[l]));
        }
        finish::<FMA>(&product, &sum)
    }
}
