//! Factorisations M = L D L' in few dimensions, M formed on the way, all loop bounds known to the compiler.
//!
//! Idea: two rows of M at a time, their (at most 24) elements in registers: first the product of rows of U,
//! then the elimination by the rows before them. A factorisation is a chain of pivots, each a reciprocal that
//! the next one waits for: two rows of data go side by side, step by step, so that one works while the other
//! waits. Pivots are at least 1, because M >= I; what rounding makes of one below that is cut.

use super::{MOST, Pairs, Set, Vector, difference, finish, joint};

/// N x N matrices, 3 <= N <= 12.
pub(super) struct Small<V, const N: usize, const SHARED: bool> {
    states: [State<V, N>; MOST],
}

/// U (or S_i + S_j) and the factors of M so far.
#[derive(Clone, Copy)]
struct State<V, const N: usize> {
    joint: [[V; N]; N],
    /// Row k: column k of L.
    lower: [[V; N]; N],
    /// 1 / D
    inverse: [V; N],
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

/// Take what the columns K and K + 1 explain out of rows I .. I + R, and divide these two by D.
#[inline(always)]
fn eliminate<V: Vector, const N: usize, const R: usize, const I: usize, const K: usize>(
    rows: &mut [[V; N]; R],
    state: &mut State<V, N>,
) {
    for r in 0..R {
        rows[r][K + 1] = rows[r][K].neg_mul_add(state.lower[K][K + 1], rows[r][K + 1]);
    }
    for c in K + 2..I {
        let (l, l2) = (state.lower[K][c], state.lower[K + 1][c]);
        for r in 0..R {
            rows[r][c] = rows[r][K + 1].neg_mul_add(l2, rows[r][K].neg_mul_add(l, rows[r][c]));
        }
    }
    for r in 0..R {
        let l = rows[r][K].mul(state.inverse[K]);
        let l2 = rows[r][K + 1].mul(state.inverse[K + 1]);
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
    let inverse = rows[0][I].max(one).recip();
    state.inverse[I] = inverse;
    if R == 1 {
        return inverse;
    }
    let w = rows[R - 1][I];
    let l = w.mul(inverse);
    state.lower[I][I + R - 1] = l;
    let next = w.neg_mul_add(l, rows[R - 1][I + R - 1]).max(one).recip();
    state.inverse[I + R - 1] = next;
    inverse.mul(next)
}

/// Two terms of the form y' D^{-1} y with y = L^{-1} (x_i - x_j).
#[inline(always)]
fn form<V: Vector, const N: usize, const K: usize>(y: &mut [V; N], state: &State<V, N>, sum: V) -> V {
    let a = y[K];
    let sum = a.mul(a).mul_add(state.inverse[K], sum);
    if K + 1 == N {
        return sum;
    }
    let b = a.neg_mul_add(state.lower[K][K + 1], y[K + 1]);
    for c in K + 2..N {
        y[c] = b.neg_mul_add(state.lower[K + 1][c], a.neg_mul_add(state.lower[K][c], y[c]));
    }
    b.mul(b).mul_add(state.inverse[K + 1], sum)
}

impl<V: Vector, const N: usize, const SHARED: bool> Small<V, N, SHARED> {
    pub(super) fn new() -> Self {
        let zero = V::splat(0.0);
        let state = State { joint: [[zero; N]; N], lower: [[zero; N]; N], inverse: [zero; N] };
        Self { states: [state; MOST] }
    }
}

impl<V: Vector, const N: usize, const SHARED: bool> Pairs<V> for Small<V, N, SHARED> {
    const SIDE: usize = MOST;

    #[inline(always)]
    fn sets(&mut self, sets: &[Set<'_>; MOST]) -> [V; MOST] {
        let width = N * (N + 3) / 2;
        let states = &mut self.states;
        let (zero, one) = (V::splat(0.0), V::splat(1.0));
        for s in 0..Self::SIDE {
            let (own, others) = (&sets[s].own[..width], sets[s].others.cut(width));
            let mut e = N;
            for r in 0..N {
                for c in 0..N {
                    if c <= r {
                        let u = joint::<V, SHARED>(own, others, e);
                        states[s].joint[r][c] = u;
                        states[s].joint[c][r] = u;
                        e += 1;
                    }
                }
            }
        }
        let mut product = [one; MOST];
        by_two!(ROW < N => {
            for s in 0..Self::SIDE {
                let inverse = if ROW + 1 < N {
                    factor::<V, N, SHARED, 2, ROW>(&mut states[s])
                } else {
                    factor::<V, N, SHARED, 1, ROW>(&mut states[s])
                };
                product[s] = product[s].mul(inverse);
            }
        });
        let (mut y, mut out) = ([[zero; N]; MOST], [zero; MOST]);
        for s in 0..Self::SIDE {
            let (own, others) = (&sets[s].own[..width], sets[s].others.cut(width));
            for k in 0..N {
                y[s][k] = difference::<V>(own, others, k);
            }
        }
        by_two!(K < N => {
            for s in 0..Self::SIDE {
                out[s] = form::<V, N, K>(&mut y[s], &states[s], out[s]);
            }
        });
        for s in 0..Self::SIDE {
            out[s] = finish(product[s], out[s]);
        }
        out
    }
}
