//! Which rows see which components, and where EM starts.

use std::ops::Range;

use crate::data::weights::Worth;
use crate::deconvolution::start::Sample;
use crate::deconvolution::{Mixture, Observed};
use crate::error::{Error, Result};

/// Rows that share components: all rows, or those of a class.
pub(super) struct Group {
    /// `None`: all.
    pub rows: Option<Vec<usize>>,
    pub components: Range<usize>,
    /// Rows without limits, where some have them.
    read: Option<Vec<usize>>,
    /// The others.
    pub limited: Vec<usize>,
}

impl Group {
    /// These rows, `None` for all, with these components.
    pub(super) fn new(observed: &Observed<'_>, rows: Option<Vec<usize>>, components: Range<usize>) -> Self {
        if observed.limits.is_none() {
            return Self { rows, components, read: None, limited: vec![] };
        }
        let all = rows.clone().unwrap_or_else(|| (0..observed.data.n_rows()).collect());
        let (limited, read) = all.into_iter().partition(|&row| observed.rows().is_limited(row));
        Self { rows, components, read: Some(read), limited }
    }

    /// The rows that vector kernels can take.
    pub(super) fn read(&self) -> Option<&[usize]> {
        self.read.as_deref().or(self.rows.as_deref())
    }
}

/// Model to be fitted.
pub(super) struct Task<'a> {
    pub observed: Observed<'a>,
    pub groups: Vec<Group>,
    /// One T for all components.
    pub tied: bool,
    /// Count the degrees of freedom that the parameters take ([`Task::spent`])?
    pub unbiased: bool,
}

impl Task<'_> {
    pub(super) fn start(&self, scale: &[f64], seed: u64) -> Result<Mixture> {
        let d = scale.len();
        let (mut weights, mut means, mut covariances) = (vec![], vec![], vec![]);
        for group in &self.groups {
            let k = group.components.len();
            let count = self.rows(group).filter(|&i| self.observed.weight(i) > 0.0).take(k).count();
            if count < k {
                return Err(Error::Data(format!("{k} components need at least as many rows, but there are {count}")));
            }
            let sample = Sample::new(&self.observed, group.rows.as_deref(), seed);
            let (w, m, c) = sample.components(k, scale, seed);
            weights.extend(w);
            means.extend(m);
            covariances.extend(c);
        }
        if self.tied {
            // Start from one distribution for all: their mean.
            let (k, len) = (weights.len(), covariances.len() / weights.len());
            let mean: Vec<f64> =
                (0..len).map(|p| (0..k).map(|c| covariances[c * len + p]).sum::<f64>() / k as f64).collect();
            covariances = mean.repeat(k);
        }
        Ok(Mixture::unchecked(weights, means, covariances, d))
    }

    fn rows<'b>(&'b self, group: &'b Group) -> impl Iterator<Item = usize> + 'b {
        let count = group.rows.as_ref().map_or(self.observed.data.n_rows(), Vec::len);
        (0..count).map(|at| group.rows.as_ref().map_or(at, |rows| rows[at]))
    }

    pub(super) fn weight(&self, group: &Group) -> f64 {
        self.rows(group).map(|i| self.observed.weight(i)).sum()
    }

    /// Rows that the weights stand for; parts of a row count together.
    pub(super) fn effective_rows(&self, group: &Group) -> f64 {
        let rows: Vec<usize> = self.rows(group).collect();
        let together = |a: &usize, b: &usize| self.observed.parts.is_some_and(|parts| parts[*a] == parts[*b]);
        Worth::from_weights(rows.chunk_by(together).map(|own| own.iter().map(|&i| self.observed.weight(i)).sum())).rows
    }

    /// Per component the weight c that its scatter is short of: T is the sum of squares over n - c.
    ///
    /// d + 1 of the rows that the weights stand for, but at most half the rows that have the
    /// rarest feature: beyond all of them the penalised likelihood would rise with that feature's variance for ever. Zero
    /// where a group has several components, one of which could leave the rows and grow.
    pub(super) fn spent(&self) -> Vec<f64> {
        let d = self.observed.n_features();
        let of_group = |group: &Group| {
            if !self.unbiased || group.components.len() > 1 {
                return 0.0;
            }
            let seen = |j: usize| -> f64 {
                let rows = self.rows(group).filter(|&i| !self.observed.is_missing(i, j));
                rows.map(|i| self.observed.weight(i)).sum()
            };
            let rarest = (0..d).map(seen).fold(f64::INFINITY, f64::min);
            if rarest > 0.0 { spent_by(d, self.weight(group) / self.effective_rows(group), rarest) } else { 0.0 }
        };
        self.groups.iter().flat_map(|group| vec![of_group(group); group.components.len()]).collect()
    }
}

/// d + 1 rows of this weight, at most half of `rarest`.
pub(super) fn spent_by(d: usize, each: f64, rarest: f64) -> f64 {
    ((d + 1) as f64 * each).min(rarest / 2.0)
}
