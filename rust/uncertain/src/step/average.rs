//! [`Average`]: pipelines that answer together, with weights.
//!
//! Classes: p = sum_m w_m p_m. Numbers: the mean of the mixture of the members' distributions and its variance,
//!
//! ```text
//! y = sum_m w_m y_m,    s^2 = sum_m w_m (s_m^2 + (y_m - y)^2)
//! ```
//!
//! In a file a member is its steps again, with tensors named `member.step.array` inside the average's own. Averages have no
//! averages for members, so a file cannot nest without end.

use ndarray::Array2;

use super::{Step, StepHeader, chain};
use crate::control::Control;
use crate::data::Incomplete;
use crate::density::Densities;
use crate::error::{Error, Result};
use crate::readable::readable;
use crate::state::{
    About, Arrays, Fitted, NamedTensor, NoParams, OfMixtures, Parts, Predictor, Training, Valid, header,
};

/// The kind of averages.
const AVERAGE: &str = "average";
const MAX_MEMBERS: usize = 256;
/// By how much weights may miss 1, which is rounding.
const ROUNDING: f64 = 1e-9;

readable! {
    /// Fitted pipelines, and how much each counts.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Average {
        /// Steps of every member.
        members: Vec<Vec<Step>> => &[Vec<Step>],
        /// How much each counts.
        weights: Vec<f64> => &[f64],
        /// What a file says of the steps; written at the start, where an error can still be told.
        headers: Vec<Vec<StepHeader>>,
        n_features: usize,
        n_classes: usize,
    }
}

impl Average {
    /// Every member is any number of transforms and one classifier or regressor, for the same features and classes;
    /// weights are >= 0 and sum to 1.
    ///
    /// # Errors
    /// [`Error::Data`] for members that do not go together, and for other weights.
    pub fn new(members: Vec<Vec<Step>>, weights: Vec<f64>) -> Result<Self> {
        if members.is_empty() || members.len() > MAX_MEMBERS || weights.len() != members.len() {
            let why = format!("an average of {} members with {} weights", members.len(), weights.len());
            return Err(Error::Data(format!("{why}; it has 1 to {MAX_MEMBERS}, with a weight each")));
        }
        if !(weights.iter().all(|w| *w >= 0.0) && (weights.iter().sum::<f64>() - 1.0).abs() <= ROUNDING) {
            return Err(Error::Data(format!("weights {weights:?} of an average must be >= 0 and sum to 1")));
        }
        let mut sizes = Vec::with_capacity(members.len());
        let mut headers = Vec::with_capacity(members.len());
        for (m, steps) in members.iter().enumerate() {
            if steps.iter().any(|step| matches!(step, Step::Average(_))) {
                return Err(nested(m));
            }
            sizes.push(chain::sizes(steps).map_err(|why| Error::Data(format!("member {m} of the average: {why}")))?);
            headers.push(steps.iter().map(Step::header).collect::<Result<_>>()?);
        }
        let (n_features, n_classes) = sizes[0];
        if let Some(m) = sizes.iter().position(|size| *size != sizes[0]) {
            let why = "another number of features or classes than the first";
            return Err(Error::Data(format!("member {m} of the average has {why}: {:?}, {:?}", sizes[m], sizes[0])));
        }
        Ok(Self { members, weights, headers, n_features, n_classes })
    }

    /// sum_m w_m answer_m, members of no weight left out.
    fn mean(&self, answer: impl Fn(&[Step]) -> Result<Array2<f64>>) -> Result<Array2<f64>> {
        let mut sum: Option<Array2<f64>> = None;
        for (steps, &w) in self.counted() {
            let part = answer(steps)?.mapv_into(|x| w * x);
            sum = Some(match sum {
                Some(sum) => sum + part,
                None => part,
            });
        }
        sum.ok_or_else(|| Error::Internal("an average without weights".into()))
    }

    fn counted(&self) -> impl Iterator<Item = (&[Step], &f64)> {
        self.members.iter().map(Vec::as_slice).zip(&self.weights).filter(|(_, w)| **w > 0.0)
    }
}

fn nested(member: usize) -> Error {
    Error::Data(format!("member {member} of the average is an average itself; put its members there"))
}

impl Predictor for Average {
    /// Members say by themselves where they take no gaps or limits.
    fn about(&self) -> About {
        About::model(self.n_features, self.n_classes).with_limits().with_mixtures(OfMixtures::Own)
    }

    /// log p1 / p0 of two classes, else log p; probabilities count as the smallest normal number at least. Of a regression the
    /// prediction.
    fn decision(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        if self.n_classes == 0 {
            return self
                .mean(|steps| chain::ask(steps, rows, |_| true, control, |model, rows| model.decision(rows, control)));
        }
        let logs = self.predict_proba(rows, control)?.mapv_into(|p| p.max(f64::MIN_POSITIVE).ln());
        Ok(match self.n_classes {
            2 => Array2::from_shape_fn((logs.nrows(), 1), |(i, _)| logs[[i, 1]] - logs[[i, 0]]),
            _ => logs,
        })
    }

    fn decision_distribution(&self, rows: Incomplete<'_>, control: &Control) -> Result<(Array2<f64>, Array2<f64>)> {
        if self.n_classes > 0 {
            return Err(Error::Data("an average of classifiers has no distribution of its scores".into()));
        }
        let all = self.counted().map(|(steps, w)| Ok((chain::distribution(steps, rows, control)?, *w)));
        let all = all.collect::<Result<Vec<_>>>()?;
        let mut mean = Array2::zeros((rows.n_rows(), 1));
        let mut variance = mean.clone();
        for ((means, _), w) in &all {
            mean.scaled_add(*w, means);
        }
        for ((means, stds), w) in &all {
            let off = means - &mean;
            variance.scaled_add(*w, &(stds * stds + &off * &off));
        }
        Ok((mean, variance.mapv_into(f64::sqrt)))
    }

    /// All parts of the members' densities, their shares times the members' weights.
    fn densities(&self, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
        let ask = |steps| chain::ask(steps, rows, |_| true, control, |model, rows| model.densities(rows, control));
        let all = self.counted().map(|(steps, w)| Ok((ask(steps)?, *w))).collect::<Result<Vec<_>>>()?;
        let parts = all.iter().map(|(densities, _)| densities.n_components()).sum();
        let of_row = |i: usize| {
            let weighted = |(densities, w): &(Densities, f64)| {
                let parts: Vec<_> = densities.row(i).map(|p| [w * p.weight, p.mean, p.std]).collect();
                parts.concat()
            };
            all.iter().flat_map(weighted).collect::<Vec<f64>>()
        };
        Ok(Densities::new(parts, (0..rows.n_rows()).flat_map(of_row).collect()))
    }

    fn predict_proba(&self, rows: Incomplete<'_>, control: &Control) -> Result<Array2<f64>> {
        if self.n_classes == 0 {
            return Err(Error::Data("an average of regressions has no probabilities".into()));
        }
        self.mean(|steps| chain::ask(steps, rows, |_| true, control, |model, rows| model.predict_proba(rows, control)))
    }
}

header! { members: Vec<Vec<StepHeader>> }

impl Fitted for Average {
    type Params = NoParams;
    type Header = Header;

    fn fit(_: &Valid<NoParams>, _: &Training<'_>, _: &Control) -> Result<Self> {
        Err(Error::Data("an average is made of fitted models, not fitted itself".into()))
    }

    fn write(&self, _: &Valid<NoParams>, arrays: &mut Arrays) -> Header {
        arrays.vector("weights", &self.weights);
        for (m, steps) in self.members.iter().enumerate() {
            for (k, step) in steps.iter().enumerate() {
                let own = step.tensors().into_iter();
                arrays.0.extend(own.map(|named| NamedTensor { name: format!("{m}.{k}.{}", named.name), ..named }));
            }
        }
        Header { members: self.headers.clone() }
    }

    fn read(header: Header, _: &Valid<NoParams>, parts: &mut Parts<'_>) -> Result<Self> {
        let weights = parts.vector("weights")?;
        let mut members = Vec::with_capacity(header.members.len().min(MAX_MEMBERS));
        for (m, headers) in header.members.iter().enumerate() {
            let mut steps = Vec::with_capacity(headers.len());
            for (k, own) in headers.iter().enumerate() {
                if own.kind() == AVERAGE {
                    return Err(nested(m));
                }
                let step = Step::read(own, k, &mut |name| parts.optional(&format!("{m}.{k}.{name}")));
                steps.push(step.map_err(|error| in_member(m, error))?);
            }
            members.push(steps);
        }
        Self::new(members, weights)
    }
}

fn in_member(m: usize, error: Error) -> Error {
    match error {
        Error::ModelFile(why) => Error::ModelFile(format!("in member {m} of the average, {why}")),
        other => other,
    }
}
