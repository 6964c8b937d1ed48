//! Noisy rows under a mixture of Gaussians, eight rows side by side.
//!
//! Row i is N(z_i, S_i) around an unknown z_i, and z_i comes from component k, N(mu_k, T_k). With
//! M = T_k + S_i and r = x_i - mu_k, all that a step of EM needs of a row and a component are
//! ```text
//! log N(r; 0, M),      a = M^{-1} r,      M^{-1}
//! ```
//! and of all rows the sums over i of q (a a' - M^{-1}), q a and q, with q the share of component k in the row.
//! Numbers lie in [`Pack`]s (element e of eight rows), so that every operation of a row is one instruction
//! for eight rows, whatever the dimension: small matrices without horizontal sums or remainders.
//!
//! Three forms of the same sums: [`dense`] inverts M of every row; [`rotated`] is for rows whose
//! covariances share eigenvectors (none, one number, or one matrix for all), where one decomposition per
//! component makes M diagonal and M^{-1} costs d numbers; [`low_rank`] is for S = F F' with few columns.
//!
//! A missing feature is one of infinite variance: its row and column of M^{-1} and its element of a are
//! zero. In a pack it has a 0 in the mask, 1 for the others.

mod dense;
mod invert;
mod log;
mod low_rank;
mod posterior;
mod rotated;
mod woodbury;

use dense::Dense;
use log::{ln, log_product};
use low_rank::LowRank;
use rotated::Rotated;

use super::lanes::{LANES, Lanes, Pack, each, fma};
use super::normal::exp;
use super::{Kernel, dispatch};

/// What a pack holds of the covariances, after d means and the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
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
pub(crate) struct Shape {
    pub d: usize,
    pub noise: Noise,
    pub masked: bool,
}

impl Shape {
    /// Numbers of noise per row.
    pub(crate) fn noise_len(self) -> usize {
        match self.noise {
            Noise::Rotated => 1,
            Noise::Diagonal => self.d,
            Noise::Full => triangle(self.d),
            Noise::Factor(rank) => self.d * rank,
        }
    }

    /// Packs per eight rows.
    pub(crate) fn width(self) -> usize {
        self.d + 1 + self.noise_len() + if self.masked { self.d } else { 0 }
    }

    /// Numbers of a component's sums: the packed triangle of d + 1 rows, whose last row is (sum q a, sum q).
    pub(crate) fn sums_len(self) -> usize {
        triangle(self.d + 1)
    }
}

/// Elements of a packed d x d triangle.
pub(crate) fn triangle(d: usize) -> usize {
    d * (d + 1) / 2
}

/// A component, prepared for one of the two forms.
#[derive(Debug, Clone)]
pub(crate) struct Component {
    pub mean: Vec<f64>,
    /// Added to every log density: the logarithm of the share and all constants.
    pub offset: f64,
    /// Dense: T, packed. Rotated: the rows p_j of P' with P'T P = I and P'S P diagonal. Low rank: P' = Q^{-1}, packed.
    pub matrix: Vec<f64>,
    /// Rotated: the diagonal g of P'S P, to be multiplied by the row's number.
    pub gains: Vec<f64>,
    /// Rotated and low rank: Q = P^{-T}, so that T = Q Q', row-major. The sums are those in Q's coordinates.
    pub back: Vec<f64>,
}

/// What the forms have in common.
trait Form {
    /// Packs of state per component.
    fn state_len(&self) -> usize;
    /// log (share N(x; mu, T + S)) of eight rows; `state` remembers a and M^{-1}.
    fn eight<const FMA: bool>(&mut self, component: &Component, row: &[Pack], state: &mut [Pack]) -> Lanes;
    /// sums += q (a a' - M^{-1}, a, 1)
    fn add<const FMA: bool>(&self, q: &Lanes, state: &[Pack], sums: &mut [Pack]);
}

/// Memory of one thread, kept between calls.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    states: Vec<Pack>,
    shares: Vec<Pack>,
    scratch: Vec<Pack>,
}

/// Sums of EM over packs of rows.
pub(crate) struct Sums<'a> {
    pub shape: Shape,
    pub components: &'a [Component],
    /// A whole number of packs of eight rows.
    pub rows: &'a [Pack],
    pub workspace: &'a mut Workspace,
    /// Per component [`Shape::sums_len`] sums.
    pub sums: &'a mut [Pack],
    /// sum of weight x log density.
    pub total: &'a mut Lanes,
}

impl Kernel for Sums<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let shape = self.shape;
        match shape.noise {
            Noise::Rotated => self.with::<FMA, _>(Rotated::new(shape)),
            Noise::Factor(rank) => self.with::<FMA, _>(LowRank::new(shape.d, rank)),
            _ => self.with::<FMA, _>(Dense::new(shape)),
        }
    }
}

impl Sums<'_> {
    pub(crate) fn run(self) {
        dispatch(self);
    }

    #[inline(always)]
    fn with<const FMA: bool, F: Form>(self, mut form: F) {
        let Shape { d, .. } = self.shape;
        let (count, state_len) = (self.components.len(), form.state_len());
        self.workspace.states.resize(count * state_len, Pack::ZERO);
        self.workspace.shares.resize(count, Pack::ZERO);
        let (states, shares) = (self.workspace.states.as_mut_slice(), self.workspace.shares.as_mut_slice());
        for row in self.rows.chunks_exact(self.shape.width()) {
            let weight = row[d].0;
            for (k, component) in self.components.iter().enumerate() {
                shares[k].0 = form.eight::<FMA>(component, row, &mut states[k * state_len..][..state_len]);
            }
            let log = share_out::<FMA>(shares);
            // A lane without weight fills up the last pack; it must not count even where it is not a number.
            *self.total =
                each(|l| if weight[l] > 0.0 { fma::<FMA>(weight[l], log[l], self.total[l]) } else { self.total[l] });
            for (k, sums) in self.sums.chunks_exact_mut(self.shape.sums_len()).enumerate() {
                let q = each(|l| shares[k].0[l] * weight[l]);
                form.add::<FMA>(&q, &states[k * state_len..][..state_len], sums);
            }
        }
    }
}

/// Log densities of every component, n x K.
pub(crate) struct Densities<'a> {
    pub shape: Shape,
    pub components: &'a [Component],
    pub rows: &'a [Pack],
    pub workspace: &'a mut Workspace,
    /// K packs per eight rows.
    pub out: &'a mut [Pack],
}

impl Kernel for Densities<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let shape = self.shape;
        match shape.noise {
            Noise::Rotated => self.with::<FMA, _>(Rotated::new(shape)),
            Noise::Factor(rank) => self.with::<FMA, _>(LowRank::new(shape.d, rank)),
            _ => self.with::<FMA, _>(Dense::new(shape)),
        }
    }
}

impl Densities<'_> {
    pub(crate) fn run(self) {
        dispatch(self);
    }

    #[inline(always)]
    fn with<const FMA: bool, F: Form>(self, mut form: F) {
        self.workspace.states.resize(form.state_len(), Pack::ZERO);
        let state = self.workspace.states.as_mut_slice();
        let packs = self.rows.chunks_exact(self.shape.width());
        for (row, out) in packs.zip(self.out.chunks_exact_mut(self.components.len())) {
            for (component, out) in self.components.iter().zip(out) {
                out.0 = form.eight::<FMA>(component, row, state);
            }
        }
    }
}

pub(crate) use low_rank::Factors;
pub(crate) use posterior::Posteriors;

/// Log densities to shares of the components; gives the logarithm of their sum.
#[inline(always)]
fn share_out<const FMA: bool>(logs: &mut [Pack]) -> Lanes {
    if let [only] = logs {
        let log = only.0;
        only.0 = [1.0; LANES];
        return log;
    }
    let mut largest = logs[0].0;
    for log in &logs[1..] {
        largest = each(|l| largest[l].max(log.0[l]));
    }
    let mut sum = [0.0; LANES];
    for log in logs.iter_mut() {
        // Below -800 there is nothing left of it; the comparison also catches -infinity.
        let x = each(|l| if log.0[l] - largest[l] > -800.0 { log.0[l] - largest[l] } else { -800.0 });
        log.0 = exp::<FMA>(&x, &[0.0; LANES]);
        sum = each(|l| sum[l] + log.0[l]);
    }
    for log in logs.iter_mut() {
        log.0 = each(|l| log.0[l] / sum[l]);
    }
    let sum = ln::<FMA>(&sum);
    each(|l| largest[l] + sum[l])
}
