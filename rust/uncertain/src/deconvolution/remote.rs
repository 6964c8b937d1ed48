//! EM for rows held by other processes, in partitions: a pass over one partition, and the fit from the sums of all.
//!
//! Passes keep to the coordinates of the rows, so that sums of partitions can be added.

use std::ops::Range;

use crate::control::Control;
use crate::data::weights::Worth;
use crate::data::{Incomplete, Weights};
use crate::deconvolution::climb::{Climb, Passes, Shape};
use crate::deconvolution::prepare::plain;
use crate::deconvolution::start::Sample;
use crate::deconvolution::task::spent_by;
use crate::deconvolution::{Components, FittedMixture, Group, Mixture, Observed, Params, Task};
use crate::error::{Error, Result};
use crate::simd::mixture::Component;
use crate::sums::{Request, RowSums};

/// The sums of a pass over a partition, component by component, then its log-likelihood. Each group of rows (`None`: all)
/// sees equally many of the components, one group after the other.
pub(crate) fn sums_of_partition(
    rows: Incomplete<'_>,
    weights: Option<&Weights>,
    groups: &[Option<Vec<usize>>],
    mixture: &Mixture,
    control: &Control,
) -> Result<Vec<f64>> {
    let observed = Observed::in_plain_coordinates(rows, weights);
    let components = plain(mixture)?;
    let (mut out, mut total) = (vec![], 0.0);
    for (group, range) in groups.iter().zip(ranges(groups.len(), components.len())) {
        let source = observed.passing(group.as_deref());
        let pass = observed.sums(&source, &components[range], control)?;
        out.extend(pass.sums);
        total += pass.total;
    }
    out.push(total);
    Ok(out)
}

/// Rows held elsewhere as EM sees them, and some of them here.
pub(crate) struct RemoteEm<'a> {
    /// Components of each group.
    k: usize,
    rows: &'a dyn RowSums,
    /// The rows here, from which EM starts.
    sample: Incomplete<'a>,
    weights: Option<&'a Weights>,
    /// The rows of each group in the sample; one group of all is `[None]`.
    groups: Vec<Option<Vec<usize>>>,
    /// About all rows, group by group: [`Request::Presence`].
    presence: Vec<f64>,
}

impl<'a> RemoteEm<'a> {
    /// The parameters' number of components per group (`whose` rows, in an error). One pass looks whether every group has
    /// every feature.
    pub(crate) fn new(
        params: &Params,
        whose: &str,
        rows: &'a dyn RowSums,
        sample: Incomplete<'a>,
        weights: Option<&'a Weights>,
        groups: Vec<Option<Vec<usize>>>,
        control: &Control,
    ) -> Result<Self> {
        let Components::Fixed(k) = params.components else {
            let expected = format!("an integer >= 1 where {whose} are held by other processes; choose it on a sample");
            return Err(Error::parameter("n_components", "\"auto\"", expected));
        };
        let mut remote = Self { k, rows, sample, weights, groups, presence: vec![] };
        remote.presence = rows.sum(Request::Presence { classes: remote.classes() }, control)?;
        remote.check()?;
        Ok(remote)
    }

    fn check(&self) -> Result<()> {
        let (len, groups) = (self.group_len(), self.groups.len());
        if self.presence.len() != groups * len {
            let expected = format!("{} features", len - 3);
            return Err(Error::shape("remote rows", expected, (self.presence.len() / groups).saturating_sub(3)));
        }
        for group in 0..groups {
            if let Some(j) = self.present(group).iter().position(|weight| *weight <= 0.0) {
                let class = if self.classes() == 0 { String::new() } else { format!("class {group}: ") };
                return Err(Error::Data(format!("{class}feature {j} is missing in every row; leave the feature out")));
            }
        }
        Ok(())
    }

    /// Classes that the groups are, or 0.
    fn classes(&self) -> usize {
        if self.groups[0].is_none() { 0 } else { self.groups.len() }
    }

    fn group_len(&self) -> usize {
        3 + self.sample.gaussians().n_features()
    }

    fn presence(&self, group: usize) -> &[f64] {
        &self.presence[group * self.group_len()..(group + 1) * self.group_len()]
    }

    /// Rows of a group.
    pub(crate) fn n_rows(&self, group: usize) -> usize {
        self.presence(group)[0] as usize
    }

    /// Their weight.
    pub(crate) fn weight(&self, group: usize) -> f64 {
        self.presence(group)[1]
    }

    /// The rows that their weights stand for: counts where those of the sample are.
    pub(crate) fn worth(&self, group: usize) -> Worth {
        let unit = self.weights.map_or(Some(1.0), |weights| Worth::from_weights(weights.iter().copied()).unit);
        let kish = self.weight(group).powi(2) / self.presence(group)[2];
        Worth { rows: unit.map_or(kish, |unit| self.weight(group) / unit), unit }
    }

    /// The weight of those that have each feature.
    pub(crate) fn present(&self, group: usize) -> &[f64] {
        &self.presence(group)[3..]
    }
}

impl Passes for RemoteEm<'_> {
    fn pass(&self, mixture: &Mixture, control: &Control) -> Result<(Vec<Component>, Vec<f64>, Vec<f64>)> {
        control.check()?;
        let mut sums = self.rows.sum(Request::Em { classes: self.classes(), mixture: mixture.clone() }, control)?;
        let total = sums.pop().unwrap_or(f64::NAN);
        Ok((plain(mixture)?, sums, vec![total]))
    }
}

/// `tied`: one T for all; `unbiased`: with the degrees of freedom that the parameters take.
pub(crate) fn fit_remote(
    params: &Params,
    rows: &RemoteEm<'_>,
    tied: bool,
    unbiased: bool,
    control: &Control,
) -> Result<FittedMixture> {
    let k = rows.k;
    let observed = Observed::in_plain_coordinates(rows.sample, rows.weights);
    let ranges: Vec<Range<usize>> = ranges(rows.groups.len(), k * rows.groups.len()).collect();
    let group = |(own, components): (&Option<Vec<usize>>, &Range<usize>)| {
        Group::new(&observed, own.clone(), components.clone())
    };
    let groups = rows.groups.iter().zip(&ranges).map(group);
    let task = Task { observed, groups: groups.collect(), tied, unbiased };
    let scales = Sample::new(&observed, None, params.seed).scales()?;
    let start = task.start(&scales.scale, params.seed)?;
    let d = scales.scale.len();
    let spent = |group: usize| {
        let rarest = rows.present(group).iter().copied().fold(f64::INFINITY, f64::min);
        if unbiased && k == 1 { spent_by(d, rows.weight(group) / rows.worth(group).rows, rarest) } else { 0.0 }
    };
    let shape = Shape {
        groups: ranges,
        tied,
        total: (0..rows.groups.len()).map(|group| rows.weight(group)).sum(),
        rows: (0..rows.groups.len()).map(|group| rows.worth(group).rows).collect(),
        spent: (0..rows.groups.len()).flat_map(|group| vec![spent(group); k]).collect(),
        smooth: true,
        exact: false,
    };
    Climb::new(rows, shape, params, scales, control).run(start)
}

/// The components of each of so many groups.
pub(super) fn ranges(groups: usize, components: usize) -> impl Iterator<Item = Range<usize>> {
    let k = components / groups.max(1);
    (0..groups).map(move |group| group * k..(group + 1) * k)
}
