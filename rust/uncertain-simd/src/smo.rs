//! The two passes of an SMO iteration over all variables: choose a partner, and follow a step.
//!
//! Both search for an extreme element. Lanes carry values only; which element it was is found by
//! reading one block of [`BLOCK`] again, so that no lane has to drag an index along. The gain of a
//! partner is a quotient; quotients are compared by products, since a division costs more than all
//! the rest. Of equal elements the first one in the first best block wins, on every machine.

use crate::dispatch::kernel;
use crate::lanes::{LANES, Lanes, each, fma};

const BLOCK: usize = 128;
/// Curvature of a pair that has none (LIBSVM's tau).
pub const FLAT: f64 = 1e-12;

/// The most violating variables: max of v - up with its place, and min of v - low.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes {
    /// Where v - up is largest.
    pub best: usize,
    /// max v - up; -inf when nothing can go up.
    pub up: f64,
    /// min v - low; +inf when nothing can go down.
    pub low: f64,
}

kernel! {
    /// `v -= d (a - b)`, and the extremes of the new v.
    pub fn follow<const FMA: bool>(d: f64, a: &[f64], b: &[f64], v: &mut [f64], up: &[f64], low: &[f64]) -> Extremes {
        let n = v.len();
        let mut search = Search::new();
        for (block, from) in (0..n).step_by(BLOCK).enumerate() {
            let to = n.min(from + BLOCK);
            let v = &mut v[from..to];
            for ((v, a), b) in v.iter_mut().zip(&a[from..to]).zip(&b[from..to]) {
                *v = fma::<FMA>(-d, a - b, *v);
            }
            search.see(block, v, &up[from..to], &low[from..to]);
        }
        search.found(v, up)
    }
}

kernel! {
    /// The extremes of v.
    pub fn extremes<const FMA: bool>(v: &[f64], up: &[f64], low: &[f64]) -> Extremes {
        let n = v.len();
        let mut search = Search::new();
        for (block, from) in (0..n).step_by(BLOCK).enumerate() {
            let to = n.min(from + BLOCK);
            search.see(block, &v[from..to], &up[from..to], &low[from..to]);
        }
        search.found(v, up)
    }
}

kernel! {
    /// The j with v_j - low_j < best that gains most, (best - (v_j - low_j))^2 / (diagonal + diagonal_j - 2 row_j).
    pub fn partner<const FMA: bool>(
        best: f64,
        diagonal: f64,
        row: &[f64],
        diagonals: &[f64],
        v: &[f64],
        low: &[f64],
    ) -> Option<usize> {
        // Numerator and denominator of the gain of one partner; a numerator of 0 is no gain.
        let gain_at = |k: usize| {
            let slope = larger(best - (v[k] - low[k]), 0.0);
            let curvature = (diagonal + diagonals[k]) - 2.0 * row[k];
            (slope * slope, if curvature > 0.0 { curvature } else { FLAT })
        };
        let n = v.len();
        let (mut top, mut top_block) = ((0.0, 1.0), 0);
        for (block, from) in (0..n).step_by(BLOCK).enumerate() {
            let to = n.min(from + BLOCK);
            let (mut square, mut curve): (Lanes, Lanes) = ([0.0; LANES], [1.0; LANES]);
            let body = from + (to - from) / LANES * LANES;
            for k in (from..body).step_by(LANES) {
                let (row, diagonals) = (lanes(row, k), lanes(diagonals, k));
                let (v, low) = (lanes(v, k), lanes(low, k));
                // One operation at a time on all lanes: a loop over lanes with all of it in its body
                // is not vectorised.
                let slope = each(|l| larger(best - (v[l] - low[l]), 0.0));
                let s = each(|l| slope[l] * slope[l]);
                let c = each(|l| (diagonal + diagonals[l]) - 2.0 * row[l]);
                let c = each(|l| if c[l] > 0.0 { c[l] } else { FLAT });
                let (ours, theirs) = (each(|l| s[l] * curve[l]), each(|l| square[l] * c[l]));
                square = each(|l| if ours[l] > theirs[l] { s[l] } else { square[l] });
                curve = each(|l| if ours[l] > theirs[l] { c[l] } else { curve[l] });
            }
            for (s, c) in (0..LANES).map(|l| (square[l], curve[l])).chain((body..to).map(gain_at)) {
                if s * top.1 > top.0 * c {
                    (top, top_block) = ((s, c), block);
                }
            }
        }
        let at = top_block * BLOCK;
        if top.0 > 0.0 { (at..n.min(at + BLOCK)).find(|&k| gain_at(k) == top) } else { None }
    }
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Best so far, and the block in which v - up was largest.
struct Search {
    up: f64,
    low: f64,
    block: usize,
}

impl Search {
    fn new() -> Self {
        Self { up: f64::NEG_INFINITY, low: f64::INFINITY, block: 0 }
    }

    /// One block of v, already new.
    #[inline(always)]
    fn see(&mut self, block: usize, v: &[f64], up: &[f64], low: &[f64]) {
        let (mut most, mut least): (Lanes, Lanes) = ([f64::NEG_INFINITY; LANES], [f64::INFINITY; LANES]);
        let body = v.len() / LANES * LANES;
        for k in (0..body).step_by(LANES) {
            let (v, up, low) = (lanes(v, k), lanes(up, k), lanes(low, k));
            for l in 0..LANES {
                most[l] = larger(v[l] - up[l], most[l]);
                least[l] = smaller(v[l] - low[l], least[l]);
            }
        }
        for k in body..v.len() {
            most[0] = larger(v[k] - up[k], most[0]);
            least[0] = smaller(v[k] - low[k], least[0]);
        }
        let most = most.iter().copied().fold(f64::NEG_INFINITY, larger);
        self.low = least.iter().copied().fold(self.low, smaller);
        if most > self.up {
            (self.up, self.block) = (most, block);
        }
    }

    fn found(self, v: &[f64], up: &[f64]) -> Extremes {
        let at = self.block * BLOCK;
        let best = (at..v.len().min(at + BLOCK)).find(|&k| v[k] - up[k] == self.up).unwrap_or(at);
        Extremes { best, up: self.up, low: self.low }
    }
}

#[inline(always)]
fn lanes(x: &[f64], at: usize) -> &Lanes {
    x[at..at + LANES].try_into().unwrap_or(&[0.0; LANES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Numbers;

    const INF: f64 = f64::INFINITY;

    #[test]
    fn the_passes_do_what_their_formulas_say() {
        let mut numbers = Numbers::new(5);
        for n in [1, 7, 8, 127, 128, 129, 300] {
            let mut draw = || (0..n).map(|_| numbers.normal()).collect::<Vec<f64>>();
            let (a, b, mut v) = (draw(), draw(), draw());
            let up: Vec<f64> = draw().iter().map(|&x| if x > 0.5 { INF } else { 0.1 }).collect();
            let low: Vec<f64> = draw().iter().map(|&x| if x > 0.5 { -INF } else { -0.1 }).collect();
            let diagonals: Vec<f64> = draw().iter().map(|x| x.abs() + 1.0).collect();
            let expected: Vec<f64> = (0..n).map(|k| v[k] - 0.3 * (a[k] - b[k])).collect();
            let found = follow(0.3, &a, &b, &mut v, &up, &low);
            assert!(v.iter().zip(&expected).all(|(v, e)| (v - e).abs() < 1e-14));
            assert_eq!(found, extremes(&v, &up, &low));
            assert_eq!(found.up, (0..n).map(|k| v[k] - up[k]).fold(-INF, f64::max));
            assert_eq!(found.low, (0..n).map(|k| v[k] - low[k]).fold(INF, f64::min));
            assert!(found.up == -INF || v[found.best] - up[found.best] == found.up);

            let gain = |k: usize| {
                let slope = 0.7 - (v[k] - low[k]);
                if slope > 0.0 { slope * slope / (2.0 + diagonals[k] - 2.0 * a[k]).max(FLAT) } else { 0.0 }
            };
            let most = (0..n).map(gain).fold(0.0, f64::max);
            match partner(0.7, 2.0, &a, &diagonals, &v, &low) {
                Some(j) => assert!(gain(j) >= most * (1.0 - 1e-14) && most > 0.0),
                None => assert_eq!(most, 0.0),
            }
        }
    }

    #[test]
    fn nothing_to_do_is_found_out() {
        let found = extremes(&[1.0, 2.0], &[INF, INF], &[-INF, -INF]);
        assert_eq!((found.up, found.low), (-INF, INF));
        assert_eq!(partner(0.0, 1.0, &[0.0], &[1.0], &[0.5], &[0.0]), None);
    }
}
