//! Common parts of the three forms of a mixture: the layout of packs, components, and what a form must compute.

use std::sync::Arc;

use crate::lanes::{Lanes, Pack, each, fma};

/// Covariances in a pack, after d means and the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// One number: the factor before a matrix that is the same for all rows.
    Rotated,
    /// d variances.
    Diagonal,
    /// The packed lower triangle.
    Full,
    /// Element (j, c) of a d x r factor at j r + c.
    Factor(usize),
}

/// How a block of packs is laid out: per pack d means, a weight, the noise, and d masks if `masked`.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub d: usize,
    pub noise: Noise,
    pub masked: bool,
}

impl Shape {
    /// Numbers of noise per row.
    pub fn noise_len(self) -> usize {
        match self.noise {
            Noise::Rotated => 1,
            Noise::Diagonal => self.d,
            Noise::Full => triangle(self.d),
            Noise::Factor(rank) => self.d * rank,
        }
    }

    /// Packs per eight rows.
    pub fn width(self) -> usize {
        self.d + 1 + self.noise_len() + if self.masked { self.d } else { 0 }
    }

    /// Numbers of a component's sums: the packed triangle of d + 1 rows, whose last row is (sum q a, sum q).
    pub fn sums_len(self) -> usize {
        triangle(self.d + 1)
    }
}

/// Elements of a packed d x d triangle.
pub fn triangle(d: usize) -> usize {
    d * (d + 1) / 2
}

/// A component, prepared for one of the forms.
#[derive(Debug, Clone)]
pub struct Component {
    pub mean: Vec<f64>,
    /// Added to every log density: the logarithm of the share and all constants.
    pub offset: f64,
    /// Rotated: P'(mean - origin).
    pub centre: Vec<f64>,
    pub scatter: Arc<Scatter>,
}

/// Common parts of components with one T.
#[derive(Debug)]
pub struct Scatter {
    /// Rotated: where all of them measure from.
    pub origin: Vec<f64>,
    /// Dense: T, packed. Rotated: the rows p_j of P' with P'T P = I and P'S P diagonal. Low rank: P' = Q^{-1}, packed.
    pub matrix: Vec<f64>,
    /// Rotated: the diagonal g of P'S P, to be multiplied by the row's number.
    pub gains: Vec<f64>,
    /// Rotated and low rank: Q = P^{-T}, so that T = Q Q', row-major. The sums are those in Q's coordinates.
    pub back: Vec<f64>,
}

/// Memory of one thread, kept between calls.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(super) states: Vec<Pack>,
    pub(super) shares: Vec<Pack>,
    pub(super) scratch: Vec<Pack>,
}

/// Common parts of the forms.
pub(super) trait Form {
    /// Packs of state per component.
    fn state_len(&self) -> usize;
    /// log (share N(x; mu, T + S)) of eight rows; `state` remembers a and M^{-1}.
    fn eight<const FMA: bool>(&mut self, component: &Component, row: &[Pack], state: &mut [Pack]) -> Lanes;
    /// sums += q (a a' - M^{-1}, a, 1)
    fn add<const FMA: bool>(&self, q: &Lanes, state: &[Pack], sums: &mut [Pack]);
}

/// The last row of a component's sums: += q (a, 1).
#[inline(always)]
pub(super) fn add_last<'a, const FMA: bool>(q: &Lanes, a: impl Iterator<Item = &'a Pack>, last: &mut [Pack]) {
    for (sum, a) in last.iter_mut().zip(a) {
        sum.0 = each(|l| fma::<FMA>(q[l], a.0[l], sum.0[l]));
    }
    if let Some(weight) = last.last_mut() {
        weight.0 = each(|l| weight.0[l] + q[l]);
    }
}

/// Posterior of a row's z.
pub(super) trait Posterior: Form {
    /// b
    fn mean<const FMA: bool>(&self, component: &Component, state: &[Pack], out: &mut [Pack]);
    /// B; `matrices` is memory for four d x d matrices.
    fn covariance<const FMA: bool>(
        &self,
        component: &Component,
        row: &[Pack],
        state: &[Pack],
        matrices: &mut [Pack],
        out: &mut [Pack],
    );
}
