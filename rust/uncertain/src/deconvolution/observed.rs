//! [`Observed`]: the rows as the vector kernels read them, and what a mixture says about each.

use std::ops::Range;

use crate::control::Control;
use crate::data::covariance::{Structure, packed_len};
use crate::data::{Covariances, GaussianArray, Incomplete, Targets, Weights};
use crate::deconvolution::Mixture;
use crate::deconvolution::prepare::prepared;
use crate::error::{Error, Result};
use crate::simd::mixture::{Component, Densities, Factors, Noise, Posteriors, Shape, Workspace};
use crate::simd::{LANES, Pack};
use crate::{memory, parallel};

/// Packs of eight rows per call of a kernel.
const PACKS: usize = 16;

/// Noisy rows, perhaps with missing features and weights.
#[derive(Clone, Copy)]
pub(crate) struct Observed<'a> {
    pub data: &'a GaussianArray,
    /// Targets, the last of the d features, which `data` and the marks lack.
    pub(super) target: Option<&'a Targets>,
    /// n x d: is the feature missing? Its mean and covariances are not looked at.
    pub missing: Option<&'a [bool]>,
    /// n x d: is it missing because all that is known is a limit?
    pub limits: Option<&'a [i8]>,
    pub weights: Option<&'a Weights>,
    /// The row of each, where they are components of rows that are mixtures.
    pub(super) parts: Option<&'a [u32]>,
    pub(super) shape: Shape,
}

/// The mean and covariance of every row's true value, given its reading, and the log density of the reading.
pub(crate) struct RowPosteriors {
    /// n x d.
    pub means: Vec<f64>,
    /// n packed triangles.
    pub covariances: Vec<f64>,
    pub logs: Vec<f64>,
}

/// The columns of every row's factor, where S = F F' has few enough for Woodbury's identity to pay.
fn few_columns(data: &GaussianArray) -> Option<usize> {
    match data.covariances().structure() {
        Structure::Factor(k) if k.diagonal.is_none() && 3 * k.rank <= data.n_features() => Some(k.rank),
        _ => None,
    }
}

impl<'a> Observed<'a> {
    pub(crate) fn new(data: &'a GaussianArray, missing: Option<&'a [bool]>, weights: Option<&'a Weights>) -> Self {
        let masked = missing.is_some();
        let covariances = data.covariances();
        let noise = match covariances.structure() {
            Structure::Zero | Structure::Isotropic if !masked => Noise::Rotated,
            Structure::Zero | Structure::Isotropic | Structure::Diagonal => Noise::Diagonal,
            _ if covariances.common().is_some() && !masked => Noise::Rotated,
            _ => few_columns(data).filter(|_| !masked).map_or(Noise::Full, Noise::Factor),
        };
        let shape = Shape { d: data.n_features(), noise, masked };
        Self { data, target: None, missing, limits: None, weights, parts: None, shape }
    }

    /// Observations from rows that may have gaps and limits.
    pub(crate) fn from_rows(rows: Incomplete<'a>, weights: Option<&'a Weights>) -> Self {
        // A limit is a gap, and gaps keep passes in the coordinates of the rows: sums over limits can be added.
        Self { limits: rows.limits(), parts: rows.parts(), ..Self::new(rows.gaussians(), rows.missing(), weights) }
    }

    /// Rows with their target as the last feature, as [`Joint`](super::with_target::Joint) has them, read in place; `None`: these
    /// need a copy.
    pub(crate) fn with_target(rows: Incomplete<'a>, targets: &'a Targets) -> Option<Self> {
        let (covariances, masked) = (rows.gaussians().covariances(), rows.missing().is_some());
        let limited = rows.limits().is_some() || targets.limits().is_some();
        let weightless = targets.weights().is_some_and(|weights| weights.contains(&0.0));
        let plain = rows.mixtures().is_none() && rows.parts().is_none() && targets.feature_covariances().is_none();
        let noise = match covariances.structure() {
            Structure::Zero if targets.variances().is_none() && !masked => Noise::Rotated,
            structure if structure.is_diagonal() => Noise::Diagonal,
            Structure::Factor(of) if of.diagonal.is_none() => return None,
            _ if covariances.common().is_some() => return None,
            _ => Noise::Full,
        };
        let observed = Self::from_rows(rows, targets.weights());
        let shape = Shape { d: observed.shape.d + 1, noise, masked };
        (plain && !limited && !weightless).then_some(Self { target: Some(targets), shape, ..observed })
    }

    /// Observations whose passes must keep to the coordinates of the rows, for sums over other rows to be added.
    pub(crate) fn in_plain_coordinates(rows: Incomplete<'a>, weights: Option<&'a Weights>) -> Self {
        let observed = Self::from_rows(rows, weights);
        let diagonal = rows.gaussians().covariances().structure().is_diagonal();
        let noise = if diagonal { Noise::Diagonal } else { Noise::Full };
        Self { shape: Shape { noise, ..observed.shape }, ..observed }
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> Incomplete<'a> {
        Incomplete::from_parts(self.data, self.missing, self.limits)
    }

    /// Are all rows points: no noise, gap, limit or further component?
    pub(super) fn is_exact(&self) -> bool {
        let points = matches!(self.data.covariances(), Covariances::Zero) && self.parts.is_none();
        let measured = self.target.is_some_and(|targets| targets.variances().is_some());
        points && !measured && self.missing.is_none() && self.limits.is_none()
    }

    /// The components in the form that a pass over these rows wants.
    pub(super) fn components(&self, mixture: &Mixture) -> Result<Vec<Component>> {
        prepared(mixture, self.shape.noise, self.data.covariances())
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    pub(crate) fn is_missing(&self, row: usize, feature: usize) -> bool {
        let d = self.data.n_features();
        feature < d && self.missing.is_some_and(|m| m[row * d + feature])
    }

    pub(super) fn n_features(&self) -> usize {
        self.shape.d
    }

    /// The reading of a row, and the variances of its errors.
    pub(super) fn read(&self, row: usize, means: &mut [f64], variances: &mut [f64]) {
        let d = self.data.n_features();
        means[..d].copy_from_slice(&self.data.means().row(row));
        self.data.covariances().variances(row, &mut variances[..d]);
        if let Some(targets) = self.target {
            means[d] = targets.values()[row];
            variances[d] = targets.variances().map_or(0.0, |v| v[row]);
        }
    }

    pub(crate) fn noise(&self) -> Noise {
        self.shape.noise
    }

    /// log (pi_k N(x_i; mu_k, T_k + S_i)) for all rows (or these), n x K.
    pub(crate) fn log_densities(
        &self,
        rows: Option<&[usize]>,
        mixture: &Mixture,
        control: &Control,
    ) -> Result<Vec<f64>> {
        let mut all = self.plain_densities(rows, &self.components(mixture)?, control)?;
        let k = mixture.n_components();
        self.limited_densities(rows, mixture, &mut all, control)?;
        match all.iter().position(|x| x.is_nan()) {
            None => Ok(all),
            Some(at) => Err(self.unusable(rows.map_or(at / k, |rows| rows[at / k]))),
        }
    }

    /// Log-likelihoods under prepared components, limits being gaps.
    pub(super) fn plain_densities(
        &self,
        rows: Option<&[usize]>,
        components: &[Component],
        control: &Control,
    ) -> Result<Vec<f64>> {
        let (count, k) = (rows.map_or(self.data.n_rows(), <[usize]>::len), components.len());
        let parts = parallel::map_parts(count, |part| -> Result<Vec<f64>> {
            let mut out = Vec::with_capacity(part.len() * k);
            let (mut lanes, mut workspace) = (vec![Pack::ZERO; PACKS * k], Workspace::default());
            self.blocks(rows, part, control, |block, n| {
                let (shape, workspace) = (self.shape, &mut workspace);
                Densities { shape, components, rows: block, workspace, out: &mut lanes }.run();
                out.extend(
                    (0..n)
                        .flat_map(|i| (0..k).map(move |c| (i / LANES * k + c, i % LANES)))
                        .map(|(p, l)| lanes[p].0[l]),
                );
                Ok(())
            })?;
            Ok(out)
        })?;
        let mut all = Vec::with_capacity(count * k);
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }

    /// Posterior of every row's true value; see [`Posteriors::impute`].
    pub(crate) fn posteriors(&self, mixture: &Mixture, impute: bool, control: &Control) -> Result<RowPosteriors> {
        let components = self.components(mixture)?;
        let d = self.shape.d;
        let found = self.outputs([d, packed_len(d), 1], control, |rows, workspace, [means, covariances, logs]| {
            let (shape, components) = (self.shape, components.as_slice());
            Posteriors { shape, components, rows, workspace, impute, means, covariances, logs }.run();
        })?;
        let [means, covariances, logs] = found;
        self.check_finite(&means, d)?;
        self.check_finite(&covariances, packed_len(d))?;
        let mut found = RowPosteriors { means, covariances, logs };
        self.limited_posteriors(mixture, &mut found, control)?;
        Ok(found)
    }

    /// Results per row, of these widths, that `work` writes for a block of packs.
    fn outputs<const N: usize>(
        &self,
        widths: [usize; N],
        control: &Control,
        work: impl Fn(&[Pack], &mut Workspace, [&mut [Pack]; N]) + Sync,
    ) -> Result<[Vec<f64>; N]> {
        let parts = parallel::map_parts(self.data.n_rows(), |part| -> Result<[Vec<f64>; N]> {
            let mut own = widths.map(|width| Vec::with_capacity(part.len() * width));
            let mut lanes = widths.map(|width| vec![Pack::ZERO; PACKS * width]);
            let mut workspace = Workspace::default();
            self.blocks(None, part, control, |block, n| {
                work(block, &mut workspace, lanes.each_mut().map(Vec::as_mut_slice));
                for ((own, lanes), width) in own.iter_mut().zip(&lanes).zip(widths) {
                    for i in 0..n {
                        let (pack, lane) = (i / LANES, i % LANES);
                        own.extend(lanes[pack * width..(pack + 1) * width].iter().map(|x| x.0[lane]));
                    }
                }
                Ok(())
            })?;
            Ok(own)
        })?;
        // Whole at once: a vector that grows is moved, and is there twice.
        let n = self.data.n_rows();
        memory::ask(n, size_of::<f64>() * widths.iter().sum::<usize>())?;
        let mut all = widths.map(|width| Vec::with_capacity(n * width));
        for part in parts {
            all.iter_mut().zip(part?).for_each(|(all, own)| all.extend(own));
        }
        Ok(all)
    }

    /// Refuses the first row with a number that is none, of so many per row.
    fn check_finite(&self, values: &[f64], width: usize) -> Result<()> {
        let bad = values.iter().position(|x| !x.is_finite());
        bad.map_or(Ok(()), |at| Err(self.unusable(at / width)))
    }

    /// Posterior means (n x d) and factors of the covariances (n x d r) of rows with r columns under one component.
    pub(crate) fn posterior_factors(
        &self,
        mixture: &Mixture,
        rank: usize,
        control: &Control,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let components = self.components(mixture)?;
        let (d, component) = (self.shape.d, &components[0]);
        let [means, factors] = self.outputs([d, d * rank], control, |rows, workspace, [means, factors]| {
            Factors { shape: self.shape, rank, component, rows, workspace, means, factors }.run();
        })?;
        self.check_finite(&means, d)?;
        self.check_finite(&factors, d * rank)?;
        Ok((means, factors))
    }

    /// `work` on the packs of up to 8 x [`PACKS`] rows at a time, with their number.
    pub(super) fn blocks(
        &self,
        rows: Option<&[usize]>,
        part: Range<usize>,
        control: &Control,
        mut work: impl FnMut(&[Pack], usize) -> Result<()>,
    ) -> Result<()> {
        let width = self.shape.width();
        let mut packs = vec![Pack::ZERO; PACKS * width];
        let mut scratch = vec![0.0; packed_len(self.shape.d)];
        let mut first = part.start;
        while first < part.end {
            control.check()?;
            let n = (part.end - first).min(PACKS * LANES);
            for (pack, block) in packs.chunks_exact_mut(width).take(n.div_ceil(LANES)).enumerate() {
                for lane in 0..LANES {
                    let at = first + pack * LANES + lane;
                    // The last pack is filled up with its first row, without weight.
                    let (at, counts) = if at < part.end { (at, true) } else { (first + pack * LANES, false) };
                    let row = rows.map_or(at, |rows| rows[at]);
                    self.load(row, if counts { self.weight(row) } else { 0.0 }, lane, block, &mut scratch);
                }
            }
            work(&packs[..n.div_ceil(LANES) * width], n)?;
            first += n;
        }
        Ok(())
    }

    fn load(&self, row: usize, weight: f64, lane: usize, pack: &mut [Pack], scratch: &mut [f64]) {
        let Shape { d, noise, masked } = self.shape;
        let put = |pack: &mut [Pack], values: &[f64]| {
            pack.iter_mut().zip(values).for_each(|(p, v)| p.0[lane] = *v);
        };
        pack[d].0[lane] = weight;
        let (reading, own) = pack.split_at_mut(d + 1);
        let width = self.data.n_features();
        put(reading, &self.data.means().row(row));
        self.target.iter().for_each(|targets| reading[width].0[lane] = targets.values()[row]);
        let variance = self.target.and_then(Targets::variances).map_or(0.0, |variances| variances[row]);
        let covariances = self.data.covariances();
        match (covariances.structure(), noise) {
            (Structure::Zero | Structure::Isotropic, Noise::Rotated) => {
                covariances.variances(row, &mut scratch[..1]);
                own[0].0[lane] = scratch[0];
            }
            (_, Noise::Rotated) => own[0].0[lane] = 1.0,
            (Structure::Factor(k), Noise::Factor(_)) => put(own, &k.factor.row(row)),
            (_, Noise::Diagonal) => {
                covariances.variances(row, &mut scratch[..width]);
                scratch[width..d].fill(variance);
                put(own, &scratch[..d]);
            }
            (_, Noise::Full | Noise::Factor(_)) => {
                let (features, rest) = scratch.split_at_mut(packed_len(width));
                covariances.triangle(row, width, features);
                rest.fill(0.0);
                rest.last_mut().into_iter().for_each(|last| *last = variance);
                put(own, scratch);
            }
        }
        if masked {
            let mask = &mut own[self.shape.noise_len()..];
            (0..d).for_each(|j| mask[j].0[lane] = f64::from(u8::from(!self.is_missing(row, j))));
        }
    }

    /// Of a part of a row the number of the row is told.
    pub(super) fn unusable(&self, at: usize) -> Error {
        let row = self.parts.map_or(at, |parts| parts[at] as usize);
        let why = "its density under the mixture cannot be computed; scale the features, or raise reg_covar".into();
        Error::Row { row, why }
    }
}
