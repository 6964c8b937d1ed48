//! [`Average`]: pipelines that answer together, with weights.
//!
//! Classes: p = sum_m w_m p_m. Numbers: the mean of the mixture of the members' distributions and its variance,
//!
//! ```text
//! y = sum_m w_m y_m,    s^2 = sum_m w_m (s_m^2 + (y_m - y)^2)
//! ```
//!
//! The weights of a row may depend on how noisy it is: rows of the matrix of weights belong to the levels r = 0, 1, 2, ...,
//!
//! ```text
//! r = mean_j log2(s_j / sizes_j),    w(r) linear between the levels, constant outside of them
//! ```
//!
//! over the features that the row has, with an error s_j > 0 and a typical size > 0.
//!
//! In a file a member is its steps again, with tensors named `member.step.array` inside those of the average.
//! Averages have no averages for members, so a file cannot nest without end.

use ndarray::{Array2, ArrayView1, Axis};

use super::{Step, StepHeader, chain};
use crate::control::Control;
use crate::data::{Dataset, Incomplete};
use crate::density::Densities;
use crate::error::{Error, Result};
use crate::readable::readable;
use crate::state::{About, Arrays, Fitted, NamedTensor, NoParams, OfMixtures, Parts, Predictor, Valid, header};

/// The kind of averages.
const AVERAGE: &str = "average";
const MAX_MEMBERS: usize = 256;
const MAX_LEVELS: usize = 64;
/// By how much weights may miss 1, which is rounding.
const ROUNDING: f64 = 1e-9;

readable! {
    /// Fitted pipelines, and how much each counts.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Average {
        /// Steps of every member.
        members: Vec<Vec<Step>> => &[Vec<Step>],
        /// How much each counts at every level of noise, levels x members.
        weights: Array2<f64> => &Array2<f64>,
        /// The errors of typical rows, one per feature, 0 for none; empty with one level.
        sizes: Vec<f64> => &[f64],
        /// Description of the steps in a file; written at the start, where an error can still be told.
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
        Self::by_level(members, Array2::from_shape_fn((1, weights.len()), |(_, m)| weights[m]), vec![])
    }

    /// With weights for every level of noise, levels x members, and the errors of typical rows.
    ///
    /// # Errors
    /// As of [`new`](Self::new), and for sizes that are negative, or not one per feature with several levels.
    pub fn by_level(members: Vec<Vec<Step>>, weights: Array2<f64>, sizes: Vec<f64>) -> Result<Self> {
        let (levels, count) = weights.dim();
        if members.is_empty() || members.len() > MAX_MEMBERS || count != members.len() {
            let why = format!("an average of {} members with {count} weights", members.len());
            return Err(Error::Data(format!("{why}; it has 1 to {MAX_MEMBERS}, with a weight each")));
        }
        let is_share = |row: ArrayView1<'_, f64>| row.iter().all(|w| *w >= 0.0) && (row.sum() - 1.0).abs() <= ROUNDING;
        if levels == 0 || levels > MAX_LEVELS || !weights.outer_iter().all(is_share) {
            return Err(Error::Data(format!("weights {weights:?} of an average must be >= 0 and sum to 1")));
        }
        let mut shapes = Vec::with_capacity(members.len());
        let mut headers = Vec::with_capacity(members.len());
        for (m, steps) in members.iter().enumerate() {
            if steps.iter().any(|step| matches!(step, Step::Average(_))) {
                return Err(nested(m));
            }
            shapes.push(chain::sizes(steps).map_err(|why| Error::Data(format!("member {m} of the average: {why}")))?);
            headers.push(steps.iter().map(Step::header).collect::<Result<_>>()?);
        }
        let (n_features, n_classes) = shapes[0];
        if let Some(m) = shapes.iter().position(|shape| *shape != shapes[0]) {
            let why = "another number of features or classes than the first";
            return Err(Error::Data(format!("member {m} of the average has {why}: {:?}, {:?}", shapes[m], shapes[0])));
        }
        if !(sizes.iter().all(|s| *s >= 0.0 && s.is_finite())
            && sizes.len() == if levels == 1 { 0 } else { n_features })
        {
            return Err(Error::Data(format!("sizes {sizes:?} of the errors of {n_features} features")));
        }
        Ok(Self { members, weights, sizes, headers, n_features, n_classes })
    }

    /// The weights of the members for every row, n x members.
    fn weights_of(&self, rows: Incomplete<'_>) -> Result<Array2<f64>> {
        let (levels, count) = self.weights.dim();
        let n = rows.n_rows();
        if levels == 1 {
            return Ok(Array2::from_shape_fn((n, count), |(_, m)| self.weights[[0, m]]));
        }
        let collapsed = rows.mixtures().map(|mixtures| mixtures.collapse()).transpose()?;
        let data = collapsed.as_ref().unwrap_or_else(|| rows.gaussians());
        let missing = rows.missing().map(|marks| rows.marks_per_row(marks));
        let (d, top) = (self.n_features, (levels - 1) as f64);
        data.check_features(d)?;
        let mut weights = Array2::zeros((n, count));
        let mut variances = vec![0.0; d];
        for (i, mut row) in weights.outer_iter_mut().enumerate() {
            data.covariances().variances(i, &mut variances);
            let (mut sum, mut known) = (0.0, 0.0);
            for j in 0..d {
                let there = missing.as_ref().is_none_or(|marks| !marks[i * d + j]);
                if there && variances[j] > 0.0 && self.sizes[j] > 0.0 {
                    sum += (variances[j].sqrt() / self.sizes[j]).log2();
                    known += 1.0;
                }
            }
            let level = if known > 0.0 { (sum / known).clamp(0.0, top) } else { 0.0 };
            let below = (level.floor() as usize).min(levels - 2);
            let share = level - below as f64;
            row.scaled_add(1.0 - share, &self.weights.row(below));
            row.scaled_add(share, &self.weights.row(below + 1));
        }
        Ok(weights)
    }

    /// sum_m w_m answer_m, members of no weight left out.
    fn mean(&self, rows: Incomplete<'_>, answer: impl Fn(&[Step]) -> Result<Array2<f64>>) -> Result<Array2<f64>> {
        let mut sum: Option<Array2<f64>> = None;
        let weights = self.weights_of(rows)?;
        for (m, steps) in self.counted() {
            let part = answer(steps)? * weights.column(m).insert_axis(Axis(1));
            sum = Some(match sum {
                Some(sum) => sum + part,
                None => part,
            });
        }
        sum.ok_or_else(|| Error::Internal("an average without weights".into()))
    }

    fn counted(&self) -> impl Iterator<Item = (usize, &[Step])> {
        let counts = |m: &usize| self.weights.column(*m).iter().any(|w| *w > 0.0);
        (0..self.members.len()).filter(counts).map(|m| (m, self.members[m].as_slice()))
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
            return self.mean(rows, |steps| {
                chain::ask(steps, rows, |_| true, control, |model, rows| model.decision(rows, control))
            });
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
        let weights = self.weights_of(rows)?;
        let all = self.counted().map(|(m, steps)| Ok((chain::distribution(steps, rows, control)?, m)));
        let all = all.collect::<Result<Vec<_>>>()?;
        let mut mean = Array2::zeros((rows.n_rows(), 1));
        let mut variance = mean.clone();
        for ((means, _), m) in &all {
            mean += &(means * &weights.column(*m).insert_axis(Axis(1)));
        }
        for ((means, stds), m) in &all {
            let off = means - &mean;
            variance += &((stds * stds + &off * &off) * weights.column(*m).insert_axis(Axis(1)));
        }
        Ok((mean, variance.mapv_into(f64::sqrt)))
    }

    /// All parts of the members' densities, their shares times the members' weights.
    fn densities(&self, rows: Incomplete<'_>, control: &Control) -> Result<Densities> {
        let ask = |steps| chain::ask(steps, rows, |_| true, control, |model, rows| model.densities(rows, control));
        let weights = self.weights_of(rows)?;
        let all = self.counted().map(|(m, steps)| Ok((ask(steps)?, m))).collect::<Result<Vec<_>>>()?;
        let parts = all.iter().map(|(densities, _)| densities.n_components()).sum();
        let of_row = |i: usize| {
            let weighted = |(densities, m): &(Densities, usize)| {
                let w = weights[[i, *m]];
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
        let ask = |steps: &[Step]| {
            chain::ask(steps, rows, |_| true, control, |model, rows| model.predict_proba(rows, control))
        };
        self.mean(rows, ask)
    }
}

header! { members: Vec<Vec<StepHeader>> }

impl Fitted for Average {
    type Params = NoParams;
    type Header = Header;

    fn fit(_: &Valid<NoParams>, _: &Dataset, _: &Control) -> Result<Self> {
        Err(Error::Data("an average is made of fitted models, not fitted itself".into()))
    }

    fn write(&self, _: &Valid<NoParams>, arrays: &mut Arrays) -> Header {
        arrays.matrix("weights", &self.weights);
        arrays.vector("sizes", &self.sizes);
        for (m, steps) in self.members.iter().enumerate() {
            for (k, step) in steps.iter().enumerate() {
                let own = step.tensors().into_iter();
                arrays.0.extend(own.map(|named| NamedTensor { name: format!("{m}.{k}.{}", named.name), ..named }));
            }
        }
        Header { members: self.headers.clone() }
    }

    fn read(header: Header, _: &Valid<NoParams>, parts: &mut Parts<'_>) -> Result<Self> {
        let (weights, sizes) = (parts.matrix("weights")?, parts.vector("sizes")?);
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
        Self::by_level(members, weights, sizes)
    }
}

fn in_member(m: usize, error: Error) -> Error {
    match error {
        Error::ModelFile(why) => Error::ModelFile(format!("in member {m} of the average, {why}")),
        other => other,
    }
}
