//! Factorisations M = L L' in any number of dimensions, M formed on the way.
//!
//! Idea: the lower triangles of U and L are stored in blocks of P x P elements, each element a register of pairs.
//! A block of M stays in registers while it is a product of rows of U, and is then eliminated by the columns before
//! it: P^2 multiply-adds for 2 P loads, in loops whose lengths the compiler knows. A block waits for the one to
//! its left and a diagonal block is a chain of pivots, so rows of blocks go by twos: one works while the
//! other waits, and both read the same columns while these are in the first cache. The difference x_i - x_j is
//! eliminated by each block of L while that is in registers; the determinant is a product of inverse roots.
//! Pivots are at least 1, because M >= I; what rounding makes of a pivot below that is cut.
//!
//! Rejected: U^2 = S_i + S_j - A_i A_j - (A_i A_j)' with all products of a tile from one GEMM. It takes
//! twice the multiply-adds (A_i A_j has no symmetry to save half) and cancels for near-equal rows. Rows one after
//! the other instead of blocks, with L and L D side by side: a quarter slower at d = 30. Blocks of 5 x 5: 3 %
//! faster at 30 and 64, as much slower below 28.

use super::blocks::{Block, LARGEST_PANEL, Sums, add, add_square, place, triangle};
use super::{Others, Pack, Single, Vector, difference, joint as joint_of};

/// Memory of one thread, kept between tiles.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The lower triangle of U in blocks, the diagonal ones whole (shared coupling only).
    joint: Vec<Pack>,
    /// L in blocks; the diagonal ones hold L D^{-1/2}, without its diagonal of ones.
    lower: Vec<Pack>,
    /// L^{-1} (x_i - x_j)
    solved: Vec<Pack>,
    /// D^{-1/2}
    scale: Vec<Pack>,
}

impl Workspace {
    pub fn reserve(&mut self, d: usize) {
        self.joint.resize(triangle(d), Pack::ZERO);
        self.lower.resize(triangle(d), Pack::ZERO);
        self.solved.resize(d + LARGEST_PANEL, Pack::ZERO);
        self.scale.resize(d + LARGEST_PANEL, Pack::ZERO);
    }

    /// Bytes for dimension d.
    pub fn bytes(d: usize) -> usize {
        2 * (triangle(d) + d + LARGEST_PANEL) * size_of::<Pack>()
    }
}

/// Registers by panels.
#[inline(always)]
fn panels<V: Vector, const P: usize>(packs: &mut [Pack]) -> &mut [[V; P]] {
    V::view(packs).as_chunks_mut::<P>().0
}

/// d x d matrices in panels of P rows.
pub(super) struct Dense<'a, const SHARED: bool, const P: usize> {
    pub d: usize,
    pub workspace: &'a mut Workspace,
}

/// The pairs at work, and memory for them.
struct State<'a, V, const SHARED: bool, const P: usize> {
    d: usize,
    own: &'a [f64],
    others: Others<'a>,
    joint: &'a mut [Block<V, P>],
    lower: &'a mut [Block<V, P>],
    solved: &'a mut [[V; P]],
    scale: &'a mut [[V; P]],
    /// |L|^{-1} of the rows so far.
    root: V,
    /// |L^{-1} (x_i - x_j)|^2 of the rows so far.
    form: V,
}

impl<V: Vector, const SHARED: bool, const P: usize> State<'_, V, SHARED, P> {
    /// Number in a row of data of the first element in block (i, j) and row r of it.
    #[inline(always)]
    fn element(&self, i: usize, j: usize, r: usize) -> usize {
        let row = i * P + r;
        self.d + row * (row + 1) / 2 + j * P
    }

    /// A_i - A_j or S_i + S_j.
    #[inline(always)]
    fn given(&self, element: usize) -> V {
        joint_of::<V, SHARED>(self.own, self.others, element)
    }

    /// Store the rows of U in panel i.
    #[inline(always)]
    fn store<const R: usize>(&mut self, i: usize) {
        for j in 0..i {
            let mut block = [[V::splat(0.0); P]; P];
            for c in 0..P {
                for r in 0..R {
                    block[c][r] = self.given(self.element(i, j, r) + c);
                }
            }
            let target = &mut self.joint[place(i, j)];
            for c in 0..P {
                target[c][..R].copy_from_slice(&block[c][..R]);
            }
        }
        for r in 0..R {
            for c in 0..r + 1 {
                let x = self.given(self.element(i, i, r) + c);
                let block = &mut self.joint[place(i, i)];
                (block[c][r], block[r][c]) = (x, x);
            }
        }
    }

    /// Block (i, j) of M, j < i.
    #[inline(always)]
    fn block<const R: usize>(&self, i: usize, j: usize) -> Sums<V, R, P> {
        let mut sums = [[V::splat(0.0); P]; R];
        if !SHARED {
            for r in 0..R {
                let first = self.element(i, j, r);
                for c in 0..P {
                    sums[r][c] = self.given(first + c);
                }
            }
            return sums;
        }
        let (u, whole) = (&*self.joint, self.d / P);
        let (a, b) = (&u[place(i, 0)..][..i + 1], &u[place(j, 0)..][..j + 1]);
        for (a, b) in a.iter().zip(b) {
            add::<V, P, R, P, false, false>(&mut sums, a, b, P);
        }
        for k in j + 1..i {
            add::<V, P, R, P, false, true>(&mut sums, &a[k], &u[place(k, j)], P);
        }
        add::<V, P, R, P, false, true>(&mut sums, &a[i], &u[place(i, j)], R);
        for k in i + 1..whole {
            add::<V, P, R, P, true, true>(&mut sums, &u[place(k, i)], &u[place(k, j)], P);
        }
        if i < whole && whole * P < self.d {
            let rest = self.d - whole * P;
            add::<V, P, R, P, true, true>(&mut sums, &u[place(whole, i)], &u[place(whole, j)], rest);
        }
        sums
    }

    /// The lower triangle of block (i, i) of M - I.
    #[inline(always)]
    fn diagonal_block<const R: usize>(&self, i: usize) -> Sums<V, R, R> {
        let mut sums = [[V::splat(0.0); R]; R];
        if !SHARED {
            for r in 0..R {
                for c in 0..r + 1 {
                    sums[r][c] = self.given(self.element(i, i, r) + c);
                }
            }
            return sums;
        }
        let (u, whole) = (&*self.joint, self.d / P);
        let (last, line) = (&u[place(i, i)], &u[place(i, 0)..][..i]);
        for a in line {
            add_square::<V, P, R, false>(&mut sums, a, P);
        }
        add_square::<V, P, R, false>(&mut sums, last, R);
        for k in i + 1..whole {
            add_square::<V, P, R, true>(&mut sums, &u[place(k, i)], P);
        }
        if i < whole && whole * P < self.d {
            add_square::<V, P, R, true>(&mut sums, &u[place(whole, i)], self.d - whole * P);
        }
        sums
    }

    /// Block (i, j) of L, j < i; `rest` loses what it explains of the difference.
    #[inline(always)]
    fn eliminate<const R: usize>(&mut self, i: usize, j: usize, rest: &mut [V; R]) {
        let mut sums = self.block::<R>(i, j);
        let (above, here) = self.lower.split_at_mut(place(i, 0));
        let (left, here) = here.split_at_mut(j);
        let (other, diagonal) = above[place(j, 0)..][..j + 1].split_at(j);
        for (a, b) in left.iter().zip(other) {
            for k in 0..P {
                for c in 0..P {
                    for r in 0..R {
                        sums[r][c] = a[k][r].neg_mul_add(b[k][c], sums[r][c]);
                    }
                }
            }
        }
        for c in 1..P {
            for k in 0..c {
                let factor = diagonal[0][k][c];
                for r in 0..R {
                    sums[r][c] = sums[r][k].neg_mul_add(factor, sums[r][c]);
                }
            }
        }
        let (scale, solved) = (&self.scale[j], &self.solved[j]);
        for c in 0..P {
            for r in 0..R {
                let l = sums[r][c].mul(scale[c]);
                here[0][c][r] = l;
                rest[r] = l.neg_mul_add(solved[c], rest[r]);
            }
        }
    }

    /// Block (i, i) of L, and the difference solved for.
    #[inline(always)]
    fn pivots<const R: usize>(&mut self, i: usize, rest: &mut [V; R]) {
        let mut sums = self.diagonal_block::<R>(i);
        let (left, here) = self.lower[place(i, 0)..].split_at_mut(i);
        for a in &*left {
            for k in 0..P {
                for c in 0..R {
                    for r in c..R {
                        sums[r][c] = a[k][r].neg_mul_add(a[k][c], sums[r][c]);
                    }
                }
            }
        }
        for c in 0..R {
            // I is added last: the pivot without it is a sum of squares minus another, at least -rounding.
            let one = V::splat(1.0);
            let pivot = sums[c][c].add(one).max(one);
            let (inverse, scale) = (pivot.recip(), pivot.rsqrt());
            let solved = rest[c].mul(scale);
            (self.scale[i][c], self.solved[i][c]) = (scale, solved);
            self.root = self.root.mul(scale);
            self.form = solved.mul_add(solved, self.form);
            for r in c + 1..R {
                let l = sums[r][c].mul(inverse);
                here[0][c][r] = l;
                rest[r] = l.neg_mul_add(rest[c], rest[r]);
                for below in r..R {
                    sums[below][r] = sums[below][c].neg_mul_add(l, sums[below][r]);
                }
            }
        }
    }

    /// x_i - x_j in panel i.
    #[inline(always)]
    fn difference<const R: usize>(&self, i: usize) -> [V; R] {
        let mut out = [V::splat(0.0); R];
        for r in 0..R {
            out[r] = difference::<V>(self.own, self.others, i * P + r);
        }
        out
    }

    /// One panel; those above are done.
    #[inline(always)]
    fn panel<const R: usize>(&mut self, i: usize) {
        let mut rest = self.difference::<R>(i);
        for j in 0..i {
            self.eliminate::<R>(i, j, &mut rest);
        }
        self.pivots::<R>(i, &mut rest);
    }

    /// Panels i and i + 1.
    #[inline(always)]
    fn two_panels(&mut self, i: usize) {
        let (mut rest, mut next) = (self.difference::<P>(i), self.difference::<P>(i + 1));
        for j in 0..i {
            self.eliminate::<P>(i, j, &mut rest);
            self.eliminate::<P>(i + 1, j, &mut next);
        }
        self.pivots::<P>(i, &mut rest);
        self.eliminate::<P>(i + 1, i, &mut next);
        self.pivots::<P>(i + 1, &mut next);
    }
}

impl<V: Vector, const SHARED: bool, const P: usize> Single<V> for Dense<'_, SHARED, P> {
    #[inline(always)]
    fn some(&mut self, own: &[f64], others: Others<'_>) -> V {
        let d = self.d;
        let width = d + d * (d + 1) / 2;
        let mut state = State::<V, SHARED, P> {
            d,
            own: &own[..width],
            others: others.cut(width),
            joint: panels::<V, P>(&mut self.workspace.joint).as_chunks_mut::<P>().0,
            lower: panels::<V, P>(&mut self.workspace.lower).as_chunks_mut::<P>().0,
            solved: panels(&mut self.workspace.solved),
            scale: panels(&mut self.workspace.scale),
            root: V::splat(1.0),
            form: V::splat(0.0),
        };
        let whole = d / P;
        if SHARED {
            for i in 0..whole {
                state.store::<P>(i);
            }
            match d % P {
                1 => state.store::<1>(whole),
                2 => state.store::<2>(whole),
                3 => state.store::<3>(whole),
                _ => {}
            }
        }
        for i in (0..whole / 2 * 2).step_by(2) {
            state.two_panels(i);
        }
        if whole % 2 == 1 {
            state.panel::<P>(whole - 1);
        }
        match d % P {
            1 => state.panel::<1>(whole),
            2 => state.panel::<2>(whole),
            3 => state.panel::<3>(whole),
            _ => {}
        }
        state.root.mul(state.form.exp_half())
    }
}
