//! [`LineRows`]: what is known of every row that counts, in the form in which the likelihood sees it.

use crate::control::Control;
use crate::data::weights::Worth;
use crate::data::{Incomplete, MarkedRows, Modes, Targets};
use crate::deconvolution::Mixture;
use crate::error::{Error, Result};
use crate::model::clusters;
use crate::model::law::coordinates::Coordinates;
use crate::model::law::crossed::Crossed;
use crate::model::law::scaled_noise::ScaledNoise;
use crate::model::law::truths::Truths;
use crate::model::shared_features;

use super::SharedErrors;

/// Rows that count, copied where others do not.
pub(super) struct Counted<'a> {
    rows: Incomplete<'a>,
    numbers: Vec<usize>,
    taken: Option<MarkedRows>,
}

impl<'a> Counted<'a> {
    pub(super) fn new(rows: Incomplete<'a>, targets: &Targets) -> Result<Self> {
        let numbers: Vec<usize> = (0..rows.n_rows()).filter(|&i| targets.weight(i) > 0.0).collect();
        let taken = if numbers.len() == rows.n_rows() { None } else { Some(rows.take(&numbers)?) };
        Ok(Self { rows, numbers, taken })
    }

    fn rows(&self) -> Incomplete<'_> {
        self.taken.as_ref().map_or(self.rows, MarkedRows::view)
    }
}

pub(super) struct LineRows<'a> {
    /// Numbers in the caller's table.
    pub numbers: Vec<usize>,
    pub truths: Truths<'a>,
    pub y: Vec<f64>,
    /// t^2
    pub known: Vec<f64>,
    /// -1 and +1 where the value lies below and above y.
    pub limits: Option<Vec<i8>>,
    /// Weights of sum n, or of the repeated rows that they count, and what those of the caller are multiplied by for it.
    pub weights: Vec<f64>,
    pub share: f64,
    pub worth: Worth,
    pub groups: Option<Vec<u32>>,
    /// n x k.
    pub modes: Vec<f64>,
    pub k: usize,
    /// Of rows whose errors go together.
    pub crossed: Option<Crossed>,
    /// Of features whose error bars have a factor.
    pub scaled: Option<ScaledNoise>,
}

impl<'a> LineRows<'a> {
    pub(super) fn new(
        rows: &'a Counted<'a>,
        targets: &Targets,
        shared: &SharedErrors,
        mixture: &Mixture,
        control: &Control,
    ) -> Result<Self> {
        let (counted, kept, d) = (rows.rows(), rows.numbers.clone(), mixture.n_features());
        let total: f64 = kept.iter().map(|&i| targets.weight(i)).sum();
        let worth = Worth::from_weights(kept.iter().map(|&i| targets.weight(i)));
        let share = worth.share(kept.len(), total);
        let groups: Option<Vec<u32>> = shared.groups.as_ref().map(|g| kept.iter().map(|&i| g[i]).collect());
        clusters::check(groups.as_deref())?;
        let pick = |values: &[f64]| -> Vec<f64> { kept.iter().map(|&i| values[i]).collect() };
        let Modes { of_targets: modes, k, .. } = shared.modes.take(&kept);
        shared_features::check(&modes, k)?;
        let crossed = targets
            .feature_covariances()
            .map(|c| kept.iter().flat_map(|&i| &c[i * d..(i + 1) * d]).copied().collect::<Vec<f64>>());
        let mut known = targets.variances().map_or_else(|| vec![0.0; kept.len()], pick);
        let limits: Option<Vec<i8>> = targets.limits().map(|limits| kept.iter().map(|&i| limits[i]).collect());
        if limits.as_ref().is_some_and(|limits| limits.iter().all(|limit| *limit != 0)) {
            return Err(Error::Data("every target is a limit, so nothing is known of their size".into()));
        }
        let crossed = crossed.map(|c| Crossed::new(counted, mixture, &c, &known, &kept)).transpose()?;
        let limits = limits.filter(|limits| limits.iter().any(|limit| *limit != 0));
        if let Some(crossed) = &crossed {
            known.iter_mut().zip(&crossed.taken).for_each(|(t, taken)| *t = (*t - taken).max(0.0));
        }
        Ok(Self {
            truths: Truths::new(counted, mixture, control)?,
            y: pick(targets.values()),
            crossed,
            known,
            limits,
            weights: kept.iter().map(|&i| targets.weight(i) * share).collect(),
            share,
            worth,
            groups,
            modes,
            k,
            scaled: None,
            numbers: kept,
        })
    }

    pub(super) fn n(&self) -> usize {
        self.y.len()
    }

    /// In other coordinates of the features.
    pub(super) fn rescale(&mut self, coordinates: &Coordinates) {
        self.truths.rescale(&coordinates.centre, &coordinates.scale);
        self.crossed.iter_mut().for_each(|crossed| crossed.rescale(&coordinates.scale));
    }

    /// y less what goes with the errors of the features.
    pub(super) fn target(&self, i: usize) -> f64 {
        self.y[i] - self.crossed.as_ref().map_or(0.0, |crossed| crossed.shift[i])
    }
}
