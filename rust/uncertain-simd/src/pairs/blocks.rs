//! Triangles of matrices in blocks of P x P registers, and products of them that stay in registers.

use super::Vector;

/// Rows of a block at most.
pub(super) const LARGEST_PANEL: usize = 4;

/// P columns of P rows.
pub(super) type Block<V, const P: usize> = [[V; P]; P];

/// A block in registers: R rows, C columns.
pub(super) type Sums<V, const R: usize, const C: usize> = [[V; C]; R];

/// Registers for a triangle in blocks of `LARGEST_PANEL` or fewer rows.
pub(super) fn triangle(d: usize) -> usize {
    let d = d.next_multiple_of(LARGEST_PANEL);
    d * (d + LARGEST_PANEL) / 2
}

/// Number of the block (i, j), j <= i.
#[inline(always)]
pub(super) fn place(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// sums += A B' over the first n columns; a flipped block stands for its transpose.
#[inline(always)]
pub(super) fn add<V: Vector, const P: usize, const R: usize, const C: usize, const FLIP_A: bool, const FLIP_B: bool>(
    sums: &mut Sums<V, R, C>,
    a: &Block<V, P>,
    b: &Block<V, P>,
    n: usize,
) {
    for k in 0..n.min(P) {
        let mut x = [V::splat(0.0); R];
        for r in 0..R {
            x[r] = if FLIP_A { a[r][k] } else { a[k][r] };
        }
        for c in 0..C {
            let y = if FLIP_B { b[c][k] } else { b[k][c] };
            for r in 0..R {
                sums[r][c] = x[r].mul_add(y, sums[r][c]);
            }
        }
    }
}

/// The lower triangle of sums += A A', as in [`add`].
#[inline(always)]
pub(super) fn add_square<V: Vector, const P: usize, const R: usize, const FLIP: bool>(
    sums: &mut Sums<V, R, R>,
    a: &Block<V, P>,
    n: usize,
) {
    for k in 0..n.min(P) {
        let mut x = [V::splat(0.0); R];
        for r in 0..R {
            x[r] = if FLIP { a[r][k] } else { a[k][r] };
        }
        for c in 0..R {
            for r in c..R {
                sums[r][c] = x[r].mul_add(x[c], sums[r][c]);
            }
        }
    }
}
