//! [`Truths`]: what the readings say about true features, a mixture of Gaussians per row.
//!
//! Given x_i, the true value z_i is sum_k w_ik N(m_ik, P_ik) under the distribution of all true values, with
//! w_ik ~ pi_k N(x_i; mu_k, T_k + S_i): the denoiser's answer component by component. Exact rows are one point each.
//!
//! Of a row that is a mixture of parts, sum_c v_ic N(x_ic, S_ic), the components are the pairs (c, k), one part's behind
//! the other's, with weights ~ v_ic pi_k N(x_ic; mu_k, T_k + S_ic).
//!
//! Where there is no room for them ([`memory::keeps`]) they are computed in every pass, block by block, with the same bits.

use std::ops::Range;

use crate::control::Control;
use crate::data::covariance::{packed_index, packed_len};
use crate::data::{Covariances, Incomplete};
use crate::deconvolution::{Mixture, Observed, log_sum};
use crate::error::Result;
use crate::linalg::{Eigh, add_outer};
use crate::parallel::added;
use crate::simd::dot;
use crate::{memory, parallel};

/// Rows of which predictions keep all, and numbers.
const FEW: usize = 8192;
const FEW_NUMBERS: usize = 1 << 23;
/// Rows that are computed at once.
const BLOCK: usize = 128;

/// Of all rows.
pub(in crate::model) struct Truths<'a> {
    pub n: usize,
    pub d: usize,
    /// Components of the density.
    k: usize,
    source: Source<'a>,
}

enum Source<'a> {
    Kept(Block),
    Read(Readings<'a>),
}

/// Rows and the density.
struct Readings<'a> {
    rows: Incomplete<'a>,
    /// All components, and each alone; none of exact rows.
    density: Mixture,
    alone: Vec<Mixture>,
    /// Coordinates: (z - centre) / scale.
    centre: Vec<f64>,
    scale: Vec<f64>,
}

/// Of consecutive rows.
#[derive(Default)]
struct Block {
    /// Their numbers.
    rows: Range<usize>,
    /// Where the parts of every row begin, and the end, where rows are mixtures; else a row is one part.
    offsets: Option<Vec<usize>>,
    /// log w, parts x K.
    logs: Vec<f64>,
    /// m of each component of the density, parts x d.
    means: Vec<Vec<f64>>,
    /// P of each component of the density, one packed triangle per part; none of exact rows.
    covariances: Vec<Vec<f64>>,
}

/// Reads rows one after the other.
pub(in crate::model) struct Reader<'t> {
    truths: &'t Truths<'t>,
    block: Block,
}

/// Of one row.
#[derive(Clone, Copy)]
pub(in crate::model) struct Truth<'t> {
    block: &'t Block,
    /// Its first part in the block, and their number.
    first: usize,
    parts: usize,
    d: usize,
    k: usize,
}

impl<'a> Truths<'a> {
    pub(in crate::model) fn new(rows: Incomplete<'a>, mixture: &Mixture, control: &Control) -> Result<Self> {
        let (parts, d) = (rows.gaussians().n_rows(), mixture.n_features());
        let numbers = if is_exact(rows) { d } else { mixture.n_components() * (1 + d + packed_len(d)) };
        Self::keeping(memory::keeps(parts, size_of::<f64>() * numbers), rows, mixture, control)
    }

    /// Truths for one pass.
    pub(in crate::model) fn passing(rows: Incomplete<'a>, mixture: &Mixture, control: &Control) -> Result<Self> {
        let numbers = mixture.n_components() * packed_len(mixture.n_features() + 1);
        Self::keeping(rows.n_rows() <= FEW.min(FEW_NUMBERS / numbers), rows, mixture, control)
    }

    fn keeping(keep: bool, rows: Incomplete<'a>, mixture: &Mixture, control: &Control) -> Result<Self> {
        let (n, d) = (rows.n_rows(), mixture.n_features());
        rows.gaussians().check_features(d)?;
        let alone = if is_exact(rows) { 0 } else { mixture.n_components() };
        let readings = Readings {
            rows,
            density: mixture.clone(),
            alone: (0..alone).map(|component| only(mixture, component)).collect(),
            centre: vec![],
            scale: vec![],
        };
        let source = if keep { Source::Kept(readings.block(0..n, control)?) } else { Source::Read(readings) };
        Ok(Self { n, d, k: alone.max(1), source })
    }

    /// Rows taken for exact.
    fn points(n: usize, d: usize, means: Vec<f64>) -> Self {
        let block = Block { rows: 0..n, logs: vec![0.0; n], means: vec![means], ..Block::default() };
        Self { n, d, k: 1, source: Source::Kept(block) }
    }

    /// Are true values known up to errors?
    pub(in crate::model) fn is_noisy(&self) -> bool {
        match &self.source {
            Source::Kept(block) => !block.covariances.is_empty(),
            Source::Read(readings) => !readings.alone.is_empty(),
        }
    }

    /// For one row after the other.
    pub(in crate::model) fn reader(&self) -> Reader<'_> {
        Reader { truths: self, block: Block::default() }
    }

    /// The readings taken for the truth, of mixtures their means, and where there is none its mean.
    pub(in crate::model) fn naive(&self, rows: Incomplete<'_>) -> Result<Truths<'static>> {
        let mut means = match rows.mixtures() {
            None => rows.gaussians().means().to_vec(),
            Some(mixtures) => mixtures.collapse()?.means().to_vec(),
        };
        let mut reader = self.reader();
        for i in (0..self.n).filter(|_| rows.missing().is_some()) {
            let mean = reader.at(i).mean();
            for j in (0..self.d).filter(|&j| rows.is_missing(i, j)) {
                means[i * self.d + j] = mean[j];
            }
        }
        Ok(Truths::points(self.n, self.d, means))
    }

    /// Exact rows instead of these: of every component m +- sqrt(d) times the columns of P^(1/2) Q, which have its mean and
    /// covariance, with their rows and the logarithms of their shares w / (2 d). The first column of the orthogonal Q is along
    /// P^(1/2) `direction`, so that what depends on that direction alone is the same in other axes.
    pub(in crate::model) fn points_within(
        &self,
        rows: &[usize],
        direction: &[f64],
    ) -> Result<(Truths<'static>, Vec<(usize, f64)>)> {
        let d = self.d;
        let (mut means, mut owners) = (vec![], vec![]);
        let (mut eigh, mut reader) = (Eigh::new(d), self.reader());
        for &row in rows {
            let truth = reader.at(row);
            for (component, log) in truth.logs().iter().enumerate() {
                let mean = truth.mean_under(component);
                let Some(covariance) = truth.covariance_under(component) else {
                    means.extend_from_slice(mean);
                    owners.push((row, *log));
                    continue;
                };
                eigh.packed(covariance)?;
                let root = eigh.function(|value| (d as f64 * value.max(0.0)).sqrt());
                let times = |by: &[f64]| -> Vec<f64> {
                    let element = |i: usize, j: usize| root[packed_index(i, j)];
                    (0..d).map(|i| by.iter().enumerate().map(|(j, by)| element(i, j) * by).sum()).collect()
                };
                // A reflection that takes the first axis there.
                let mut normal = times(direction);
                normal[0] += dot(&normal, &normal).sqrt().copysign(normal[0]);
                let size = dot(&normal, &normal);
                for column in 0..d {
                    let by = if size > 0.0 { 2.0 * normal[column] / size } else { 0.0 };
                    let axis: Vec<f64> = (0..d).map(|i| f64::from(u8::from(i == column)) - by * normal[i]).collect();
                    let along = times(&axis);
                    for sign in [1.0, -1.0] {
                        means.extend(mean.iter().zip(&along).map(|(m, along)| m + sign * along));
                        owners.push((row, log - (2.0 * d as f64).ln()));
                    }
                }
            }
        }
        Ok((Truths::points(owners.len(), d, means), owners))
    }

    /// The components of a row at most.
    pub(in crate::model) fn most(&self) -> usize {
        let parts = match &self.source {
            Source::Kept(block) => {
                block.offsets.as_ref().and_then(|at| at.windows(2).map(|ends| ends[1] - ends[0]).max())
            }
            Source::Read(readings) => {
                readings.rows.mixtures().and_then(|rows| (0..self.n).map(|row| rows.row(row).len()).max())
            }
        };
        parts.unwrap_or(1) * self.k
    }

    /// In other coordinates: (x - centre) / scale.
    pub(in crate::model) fn rescale(&mut self, centre: &[f64], scale: &[f64]) {
        match &mut self.source {
            Source::Kept(block) => block.rescale(centre, scale),
            Source::Read(readings) => {
                (readings.centre, readings.scale) = (centre.to_vec(), scale.to_vec());
            }
        }
    }

    /// Weighted sums over the rows: of the posterior means less `centre` (d), of the products of these (a packed triangle),
    /// and of the posterior covariances (a packed triangle).
    pub(in crate::model) fn moments(&self, centre: &[f64], weight: impl Fn(usize) -> f64 + Sync) -> Result<Vec<f64>> {
        let (d, len) = (self.d, packed_len(self.d));
        let parts = parallel::map_parts(self.n, |rows| {
            let (mut sums, mut reader) = (vec![0.0; d + 2 * len], self.reader());
            for i in rows {
                let truth = reader.at(i);
                let (c, mean) = (weight(i), truth.mean());
                let from_centre: Vec<f64> = mean.iter().zip(centre).map(|(m, centre)| m - centre).collect();
                sums.iter_mut().zip(&from_centre).for_each(|(sum, x)| *sum += c * x);
                add_outer(c, &from_centre, &mut sums[d..d + len]);
                for (component, log) in truth.logs().iter().enumerate() {
                    let share = c * log.exp();
                    let apart: Vec<f64> =
                        truth.mean_under(component).iter().zip(&mean).map(|(m, mean)| m - mean).collect();
                    add_outer(share, &apart, &mut sums[d + len..]);
                    if let Some(p) = truth.covariance_under(component) {
                        sums[d + len..].iter_mut().zip(p).for_each(|(sum, p)| *sum += share * p);
                    }
                }
            }
            sums
        })?;
        Ok(added(parts))
    }
}

fn is_exact(rows: Incomplete<'_>) -> bool {
    let points = matches!(rows.gaussians().covariances(), Covariances::Zero);
    points && rows.missing().is_none() && rows.mixtures().is_none()
}

/// One component as the whole density.
fn only(mixture: &Mixture, component: usize) -> Mixture {
    let (mean, covariance) = (mixture.mean(component).to_vec(), mixture.covariance(component).to_vec());
    Mixture::unchecked(vec![1.0], mean, covariance, mixture.n_features())
}

impl Readings<'_> {
    fn block(&self, rows: Range<usize>, control: &Control) -> Result<Block> {
        let mixtures = self.rows.mixtures();
        let start = |row: usize| mixtures.map_or(row, |mixtures| mixtures.offsets()[row]);
        let parts = start(rows.start)..start(rows.end);
        let data = self.rows.gaussians().slice(parts.clone());
        let own = if rows.len() == self.rows.n_rows() { self.rows } else { self.rows.part(parts.clone(), &data) };
        let k = self.alone.len().max(1);
        let mut block = Block { rows: rows.clone(), logs: vec![0.0; parts.len()], ..Block::default() };
        block.offsets = mixtures.map(|_| (rows.start..=rows.end).map(|row| start(row) - parts.start).collect());
        if self.alone.is_empty() {
            block.means.push(data.means().to_vec());
        }
        memory::ask(parts.len(), size_of::<f64>() * self.alone.len() * (1 + self.density.covariance(0).len()))?;
        let observed = Observed::from_rows(own, None);
        if k > 1 || mixtures.is_some() {
            block.logs = observed.log_densities(None, &self.density, control)?;
            if let Some(mixtures) = mixtures {
                let of_parts = block.logs.chunks_exact_mut(k).zip(&mixtures.weights()[parts]);
                of_parts.for_each(|(logs, v)| logs.iter_mut().for_each(|log| *log += v.ln()));
            }
            for row in rows {
                let parts = block.parts(row);
                let logs = &mut block.logs[parts.start * k..parts.end * k];
                let total = log_sum(logs);
                logs.iter_mut().for_each(|log| *log -= total);
            }
        }
        for component in &self.alone {
            let posteriors = observed.posteriors(component, false, control)?;
            block.means.push(posteriors.means);
            block.covariances.push(posteriors.covariances);
        }
        if !self.scale.is_empty() {
            block.rescale(&self.centre, &self.scale);
        }
        Ok(block)
    }
}

impl Block {
    /// The places of a row's parts.
    fn parts(&self, row: usize) -> Range<usize> {
        let at = row - self.rows.start;
        self.offsets.as_ref().map_or(at..at + 1, |offsets| offsets[at]..offsets[at + 1])
    }

    fn unknown(rows: Range<usize>, d: usize, k: usize) -> Self {
        let means = vec![vec![f64::NAN; rows.len() * d]; k];
        Self { logs: vec![f64::NAN; rows.len() * k], rows, means, ..Self::default() }
    }

    fn rescale(&mut self, centre: &[f64], scale: &[f64]) {
        let d = scale.len();
        for means in &mut self.means {
            means.iter_mut().enumerate().for_each(|(at, x)| *x = (*x - centre[at % d]) / scale[at % d]);
        }
        let factors: Vec<f64> =
            (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| scale[i] * scale[j]).collect();
        for covariances in &mut self.covariances {
            for triangle in covariances.chunks_exact_mut(factors.len()) {
                triangle.iter_mut().zip(&factors).for_each(|(x, f)| *x /= f);
            }
        }
    }
}

impl Reader<'_> {
    /// NaN where a row's density cannot be computed.
    pub(in crate::model) fn at(&mut self, row: usize) -> Truth<'_> {
        let Truths { n, d, k, source } = self.truths;
        let block = match source {
            Source::Kept(block) => block,
            Source::Read(readings) => {
                if !self.block.rows.contains(&row) {
                    let rows = row..(*n).min(row + BLOCK);
                    let block = readings.block(rows.clone(), &Control::new());
                    self.block = block.unwrap_or_else(|_| Block::unknown(rows, *d, *k));
                }
                &self.block
            }
        };
        let parts = block.parts(row);
        Truth { block, first: parts.start, parts: parts.len(), d: *d, k: *k }
    }
}

impl<'t> Truth<'t> {
    /// The components that are a part under this component of the density.
    pub(in crate::model) fn under_density(&self, k: usize) -> impl Iterator<Item = usize> + use<> {
        let of_density = self.k;
        (0..self.parts).map(move |part| part * of_density + k)
    }

    /// log w of the components.
    pub(in crate::model) fn logs(&self) -> &'t [f64] {
        &self.block.logs[self.first * self.k..(self.first + self.parts) * self.k]
    }

    /// m under a component.
    pub(in crate::model) fn mean_under(&self, component: usize) -> &'t [f64] {
        let (k, part) = (component % self.k, self.first + component / self.k);
        &self.block.means[k][part * self.d..(part + 1) * self.d]
    }

    /// P under a component; `None`: it is zero.
    pub(in crate::model) fn covariance_under(&self, component: usize) -> Option<&'t [f64]> {
        let (k, part, len) = (component % self.k, self.first + component / self.k, packed_len(self.d));
        self.block.covariances.get(k).map(|all| &all[part * len..(part + 1) * len])
    }

    /// Posterior mean.
    pub(in crate::model) fn mean(&self) -> Vec<f64> {
        let mut mean = vec![0.0; self.d];
        for (component, log) in self.logs().iter().enumerate() {
            let share = log.exp();
            mean.iter_mut().zip(self.mean_under(component)).for_each(|(mean, m)| *mean += share * m);
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{GaussianArray, Rows};
    use crate::testing::Numbers;

    #[test]
    fn computed_blocks_have_the_bits_of_kept_ones() {
        let (n, d, control) = (301, 2, Control::new());
        let mut numbers = Numbers::new(5);
        let mut take = |len: usize| (0..len).map(|_| numbers.normal()).collect::<Vec<f64>>();
        let means = Rows::from_vec(take(n * d), d).unwrap();
        let stds = Covariances::from_std(Rows::from_vec(take(n * d).iter().map(|x| x.abs()).collect(), d).unwrap());
        let gaps: Vec<bool> = take(n * d).iter().map(|x| *x > 1.5).collect();
        let (noisy, exact) = (GaussianArray::new(means.clone(), stds).unwrap(), GaussianArray::exact(means).unwrap());
        for (k, (data, gaps)) in [1, 2, 1].into_iter().zip([(&noisy, None), (&noisy, Some(&gaps[..])), (&exact, None)])
        {
            let t = [1.0, 0.1, 2.0].repeat(k);
            let density = Mixture::from_packed(vec![1.0 / k as f64; k], take(k * d), t, d).unwrap();
            let [kept, computed] = [true, false].map(|keep| {
                let rows = Incomplete::from_parts(data, gaps, None);
                let mut truths = Truths::keeping(keep, rows, &density, &control).unwrap();
                truths.rescale(&[0.3, -1.0], &[2.0, 0.7]);
                let (mut reader, mut numbers) = (truths.reader(), vec![]);
                for i in 0..n {
                    let truth = reader.at(i);
                    numbers.extend_from_slice(truth.logs());
                    let under = |c| [truth.mean_under(c), truth.covariance_under(c).unwrap_or(&[])].concat();
                    numbers.extend((0..truth.logs().len()).flat_map(under));
                }
                numbers
            });
            assert_eq!(kept, computed);
        }
    }
}
