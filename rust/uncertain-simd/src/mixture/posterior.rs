//! Posterior of a row's z: the mean and the covariance of z given x.
//!
//! Under component k, with V = M^{-1} T: b = mu + T a and B = T - T M^{-1} T. That difference would lose B where it
//! is small beside T; the sums of squares B = U'T U + V'S V, with U = I - V = M^{-1} S, cannot (Joseph's form).
//! Under the mixture: m = sum q b, C = sum q (B + (b - m)(b - m)').

use super::form::{Component, Noise, Posterior, Shape, Workspace, triangle};
use super::passes::{run_in_form, share_out};
use crate::lanes::{LANES, Lanes, Pack, each, fma};

/// Posterior means and covariances of packs of rows.
pub struct Posteriors<'a> {
    pub shape: Shape,
    pub components: &'a [Component],
    pub rows: &'a [Pack],
    pub workspace: &'a mut Workspace,
    /// Known features keep their x and S; only the missing ones become z given x.
    pub impute: bool,
    /// d packs per eight rows.
    pub means: &'a mut [Pack],
    /// A packed triangle per eight rows.
    pub covariances: &'a mut [Pack],
    /// The log density of every row, a pack per eight rows.
    pub logs: &'a mut [Pack],
}

run_in_form!(Posteriors);

impl Posteriors<'_> {
    #[inline(always)]
    fn with<const FMA: bool, F: Posterior>(self, mut form: F) {
        let (d, count, state_len) = (self.shape.d, self.components.len(), form.state_len());
        let Workspace { states, shares, scratch } = self.workspace;
        states.resize(count * state_len, Pack::ZERO);
        shares.resize(count, Pack::ZERO);
        // b of every component, B of one, and d x d matrices of the form.
        scratch.resize(count * d + triangle(d) + 4 * d * d, Pack::ZERO);
        let (own_means, rest) = scratch.split_at_mut(count * d);
        let (own_covariance, matrices) = rest.split_at_mut(triangle(d));
        let packs = self.rows.chunks_exact(self.shape.width());
        let outs = self.means.chunks_exact_mut(d).zip(self.covariances.chunks_exact_mut(triangle(d)));
        for (row, ((mean, covariance), log)) in packs.zip(outs.zip(self.logs)) {
            for (k, component) in self.components.iter().enumerate() {
                let state = &mut states[k * state_len..][..state_len];
                shares[k].0 = form.eight::<FMA>(component, row, state);
                form.mean::<FMA>(component, state, &mut own_means[k * d..][..d]);
            }
            log.0 = share_out::<FMA>(shares);
            mean.fill(Pack::ZERO);
            covariance.fill(Pack::ZERO);
            for (q, own) in shares.iter().zip(own_means.chunks_exact(d)) {
                for (m, b) in mean.iter_mut().zip(own) {
                    m.0 = each(|l| fma::<FMA>(q.0[l], b.0[l], m.0[l]));
                }
            }
            for (k, component) in self.components.iter().enumerate() {
                let (q, state) = (shares[k].0, &states[k * state_len..][..state_len]);
                form.covariance::<FMA>(component, row, state, matrices, own_covariance);
                let own = &own_means[k * d..][..d];
                for i in 0..d {
                    let from = each(|l| q[l] * (own[i].0[l] - mean[i].0[l]));
                    for j in 0..=i {
                        let at = triangle(i) + j;
                        let b = each(|l| own[j].0[l] - mean[j].0[l]);
                        let x = each(|l| fma::<FMA>(q[l], own_covariance[at].0[l], covariance[at].0[l]));
                        covariance[at].0 = each(|l| fma::<FMA>(from[l], b[l], x[l]));
                    }
                }
            }
            if self.impute {
                keep_known(self.shape, row, mean, covariance);
            }
        }
    }
}

/// Put x and S back where they are known, and no covariance between what is known and what is not.
#[inline(always)]
fn keep_known(shape: Shape, row: &[Pack], mean: &mut [Pack], covariance: &mut [Pack]) {
    let d = shape.d;
    let mask = &row[row.len() - d..];
    for i in 0..d {
        mean[i].0 = each(|l| if mask[i].0[l] > 0.0 { row[i].0[l] } else { mean[i].0[l] });
        for j in 0..=i {
            let at = triangle(i) + j;
            let own = noise(shape, row, i, j);
            covariance[at].0 = each(|l| {
                let (a, b) = (mask[i].0[l] > 0.0, mask[j].0[l] > 0.0);
                if a != b {
                    0.0
                } else if a {
                    own[l]
                } else {
                    covariance[at].0[l]
                }
            });
        }
    }
}

/// S_ij, i >= j.
#[inline(always)]
fn noise(shape: Shape, row: &[Pack], i: usize, j: usize) -> Lanes {
    let own = &row[shape.d + 1..];
    match shape.noise {
        Noise::Full => own[triangle(i) + j].0,
        Noise::Diagonal if i == j => own[i].0,
        _ => [0.0; LANES],
    }
}
