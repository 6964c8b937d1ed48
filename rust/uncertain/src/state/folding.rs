//! Rows that are mixtures of Gaussians: the one place where they become components before a fit or a question, and
//! where the answers of a row's components become one.
//!
//! Models say what is right for them ([`OfMixtures`]); none has a second code path, but for kernel machines, EM and laws,
//! whose sums over components are not sums over rows (`Own`). With v_c the weights of a row's components,
//!
//! ```text
//! scores          m = sum v_c m_c,   s^2 = sum v_c (s_c^2 + (m_c - m)^2)
//! probabilities   p = sum v_c p_c
//! densities       the components' densities, their shares times v_c
//! likelihoods     p(row) = sum v_c p(component c)
//! ```
//! and under [`Likelihood`](OfMixtures::Likelihood) v_c p(component c) / p(row) stands for v_c in the first three: the row
//! is a measurement, sum_c v_c N(z; x_c, S_c) the likelihood of its true value z, and what the other rows tell about z
//! tells the components apart.

use std::array;
use std::borrow::Cow;
use std::ops::Range;

use ndarray::{Array2, ArrayView2};

use super::{About, OfMixtures, Predictor, column};
use crate::control::Control;
use crate::data::{Dataset, Fold, GaussianArray, Incomplete, MarkedRows, MixtureArray, Modes};
use crate::density::{Densities, NO_COMPONENT};
use crate::error::{Error, Result};
use crate::mixture::{log_sum, normalise_logs};
use crate::parallel;

/// Answers of components that are there at a time: they are folded while the cache has them.
const BLOCK: usize = 1 << 12;
/// Components of a block at least: what a question costs beside its rows is shared by so many.
const FEWEST: usize = 1 << 8;

/// `work` with rows as a fit that treats mixtures this way wants them.
pub(crate) fn for_fit<T>(
    of_mixtures: OfMixtures,
    data: &Dataset,
    work: impl FnOnce(&Dataset) -> Result<T>,
) -> Result<T> {
    let Some(mixtures) = data.rows().mixtures() else { return work(data) };
    match of_mixtures {
        OfMixtures::Own => work(data),
        OfMixtures::Refused => Err(refused()),
        OfMixtures::Moments => work(&Dataset { rows: data.rows().moments()?, ..data.clone() }),
        OfMixtures::Components => work(&of_components(data, mixtures)?),
        OfMixtures::Likelihood => {
            let data = of_components(data, mixtures)?;
            work(&Dataset { rows: data.rows.clone().with_parts(mixtures.row_numbers()), ..data })
        }
    }
}

/// Components as rows, with what is known of their rows. Labels and targets have weights of their own, and labels groups.
fn of_components(data: &Dataset, mixtures: &MixtureArray) -> Result<Dataset> {
    let labels = data.labels.as_ref().map(|labels| mixtures.labels(labels)).transpose()?;
    let targets = data.targets.as_ref().map(|targets| mixtures.targets(targets)).transpose()?;
    let weights = match &data.weights {
        None if labels.is_some() || targets.is_some() => None,
        weights => Some(mixtures.weights_of_components(weights.as_ref())?),
    };
    let rows = mixtures.row_numbers();
    let spread = |values: &Vec<f64>| rows.iter().map(|&i| values[i as usize]).collect::<Vec<f64>>();
    let offsets = data.offsets.as_ref().map(spread);
    let numbers = || rows.iter().map(|&i| i as usize).collect::<Vec<_>>();
    let modes = if data.modes.k == 0 { Modes::default() } else { data.modes.take(&numbers()) };
    let outputs = data.outputs.iter().map(spread).collect();
    // The components of a row are held out together.
    let groups = match &data.groups {
        Some(groups) => Some(rows.iter().map(|&i| groups[i as usize]).collect()),
        None if labels.is_some() => None,
        None => Some(rows),
    };
    Ok(Dataset {
        rows: data.rows.components(),
        labels,
        targets,
        offsets,
        modes,
        outputs,
        n_classes: data.n_classes,
        weights,
        groups,
        graphs: vec![],
    })
}

fn refused() -> Error {
    Error::Data(
        "rows that are mixtures of several Gaussians are not taken here: collapse(\"gaussian\") makes one Gaussian of each, \
         with the mean and the covariance of its mixture"
            .into(),
    )
}

/// A fitted object for rows of any kind: answers to questions about mixtures are folded.
pub struct Folding<'a>(pub &'a dyn Predictor);

/// Who is asked about rows that are mixtures.
enum Asked<'a> {
    /// The model itself, about these rows.
    Model(Incomplete<'a>),
    /// The model about the components, whose answers count with these weights.
    Components(Incomplete<'a>, &'a MixtureArray, Cow<'a, [f64]>),
    /// The model about the moments of the rows.
    Moments(Box<MarkedRows>),
}

impl Folding<'_> {
    fn asked<'a>(&self, rows: Incomplete<'a>, control: &Control) -> Result<Asked<'a>> {
        let Some(mixtures) = rows.mixtures() else { return Ok(Asked::Model(rows)) };
        Ok(match self.0.about().of_mixtures {
            OfMixtures::Own => Asked::Model(rows),
            OfMixtures::Components => Asked::Components(rows.components(), mixtures, Cow::Borrowed(mixtures.weights())),
            OfMixtures::Likelihood => {
                Asked::Components(rows.components(), mixtures, Cow::Owned(self.shares(rows, mixtures, control)?.0))
            }
            OfMixtures::Moments => Asked::Moments(Box::new(rows.moments()?)),
            OfMixtures::Refused => return Err(refused()),
        })
    }

    /// Answers about the components, folded block by block: `question` gives N answers, and `fold` puts as many of rows
    /// into their places.
    fn folded<const N: usize>(
        &self,
        rows: Incomplete<'_>,
        mixtures: &MixtureArray,
        weights: &[f64],
        question: impl Fn(&dyn Predictor, Incomplete<'_>) -> Result<[Array2<f64>; N]> + Sync,
        fold: impl Fn(Fold<'_>, [ArrayView2<'_, f64>; N], [&mut [f64]; N]) -> Result<()> + Sync,
    ) -> Result<[Array2<f64>; N]> {
        let numbers = self.0.about().n_classes.unwrap_or(1).max(1);
        let blocks = mixtures.blocks((BLOCK / numbers).max(FEWEST));
        let ask = |block: &Range<usize>| {
            let own = mixtures.fold(block.clone(), weights).components();
            let data = rows.gaussians().slice(own.clone());
            question(self.0, rows.part(own.clone(), &data))
                .map_err(|error| error.renumbered(|at| mixtures.row_with(own.start + at)))
        };
        let put = |block: &Range<usize>, answers: &[Array2<f64>; N], out: [&mut [f64]; N]| {
            fold(mixtures.fold(block.clone(), weights), answers.each_ref().map(|answers| answers.view()), out)
        };
        let work = || {
            // The first block tells how many columns there are.
            let first = ask(blocks.first().unwrap_or(&(0..0)))?;
            let mut all: [Array2<f64>; N] = array::from_fn(|_| Array2::default((0, 0)));
            for (all, first) in all.iter_mut().zip(&first) {
                *all = mixtures.fold(0..mixtures.n_rows(), weights).zeros(first.ncols())?;
            }
            let mut left = all.each_mut().map(|all| all.as_slice_mut().unwrap_or_default());
            let mut jobs = blocks.iter().map(|block| {
                let own = |at: usize| left[at].split_off_mut(..block.len() * first[at].ncols()).unwrap_or_default();
                (block, array::from_fn(own))
            });
            if let Some((block, out)) = jobs.next() {
                put(block, &first, out)?;
            }
            parallel::for_each(jobs.collect(), |(block, out): (&Range<usize>, _)| put(block, &ask(block)?, out))?;
            Ok(all)
        };
        // One block may be so few rows that no thread need wake.
        if blocks.len() > 1 { parallel::run(work)? } else { work() }
    }

    /// One answer of k numbers per row.
    fn matrix(
        &self,
        rows: Incomplete<'_>,
        control: &Control,
        question: impl Fn(&dyn Predictor, Incomplete<'_>) -> Result<Array2<f64>> + Sync,
    ) -> Result<Array2<f64>> {
        match self.asked(rows, control)? {
            Asked::Model(rows) => question(self.0, rows),
            Asked::Moments(moments) => question(self.0, moments.view()),
            Asked::Components(rows, mixtures, weights) => {
                let ask = |model: &dyn Predictor, rows: Incomplete<'_>| Ok([question(model, rows)?]);
                let [found] =
                    self.folded(rows, mixtures, &weights, ask, |fold, [answers], [out]| fold.average(answers, out))?;
                Ok(found)
            }
        }
    }

    /// v_c p(component c) / p(row), and log p(row).
    fn shares(&self, rows: Incomplete<'_>, mixtures: &MixtureArray, control: &Control) -> Result<(Vec<f64>, Vec<f64>)> {
        let logs = self.0.log_likelihood(rows.components(), control);
        shares_of(mixtures, logs.map_err(of_rows(mixtures))?)
    }

    /// log P(class | row) of mixtures, sum_c v_c p(class, component c) in proportion, from a model that knows these.
    fn log_posterior(&self, rows: Incomplete<'_>, control: &Control) -> Result<Option<Array2<f64>>> {
        let Some(mixtures) = rows.mixtures().filter(|_| self.0.about().of_mixtures == OfMixtures::Likelihood) else {
            return Ok(None);
        };
        let joint = self.0.log_joint(rows.components(), control);
        let Some(joint) = joint.map_err(of_rows(mixtures))? else { return Ok(None) };
        let mut logs = mixtures.fold(0..mixtures.n_rows(), mixtures.weights()).log_average(joint.view())?;
        let k = logs.ncols();
        logs.as_slice_mut().map_or(Ok(()), |logs| normalise_logs(logs, k))?;
        Ok(Some(logs))
    }

    /// Densities of the components of mixtures, with their shares in their rows, from a regression that has a likelihood of
    /// rows.
    fn posterior_densities<'a>(
        &self,
        rows: Incomplete<'a>,
        control: &Control,
    ) -> Result<Option<(Densities, &'a MixtureArray)>> {
        let Some(mixtures) = rows.mixtures().filter(|_| self.0.about().of_mixtures == OfMixtures::Likelihood) else {
            return Ok(None);
        };
        let joint = self.0.joint_densities(rows.components(), control).map_err(of_rows(mixtures))?;
        let shared_out = |joint: Densities| joint.shared_out(mixtures.offsets(), mixtures.weights());
        Ok(joint.map(shared_out).transpose()?.map(|densities| (densities, mixtures)))
    }

    /// The rows that a transform makes of these; rows that were mixtures may be so still.
    pub fn transform_mixtures(&self, rows: Incomplete<'_>, control: &Control) -> Result<MixtureArray> {
        let of_components = rows.components();
        match (rows.mixtures(), self.0.about().of_mixtures) {
            (None, _) | (_, OfMixtures::Own) => Ok((&self.0.transform(rows, control)?).into()),
            (_, OfMixtures::Refused) => Err(refused()),
            (Some(_), OfMixtures::Moments) => Ok((&self.0.transform(rows.moments()?.view(), control)?).into()),
            (Some(mixtures), OfMixtures::Components) => {
                let moved = self.0.transform(of_components, control);
                Ok(mixtures.with_components(moved.map_err(of_rows(mixtures))?))
            }
            (Some(mixtures), OfMixtures::Likelihood) => {
                let moved = self.0.transform_with_likelihood(of_components, control);
                let (moved, logs) = moved.map_err(of_rows(mixtures))?;
                Ok(mixtures.with_components(moved).with_weights(shares_of(mixtures, logs)?.0))
            }
        }
    }
}

/// Errors about components as those about their rows.
fn of_rows(mixtures: &MixtureArray) -> impl Fn(Error) -> Error {
    |error| error.renumbered(|component| mixtures.row_with(component))
}

/// v_c p(component c) / p(row) and log p(row), from log p(component c).
fn shares_of(mixtures: &MixtureArray, mut logs: Vec<f64>) -> Result<(Vec<f64>, Vec<f64>)> {
    logs.iter_mut().zip(mixtures.weights()).for_each(|(log, v)| *log += v.ln());
    let mut of_rows = Vec::with_capacity(mixtures.n_rows());
    for row in 0..mixtures.n_rows() {
        let own = &mut logs[mixtures.row(row)];
        let all = log_sum(own);
        if !all.is_finite() {
            return Err(Error::Row { row, why: NO_COMPONENT.into() });
        }
        own.iter_mut().for_each(|log| *log = (*log - all).exp());
        of_rows.push(all);
    }
    Ok((logs, of_rows))
}

impl Folding<'_> {
    /// Undo [`transform_mixtures`](Self::transform_mixtures) of what moves every component by itself.
    pub fn inverse_mixtures(&self, rows: &MixtureArray) -> Result<MixtureArray> {
        Ok(rows.with_components(self.0.inverse_transform(rows.components())?))
    }
}

impl Predictor for Folding<'_> {
    fn about(&self) -> About {
        About { of_mixtures: OfMixtures::Own, ..self.0.about() }
    }

    fn transform(&self, rows: Incomplete<'_>, control: &Control) -> Result<GaussianArray> {
        match rows.mixtures() {
            None => self.0.transform(rows, control),
            Some(_) => self.transform_mixtures(rows, control)?.collapse(),
        }
    }

    fn inverse_transform(&self, rows: &GaussianArray) -> Result<GaussianArray> {
        self.0.inverse_transform(rows)
    }

    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        if let Some((densities, mixtures)) = self.posterior_densities(rows, control)? {
            return Ok(column(densities.moments_of_rows(mixtures.offsets()).0));
        }
        self.matrix(rows, control, |model, rows| model.decision(rows, control))
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, control: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        if let Some((densities, mixtures)) = self.posterior_densities(rows, control)? {
            let (means, stds) = densities.moments_of_rows(mixtures.offsets());
            return Ok((column(means), column(stds)));
        }
        match self.asked(rows, control)? {
            Asked::Model(rows) => self.0.decision_distribution(rows, control),
            Asked::Moments(moments) => self.0.decision_distribution(moments.view(), control),
            Asked::Components(rows, mixtures, weights) => {
                let ask = |model: &dyn Predictor, rows: Incomplete<'_>| {
                    Ok(model.decision_distribution(rows, control)?.into())
                };
                let found =
                    self.folded(rows, mixtures, &weights, ask, |fold, answers, out| fold.moments(answers, out))?;
                Ok(found.into())
            }
        }
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        if let Some(logs) = self.log_posterior(rows, control)? {
            return Ok(logs.mapv_into(f64::exp));
        }
        self.matrix(rows, control, |model, rows| model.predict_proba(rows, control))
    }

    fn log_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        if let Some(logs) = self.log_posterior(rows, control)? {
            return Ok(logs);
        }
        match self.asked(rows, control)? {
            Asked::Model(rows) => self.0.log_proba(rows, control),
            Asked::Moments(moments) => self.0.log_proba(moments.view(), control),
            Asked::Components(rows, mixtures, weights) => {
                let logs = self.0.log_proba(rows, control)?;
                mixtures.fold(0..mixtures.n_rows(), &weights).log_average(logs.view())
            }
        }
    }

    fn densities(&self, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
        if let Some((densities, mixtures)) = self.posterior_densities(rows, control)? {
            return Ok(densities.joined(mixtures.offsets(), |_| 1.0));
        }
        match self.asked(rows, control)? {
            Asked::Model(rows) => self.0.densities(rows, control),
            Asked::Moments(moments) => self.0.densities(moments.view(), control),
            Asked::Components(rows, mixtures, weights) => {
                Ok(self.0.densities(rows, control)?.joined(mixtures.offsets(), |component| weights[component]))
            }
        }
    }

    fn log_likelihood(&self, rows: Incomplete<'_>, control: &Control) -> Result<Vec<f64>> {
        match (rows.mixtures(), self.0.about().of_mixtures) {
            (None, _) | (_, OfMixtures::Own) => self.0.log_likelihood(rows, control),
            (_, OfMixtures::Refused) => Err(refused()),
            (Some(_), OfMixtures::Moments) => self.0.log_likelihood(rows.moments()?.view(), control),
            (Some(mixtures), _) => Ok(self.shares(rows, mixtures, control)?.1),
        }
    }
}

/// Rows as mixtures, which Gaussians are too.
pub(crate) fn as_mixtures(rows: Incomplete<'_>) -> Result<MixtureArray> {
    let gaussians = rows.components().complete()?;
    Ok(rows.mixtures().map_or_else(|| gaussians.into(), MixtureArray::clone))
}

/// Means and deviations of the scores of rows from a question about Gaussians.
pub(crate) fn folded_moments(
    rows: Incomplete<'_>,
    question: impl Fn(&GaussianArray) -> Result<(Array2<f64>, Array2<f64>)>,
) -> Result<(Array2<f64>, Array2<f64>)> {
    let (means, stds) = question(rows.components().complete()?)?;
    let Some(mixtures) = rows.mixtures() else { return Ok((means, stds)) };
    let (fold, k) = (mixtures.fold(0..mixtures.n_rows(), mixtures.weights()), means.ncols());
    let (mut mean, mut std) = (fold.zeros(k)?, fold.zeros(k)?);
    let places = [&mut mean, &mut std].map(|all| all.as_slice_mut().unwrap_or_default());
    fold.moments([means.view(), stds.view()], places)?;
    Ok((mean, std))
}
