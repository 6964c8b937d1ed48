//! Factorisations M = L D L' in few dimensions, M formed on the way, all loop bounds known to the compiler.
//!
//! Idea: two rows of M at a time, their (at most 24) elements in registers: first the product of rows of U,
//! then the elimination by the rows before them. D has 2 x 2 blocks, each inverted by one division: half the
//! divisions, and half as many that wait for each other. The determinant of a block is at least as large as
//! its diagonal, because M >= I; what rounding makes of one below that is cut.

use super::{Others, Pairs, Vector, difference, finish, joint};

/// N x N matrices, 3 <= N <= 12.
pub(super) struct Small<const N: usize, const SHARED: bool>;

/// U (or S_i + S_j) and the factors of M so far.
struct State<V, const N: usize> {
    joint: [[V; N]; N],
    /// Row k: column k of L.
    lower: [[V; N]; N],
    /// The inverse of the block of D with row k (even): elements (k, k) and (k + 1, k + 1) at their places ..
    inverse: [V; N],
    /// .. and (k, k + 1) at k.
    cross: [V; N],
}

/// Statements with a constant K = 0, 2, .. 10 below N: a loop that is certain to be unrolled.
macro_rules! by_two {
    ($K:ident < $N:expr => $body:block) => {
        by_two!(@ $K, $N, $body, 0 2 4 6 8 10)
    };
    (@ $K:ident, $N:expr, $body:block, $($k:literal)*) => {
        $( if $k < $N { const $K: usize = $k; $body } )*
    };
}

/// rows -= (columns K and K + 1 of them) (these rows of L'), for the columns from K + 2 on.
#[inline(always)]
fn eliminate<V: Vector, const N: usize, const R: usize, const I: usize, const K: usize>(
    rows: &mut [[V; N]; R],
    state: &mut State<V, N>,
) {
    for c in K + 2..I {
        let (l, l2) = (state.lower[K][c], state.lower[K + 1][c]);
        for r in 0..R {
            rows[r][c] = rows[r][K + 1].neg_mul_add(l2, rows[r][K].neg_mul_add(l, rows[r][c]));
        }
    }
    let (inverse, inverse2, cross) = (state.inverse[K], state.inverse[K + 1], state.cross[K]);
    for r in 0..R {
        let (w, w2) = (rows[r][K], rows[r][K + 1]);
        let (l, l2) = (w.mul_add(inverse, w2.mul(cross)), w2.mul_add(inverse2, w.mul(cross)));
        state.lower[K][I + r] = l;
        state.lower[K + 1][I + r] = l2;
        for below in 0..R {
            if below >= r {
                let (w, w2) = (rows[below][K], rows[below][K + 1]);
                rows[below][I + r] = w2.neg_mul_add(l2, w.neg_mul_add(l, rows[below][I + r]));
            }
        }
    }
}

/// Make and factor rows I .. I + R of M; those above are done. The product of the inverse pivots.
#[inline(always)]
fn factor<V: Vector, const N: usize, const SHARED: bool, const R: usize, const I: usize>(state: &mut State<V, N>) -> V {
    let one = V::splat(1.0);
    let mut rows = [[V::splat(0.0); N]; R];
    for r in 0..R {
        if SHARED {
            rows[r][I + r] = one;
        } else {
            for c in 0..I + R {
                if c < I + r {
                    rows[r][c] = state.joint[I + r][c];
                }
            }
            rows[r][I + r] = one.add(state.joint[I + r][I + r]);
        }
    }
    if SHARED {
        for k in 0..N {
            let u = &state.joint[k];
            for r in 0..R {
                for c in 0..I + R {
                    if c <= I + r {
                        rows[r][c] = u[I + r].mul_add(u[c], rows[r][c]);
                    }
                }
            }
        }
    }
    by_two!(K < I => { eliminate::<V, N, R, I, K>(&mut rows, state) });
    if R == 2 {
        let (a, b, c) = (rows[0][I], rows[1][I], rows[1][I + 1]);
        let least = a.max(c).max(one);
        let inverse = one.div(b.neg_mul_add(b, a.mul(c)).max(least));
        state.inverse[I] = c.mul(inverse);
        state.inverse[I + 1] = a.mul(inverse);
        state.cross[I] = V::splat(0.0).sub(b).mul(inverse);
        inverse
    } else {
        state.inverse[I] = one.div(rows[0][I].max(one));
        state.inverse[I]
    }
}

/// One block of the form y' D^{-1} y with y = L^{-1} (x_i - x_j).
#[inline(always)]
fn form<V: Vector, const N: usize, const K: usize>(y: &mut [V; N], state: &State<V, N>, sum: V) -> V {
    if K + 1 == N {
        return y[K].mul(y[K]).mul_add(state.inverse[K], sum);
    }
    let (a, b) = (y[K], y[K + 1]);
    for c in K + 2..N {
        y[c] = b.neg_mul_add(state.lower[K + 1][c], a.neg_mul_add(state.lower[K][c], y[c]));
    }
    let (inverse, inverse2, cross) = (state.inverse[K], state.inverse[K + 1], state.cross[K]);
    let (first, second) = (a.mul_add(inverse, b.mul(cross)), b.mul_add(inverse2, a.mul(cross)));
    a.mul_add(first, b.mul_add(second, sum))
}

impl<const N: usize, const SHARED: bool> Pairs for Small<N, SHARED> {
    #[inline(always)]
    fn some<V: Vector>(&mut self, own: &[f64], others: Others<'_>) -> V {
        let width = N * (N + 3) / 2;
        let (own, others) = (&own[..width], others.cut(width));
        let zero = V::splat(0.0);
        let mut state = State { joint: [[zero; N]; N], lower: [[zero; N]; N], inverse: [zero; N], cross: [zero; N] };
        let mut e = N;
        for r in 0..N {
            for c in 0..N {
                if c <= r {
                    let u = joint::<V, SHARED>(own, others, e);
                    state.joint[r][c] = u;
                    state.joint[c][r] = u;
                    e += 1;
                }
            }
        }
        let mut product = V::splat(1.0);
        by_two!(ROW < N => {
            let inverse = if ROW + 1 < N {
                factor::<V, N, SHARED, 2, ROW>(&mut state)
            } else {
                factor::<V, N, SHARED, 1, ROW>(&mut state)
            };
            product = product.mul(inverse);
        });
        let (mut y, mut sum) = ([zero; N], zero);
        for k in 0..N {
            y[k] = difference::<V>(own, others, k);
        }
        by_two!(K < N => { sum = form::<V, N, K>(&mut y, &state, sum) });
        finish(product, sum.max(zero))
    }
}
