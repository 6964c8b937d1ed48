//! One pass of EM over exact draws with weights, eight at a time, for mixtures of a few components in a few dimensions:
//! fitted to a thousand draws of every row, so that setting up a pass must cost nothing.

use super::passes::share_out;
use crate::lanes::{LANES, Lanes, Pack, each, fma};

/// A component: log pi - log |2 pi T| / 2, mu, and the packed triangle of L^{-1}, T = L L'.
pub struct DrawComponent<'a> {
    pub constant: f64,
    pub mean: &'a [f64],
    pub inverse: &'a [f64],
}

/// Sums of a pass.
pub struct DrawSums<'a> {
    pub d: usize,
    pub components: &'a [DrawComponent<'a>],
    /// Packs of eight draws: d features, then the weight, which is 0 where the last pack is filled up.
    pub draws: &'a [Pack],
    /// One pack per component.
    pub shares: &'a mut [Pack],
    /// Per component: sum q, sum q x, and the packed triangle of sum q x x'; `None` asks for the total alone.
    pub sums: Option<&'a mut [Pack]>,
    /// The log density of every draw.
    pub logs: Option<&'a mut [Pack]>,
    /// sum of weight x log density.
    pub total: &'a mut Lanes,
}

/// Numbers among the sums of a component.
#[must_use]
#[inline(always)]
pub fn draw_sums_len(d: usize) -> usize {
    1 + d + d * (d + 1) / 2
}

impl DrawSums<'_> {
    pub fn run(self) {
        crate::dispatch::kernel! {
            fn run<const FMA: bool>(pass: DrawSums<'_>) {
                pass.with::<FMA>();
            }
        }
        run(self);
    }

    #[inline(always)]
    fn with<const FMA: bool>(self) {
        // Loops that the compiler unrolls where it knows their length.
        match self.d {
            1 => self.of_width::<FMA>(1),
            2 => self.of_width::<FMA>(2),
            3 => self.of_width::<FMA>(3),
            d => self.of_width::<FMA>(d),
        }
    }

    #[inline(always)]
    fn of_width<const FMA: bool>(mut self, d: usize) {
        let len = draw_sums_len(d);
        for (at, pack) in self.draws.chunks_exact(d + 1).enumerate() {
            let weight = pack[d].0;
            for (component, share) in self.components.iter().zip(self.shares.iter_mut()) {
                share.0 = log_density::<FMA>(component, &pack[..d]);
            }
            let log = share_out::<FMA>(self.shares);
            *self.total = each(|l| fma::<FMA>(weight[l], log[l], self.total[l]));
            if let Some(logs) = self.logs.as_deref_mut() {
                logs[at].0 = log;
            }
            let Some(sums) = self.sums.as_deref_mut() else { continue };
            for (share, sums) in self.shares.iter().zip(sums.chunks_exact_mut(len)) {
                let q = each(|l| share.0[l] * weight[l]);
                add::<FMA>(&q, &pack[..d], sums);
            }
        }
    }
}

#[inline(always)]
fn log_density<const FMA: bool>(component: &DrawComponent<'_>, x: &[Pack]) -> Lanes {
    let mut square = [0.0; LANES];
    let mut at = 0;
    for i in 0..x.len() {
        let mut z = [0.0; LANES];
        for j in 0..=i {
            let (l, mean) = (component.inverse[at], component.mean[j]);
            z = each(|k| fma::<FMA>(l, x[j].0[k] - mean, z[k]));
            at += 1;
        }
        square = each(|k| fma::<FMA>(z[k], z[k], square[k]));
    }
    each(|k| fma::<FMA>(-0.5, square[k], component.constant))
}

#[inline(always)]
fn add<const FMA: bool>(q: &Lanes, x: &[Pack], sums: &mut [Pack]) {
    let d = x.len();
    sums[0].0 = each(|l| sums[0].0[l] + q[l]);
    let mut at = 1 + d;
    for i in 0..d {
        let qx = each(|l| q[l] * x[i].0[l]);
        sums[1 + i].0 = each(|l| sums[1 + i].0[l] + qx[l]);
        for other in &x[..=i] {
            sums[at].0 = each(|l| fma::<FMA>(qx[l], other.0[l], sums[at].0[l]));
            at += 1;
        }
    }
}
