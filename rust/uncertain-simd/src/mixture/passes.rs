//! The passes over packs of rows: the sums of EM, and log densities.

use super::form::{Component, Form, Shape, Workspace};
use super::log::ln;
use crate::lanes::{LANES, Lanes, Pack, each, fma};
use crate::normal::exp;

/// The methods `run` of a pass: its `with`, for the form of its rows.
macro_rules! run_in_form {
    ($Pass:ident) => {
        impl $Pass<'_> {
            pub fn run(self) {
                $crate::dispatch::kernel! {
                    fn run<const FMA: bool>(pass: $Pass<'_>) {
                        use super::form::Noise;
                        let shape = pass.shape;
                        match shape.noise {
                            Noise::Rotated => pass.with::<FMA, _>(super::rotated::Rotated::new(shape)),
                            Noise::Factor(rank) => pass.with::<FMA, _>(super::low_rank::LowRank::new(shape.d, rank)),
                            _ => pass.with::<FMA, _>(super::dense::Dense::new(shape)),
                        }
                    }
                }
                run(self);
            }
        }
    };
}
pub(super) use run_in_form;

/// Sums of EM over packs of rows.
pub struct Sums<'a> {
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

run_in_form!(Sums);

impl Sums<'_> {
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
pub struct Densities<'a> {
    pub shape: Shape,
    pub components: &'a [Component],
    pub rows: &'a [Pack],
    pub workspace: &'a mut Workspace,
    /// K packs per eight rows.
    pub out: &'a mut [Pack],
}

run_in_form!(Densities);

impl Densities<'_> {
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

/// Log densities to shares of the components; gives the logarithm of their sum.
#[inline(always)]
pub(super) fn share_out<const FMA: bool>(logs: &mut [Pack]) -> Lanes {
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
