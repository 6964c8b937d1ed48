//! Second derivatives as a matrix.
//!
//! ```text
//! Hess = alpha I + sum c [ dmm x x' + dms (x t' + t x') + (dss - e) t t' + e S ],   t = S w / s,  e = (dL/ds) / s
//! ```
//!
//! with x extended by a 1 for b, and t, S by zeros. The outer products of a block are one matrix
//! product P'Q of stacked rows, P = [x; t], Q = [dmm x + dms t; dms x + (dss - e) t]; the sum of S
//! uses the verb `add_to`. For full covariances the matrix costs hardly more than the gradient: both
//! are bound by reading S once. Three forms are cheaper:
//!
//! - *Exact rows*: dmm x x' alone, and P = Q.
//! - *One direction* (isotropic, shared): S w is a multiple of one vector for all rows, so that what is not
//!   dmm x x' is a sum of vectors.
//! - *A factor*, S = F F': with h = F'w / s all terms are products of x and the columns of F turned so that the first is
//!   along h. Then P = Q again, one or two rows for x and that column, and one for each of the others ([`Reflection`]).
//!
//! Rows of P and Q wait for others: products of a few rows cost as much as those of many.

use super::local::RowBlock;
use super::reflection::Reflection;
use super::row::RowCurvature;
use crate::data::covariance::{BlockVerbs, Direction, Factor, Structure, packed_len};
use crate::linalg;
use crate::simd::{self, Element, of_type};

fn active(rows: &[RowCurvature]) -> Vec<u32> {
    (0..rows.len() as u32).filter(|&k| rows[k as usize].is_active()).collect()
}

/// At least `len` elements; what is there already stays (the padding beyond d + 1 must stay zero).
fn grow(buffer: &mut Vec<f64>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
}

/// Rows of P that go into one product.
const WAITING: usize = 256;
/// Columns up to which the plain kernel beats a general matrix product.
const SMALL: usize = 128;

/// Hess without the penalty, while it is being summed.
pub(super) struct DenseHessian {
    d: usize,
    /// Elements per row of the matrices below: d + 1, rounded up to full lanes.
    width: usize,
    convex: bool,
    /// The outer products, width^2 row-major, lower triangle.
    outer: Vec<f64>,
    /// sum c e S, packed; empty for exact rows.
    spread: Vec<f64>,
    p: Vec<f64>,
    /// Empty where it is P.
    q: Vec<f64>,
    /// Rows in p (and q).
    waiting: usize,
    images: Vec<f64>,
    ray: Option<Ray>,
}

/// Where S w = sigma z with one z for all rows: the terms with t, as vectors.
struct Ray {
    z: Vec<f64>,
    /// sum c dms sigma / s x, with a 1 for b
    with_x: Vec<f64>,
    /// sum c (dss - e) (sigma / s)^2
    square: f64,
}

impl DenseHessian {
    /// Of a loss that is not convex only the form for rows of any kind is right.
    pub(super) fn new(d: usize, exact: bool, convex: bool) -> Self {
        let width = (d + 1).next_multiple_of(8);
        let (outer, spread) = (vec![0.0; width * width], vec![0.0; if exact { 0 } else { packed_len(d) }]);
        Self { d, width, convex, outer, spread, p: vec![], q: vec![], waiting: 0, images: vec![], ray: None }
    }

    /// The packed lower triangle.
    pub(super) fn finish(mut self) -> Vec<f64> {
        self.flush();
        let mut packed = Vec::with_capacity(packed_len(self.d + 1));
        for i in 0..=self.d {
            packed.extend(&self.outer[i * self.width..][..=i]);
        }
        // The triangle of S is that of the matrix without its last row.
        packed.iter_mut().zip(&self.spread).for_each(|(h, s)| *h += s);
        if let Some(Ray { mut z, with_x, square }) = self.ray {
            z.push(0.0);
            let mut rest = &mut packed[..];
            for i in 0..=self.d {
                let (row, after) = rest.split_at_mut(i + 1);
                let (zi, both) = (z[i], with_x[i] + square * z[i]);
                row.iter_mut().zip(&with_x).zip(&z).for_each(|((h, x), z)| *h += zi * x + both * z);
                rest = after;
            }
        }
        packed
    }

    /// Add the rows of one block.
    pub(super) fn add_block<K: BlockVerbs>(
        &mut self,
        block: &RowBlock<'_>,
        kind: &K,
        along: &Direction,
        memo: &[f64],
        rows: &[RowCurvature],
    ) {
        let picks = active(rows);
        if picks.is_empty() {
            return;
        }
        if K::EXACT {
            return self.add_means(block, rows, &picks);
        }
        let e: Vec<f64> = rows.iter().map(|c| c.e).collect();
        let mut multiples = vec![0.0; block.n];
        if self.convex
            && let Some(z) = kind.multiples(block.first, along, &mut multiples)
        {
            self.add_means(block, rows, &picks);
            self.add_ray(block, rows, &picks, z, &multiples);
            return kind.add_to(block.first, &picks, &e, self.d, &mut self.spread);
        }
        match kind.structure() {
            Structure::Factor(factor) if factor.diagonal.is_none() && self.convex => {
                self.add_factors(block, &factor, memo, rows, &picks);
            }
            _ => {
                self.add_images(block, kind, along, memo, rows, &picks);
                kind.add_to(block.first, &picks, &e, self.d, &mut self.spread);
            }
        }
    }

    /// dmm x x': P = Q = sqrt(c dmm) x, and dmm >= 0 because losses are convex.
    fn add_means(&mut self, block: &RowBlock<'_>, rows: &[RowCurvature], picks: &[u32]) {
        let d = self.d;
        simd::picked_segments(block.means, block.at, picks, |origin, means, picks| {
            of_type!(means, means => for k in picks.iter().map(|&k| k as usize) {
                let root = rows[k].mm.max(0.0).sqrt();
                let p = self.next_row();
                p[..d].iter_mut().zip(&means[(k - origin) * d..]).for_each(|(p, x)| *p = root * x.wide());
                p[d] = root;
            });
        });
    }

    /// The rest beside dmm x x' where S w = sigma z.
    fn add_ray(&mut self, block: &RowBlock<'_>, rows: &[RowCurvature], picks: &[u32], z: &[f64], sigma: &[f64]) {
        let d = self.d;
        let ray = self.ray.get_or_insert_with(|| Ray { z: z.to_vec(), with_x: vec![0.0; d + 1], square: 0.0 });
        let along: Vec<f64> = rows.iter().zip(sigma).map(|(c, sigma)| c.ms * sigma * c.inv_s).collect();
        simd::add_rows(block.means, block.at, picks, &along, simd::Power::One, &mut ray.with_x[..d]);
        for k in picks.iter().map(|&k| k as usize) {
            ray.with_x[d] += along[k];
            ray.square += rows[k].ss * (sigma[k] * rows[k].inv_s).powi(2);
        }
    }

    /// All terms of rows whose matrices are products F F'.
    fn add_factors(
        &mut self,
        block: &RowBlock<'_>,
        factor: &Factor<'_>,
        memo: &[f64],
        rows: &[RowCurvature],
        picks: &[u32],
    ) {
        let (d, rank) = (self.d, factor.rank);
        let mut turned = vec![0.0; rank * d];
        for k in picks.iter().map(|&k| k as usize) {
            let (c, x) = (&rows[k], block.means.row(block.at + k));
            let turn = Reflection::new(&memo[k * rank..(k + 1) * rank], c.inv_s);
            turn.columns(&factor.factor.row(block.first + k), &mut turned);
            let [first, second, third] = c.root(turn.length2);
            let p = self.next_row();
            for j in 0..d {
                p[j] = first * x[j] + second * turned[j];
            }
            p[d] = first;
            let others = turned.chunks_exact(d).enumerate().map(|(j, f)| (if j == 0 { third } else { c.e.sqrt() }, f));
            for (root, column) in others.filter(|(root, _)| *root != 0.0) {
                let p = self.next_row();
                p[..d].iter_mut().zip(column).for_each(|(p, f)| *p = root * f);
                p[d] = 0.0;
            }
        }
    }

    /// All terms but that of S, of rows of any kind.
    fn add_images<K: BlockVerbs>(
        &mut self,
        block: &RowBlock<'_>,
        kind: &K,
        along: &Direction,
        memo: &[f64],
        rows: &[RowCurvature],
        picks: &[u32],
    ) {
        let &RowBlock { first, n, means, at } = block;
        let d = self.d;
        grow(&mut self.images, n * d);
        let mut images = std::mem::take(&mut self.images);
        kind.images(first, n, along, memo, &mut images);
        simd::picked_segments(means, at, picks, |origin, means, picks| {
            of_type!(means, means => for k in picks.iter().map(|&k| k as usize) {
                let (c, x, z) = (&rows[k], &means[(k - origin) * d..][..d], &images[k * d..][..d]);
                let (p, q) = self.next_pair();
                for j in 0..d {
                    let t = z[j] * c.inv_s;
                    p[j] = x[j].wide();
                    q[j] = c.mm * x[j].wide() + c.ms * t;
                }
                (p[d], q[d]) = (1.0, c.mm);
                let (p, q) = self.next_pair();
                for j in 0..d {
                    let t = z[j] * c.inv_s;
                    p[j] = t;
                    q[j] = c.ms * x[j].wide() + c.ss * t;
                }
                (p[d], q[d]) = (0.0, c.ms);
            });
        });
        self.images = images;
    }

    /// A row of P = Q to fill: d + 1 elements, and zeros behind.
    fn next_row(&mut self) -> &mut [f64] {
        if self.waiting == WAITING || !self.q.is_empty() {
            self.flush();
        }
        grow(&mut self.p, WAITING * self.width);
        self.waiting += 1;
        &mut self.p[(self.waiting - 1) * self.width..][..self.width]
    }

    /// Rows of P and Q to fill.
    fn next_pair(&mut self) -> (&mut [f64], &mut [f64]) {
        if self.waiting == WAITING || self.q.is_empty() {
            self.flush();
        }
        grow(&mut self.p, WAITING * self.width);
        grow(&mut self.q, WAITING * self.width);
        self.waiting += 1;
        let row = (self.waiting - 1) * self.width..self.waiting * self.width;
        (&mut self.p[row.clone()], &mut self.q[row])
    }

    fn flush(&mut self) {
        let rows = ..self.waiting * self.width;
        let p = &self.p[rows];
        rank_update(p, if self.q.is_empty() { p } else { &self.q[rows] }, self.width, &mut self.outer);
        self.q.clear();
        self.waiting = 0;
    }
}

/// `outer += P'Q`, lower triangle.
fn rank_update(p: &[f64], q: &[f64], width: usize, outer: &mut [f64]) {
    if width <= SMALL {
        simd::rank_update_lower(p, q, width, outer);
    } else {
        linalg::gemm_tn_lower(p, q, p.len() / width, width, outer);
    }
}
