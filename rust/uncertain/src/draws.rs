//! From draws to mixtures: posterior chains, bootstraps, realisations of a measurement become rows of a few Gaussian
//! components ([`MixtureArray`]).
//!
//! Every row is an EM fit of its own to its draws, with 1, 2, ... components as long as draws that the fit has not seen
//! become more likely; rows are spread over threads. A row of a thousand draws in two dimensions takes well below a
//! millisecond, since a pass is a vector kernel over packs of eight draws and its sums are all that an M step needs.
//!
//! - Held out are alternating tenths of a row's draws, not single ones: draws of a chain are like their neighbours, and
//!   single ones would choose components for the chain's own wiggles. The chosen number is fitted again to all draws.
//! - A further component starts where the fit so far is worst (the least likely tenth of the draws), or all start as
//!   clusters (bisection across the longest axis, then k-means); a few steps decide which.
//! - Draws are shifted by their mean and divided by the deviation of each feature first; T >= 1e-4 in these units keeps a
//!   component from closing in on draws that a chain repeats.
//! - Weights of draws: those under a prior that is to be divided out, 1 / prior(draw).
//!
//! Rejected: held-out likelihood over several folds (the second digit of a choice that costs .001 a draw if wrong),
//! variational mixtures (a prior on weights, for the same answer), kernel density estimates (as many components as draws).

use crate::control::Control;
use crate::data::covariance::{Diagonal, packed_index, packed_len};
use crate::data::{Covariances, GaussianArray, MixtureArray, Rows, Unit};
use crate::error::{Error, Result};
use crate::memory;
use crate::named::named;
use crate::parallel;
use crate::params::params;
use crate::simd::mixture::{DrawComponent, DrawSums, draw_sums_len};
use crate::simd::{LANES, Pack};

/// Components of a row at most, where their number is chosen.
pub const MOST_COMPONENTS: usize = 4;
/// Draws per number that a component has, at least; with fewer, components are made up.
const DRAWS_PER_NUMBER: f64 = 5.0;
/// Parts of the draws that are held out in turn with those that are not.
const BLOCKS: usize = 10;
/// T in units of the draws' variances at least.
const FLOOR: f64 = 1e-4;
/// EM ends where a step raises the mean log density by less: of draws, and of a known shape, which has no noise.
const TOL: [f64; 2] = [5e-5, 1e-8];
const MAX_ITER: [usize; 2] = [100, 2000];
/// Rounds of k-means.
const LLOYD: usize = 3;
/// A component that raises the mean log density of a known shape by less is left out.
const GAIN: f64 = 2e-3;
/// Steps after which one of two starts is left.
const TRIAL: usize = 5;

/// What decides about a further component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Criterion {
    /// Draws that the fit has not seen.
    #[default]
    Draws,
    /// How much nearer the shape gets: for points that are no draws but stand for a known distribution.
    Shape,
}

named!(Criterion, "criterion");

params! {
    /// How mixtures are fitted to draws.
    pub struct Params {
        /// Components of every row; `None`: chosen for each, up to [`MOST_COMPONENTS`].
        n_components: Option<usize> = None,
        /// What decides about a further component.
        criterion: Criterion = Criterion::Draws,
    }
}

impl Params {
    fn ranges(&self) -> Result<()> {
        crate::params::check_at_least_one("n_components", self.n_components)
    }
}

/// Mixtures, and how many rows have fewer components than were asked for, since their draws are too few.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FromDraws {
    /// A row for every list of draws.
    pub mixtures: MixtureArray,
    /// Rows with fewer components than asked for.
    pub n_fewer: usize,
}

impl ValidParams {
    /// A mixture for every row's draws: row i has the draws `offsets[i] .. offsets[i + 1]`, whose weights, where there are
    /// any, are `weights` >= 0.
    ///
    /// ```
    /// use uncertain::{Control, Rows, draws};
    ///
    /// # fn main() -> uncertain::Result<()> {
    /// // Two hundred draws around 0 and as many around 5, in turn.
    /// let values: Vec<f64> = (0..400).map(|k| f64::from(k % 2) * 5.0 + f64::from(k * 37 % 101) / 101.0).collect();
    /// let params = draws::Params::new().check()?;
    /// let rows = params.fit(&Rows::from_vec(values, 1)?, &[0, 400], None, &Control::new())?.mixtures;
    /// assert!(rows.components().n_rows() >= 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A row with less than two draws, a number that is not finite, weights that are negative or all zero,
    /// [`Error::Interrupted`].
    pub fn fit(
        &self,
        draws: &Rows,
        offsets: &[usize],
        weights: Option<&[f64]>,
        control: &Control,
    ) -> Result<FromDraws> {
        check(draws, offsets, weights)?;
        let (n, d) = (offsets.len() - 1, draws.width());
        let (asked, criterion) = (self.0.n_components, self.0.criterion);
        let parts = parallel::install(self.0.threads, || {
            parallel::map_fine(n, |rows| {
                let mut row = Row::new(d, criterion);
                let mut found = vec![];
                for i in rows {
                    control.check()?;
                    row.load(draws, offsets[i]..offsets[i + 1], weights);
                    found.push(row.fit(asked));
                }
                Ok(found)
            })
        })?;
        let parts: Vec<Vec<Fit>> = parts?;
        collect(parts.into_iter().flatten().collect(), d, asked)
    }
}

fn check(draws: &Rows, offsets: &[usize], weights: Option<&[f64]>) -> Result<()> {
    let total = draws.n_rows();
    if offsets.first() != Some(&0) || offsets.last() != Some(&total) || offsets.windows(2).any(|w| w[0] > w[1]) {
        return Err(Error::shape(
            "offsets",
            format!("ascending numbers from 0 to {total}"),
            format!("{}", offsets.len()),
        ));
    }
    if weights.is_some_and(|w| w.len() != total) {
        return Err(Error::shape(
            "weights of draws",
            format!("{total}, one per draw"),
            weights.map_or(0, <[f64]>::len),
        ));
    }
    for (row, own) in offsets.windows(2).enumerate() {
        let count = own[1] - own[0];
        if count < 2 {
            return Err(Error::Data(format!(
                "row {row} has {count} draws; a distribution needs two at least: leave the row out, or give its error bar"
            )));
        }
        let mut sum = 0.0;
        for at in own[0]..own[1] {
            if let Some(j) = draws.row(at).iter().position(|x| !x.is_finite()) {
                let (draw, value) = (at - own[0], draws.row(at)[j]);
                return Err(Error::Data(format!(
                    "row {row}, draw {draw}, feature {j} is {value}; draws must be finite numbers: leave this draw out"
                )));
            }
            if let Some(weight) = weights.map(|w| w[at]) {
                if !(weight >= 0.0 && weight.is_finite()) {
                    let draw = at - own[0];
                    return Err(Error::Data(format!(
                        "row {row}, draw {draw} has the weight {weight}; weights of draws must be numbers >= 0"
                    )));
                }
                sum += weight;
            }
        }
        if weights.is_some() && !(sum > 0.0) {
            return Err(Error::Data(format!("row {row}: the weights of all draws are zero")));
        }
    }
    Ok(())
}

/// All rows as one array.
fn collect(fits: Vec<Fit>, d: usize, asked: Option<usize>) -> Result<FromDraws> {
    let total: usize = fits.iter().map(|fit| fit.weights.len()).sum();
    memory::ask(total, size_of::<f64>() * (1 + d + packed_len(d)))?;
    let (mut offsets, mut weights) = (vec![0], Vec::with_capacity(total));
    let (mut means, mut covariances) = (Vec::with_capacity(total * d), Vec::with_capacity(total * packed_len(d)));
    let mut n_fewer = 0;
    for fit in fits {
        n_fewer += usize::from(asked.is_some_and(|k| fit.weights.len() < k));
        weights.extend(fit.weights);
        means.extend(fit.means);
        covariances.extend(fit.covariances);
        offsets.push(weights.len());
    }
    let triangles = Rows::from_owned(covariances, total, packed_len(d));
    let covariances = match d {
        1 => Diagonal { values: triangles, unit: Unit::Variance }.into(),
        _ => Covariances::triangles_unchecked(triangles),
    };
    let components = GaussianArray::from_checked(Rows::from_owned(means, total, d), covariances);
    Ok(FromDraws { mixtures: MixtureArray::new(components, offsets, weights)?, n_fewer })
}

/// Shares, means and packed covariances.
#[derive(Debug, Clone, Default)]
struct Fit {
    weights: Vec<f64>,
    means: Vec<f64>,
    covariances: Vec<f64>,
}

/// The draws of one row, shifted and scaled, and memory that is used again for the next row.
struct Row {
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

impl Row {
    fn new(d: usize, criterion: Criterion) -> Self {
        let none = Vec::new;
        Self { d, criterion, shift: vec![], scale: vec![], draws: vec![], train: none(), test: none(), all: none() }
    }

    fn load(&mut self, draws: &Rows, own: std::ops::Range<usize>, weights: Option<&[f64]>) {
        let (d, n) = (self.d, own.len());
        let sum: f64 = weights.map_or(n as f64, |w| w[own.clone()].iter().sum());
        let weight = |at: usize| weights.map_or(1.0, |w| w[at]) / sum;
        self.shift = vec![0.0; d];
        self.scale = vec![0.0; d];
        for at in own.clone() {
            self.shift.iter_mut().zip(draws.row(at)).for_each(|(m, x)| *m += weight(at) * x);
        }
        for at in own.clone() {
            let off = draws.row(at).iter().zip(&self.shift);
            self.scale.iter_mut().zip(off).for_each(|(s, (x, m))| *s += weight(at) * (x - m) * (x - m));
        }
        for (s, m) in self.scale.iter_mut().zip(&self.shift) {
            *s = s.sqrt();
            // The same number in all draws, up to rounding of its mean.
            if *s <= 1e-14 * m.abs() {
                *s = 0.0;
            }
        }
        self.draws.clear();
        for at in own {
            let scaled = draws.row(at).iter().zip(&self.shift).zip(&self.scale);
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
    fn fit(&mut self, asked: Option<usize>) -> Fit {
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
        let found = match asked {
            Some(k) => {
                (1..=k.min(affordable)).fold(None, |fit: Option<Model>, _| Some(self.extended(fit.as_ref(), &self.all)))
            }
            None if shape => Some(self.nearest(affordable.min(MOST_COMPONENTS))),
            None => Some(self.chosen(affordable.min(MOST_COMPONENTS))),
        };
        found.map_or_else(Fit::default, |model| self.in_units(model))
    }

    /// As many components as the held-out draws want, fitted to all draws.
    fn chosen(&self, most: usize) -> Model {
        let mut best = self.extended(None, &self.train);
        let mut score = best.score(&self.test);
        while best.k() < most {
            let next = self.extended(Some(&best), &self.train);
            let better = next.score(&self.test);
            if !(better > score) {
                break;
            }
            (best, score) = (next, better);
        }
        if best.k() == 1 { self.extended(None, &self.all) } else { self.finished(best, &self.all) }
    }

    /// As many components as bring the mean log density nearer to its best.
    fn nearest(&self, most: usize) -> Model {
        let mut best = self.extended(None, &self.all);
        let mut score = best.score(&self.all);
        while best.k() < most {
            let next = self.extended(Some(&best), &self.all);
            let better = next.score(&self.all);
            if !(better > score + GAIN) {
                break;
            }
            (best, score) = (next, better);
        }
        best
    }

    fn finished(&self, model: Model, draws: &[Pack]) -> Model {
        let effort = usize::from(self.criterion == Criterion::Shape);
        model.climbed(draws, MAX_ITER[effort], TOL[effort])
    }

    /// A fit with one component more.
    fn extended(&self, before: Option<&Model>, draws: &[Pack]) -> Model {
        let Some(before) = before else { return Model::single(self.d).climbed(draws, 1, 0.0) };
        let starts = [before.with_worst(draws), Model::clusters(self.d, before.k() + 1, draws)];
        let tried = starts.into_iter().flatten().map(|start| {
            let model = start.climbed(draws, TRIAL, 0.0);
            (model.score(draws), model)
        });
        let best = tried.filter(|(score, _)| score.is_finite()).max_by(|(a, _), (b, _)| a.total_cmp(b));
        best.map_or_else(|| before.clone(), |(_, model)| self.finished(model, draws))
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

/// A mixture in the units of a row's draws.
#[derive(Debug, Clone)]
struct Model {
    d: usize,
    weights: Vec<f64>,
    means: Vec<f64>,
    covariances: Vec<f64>,
}

impl Model {
    fn single(d: usize) -> Self {
        let unit = (0..d).flat_map(|i| (0..=i).map(move |j| f64::from(u8::from(i == j)))).collect();
        Self { d, weights: vec![1.0], means: vec![0.0; d], covariances: unit }
    }

    fn k(&self) -> usize {
        self.weights.len()
    }

    /// A pass: per component the sums, and the sum of weight times log density. `None`: a component has no density.
    fn pass(&self, draws: &[Pack], sums: Option<&mut Vec<Pack>>) -> Option<f64> {
        let (d, len) = (self.d, packed_len(self.d));
        let mut inverses = Vec::with_capacity(self.k() * len);
        let mut constants = Vec::with_capacity(self.k());
        for (weight, covariance) in self.weights.iter().zip(self.covariances.chunks_exact(len)) {
            let log_det = invert_root(covariance, d, &mut inverses)?;
            constants.push(weight.ln() - 0.5 * (log_det + d as f64 * std::f64::consts::TAU.ln()));
        }
        let parts = constants.iter().zip(self.means.chunks_exact(d)).zip(inverses.chunks_exact(len));
        let components: Vec<DrawComponent<'_>> =
            parts.map(|((&constant, mean), inverse)| DrawComponent { constant, mean, inverse }).collect();
        let (mut shares, mut total) = (vec![Pack::ZERO; self.k()], [0.0; LANES]);
        let sums = sums.map(|sums| {
            sums.clear();
            sums.resize(self.k() * draw_sums_len(d), Pack::ZERO);
            sums.as_mut_slice()
        });
        DrawSums { d, components: &components, draws, shares: &mut shares, sums, total: &mut total }.run();
        let total: f64 = total.iter().sum();
        total.is_finite().then_some(total)
    }

    /// The mean log density of these draws.
    fn score(&self, draws: &[Pack]) -> f64 {
        let weight: f64 = draws.chunks_exact(self.d + 1).flat_map(|pack| pack[self.d].0).sum();
        self.pass(draws, None).map_or(f64::NEG_INFINITY, |total| total / weight)
    }

    /// Steps of EM, at most so many.
    fn climbed(mut self, draws: &[Pack], most: usize, tol: f64) -> Self {
        let mut sums = vec![];
        let mut before = f64::NEG_INFINITY;
        let weight: f64 = draws.chunks_exact(self.d + 1).flat_map(|pack| pack[self.d].0).sum();
        for _ in 0..most {
            let Some(total) = self.pass(draws, Some(&mut sums)) else { break };
            let Some(next) = self.step(&sums) else { break };
            self = next;
            if total / weight - before < tol {
                break;
            }
            before = total / weight;
        }
        self
    }

    /// The M step; `None` where a component has lost its draws.
    fn step(&self, sums: &[Pack]) -> Option<Self> {
        let (d, len) = (self.d, draw_sums_len(self.d));
        let flat: Vec<f64> = sums.iter().map(|pack| pack.0.iter().sum()).collect();
        let all: f64 = flat.chunks_exact(len).map(|own| own[0]).sum();
        let mut next = Self { d, weights: vec![], means: vec![], covariances: vec![] };
        for own in flat.chunks_exact(len) {
            let (q, x, xx) = (own[0], &own[1..=d], &own[1 + d..]);
            if !(q > 1e-6 * all) {
                return None;
            }
            next.weights.push(q / all);
            next.means.extend(x.iter().map(|x| x / q));
            for i in 0..d {
                for j in 0..=i {
                    let floor = if i == j { FLOOR } else { 0.0 };
                    next.covariances.push(xx[packed_index(i, j)] / q - x[i] / q * (x[j] / q) + floor);
                }
            }
        }
        Some(next)
    }

    /// With one more component, on the least likely tenth of the draws.
    fn with_worst(&self, draws: &[Pack]) -> Option<Self> {
        let d = self.d;
        let mut logs: Vec<(f64, usize)> = vec![];
        for (at, pack) in draws.chunks_exact(d + 1).enumerate() {
            for lane in 0..LANES {
                if pack[d].0[lane] > 0.0 {
                    let x: Vec<f64> = pack[..d].iter().map(|p| p.0[lane]).collect();
                    logs.push((self.log_density(&x)?, at * LANES + lane));
                }
            }
        }
        let most = (logs.len() / 10).max(d + 1).min(logs.len());
        logs.select_nth_unstable_by(most - 1, |a, b| a.0.total_cmp(&b.0));
        let chosen: Vec<usize> = logs[..most].iter().map(|(_, at)| *at).collect();
        let added = moments(draws, d, &chosen)?;
        let mut next = self.clone();
        next.weights.iter_mut().for_each(|w| *w *= 0.9);
        next.weights.push(0.1);
        next.means.extend(added.means);
        next.covariances.extend(added.covariances);
        Some(next)
    }

    fn log_density(&self, x: &[f64]) -> Option<f64> {
        let (d, len) = (self.d, packed_len(self.d));
        let mut best = f64::NEG_INFINITY;
        for (k, covariance) in self.covariances.chunks_exact(len).enumerate() {
            let mut inverse = Vec::with_capacity(len);
            let log_det = invert_root(covariance, d, &mut inverse)?;
            let mean = &self.means[k * d..(k + 1) * d];
            let z = |i: usize| (0..=i).map(|j| inverse[packed_index(i, j)] * (x[j] - mean[j])).sum::<f64>();
            let square: f64 = (0..d).map(|i| z(i).powi(2)).sum();
            best = best.max(self.weights[k].ln() - 0.5 * (log_det + square));
        }
        Some(best)
    }

    /// Clusters: the one with the largest scatter is cut at its mean across its longest axis, until there are k, and then
    /// every draw goes to the nearest mean a few times.
    fn clusters(d: usize, k: usize, draws: &[Pack]) -> Option<Self> {
        let x = |at: usize, j: usize| draws[at / LANES * (d + 1) + j].0[at % LANES];
        let every: Vec<usize> = (0..draws.len() / (d + 1) * LANES).filter(|&at| x(at, d) > 0.0).collect();
        let mut all = vec![every.clone()];
        while all.len() < k {
            let scatter = |own: &Vec<usize>| -> f64 {
                moments(draws, d, own).map_or(0.0, |own_moments| {
                    let trace: f64 = (0..d).map(|j| own_moments.covariances[packed_index(j, j)]).sum();
                    trace * own.iter().map(|&at| x(at, d)).sum::<f64>()
                })
            };
            let (widest, _) = all.iter().map(scatter).enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let own = all.swap_remove(widest);
            let Self { means, covariances, .. } = moments(draws, d, &own)?;
            let axis = longest(&covariances, d);
            let along = |&at: &usize| (0..d).map(|j| axis[j] * (x(at, j) - means[j])).sum::<f64>() > 0.0;
            let (above, below): (Vec<usize>, Vec<usize>) = own.into_iter().partition(along);
            all.extend([below, above]);
        }
        for _ in 0..LLOYD {
            let centres: Option<Vec<Vec<f64>>> = all.iter().map(|own| Some(moments(draws, d, own)?.means)).collect();
            let centres = centres?;
            let distance = |at: usize, centre: &Vec<f64>| (0..d).map(|j| (x(at, j) - centre[j]).powi(2)).sum::<f64>();
            all.iter_mut().for_each(Vec::clear);
            for &at in &every {
                let near = centres.iter().map(|centre| distance(at, centre)).enumerate();
                let (nearest, _) = near.min_by(|a, b| a.1.total_cmp(&b.1))?;
                all[nearest].push(at);
            }
        }
        let total: f64 = every.iter().map(|&at| x(at, d)).sum();
        let mut made = Self { d, weights: vec![], means: vec![], covariances: vec![] };
        for own in &all {
            let Self { means, covariances, .. } = moments(draws, d, own)?;
            made.weights.push(own.iter().map(|&at| x(at, d)).sum::<f64>() / total);
            made.means.extend(means);
            made.covariances.extend(covariances);
        }
        Some(made)
    }
}

/// One component with the moments of some draws.
fn moments(draws: &[Pack], d: usize, numbers: &[usize]) -> Option<Model> {
    let mut sums = vec![Pack::ZERO; draw_sums_len(d)];
    for &at in numbers {
        let (pack, lane) = (&draws[at / LANES * (d + 1)..], at % LANES);
        let q = pack[d].0[lane];
        sums[0].0[0] += q;
        for i in 0..d {
            sums[1 + i].0[0] += q * pack[i].0[lane];
            (0..=i).for_each(|j| sums[1 + d + packed_index(i, j)].0[0] += q * pack[i].0[lane] * pack[j].0[lane]);
        }
    }
    Model::single(d).step(&sums)
}

/// The direction of the largest variance, by a few products.
fn longest(covariance: &[f64], d: usize) -> Vec<f64> {
    let mut axis: Vec<f64> = (0..d).map(|j| 1.0 + 0.1 * j as f64).collect();
    for _ in 0..20 {
        let at = |i: usize, j: usize| covariance[packed_index(i.max(j), i.min(j))];
        let next: Vec<f64> = (0..d).map(|i| (0..d).map(|j| at(i, j) * axis[j]).sum()).collect();
        let size = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        if !(size > 0.0) {
            break;
        }
        axis = next.into_iter().map(|x| x / size).collect();
    }
    axis
}

/// The packed triangle of L^{-1} of T = L L', and log |T|; `None` where T is not positive definite.
fn invert_root(covariance: &[f64], d: usize, out: &mut Vec<f64>) -> Option<f64> {
    let mut l = covariance.to_vec();
    let mut log_det = 0.0;
    for i in 0..d {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| l[packed_index(i, k)] * l[packed_index(j, k)]).sum();
            let rest = l[packed_index(i, j)] - dot;
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                log_det += rest.ln();
                l[packed_index(i, i)] = rest.sqrt();
            } else {
                l[packed_index(i, j)] = rest / l[packed_index(j, j)];
            }
        }
    }
    let first = out.len();
    for i in 0..d {
        for j in 0..=i {
            let value = if i == j {
                1.0 / l[packed_index(i, i)]
            } else {
                let sum: f64 = (j..i).map(|k| l[packed_index(i, k)] * out[first + packed_index(k, j)]).sum();
                -sum / l[packed_index(i, i)]
            };
            out.push(value);
        }
    }
    Some(log_det)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Numbers;

    fn fitted(values: Vec<f64>, d: usize, params: Params) -> Result<FromDraws> {
        let draws = Rows::from_vec(values, d).unwrap();
        let offsets = [0, draws.n_rows()];
        params.check()?.fit(&draws, &offsets, None, &Control::new())
    }

    #[test]
    fn one_component_has_the_moments_of_the_draws() {
        let mut numbers = Numbers::new(1);
        let values: Vec<f64> = (0..600).map(|k| numbers.normal() * 1e-3 + f64::from(k % 2) * 7.0).collect();
        let found = fitted(values.clone(), 2, Params::new().n_components(Some(1))).unwrap().mixtures;
        let mean: f64 = values.iter().step_by(2).sum::<f64>() / 300.0;
        let variance: f64 = values.iter().step_by(2).map(|x| (x - mean).powi(2)).sum::<f64>() / 300.0;
        assert!((found.components().means().row(0)[0] - mean).abs() < 1e-15);
        // The floor adds its part.
        let own = found.components().covariances().quad(0, &[1.0, 0.0]);
        assert!((own / variance - 1.0 - FLOOR).abs() < 1e-9, "{own} {variance}");
    }

    #[test]
    fn peaks_are_found_and_gaussians_stay_one() {
        let mut numbers = Numbers::new(2);
        let (mut wide, mut peaks) = (vec![], vec![]);
        for k in 0..1000 {
            wide.extend([numbers.normal(), 3.0 + 2.0 * numbers.normal()]);
            let at = if k % 10 < 3 { 6.0 } else { 0.0 };
            peaks.extend([at + numbers.normal(), -at + 0.5 * numbers.normal()]);
        }
        assert_eq!(fitted(wide, 2, Params::new()).unwrap().mixtures.components().n_rows(), 1);
        let found = fitted(peaks, 2, Params::new()).unwrap().mixtures;
        assert_eq!(found.components().n_rows(), 2);
        let small = usize::from(found.weights()[0] > 0.5);
        assert!((found.weights()[small] - 0.3).abs() < 0.01, "{:?}", found.weights());
        assert!((found.components().means().row(small)[0] - 6.0).abs() < 0.25);
    }

    #[test]
    fn few_draws_have_few_components_and_bad_ones_are_refused() {
        let found = fitted(vec![0.0, 1.0, 5.0, 6.0], 1, Params::new().n_components(Some(3))).unwrap();
        assert_eq!((found.mixtures.components().n_rows(), found.n_fewer), (1, 1));
        assert!(
            fitted(vec![2.0; 40], 1, Params::new()).unwrap().mixtures.components().covariances().quad(0, &[1.0]) == 0.0
        );
        let message = |values: Vec<f64>| fitted(values, 1, Params::new()).unwrap_err().to_string();
        assert!(message(vec![1.0]).contains("row 0 has 1 draws"));
        assert!(message(vec![1.0, 2.0, f64::NAN]).contains("draw 2, feature 0 is NaN"));
        assert!(fitted(vec![1.0, 2.0], 1, Params::new().n_components(Some(0))).is_err());
        let rows = Rows::from_vec(vec![1.0, 2.0, 3.0], 1).unwrap();
        let fit = |weights: &[f64]| Params::new().check().unwrap().fit(&rows, &[0, 3], Some(weights), &Control::new());
        assert!(fit(&[1.0, -1.0, 1.0]).unwrap_err().to_string().contains("draw 1 has the weight -1"));
        assert!(fit(&[0.0; 3]).unwrap_err().to_string().contains("all draws are zero"));
    }

    #[test]
    fn weights_of_draws_count() {
        let mut numbers = Numbers::new(3);
        let values: Vec<f64> = (0..4000).map(|_| numbers.normal()).collect();
        let rows = Rows::from_vec(values.clone(), 1).unwrap();
        // exp(x) moves a standard normal distribution by 1.
        let weights: Vec<f64> = values.iter().map(|x| x.exp()).collect();
        let params = Params::new().n_components(Some(1)).check().unwrap();
        let found = params.fit(&rows, &[0, 4000], Some(&weights), &Control::new()).unwrap().mixtures;
        assert!((found.components().means().row(0)[0] - 1.0).abs() < 0.1);
    }
}
