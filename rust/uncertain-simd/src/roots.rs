//! Symmetric square roots of eight matrices side by side, by Jacobi rotations.
//!
//! Idea: a rotation is the same instructions for every matrix, only its angle differs, so eight matrices share
//! them; decompositions of one small matrix at a time are mostly waiting. Rotations keep absolute accuracy for
//! singular matrices, too, which iterations on the root itself (Newton) do not. Pairs (p, q) of a round do
//! not share rows, so that the angle of one is computed while another one is applied. An element below
//! [`SMALL`] counts as zero and its rotation is exactly the identity: what comes out of a lane does not depend
//! on its neighbours.
//!
//! Rejected: a closed form for 2 x 2, which needs the determinant, a difference: of singular matrices it is
//! rounding of 1e-16, and its root 1e-8.

use crate::lanes::{LANES, Pack};
use crate::scale::power_of_two_near;
use crate::vector::{Vector, Wide, dispatch_wide};

/// Above this dimension tridiagonal forms of one matrix at a time are faster.
pub const LARGEST: usize = 32;

/// Off-diagonal elements that count as zero where the largest element is between 1 and 2.
const SMALL: f64 = 1.0 / (1u64 << 56) as f64;

/// Sweeps at most. They converge quadratically: five to eight are usual.
const SWEEPS: usize = 40;

/// S^{1/2} in place of eight packed lower triangles S >= 0. Eigenvalues below d 2^-52 times the largest one count
/// as zero: they are rounding, 1e-16, but their roots would be 1e-8. `scratch` is kept between calls.
pub fn symmetric_roots(d: usize, matrices: &mut [Pack], scratch: &mut Vec<Pack>) {
    scratch.resize(2 * d * d, Pack::ZERO);
    dispatch_wide(Roots { d, matrices, scratch });
}

struct Roots<'a> {
    d: usize,
    matrices: &'a mut [Pack],
    scratch: &'a mut [Pack],
}

impl Wide for Roots<'_> {
    type Output = ();
    #[inline(always)]
    fn run<V: Vector>(self) {
        let size = self.d * self.d;
        for at in (0..LANES).step_by(V::WIDTH) {
            let (a, v) = V::view(self.scratch).split_at_mut(size);
            root(self.d, self.matrices, at, a, &mut v[..size]);
        }
    }
}

/// The matrices from lane `at` on. `a` becomes the lower triangle of V S V', diagonal, `v` the rows of V.
#[inline(always)]
fn root<V: Vector>(d: usize, matrices: &mut [Pack], at: usize, a: &mut [V], v: &mut [V]) {
    let (zero, one) = (V::splat(0.0), V::splat(1.0));
    let mut largest = zero;
    for m in &*matrices {
        let x = V::load(&m.0[at..]);
        largest = largest.max(x).max(zero.sub(x));
    }
    // Scaled by a power of two: variances of 1e-200 would underflow in the squares.
    let (mut scales, mut inverses) = ([0.0; LANES], [0.0; LANES]);
    largest.store(&mut scales);
    for l in 0..V::WIDTH {
        scales[l] = power_of_two_near(scales[l]);
        inverses[l] = 1.0 / scales[l];
    }
    let (scale, inverse) = (V::load(&scales), V::load(&inverses));
    let mut e = 0;
    for r in 0..d {
        for c in 0..d {
            v[r * d + c] = if r == c { one } else { zero };
            if c <= r {
                a[r * d + c] = V::load(&matrices[e].0[at..]).mul(inverse);
                e += 1;
            }
        }
    }
    for _ in 0..SWEEPS {
        let mut seen = [0.0; LANES];
        sweep(d, a, v).store(&mut seen);
        if seen[..V::WIDTH] == [0.0; LANES][..V::WIDTH] {
            break;
        }
    }
    let mut last = zero;
    for k in 0..d {
        last = last.max(a[k * d + k]);
    }
    let cut = last.mul(V::splat(d as f64 * f64::EPSILON));
    // V' f(D) V: the rows of f(D) V in place of a.
    for k in 0..d {
        let value = a[k * d + k];
        let f = value.where_above(value, cut).mul(scale).sqrt();
        for c in 0..d {
            a[k * d + c] = f.mul(v[k * d + c]);
        }
    }
    let mut e = 0;
    for r in 0..d {
        for c in 0..r + 1 {
            let mut sum = zero;
            for k in 0..d {
                sum = a[k * d + r].mul_add(v[k * d + c], sum);
            }
            sum.store(&mut matrices[e].0[at..]);
            e += 1;
        }
    }
}

/// Every pair (p, q) once, in rounds of pairs that share no row (the fixed schedule of a tournament). The
/// largest element that was rotated away.
#[inline(always)]
fn sweep<V: Vector>(d: usize, a: &mut [V], v: &mut [V]) -> V {
    let mut seen = V::splat(0.0);
    let players = d.next_multiple_of(2);
    if players == 0 {
        return seen;
    }
    let ring = players - 1;
    for round in 0..ring {
        for k in 0..players / 2 {
            let (i, j) = if k == 0 { (ring, round) } else { ((round + k) % ring, (round + ring - k) % ring) };
            if i < d && j < d {
                seen = seen.max(rotate(d, a, v, i.min(j), i.max(j)));
            }
        }
    }
    seen
}

/// Make element (q, p) zero, p < q. Its size, or 0 where there was nothing to do.
#[inline(always)]
fn rotate<V: Vector>(d: usize, a: &mut [V], v: &mut [V], p: usize, q: usize) -> V {
    let (zero, one) = (V::splat(0.0), V::splat(1.0));
    let x = a[q * d + p];
    let size = x.max(zero.sub(x));
    let used = x.where_above(size, V::splat(SMALL));
    let mut sizes = [0.0; LANES];
    used.store(&mut sizes);
    if sizes == [0.0; LANES] {
        return zero;
    }
    // t = tan of the angle, |t| <= 1.
    let gap = a[q * d + q].sub(a[p * d + p]);
    let twice = used.add(used);
    let wide = gap.mul_add(gap, twice.mul(twice)).sqrt();
    let both = wide.add(gap.max(zero.sub(gap))).max(V::splat(1e-150));
    let t = twice.div(both.copysign(gap));
    let c = t.mul_add(t, one).rsqrt();
    let s = t.mul(c);
    a[p * d + p] = t.neg_mul_add(used, a[p * d + p]);
    a[q * d + q] = t.mul_add(used, a[q * d + q]);
    a[q * d + p] = x.sub(used);
    for k in 0..p {
        turn(a, p * d + k, q * d + k, c, s);
    }
    for k in p + 1..q {
        turn(a, k * d + p, q * d + k, c, s);
    }
    for k in q + 1..d {
        turn(a, k * d + p, k * d + q, c, s);
    }
    for k in 0..d {
        turn(v, p * d + k, q * d + k, c, s);
    }
    size.where_above(size, V::splat(SMALL))
}

/// (x, y) <- (c x - s y, s x + c y)
#[inline(always)]
fn turn<V: Vector>(m: &mut [V], first: usize, second: usize, c: V, s: V) {
    let (x, y) = (m[first], m[second]);
    m[first] = s.neg_mul_add(y, c.mul(x));
    m[second] = s.mul_add(x, c.mul(y));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Level;
    use crate::testing::Numbers;
    use crate::tests::under_miri::{one_of, up_to};
    use crate::vector::run_on;

    /// F F' of d x rank, times `scale`: a packed triangle.
    fn matrix(d: usize, rank: usize, scale: f64, numbers: &mut Numbers) -> Vec<f64> {
        let f: Vec<f64> = (0..d * rank).map(|_| numbers.normal()).collect();
        let dot = |i: usize, j: usize| (0..rank).map(|k| f[i * rank + k] * f[j * rank + k]).sum::<f64>();
        (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| scale * dot(i, j)).collect()
    }

    fn side_by_side(triangles: &[Vec<f64>]) -> Vec<Pack> {
        let mut packs = vec![Pack::ZERO; triangles[0].len()];
        for (l, t) in triangles.iter().enumerate() {
            packs.iter_mut().zip(t).for_each(|(p, x)| p.0[l] = *x);
        }
        packs
    }

    fn at(triangle: &[f64], i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        triangle[i * (i + 1) / 2 + j]
    }

    #[test]
    fn roots_are_positive_and_their_squares_the_matrices() {
        for d in (1..=12_usize).chain([17, 32]).take(up_to(14)).step_by(one_of(4)) {
            let mut numbers = Numbers::new(d as u64);
            let mut triangles: Vec<Vec<f64>> =
                [(d, 1.0), (d.div_ceil(3), 1.0), (1, 1.0), (d, 1e-250), (d, 1e150), (0, 1.0)]
                    .map(|(rank, scale)| matrix(d, rank, scale, &mut numbers))
                    .into();
            // The identity, and one of eigenvalues far apart.
            let diagonal = |f: &dyn Fn(usize) -> f64| -> Vec<f64> {
                (0..d)
                    .flat_map(|i| (0..=i).map(move |j| (i, j)))
                    .map(|(i, j)| if i == j { f(i) } else { 0.0 })
                    .collect()
            };
            triangles.push(diagonal(&|_| 2.0));
            triangles.push(diagonal(&|i| 10.0_f64.powi(-(i as i32))));
            for level in Level::all() {
                let (mut packs, mut scratch) = (side_by_side(&triangles), vec![Pack::ZERO; 2 * d * d]);
                run_on(level, Roots { d, matrices: &mut packs, scratch: &mut scratch });
                for (l, s) in triangles.iter().enumerate() {
                    let root: Vec<f64> = packs.iter().map(|p| p.0[l]).collect();
                    let size = s.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                    for i in 0..d {
                        assert!(at(&root, i, i) >= -1e-14 * size.sqrt());
                        for j in 0..=i {
                            // (The dot product of two roots of 1e-125 does not underflow.)
                            let square: f64 = (0..d).map(|k| at(&root, i, k) * at(&root, j, k)).sum();
                            let error = (square - at(s, i, j)).abs();
                            assert!(error <= 4e-15 * (d as f64) * size, "{level:?}, d = {d}, lane {l}: {error:e}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_a_singular_root() {
        // Of rank one: S^{1/2} = S / |f|. Where zero eigenvalues were not cut, this would be off by 1e-8.
        let d = 5;
        let mut numbers = Numbers::new(4);
        let triangles: Vec<Vec<f64>> = (0..LANES).map(|_| matrix(d, 1, 1.0, &mut numbers)).collect();
        let mut packs = side_by_side(&triangles);
        symmetric_roots(d, &mut packs, &mut vec![]);
        for (l, s) in triangles.iter().enumerate() {
            let norm = (0..d).map(|i| at(s, i, i)).sum::<f64>().sqrt();
            assert!(packs.iter().zip(s).all(|(p, s)| (p.0[l] - s / norm).abs() <= 1e-14 * norm));
        }
    }

    #[test]
    fn a_lane_does_not_know_its_neighbours() {
        for d in [2, 5, 11] {
            let mut numbers = Numbers::new(9);
            let triangles: Vec<Vec<f64>> = (0..LANES).map(|l| matrix(d, 1 + l, 1.0, &mut numbers)).collect();
            let mut together = side_by_side(&triangles);
            symmetric_roots(d, &mut together, &mut vec![]);
            for (l, triangle) in triangles.iter().enumerate() {
                let mut alone = side_by_side(std::slice::from_ref(triangle));
                symmetric_roots(d, &mut alone, &mut vec![]);
                assert!(alone.iter().zip(&together).all(|(a, b)| a.0[0] == b.0[l]), "d = {d}, lane {l}");
            }
        }
    }
}
