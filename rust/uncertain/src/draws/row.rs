//! The draws of one row: EM with 1, 2, ... components, and which of these is kept.

use crate::data::Rows;
use crate::data::covariance::{packed_index, packed_len};
use crate::simd::{LANES, Pack};

use super::model::Model;
use super::{Criterion, Fit, MOST_COMPONENTS};

/// Draws per number that a component has, at least; with fewer, components are made up.
const DRAWS_PER_NUMBER: f64 = 5.0;
/// Parts of the draws that are held out in turn with those that are not.
const BLOCKS: usize = 10;
/// EM ends where a step raises the mean log density by less: while the number of components is chosen, at the end, and for
/// a known shape, which has no noise.
const TOL_CHOICE: f64 = 5e-4;
const TOL: f64 = 5e-5;
const TOL_SHAPE: f64 = 1e-8;
const MAX_ITER: usize = 100;
const MAX_ITER_SHAPE: usize = 2000;
/// A component that raises the mean log density of a known shape by less is left out.
const GAIN: f64 = 2e-3;
/// Steps after which one of two starts is left.
const TRIAL: usize = 5;

/// The draws of one row, shifted and scaled, and memory that is used again for the next row.
pub(super) struct Row {
    d: usize,
    criterion: Criterion,
    shift: Vec<f64>,
    scale: Vec<f64>,
    /// Draw by draw: d features and the weight.
    draws: Vec<f64>,
    train: Vec<Pack>,
    test: Vec<Pack>,
    all: Vec<Pack>,
}

/// A fit that gets one component after the other, and clusters of as many that it may start from.
struct Growing {
    model: Model,
    clusters: Option<Model>,
}

impl Growing {
    /// One component.
    fn new(d: usize, draws: &[Pack]) -> Self {
        let (_, model) = Model::single(d).climbed(draws, 1, 0.0);
        Self { clusters: Some(model.clone()), model }
    }
}

impl Row {
    pub(super) fn new(d: usize, criterion: Criterion) -> Self {
        let none = Vec::new;
        Self { d, criterion, shift: vec![], scale: vec![], draws: vec![], train: none(), test: none(), all: none() }
    }

    pub(super) fn load(&mut self, draws: &Rows, own: std::ops::Range<usize>, weights: Option<&[f64]>) {
        let (d, n) = (self.d, own.len());
        let sum: f64 = weights.map_or(n as f64, |w| w[own.clone()].iter().sum());
        let weight = |at: usize| weights.map_or(1.0, |w| w[at]) / sum;
        self.shift = vec![0.0; d];
        self.scale = vec![0.0; d];
        for at in own.clone() {
            self.shift.iter_mut().zip(&*draws.row(at)).for_each(|(m, x)| *m += weight(at) * x);
        }
        for at in own.clone() {
            let x = draws.row(at);
            let off = x.iter().zip(&self.shift);
            self.scale.iter_mut().zip(off).for_each(|(s, (x, m))| *s += weight(at) * (x - m) * (x - m));
        }
        for (s, m) in self.scale.iter_mut().zip(&self.shift) {
            *s = s.sqrt();
            // A constant in all draws, up to rounding of its mean.
            if *s <= 1e-14 * m.abs() {
                *s = 0.0;
            }
        }
        self.draws.clear();
        for at in own {
            let x = draws.row(at);
            let scaled = x.iter().zip(&self.shift).zip(&self.scale);
            self.draws.extend(scaled.map(|((x, m), s)| if *s > 0.0 { (x - m) / s } else { 0.0 }));
            self.draws.push(weight(at));
        }
        let block = n.div_ceil(BLOCKS);
        let is_train = |k: usize| (k / block).is_multiple_of(2);
        pack(&self.draws, d, &mut self.all, |_| true);
        pack(&self.draws, d, &mut self.train, is_train);
        pack(&self.draws, d, &mut self.test, |k| !is_train(k));
    }

    fn n_draws(&self) -> usize {
        self.draws.len() / (self.d + 1)
    }

    /// Kish's number of draws, which weights lessen.
    fn effective(&self) -> f64 {
        1.0 / self.draws.chunks_exact(self.d + 1).map(|draw| draw[self.d].powi(2)).sum::<f64>()
    }

    /// In the units of the draws.
    pub(super) fn fit(&mut self, asked: Option<usize>) -> Fit {
        let d = self.d;
        // A feature whose draws are all the same has no shape.
        let flat = self.scale.contains(&0.0);
        let numbers = (1 + d + packed_len(d)) as f64;
        let shape = self.criterion == Criterion::Shape;
        let affordable = if flat {
            1
        } else if shape {
            usize::MAX
        } else {
            ((self.effective() / DRAWS_PER_NUMBER / numbers) as usize).max(1)
        };
        let (all, most) = (&self.all, affordable.min(MOST_COMPONENTS));
        let model = match asked {
            Some(k) => {
                let mut growing = Growing::new(d, all);
                while growing.model.k() < k.min(affordable) && self.grow(&mut growing, all, TOL) {}
                growing.model
            }
            None if shape => self.nearest(most),
            None => self.chosen(most),
        };
        self.in_units(model)
    }

    /// As many components as the held-out draws want, fitted to all draws.
    fn chosen(&self, most: usize) -> Model {
        let mut growing = Growing::new(self.d, &self.train);
        let (mut best, mut score) = (growing.model.clone(), growing.model.score(&self.test));
        while best.k() < most && self.grow(&mut growing, &self.train, TOL_CHOICE) {
            let better = growing.model.score(&self.test);
            if !(better > score) {
                break;
            }
            (best, score) = (growing.model.clone(), better);
        }
        if best.k() == 1 { Growing::new(self.d, &self.all).model } else { self.finished(best, &self.all, TOL) }
    }

    /// As many components as bring the mean log density nearer to its best.
    fn nearest(&self, most: usize) -> Model {
        let mut growing = Growing::new(self.d, &self.all);
        let (mut best, mut score) = (growing.model.clone(), growing.model.score(&self.all));
        while best.k() < most && self.grow(&mut growing, &self.all, TOL) {
            let better = growing.model.score(&self.all);
            if !(better > score + GAIN) {
                break;
            }
            (best, score) = (growing.model.clone(), better);
        }
        best
    }

    fn finished(&self, model: Model, draws: &[Pack], tol: f64) -> Model {
        let (most, tol) = match self.criterion {
            Criterion::Draws => (MAX_ITER, tol),
            Criterion::Shape => (MAX_ITER_SHAPE, TOL_SHAPE),
        };
        model.climbed(draws, most, tol).1
    }

    /// A fit with one component more; false where there is none.
    fn grow(&self, growing: &mut Growing, draws: &[Pack], tol: f64) -> bool {
        growing.clusters = growing.clusters.take().and_then(|clusters| clusters.cut(draws));
        let starts = [growing.model.with_worst(draws), growing.clusters.clone()];
        let tried = starts.into_iter().flatten().map(|start| start.climbed(draws, TRIAL, 0.0));
        let best = tried.filter(|(score, _)| score.is_finite()).max_by(|(a, _), (b, _)| a.total_cmp(b));
        let Some((_, model)) = best else { return false };
        growing.model = self.finished(model, draws, tol);
        true
    }

    fn in_units(&self, model: Model) -> Fit {
        let d = self.d;
        let Model { weights, mut means, mut covariances, .. } = model;
        for mean in means.chunks_exact_mut(d) {
            (0..d).for_each(|j| mean[j] = self.shift[j] + self.scale[j] * mean[j]);
        }
        for covariance in covariances.chunks_exact_mut(packed_len(d)) {
            for i in 0..d {
                (0..=i).for_each(|j| covariance[packed_index(i, j)] *= self.scale[i] * self.scale[j]);
            }
        }
        debug_assert!(self.n_draws() > 1);
        Fit { weights, means, covariances }
    }
}

/// Some of the draws in lanes; the last pack is filled up with draws of no weight.
fn pack(draws: &[f64], d: usize, packs: &mut Vec<Pack>, keep: impl Fn(usize) -> bool) {
    packs.clear();
    let mut lane = LANES;
    for (_, draw) in draws.chunks_exact(d + 1).enumerate().filter(|(k, _)| keep(*k)) {
        if lane == LANES {
            lane = 0;
            packs.extend(std::iter::repeat_n(Pack::ZERO, d + 1));
        }
        let first = packs.len() - d - 1;
        packs[first..].iter_mut().zip(draw).for_each(|(pack, x)| pack.0[lane] = *x);
        lane += 1;
    }
}
