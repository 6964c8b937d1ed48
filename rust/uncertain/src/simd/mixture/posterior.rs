//! What a row says about its z: the mean and the covariance of z given x.
//!
//! Under component k, with V = M^{-1} T: b = mu + T a and B = T - T M^{-1} T. That difference would lose B where it
//! is small beside T; the sums of squares B = U'T U + V'S V, with U = I - V = M^{-1} S, cannot (Joseph's form).
//! Under the mixture: m = sum q b, C = sum q (B + (b - m)(b - m)').

use super::dense::Dense;
use super::low_rank::LowRank;
use super::rotated::Rotated;
use super::{
    Component, Form, Kernel, LANES, Lanes, Noise, Pack, Shape, Workspace, dispatch, each, fma, share_out, triangle,
};

/// Posterior means and covariances of packs of rows.
pub(crate) struct Posteriors<'a> {
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
}

impl Kernel for Posteriors<'_> {
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

impl Posteriors<'_> {
    pub(crate) fn run(self) {
        dispatch(self);
    }

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
        for (row, (mean, covariance)) in packs.zip(outs) {
            for (k, component) in self.components.iter().enumerate() {
                let state = &mut states[k * state_len..][..state_len];
                shares[k].0 = form.eight::<FMA>(component, row, state);
                form.mean::<FMA>(component, state, &mut own_means[k * d..][..d]);
            }
            share_out::<FMA>(shares);
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

/// Where element (i, j) of a symmetric matrix is in its packed lower triangle.
#[inline(always)]
fn at(i: usize, j: usize) -> usize {
    if i >= j { triangle(i) + j } else { triangle(j) + i }
}

impl Posterior for Dense {
    #[inline(always)]
    fn mean<const FMA: bool>(&self, component: &Component, state: &[Pack], out: &mut [Pack]) {
        let d = out.len();
        let a = &state[triangle(d)..][..d];
        for i in 0..d {
            let mut sum = [component.mean[i]; LANES];
            for j in 0..d {
                let t = component.matrix[at(i, j)];
                sum = each(|l| fma::<FMA>(t, a[j].0[l], sum[l]));
            }
            out[i].0 = sum;
        }
    }

    #[inline(always)]
    fn covariance<const FMA: bool>(
        &self,
        component: &Component,
        row: &[Pack],
        state: &[Pack],
        matrices: &mut [Pack],
        out: &mut [Pack],
    ) {
        let shape = self.shape();
        let d = shape.d;
        let (v, rest) = matrices.split_at_mut(d * d);
        let (u, rest) = rest.split_at_mut(d * d);
        let (tu, rest) = rest.split_at_mut(d * d);
        let sv = &mut rest[..d * d];
        let own = &row[d + 1..];
        for i in 0..d {
            for j in 0..d {
                let (mut vij, mut uij) = ([0.0; LANES], [0.0; LANES]);
                for c in 0..d {
                    let (inverse, t) = (&state[at(i, c)].0, component.matrix[at(c, j)]);
                    vij = each(|l| fma::<FMA>(inverse[l], t, vij[l]));
                    if shape.noise == Noise::Full {
                        let s = &own[at(c, j)].0;
                        uij = each(|l| fma::<FMA>(inverse[l], s[l], uij[l]));
                    }
                }
                if shape.noise == Noise::Diagonal {
                    let inverse = &state[at(i, j)].0;
                    uij = each(|l| inverse[l] * own[j].0[l]);
                }
                if shape.masked {
                    let mask = &row[row.len() - d..];
                    let unit = f64::from(u8::from(i == j));
                    uij = each(|l| match (mask[i].0[l] > 0.0, mask[j].0[l] > 0.0) {
                        (true, true) => uij[l],
                        (true, false) => -vij[l],
                        _ => unit,
                    });
                }
                v[i * d + j].0 = vij;
                u[i * d + j].0 = uij;
            }
        }
        for i in 0..d {
            for j in 0..d {
                let (mut t_u, mut s_v) = ([0.0; LANES], [0.0; LANES]);
                for c in 0..d {
                    let t = component.matrix[at(i, c)];
                    t_u = each(|l| fma::<FMA>(t, u[c * d + j].0[l], t_u[l]));
                    if shape.noise == Noise::Full {
                        let s = &own[at(i, c)].0;
                        s_v = each(|l| fma::<FMA>(s[l], v[c * d + j].0[l], s_v[l]));
                    }
                }
                if shape.noise == Noise::Diagonal {
                    s_v = each(|l| own[i].0[l] * v[i * d + j].0[l]);
                }
                tu[i * d + j].0 = t_u;
                sv[i * d + j].0 = s_v;
            }
        }
        for i in 0..d {
            for j in 0..=i {
                let mut sum = [0.0; LANES];
                for c in 0..d {
                    sum = each(|l| fma::<FMA>(u[c * d + i].0[l], tu[c * d + j].0[l], sum[l]));
                    sum = each(|l| fma::<FMA>(v[c * d + i].0[l], sv[c * d + j].0[l], sum[l]));
                }
                out[triangle(i) + j].0 = sum;
            }
        }
    }
}

impl Posterior for Rotated {
    #[inline(always)]
    fn mean<const FMA: bool>(&self, component: &Component, state: &[Pack], out: &mut [Pack]) {
        let d = out.len();
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = [component.mean[i]; LANES];
            for (q, a) in component.back[i * d..(i + 1) * d].iter().zip(state) {
                sum = each(|l| fma::<FMA>(*q, a.0[l], sum[l]));
            }
            out.0 = sum;
        }
    }

    /// Q diag(1 - e) Q', where 1 - e = s g e.
    #[inline(always)]
    fn covariance<const FMA: bool>(
        &self,
        component: &Component,
        row: &[Pack],
        state: &[Pack],
        matrices: &mut [Pack],
        out: &mut [Pack],
    ) {
        let d = component.gains.len();
        let (scale, e, left) = (row[d + 1].0, &state[d..], &mut matrices[..d]);
        for j in 0..d {
            left[j].0 = each(|l| scale[l] * component.gains[j] * e[j].0[l]);
        }
        let q = |i: usize, j: usize| component.back[i * d + j];
        for i in 0..d {
            for j in 0..=i {
                let mut sum = [0.0; LANES];
                for (c, left) in left.iter().enumerate() {
                    let product = q(i, c) * q(j, c);
                    sum = each(|l| fma::<FMA>(product, left.0[l], sum[l]));
                }
                out[triangle(i) + j].0 = sum;
            }
        }
    }
}
