//! The vector kernels (crate `uncertain-simd`, which changes seldom and is compiled once), and those of them that
//! pass over [`Rows`]: those may lie in several pieces of memory.

pub(crate) use uncertain_simd::*;

use crate::rows::{Rows, Run};

/// `out[k] = rows[first + k]'w`, or with the squares of the rows' elements.
pub(crate) fn dots(rows: &Rows, first: usize, w: &[f64], power: Power, out: &mut [f64]) {
    for (start, values) in rows.stored_segments(first..first + out.len()) {
        let n = values.stored().len() / w.len();
        uncertain_simd::dots(values.stored(), w, power, &mut out[start - first..][..n]);
    }
}

/// x'w of one row.
pub(crate) fn row_dot(row: &Run<'_>, w: &[f64]) -> f64 {
    let mut out = [0.0];
    uncertain_simd::dots(row.stored(), w, Power::One, &mut out);
    out[0]
}

/// `sum += c x` of one row.
pub(crate) fn add_row(c: f64, row: &Run<'_>, sum: &mut [f64]) {
    uncertain_simd::add_rows(row.stored(), 0, &[0], &[c], Power::One, sum);
}

/// [`dots`] of rows in one slice.
pub(crate) fn dot_slices(values: &[f64], w: &[f64], power: Power, out: &mut [f64]) {
    uncertain_simd::dots(Stored::F64(values), w, power, out);
}

/// `sum += coef[k] rows[first + k]` over the picked k (ascending), or with squared elements.
pub(crate) fn add_rows(rows: &Rows, first: usize, picks: &[u32], coef: &[f64], power: Power, sum: &mut [f64]) {
    picked_segments(rows, first, picks, |origin, values, picks| {
        uncertain_simd::add_rows(values, origin, picks, coef, power, sum);
    });
}

/// `work` on each run of rows with the picked ones in it: the pick of its first row, the run, its picks.
pub(crate) fn picked_segments(
    rows: &Rows,
    first: usize,
    picks: &[u32],
    mut work: impl FnMut(usize, Stored<'_>, &[u32]),
) {
    let (Some(&low), Some(&high)) = (picks.first(), picks.last()) else { return };
    let mut rest = picks;
    for (start, values) in rows.stored_segments(first + low as usize..first + high as usize + 1) {
        let end = start - first + values.stored().len() / rows.width();
        let (here, later) = rest.split_at(rest.partition_point(|&k| (k as usize) < end));
        rest = later;
        work(start - first, values.stored(), here);
    }
}

/// [`add_rows`] on rows in one slice of rows of `width` elements.
pub(crate) fn add_slices(values: &[f64], width: usize, picks: &[u32], coef: &[f64], power: Power, sum: &mut [f64]) {
    uncertain_simd::add_rows(Stored::F64(values), 0, picks, coef, power, &mut sum[..width]);
}

/// `out[k] = S_{first + k} w` for symmetric matrices, reading lower triangles only.
pub(crate) fn symmetric_images(rows: &Rows, layout: Layout, first: usize, w: &[f64], out: &mut [f64]) {
    let d = w.len();
    for (start, values) in rows.stored_segments(first..first + out.len() / d) {
        let n = values.stored().len() / rows.width();
        uncertain_simd::symmetric_images(values.stored(), layout, w, &mut out[(start - first) * d..][..n * d]);
    }
}

/// `out[k r ..] = F_{first + k}'w` for factors of `rank` columns.
pub(crate) fn factor_products(rows: &Rows, rank: usize, first: usize, w: &[f64], out: &mut [f64]) {
    for (start, values) in rows.stored_segments(first..first + out.len() / rank) {
        let n = values.stored().len() / rows.width();
        uncertain_simd::factor_products(values.stored(), rank, w, &mut out[(start - first) * rank..][..n * rank]);
    }
}

/// `sum += coef[k] F_{first + k} p_k` over the picked k (ascending); p_k is at `k r` of `products`.
pub(crate) fn add_factor_images(
    rows: &Rows,
    rank: usize,
    first: usize,
    picks: &[u32],
    coef: &[f64],
    products: &[f64],
    sum: &mut [f64],
) {
    picked_segments(rows, first, picks, |origin, values, picks| {
        uncertain_simd::add_factor_images(values, rank, origin, picks, coef, products, sum);
    });
}
