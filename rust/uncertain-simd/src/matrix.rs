//! Products of a block of rows with one vector, and weighted sums of rows.
//!
//! Four rows are done side by side: the vector is loaded once for four rows, and four independent
//! sums hide the latency of the multiply-add. Rows too short to fill a lane go through the tail.

use crate::dispatch::kernel;
use crate::lanes::{LANES, Lanes, fma, reduce};
use crate::of_type;
use crate::prefetch::prefetch;
use crate::stored::{Element, Stored};
use crate::triangle::Layout;

/// Terms of the sum: the stored numbers or their squares (standard deviations as variances).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// The numbers themselves.
    One,
    /// Their squares.
    Two,
}

kernel! {
    /// a'b
    #[must_use]
    pub fn dot<const FMA: bool>(a: &[f64], b: &[f64]) -> f64 {
        row_dot::<FMA, false>(a, &b[..a.len()])
    }
}

kernel! {
    /// `out[k] = x_k'w` for the rows x_k of `values`, or with the squares of their elements.
    pub fn dots<const FMA: bool>(values: Stored<'_>, w: &[f64], power: Power, out: &mut [f64]) {
        of_type!(values, values => match power {
            Power::One => dots_of::<FMA, false>(values, w, out),
            Power::Two => dots_of::<FMA, true>(values, w, out),
        });
    }
}

kernel! {
    /// `sum += coef[k] x_(k - origin)` over the picked k (ascending) for the rows x of `values`, as long as `sum`, or
    /// with squared elements; `origin` is the k of the first row.
    pub fn add_rows<const FMA: bool>(
        values: Stored<'_>,
        origin: usize,
        picks: &[u32],
        coef: &[f64],
        power: Power,
        sum: &mut [f64],
    ) {
        of_type!(values, values => match power {
            Power::One => add_rows_of::<FMA, false>(values, origin, picks, coef, sum),
            Power::Two => add_rows_of::<FMA, true>(values, origin, picks, coef, sum),
        });
    }
}

kernel! {
    /// `y_k = S_k w` for symmetric matrices, reading lower triangles only.
    pub fn symmetric_images<const FMA: bool>(values: Stored<'_>, layout: Layout, w: &[f64], out: &mut [f64]) {
        of_type!(values, values => match layout {
            Layout::Packed => symmetric_images_of::<FMA, true>(values, w, out),
            Layout::Square => symmetric_images_of::<FMA, false>(values, w, out),
        });
    }
}

#[inline(always)]
fn power_of<const SQUARE: bool>(x: impl Element) -> f64 {
    let x = x.wide();
    if SQUARE { x * x } else { x }
}

/// sum + a b, lane by lane, or with the squares of a.
#[inline(always)]
fn accumulate<const FMA: bool, const SQUARE: bool>(a: &[impl Element; LANES], b: &Lanes, sum: Lanes) -> Lanes {
    let mut out = sum;
    for l in 0..LANES {
        out[l] = fma::<FMA>(power_of::<SQUARE>(a[l]), b[l], out[l]);
    }
    out
}

/// The lanes' sum and what is left over.
#[inline(always)]
fn finish<const FMA: bool, const SQUARE: bool>(sums: &Lanes, a: &[impl Element], b: &[f64]) -> f64 {
    let mut sum = reduce(sums);
    for (a, b) in a.iter().zip(b) {
        sum = fma::<FMA>(power_of::<SQUARE>(*a), *b, sum);
    }
    sum
}

#[inline(always)]
fn row_dot<const FMA: bool, const SQUARE: bool>(a: &[impl Element], b: &[f64]) -> f64 {
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks(), b.as_chunks());
    let mut sums: Lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        sums = accumulate::<FMA, SQUARE>(a, b, sums);
    }
    finish::<FMA, SQUARE>(&sums, a_tail, b_tail)
}

#[inline(always)]
fn dots_of<const FMA: bool, const SQUARE: bool>(values: &[impl Element], w: &[f64], out: &mut [f64]) {
    let d = w.len();
    let (w8, w_tail) = w.as_chunks::<LANES>();
    let mut fours = values.chunks_exact(4 * d);
    let mut outs = out.chunks_exact_mut(4);
    for (rows, out) in (&mut fours).zip(&mut outs) {
        let (rows01, rows23) = rows.split_at(2 * d);
        let ((row0, row1), (row2, row3)) = (rows01.split_at(d), rows23.split_at(d));
        let (a8, a_tail) = row0.as_chunks();
        let (b8, b_tail) = row1.as_chunks();
        let (c8, c_tail) = row2.as_chunks();
        let (e8, e_tail) = row3.as_chunks();
        let (mut sa, mut sb, mut sc, mut se) = ([0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for ((((w, a), b), c), e) in w8.iter().zip(a8).zip(b8).zip(c8).zip(e8) {
            sa = accumulate::<FMA, SQUARE>(a, w, sa);
            sb = accumulate::<FMA, SQUARE>(b, w, sb);
            sc = accumulate::<FMA, SQUARE>(c, w, sc);
            se = accumulate::<FMA, SQUARE>(e, w, se);
        }
        out[0] = finish::<FMA, SQUARE>(&sa, a_tail, w_tail);
        out[1] = finish::<FMA, SQUARE>(&sb, b_tail, w_tail);
        out[2] = finish::<FMA, SQUARE>(&sc, c_tail, w_tail);
        out[3] = finish::<FMA, SQUARE>(&se, e_tail, w_tail);
    }
    for (row, out) in fours.remainder().chunks_exact(d).zip(outs.into_remainder()) {
        *out = row_dot::<FMA, SQUARE>(row, w);
    }
}

#[inline(always)]
fn add_rows_of<const FMA: bool, const SQUARE: bool>(
    values: &[impl Element],
    origin: usize,
    picks: &[u32],
    coef: &[f64],
    sum: &mut [f64],
) {
    let d = sum.len();
    let row = |pick: u32| &values[(pick as usize - origin) * d..][..d];
    let mut fours = picks.chunks_exact(4);
    for p in &mut fours {
        let (a, b, c, e) = (row(p[0]), row(p[1]), row(p[2]), row(p[3]));
        let [ca, cb, cc, ce] = [0, 1, 2, 3].map(|i| coef[p[i] as usize]);
        let sum = &mut sum[..d];
        for j in 0..d {
            let s = fma::<FMA>(ca, power_of::<SQUARE>(a[j]), sum[j]);
            let s = fma::<FMA>(cb, power_of::<SQUARE>(b[j]), s);
            let s = fma::<FMA>(cc, power_of::<SQUARE>(c[j]), s);
            sum[j] = fma::<FMA>(ce, power_of::<SQUARE>(e[j]), s);
        }
    }
    for &p in fours.remainder() {
        let (a, c) = (row(p), coef[p as usize]);
        for (s, a) in sum.iter_mut().zip(a) {
            *s = fma::<FMA>(c, power_of::<SQUARE>(*a), *s);
        }
    }
}

/// One read of the triangle gives both halves of the product: row i of the triangle, l_i, adds
/// l_i'w to y_i and w_i l_i (without the diagonal) to y_0..y_i.
#[inline(always)]
fn symmetric_images_of<const FMA: bool, const PACKED: bool>(values: &[impl Element], w: &[f64], out: &mut [f64]) {
    let d = w.len();
    let layout = if PACKED { Layout::Packed } else { Layout::Square };
    let width = layout.width(d);
    for (k, (s, y)) in values.chunks_exact(width).zip(out.chunks_exact_mut(d)).enumerate() {
        let later = &values[((k + 1) * width).min(values.len())..];
        for i in 0..d {
            let at = layout.row_start(i, d);
            // Triangles of squares are no stream that the machine would read ahead by itself.
            if let Some(row) = later.get(at..=at + i) {
                prefetch(row);
            }
            let ((l8, l_tail), diagonal) = (s[at..at + i].as_chunks::<LANES>(), s[at + i]);
            let ((w8, w_tail), wi) = (w[..i].as_chunks::<LANES>(), w[i]);
            let (above, own) = y.split_at_mut(i);
            let (y8, y_tail) = above.as_chunks_mut::<LANES>();
            let mut sums: Lanes = [0.0; LANES];
            for ((l, w), y) in l8.iter().zip(w8).zip(y8) {
                // Copies: what is written is not known to lie elsewhere.
                let (mut wide, mut image) = ([0.0; LANES], *y);
                for k in 0..LANES {
                    wide[k] = l[k].wide();
                    sums[k] = fma::<FMA>(wide[k], w[k], sums[k]);
                    image[k] = fma::<FMA>(wi, wide[k], image[k]);
                }
                *y = image;
            }
            let mut sum = reduce(&sums);
            for ((l, w), y) in l_tail.iter().zip(w_tail).zip(y_tail) {
                let l = l.wide();
                sum = fma::<FMA>(l, *w, sum);
                *y = fma::<FMA>(wi, l, *y);
            }
            own[0] = fma::<FMA>(diagonal.wide(), wi, sum);
        }
    }
}
