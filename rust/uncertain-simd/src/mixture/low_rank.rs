//! Rows whose covariances have few columns, in the coordinates where T is I; see [`woodbury`](super::woodbury).

use super::form::{Component, Form, Posterior, Shape, Workspace, add_last, triangle};
use super::log::log_product;
use super::woodbury::{AddSquare, Woodbury, memory_len};
use crate::dispatch::kernel;
use crate::lanes::{Lanes, Pack, each, fma};
use crate::vector::dispatch_wide;

pub(super) struct LowRank {
    d: usize,
    rank: usize,
    memory: Vec<Pack>,
    pivots: Vec<Pack>,
}

impl LowRank {
    pub(super) fn new(d: usize, rank: usize) -> Self {
        Self { d, rank, memory: vec![Pack::ZERO; memory_len(d, rank)], pivots: vec![Pack::ZERO; rank] }
    }

    /// Q C, whose square is the covariance of z given x.
    #[inline(always)]
    fn factor<const FMA: bool>(&self, component: &Component, state: &[Pack], out: &mut [Pack]) {
        let (d, r) = (self.d, self.rank);
        for i in 0..d {
            for c in 0..r {
                let mut sum = [0.0; 8];
                // Q is lower triangular.
                for j in 0..=i {
                    let (q, x) = (component.scatter.back[i * d + j], &state[j * (r + 1) + c].0);
                    sum = each(|l| fma::<FMA>(q, x[l], sum[l]));
                }
                out[i * r + c].0 = sum;
            }
        }
    }
}

impl Form for LowRank {
    fn state_len(&self) -> usize {
        self.d * (self.rank + 1)
    }

    #[inline(always)]
    fn eight<const FMA: bool>(&mut self, component: &Component, row: &[Pack], state: &mut [Pack]) -> Lanes {
        let (d, rank, mut quad) = (self.d, self.rank, [0.0; 8]);
        let (memory, pivots) = (self.memory.as_mut_slice(), self.pivots.as_mut_slice());
        dispatch_wide(Woodbury { d, rank, component, row, memory, pivots, state, quad: &mut quad });
        let log_det = log_product::<FMA>(&self.pivots);
        each(|l| component.offset - 0.5 * (quad[l] + log_det[l]))
    }

    #[inline(always)]
    fn add<const FMA: bool>(&self, q: &Lanes, state: &[Pack], sums: &mut [Pack]) {
        let (d, width) = (self.d, self.rank + 1);
        dispatch_wide(AddSquare { d, width, q, matrix: state, sums });
        for i in 0..d {
            let at = triangle(i) + i;
            sums[at].0 = each(|l| sums[at].0[l] - q[l]);
        }
        add_last::<FMA>(q, state[self.rank..].iter().step_by(width), &mut sums[triangle(d)..]);
    }
}

impl Posterior for LowRank {
    /// mu + Q alpha
    #[inline(always)]
    fn mean<const FMA: bool>(&self, component: &Component, state: &[Pack], out: &mut [Pack]) {
        let d = self.d;
        for i in 0..d {
            let mut sum = [component.mean[i]; 8];
            for j in 0..=i {
                let (q, x) = (component.scatter.back[i * d + j], &state[j * (self.rank + 1) + self.rank].0);
                sum = each(|l| fma::<FMA>(q, x[l], sum[l]));
            }
            out[i].0 = sum;
        }
    }

    #[inline(always)]
    fn covariance<const FMA: bool>(
        &self,
        component: &Component,
        _: &[Pack],
        state: &[Pack],
        matrices: &mut [Pack],
        out: &mut [Pack],
    ) {
        let (d, width) = (self.d, self.rank);
        let matrix = &mut matrices[..d * width];
        self.factor::<FMA>(component, state, matrix);
        out[..triangle(d)].fill(Pack::ZERO);
        dispatch_wide(AddSquare { d, width, q: &[1.0; 8], matrix, sums: out });
    }
}

/// Posterior means and factors of their covariances, for rows of few columns under one component.
pub struct Factors<'a> {
    pub shape: Shape,
    pub rank: usize,
    pub component: &'a Component,
    pub rows: &'a [Pack],
    pub workspace: &'a mut Workspace,
    /// d packs per eight rows.
    pub means: &'a mut [Pack],
    /// d x r packs per eight rows.
    pub factors: &'a mut [Pack],
}

impl Factors<'_> {
    pub fn run(self) {
        run(self);
    }
}

kernel! {
    fn run<const FMA: bool>(pass: Factors<'_>) {
        let Factors { shape, rank, component, rows, workspace, means, factors } = pass;
        let d = shape.d;
        let mut form = LowRank::new(d, rank);
        let state = &mut workspace.states;
        state.resize(form.state_len(), Pack::ZERO);
        let outs = means.chunks_exact_mut(d).zip(factors.chunks_exact_mut(d * rank));
        for (row, (mean, factor)) in rows.chunks_exact(shape.width()).zip(outs) {
            form.eight::<FMA>(component, row, state);
            form.mean::<FMA>(component, state, mean);
            form.factor::<FMA>(component, state, factor);
        }
    }
}
