//! Products with a factor per row, F_k of d x r: r is so small that one row of F_k fills no lane, so small r are
//! compiled one by one. Multiplications and additions are not fused: their order is that of the plain loop.

use crate::dispatch::kernel;
use crate::of_type;
use crate::stored::{Element, Stored};

/// `$body` with `$R` a constant for the ranks that are common (up to one that a register of eight numbers holds twice), else 0.
macro_rules! of_rank {
    ($rank:expr, $R:ident => $body:expr) => {
        of_rank!($rank, $R => $body, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
    };
    ($rank:expr, $R:ident => $body:expr, $($constant:literal)*) => {
        match $rank {
            $($constant => {
                const $R: usize = $constant;
                $body
            })*
            _ => {
                const $R: usize = 0;
                $body
            }
        }
    };
}

kernel! {
    /// `out[k r ..] = F_k'w` for the factors of `values`.
    pub fn factor_products<const FMA: bool>(values: Stored<'_>, rank: usize, w: &[f64], out: &mut [f64]) {
        of_type!(values, values => of_rank!(rank, R => products_of::<R>(values, rank, w, out)));
    }
}

kernel! {
    /// `sum += coef[k] F_(k - origin) p_k` over the picked k for the factors of `values`; p_k is at `k r` of `products`.
    pub fn add_factor_images<const FMA: bool>(
        values: Stored<'_>,
        rank: usize,
        origin: usize,
        picks: &[u32],
        coef: &[f64],
        products: &[f64],
        sum: &mut [f64],
    ) {
        of_type!(values, values => {
            of_rank!(rank, R => add_images_of::<R>(values, rank, origin, picks, coef, products, sum))
        });
    }
}

#[inline(always)]
fn products_of<const R: usize>(values: &[impl Element], rank: usize, w: &[f64], out: &mut [f64]) {
    let r = if R > 0 { R } else { rank };
    for (factor, out) in values.chunks_exact(w.len() * r).zip(out.chunks_exact_mut(r)) {
        let mut held = [0.0; R];
        out.fill(0.0);
        let p = if R > 0 { &mut held[..] } else { &mut *out };
        for (f, w) in factor.chunks_exact(r).zip(w) {
            p.iter_mut().zip(f).for_each(|(p, f)| *p += f.wide() * w);
        }
        if R > 0 {
            out.copy_from_slice(&held);
        }
    }
}

#[inline(always)]
fn add_images_of<const R: usize>(
    values: &[impl Element],
    rank: usize,
    origin: usize,
    picks: &[u32],
    coef: &[f64],
    products: &[f64],
    sum: &mut [f64],
) {
    let r = if R > 0 { R } else { rank };
    let width = sum.len() * r;
    for &k in picks {
        let k = k as usize;
        let (factor, p) = (&values[(k - origin) * width..][..width], &products[k * r..][..r]);
        for (f, s) in factor.chunks_exact(r).zip(sum.iter_mut()) {
            *s += coef[k] * f.iter().zip(p).map(|(f, p)| f.wide() * p).sum::<f64>();
        }
    }
}
