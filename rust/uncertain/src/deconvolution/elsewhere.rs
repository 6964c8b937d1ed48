//! EM for rows that lie elsewhere, in pieces: a pass over one piece, and the climb on sums of all.
//!
//! Passes keep to the coordinates of the rows, so that sums of pieces can be added.

use std::ops::Range;

use crate::control::Control;
use crate::data::{Incomplete, Weights};
use crate::deconvolution::climb::{Climb, Passes, Shape};
use crate::deconvolution::prepare::plain;
use crate::deconvolution::start::Sample;
use crate::deconvolution::task::spent_by;
use crate::deconvolution::{Fitted, Group, Mixture, Observed, Params, Task};
use crate::error::Result;
use crate::simd::mixture::Component;

/// The sums of a pass over a piece, component by component, then its log-likelihood. Each group of rows (`None`: all)
/// sees equally many of the components, one group after the other.
pub(crate) fn sums_of_part(
    rows: Incomplete<'_>,
    weights: Option<&Weights>,
    groups: &[Option<Vec<usize>>],
    mixture: &Mixture,
    control: &Control,
) -> Result<Vec<f64>> {
    let observed = Observed::in_plain_coordinates(rows, weights);
    let components = plain(mixture);
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

/// Asks for the sums of all rows with these components: those of [`sums_of_part`].
pub(crate) type Ask<'a> = &'a (dyn Fn(&Mixture) -> Result<Vec<f64>> + Sync);

/// Rows elsewhere, and some of them here.
pub(crate) struct Remote<'a> {
    /// The rows here, from which EM starts.
    pub sample: Incomplete<'a>,
    pub weights: Option<&'a Weights>,
    /// The rows of each group among them; one group of all is `[None]`.
    pub groups: Vec<Option<Vec<usize>>>,
    /// About all rows, group by group: rows, weight, sum of squared weights, and the weight that has each feature.
    pub seen: &'a [f64],
    pub ask: Ask<'a>,
}

impl Remote<'_> {
    fn seen_in(&self, group: usize) -> &[f64] {
        let len = 3 + self.sample.gaussians().n_features();
        &self.seen[group * len..(group + 1) * len]
    }
}

impl Passes for Remote<'_> {
    fn pass(&self, mixture: &Mixture, control: &Control) -> Result<(Vec<Component>, Vec<f64>, Vec<f64>)> {
        control.check()?;
        let mut sums = (self.ask)(mixture)?;
        let total = sums.pop().unwrap_or(f64::NAN);
        Ok((plain(mixture), sums, vec![total]))
    }
}

/// `k` components per group for rows elsewhere; `tied`: one T for all; `unbiased`: with the degrees of freedom that the
/// parameters take.
pub(crate) fn fit_remote(
    params: &Params,
    rows: &Remote<'_>,
    k: usize,
    tied: bool,
    unbiased: bool,
    control: &Control,
) -> Result<Fitted> {
    let observed = Observed::in_plain_coordinates(rows.sample, rows.weights);
    let ranges: Vec<Range<usize>> = ranges(rows.groups.len(), k * rows.groups.len()).collect();
    let group = |(own, components): (&Option<Vec<usize>>, &Range<usize>)| {
        Group::new(&observed, own.clone(), components.clone())
    };
    let groups = rows.groups.iter().zip(&ranges).map(group);
    let task = Task { observed, groups: groups.collect(), tied, unbiased };
    let scale = Sample::new(&observed, None, params.seed).scale();
    let start = task.start(&scale, params.seed)?;
    let d = scale.len();
    let spent = |group: usize| {
        let seen = rows.seen_in(group);
        let rarest = seen[3..].iter().copied().fold(f64::INFINITY, f64::min);
        if unbiased && k == 1 && rarest > 0.0 { spent_by(d, seen[2], seen[1], rarest) } else { 0.0 }
    };
    let shape = Shape {
        groups: ranges,
        tied,
        total: (0..rows.groups.len()).map(|group| rows.seen_in(group)[1]).sum(),
        spent: (0..rows.groups.len()).flat_map(|group| vec![spent(group); k]).collect(),
        smooth: true,
    };
    Climb::new(rows, shape, params, &scale, control).run(start)
}

/// The components of each of so many groups.
pub(super) fn ranges(groups: usize, components: usize) -> impl Iterator<Item = Range<usize>> {
    let k = components / groups.max(1);
    (0..groups).map(move |group| group * k..(group + 1) * k)
}
