//! M^{-1}, a = M^{-1} r, r'M^{-1} r and |M| of as many rows as a register holds, M = T + S.
//!
//! Idea: with M = L L' and U = L^{-1}, z = U r:  M^{-1} = U'U,  a = U'z,  r'M^{-1} r = z'z. The residual r is one more row
//! of the matrix that is factored, so z and z'z come with L. Factor, inverse and product take d^3/6
//! multiply-adds each, and all three are products of rows with rows or columns with columns: P x P blocks of sums stay in
//! registers, P^2 multiply-adds for 2 P loads.
//!
//! Rejected: sweeping [[M, r], [r', 0]] on two pivots at a time. As many multiply-adds in one loop instead of three, but two
//! for every element loaded and stored, which took almost three times as long.

use super::form::{Component, Noise, Shape, triangle};
use crate::lanes::{LANES, Pack};
use crate::vector::{Vector, Wide, lines};

/// Registers from row to row of a matrix: odd, so that rows do not compete for the same cache sets.
fn stride(d: usize) -> usize {
    (d + 1) | 1
}

/// Eight rows under one component.
pub(super) struct Invert<'a> {
    pub shape: Shape,
    pub component: &'a Component,
    pub row: &'a [Pack],
    /// [`memory_len`] packs.
    pub memory: &'a mut [Pack],
    /// d packs: the pivots, whose product is |M|.
    pub pivots: &'a mut [Pack],
    /// The packed triangle of [[M^{-1}, a], [a', -r'a]].
    pub state: &'a mut [Pack],
}

pub(super) fn memory_len(d: usize) -> usize {
    (2 * d + 1) * stride(d) + d
}

impl Wide for Invert<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector>(self) {
        let d = self.shape.d;
        let (lower, rest) = self.memory.split_at_mut((d + 1) * stride(d));
        let (upper, scale) = rest.split_at_mut(d * stride(d));
        let mut work = Work {
            d,
            lower: V::view(lower),
            upper: V::view(upper),
            scale: V::view(scale),
            pivots: self.pivots,
            state: self.state,
            lane: 0,
        };
        for lane in (0..LANES).step_by(V::WIDTH) {
            work.lane = lane;
            work.fill(self.shape, self.component, self.row);
            if V::PANEL == 4 { work.all::<4>() } else { work.all::<3>() }
        }
    }
}

struct Work<'a, V> {
    d: usize,
    /// [[M, .], [r', 0]], then [[L, .], [z', -z'z]]: d + 1 rows.
    lower: &'a mut [V],
    /// U, with zeros above the diagonal within its diagonal blocks: d rows.
    upper: &'a mut [V],
    /// 1 / diagonal of L
    scale: &'a mut [V],
    pivots: &'a mut [Pack],
    state: &'a mut [Pack],
    /// The first of the lanes in hand.
    lane: usize,
}

type Block<V, const R: usize, const C: usize> = [[V; C]; R];

impl<V: Vector> Work<'_, V> {
    /// Missing features: their rows and columns become those of I, their residuals 0.
    #[inline(always)]
    fn fill(&mut self, shape: Shape, component: &Component, row: &[Pack]) {
        let (d, stride, lane) = (self.d, stride(self.d), self.lane);
        let (x, own) = (&row[..d], &row[d + 1..]);
        for i in 0..d {
            let line = &mut self.lower[i * stride..][..i + 1];
            let t = &component.scatter.matrix[triangle(i)..][..i + 1];
            if shape.noise == Noise::Full {
                let s = &own[triangle(i)..][..i + 1];
                for j in 0..i + 1 {
                    line[j] = V::splat(t[j]).add(V::load(&s[j].0[lane..]));
                }
            } else {
                for j in 0..i + 1 {
                    line[j] = V::splat(t[j]);
                }
                line[i] = line[i].add(V::load(&own[i].0[lane..]));
            }
        }
        let last = &mut self.lower[d * stride..][..d + 1];
        for i in 0..d {
            last[i] = V::load(&x[i].0[lane..]).sub(V::splat(component.mean[i]));
        }
        last[d] = V::splat(0.0);
        if shape.masked {
            let mask = &row[row.len() - d..];
            for i in 0..d {
                let known = V::load(&mask[i].0[lane..]);
                for j in 0..i {
                    let at = i * stride + j;
                    self.lower[at] = self.lower[at].mul(known).mul(V::load(&mask[j].0[lane..]));
                }
                let at = i * stride + i;
                self.lower[at] = self.lower[at].mul(known).add(V::splat(1.0).sub(known));
                self.lower[d * stride + i] = self.lower[d * stride + i].mul(known);
            }
        }
    }

    #[inline(always)]
    fn all<const P: usize>(&mut self) {
        // Rows of `len`, P at a time and the rest at once.
        macro_rules! panels {
            ($len:expr, $method:ident) => {
                let (len, whole) = ($len, $len / P * P);
                for row in (0..whole).step_by(P) {
                    self.$method::<P, P>(row);
                }
                match len - whole {
                    1 => self.$method::<1, P>(whole),
                    2 => self.$method::<2, P>(whole),
                    3 => self.$method::<3, P>(whole),
                    _ => {}
                }
            };
        }
        let d = self.d;
        panels!(d + 1, factor);
        panels!(d, invert);
        panels!(d, multiply);
        self.lower[d * stride(d) + d].store(&mut self.state[triangle(d) + d].0[self.lane..]);
    }

    #[inline(always)]
    fn block<const R: usize, const C: usize>(&self, row: usize, column: usize) -> Block<V, R, C> {
        let lines = lines::<V, R>(&self.lower[row * stride(self.d) + column..], stride(self.d), C);
        let mut block = [[V::splat(0.0); C]; R];
        for r in 0..R {
            for c in 0..C {
                block[r][c] = lines[r][c];
            }
        }
        block
    }

    /// R rows of L from `row` on; those above are done. The last row of all has no pivot.
    #[inline(always)]
    fn factor<const R: usize, const P: usize>(&mut self, row: usize) {
        let stride = stride(self.d);
        for column in (0..row).step_by(P) {
            let mut block = self.block::<R, P>(row, column);
            {
                let a = lines::<V, R>(&self.lower[row * stride..], stride, column);
                let b = lines::<V, P>(&self.lower[column * stride..], stride, column);
                for k in 0..column {
                    for r in 0..R {
                        for c in 0..P {
                            block[r][c] = a[r][k].neg_mul_add(b[c][k], block[r][c]);
                        }
                    }
                }
            }
            for c in 0..P {
                for k in 0..c {
                    let l = self.lower[(column + c) * stride + column + k];
                    for r in 0..R {
                        block[r][c] = block[r][k].neg_mul_add(l, block[r][c]);
                    }
                }
                let scale = self.scale[column + c];
                for r in 0..R {
                    block[r][c] = block[r][c].mul(scale);
                }
            }
            for r in 0..R {
                self.lower[(row + r) * stride + column..][..P].copy_from_slice(&block[r]);
            }
        }
        let mut block = self.block::<R, R>(row, row);
        {
            let a = lines::<V, R>(&self.lower[row * stride..], stride, row);
            for k in 0..row {
                for r in 0..R {
                    for c in 0..R {
                        if c <= r {
                            block[r][c] = a[r][k].neg_mul_add(a[c][k], block[r][c]);
                        }
                    }
                }
            }
        }
        for c in 0..R {
            if row + c < self.d {
                let pivot = block[c][c];
                pivot.store(&mut self.pivots[row + c].0[self.lane..]);
                let scale = pivot.rsqrt();
                self.scale[row + c] = scale;
                for r in c + 1..R {
                    block[r][c] = block[r][c].mul(scale);
                    for k in c + 1..R {
                        if k <= r {
                            block[r][k] = block[r][c].neg_mul_add(block[k][c], block[r][k]);
                        }
                    }
                }
            }
        }
        for r in 0..R {
            for c in 0..R {
                if c <= r {
                    self.lower[(row + r) * stride + row + c] = block[r][c];
                }
            }
        }
    }

    /// R rows of U.
    #[inline(always)]
    fn invert<const R: usize, const P: usize>(&mut self, row: usize) {
        let stride = stride(self.d);
        for column in (0..row).step_by(P) {
            let mut block = [[V::splat(0.0); P]; R];
            {
                let a = lines::<V, R>(&self.lower[row * stride..], stride, row);
                let b = &self.upper[column..];
                for k in column..row {
                    let line = &b[k * stride..][..P];
                    for r in 0..R {
                        for c in 0..P {
                            block[r][c] = a[r][k].neg_mul_add(line[c], block[r][c]);
                        }
                    }
                }
            }
            self.solve::<R, P>(&mut block, row);
            for r in 0..R {
                self.upper[(row + r) * stride + column..][..P].copy_from_slice(&block[r]);
            }
        }
        let mut block = [[V::splat(0.0); R]; R];
        for r in 0..R {
            block[r][r] = V::splat(1.0);
        }
        self.solve::<R, R>(&mut block, row);
        for r in 0..R {
            self.upper[(row + r) * stride + row..][..R].copy_from_slice(&block[r]);
        }
    }

    /// Divide by the diagonal block of L.
    #[inline(always)]
    fn solve<const R: usize, const C: usize>(&self, block: &mut Block<V, R, C>, row: usize) {
        for r in 0..R {
            for k in 0..r {
                let l = self.lower[(row + r) * stride(self.d) + row + k];
                for c in 0..C {
                    block[r][c] = l.neg_mul_add(block[k][c], block[r][c]);
                }
            }
            let scale = self.scale[row + r];
            for c in 0..C {
                block[r][c] = block[r][c].mul(scale);
            }
        }
    }

    /// R rows of U'U, and as many elements of U'z.
    #[inline(always)]
    fn multiply<const R: usize, const P: usize>(&mut self, row: usize) {
        let (d, stride, lane) = (self.d, stride(self.d), self.lane);
        for column in (0..row).step_by(P) {
            let mut block = [[V::splat(0.0); P]; R];
            for k in row..d {
                let line = &self.upper[k * stride..][..stride];
                let (a, b) = (&line[row..][..R], &line[column..][..P]);
                for r in 0..R {
                    for c in 0..P {
                        block[r][c] = a[r].mul_add(b[c], block[r][c]);
                    }
                }
            }
            for r in 0..R {
                let out = &mut self.state[triangle(row + r) + column..][..P];
                for c in 0..P {
                    block[r][c].store(&mut out[c].0[lane..]);
                }
            }
        }
        let (mut block, mut image) = ([[V::splat(0.0); R]; R], [V::splat(0.0); R]);
        let z = &self.lower[d * stride..][..d];
        for k in row..d {
            let a = &self.upper[k * stride + row..][..R];
            for r in 0..R {
                for c in 0..R {
                    if c <= r {
                        block[r][c] = a[r].mul_add(a[c], block[r][c]);
                    }
                }
                image[r] = a[r].mul_add(z[k], image[r]);
            }
        }
        for r in 0..R {
            for c in 0..R {
                if c <= r {
                    block[r][c].store(&mut self.state[triangle(row + r) + row + c].0[lane..]);
                }
            }
            image[r].store(&mut self.state[triangle(d) + row + r].0[lane..]);
        }
    }
}
